//! A frame: the problem with some features in (condensed away) and some out (dropped), its ridge
//! lifted and its columns scaled.
//! A node then costs O(active · columns).
//!
//! With `M = H_SS`, `M Z = H_SF`, `M t = c_S`, minimising over x_S gives
//!
//! ```text
//! H' = H_FF - H_FS Z,   c' = c_F - Zᵀ c_S,   c0' = c0 - ½ c_Sᵀ t
//! ```
//!
//! and for any `s > 0` with `H' ⪰ diag(s²)`, in the coordinates `x̃_i = s_i x_i`,
//!
//! ```text
//! P = c0' - c̃ᵀx̃ + ½ x̃ᵀG̃x̃ + ½|x̃|²,   c̃_i = c'_i/s_i,   G̃_ij = H'_ij/s_i s_j - [i = j],   G̃ ⪰ 0.
//! ```
//!
//! That is a *lift*: `s_i² = λ_i + t (H'_ii - λ_i)`, a larger ridge for the same P and so a tighter perspective bound.
//! t is as large as a Cholesky certificate allows, run on the very array that evaluates nodes. As the lift is
//! proportional to the diagonal, it does not depend on the units of the columns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::condensed::{Condensed, Spread};
use super::root::Root;
use crate::bound::Certified;
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::relaxation::model::{Model, Sets};

/// A subproblem in coordinates of ridge 1.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Root index of each column.
    pub columns: Vec<u32>,
    /// Root indices of the included columns, the always-in ones among them.
    pub inside: Vec<u32>,
    /// Maximum number of columns that may be non-zero.
    pub budget: usize,
    pub g: Arc<Vec<f64>>,
    pub c: Vec<f64>,
    pub c0: f64,
    /// The scale s_i of each column.
    pub scale: Vec<f64>,
    /// `max |c̃|`.
    pub steepest: f64,
    /// `max |G̃|`.
    pub largest: f64,
    /// Bound on `|P - P̂|` for every improving x of the frame.
    pub error: f64,
    condensing: Condensing,
    /// Approximate largest eigenvalue of G̃, computed on first use; for steps only.
    lipschitz: OnceLock<f64>,
    charge: Option<Charge>,
}

/// Terms of the error of condensing, apart from the budget and the reference.
#[derive(Debug, Clone, Copy)]
struct Condensing {
    /// `max w/s`.
    steepest: f64,
    tau: f64,
}

/// Bytes that are counted in a total as long as this value lives.
#[derive(Debug)]
struct Charge {
    total: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Frame {
    pub(crate) fn size(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        let d = self.size();
        &self.g[i * d..(i + 1) * d]
    }

    /// Makes the frame shareable by nodes; its bytes count in `total` until the last of them drops it.
    pub(crate) fn share(mut self, total: &Arc<AtomicU64>) -> Arc<Self> {
        let small = self.columns.len() * 20 + self.inside.len() * 4;
        let bytes = (size_of::<Self>() + self.g.len() * 8 + small) as u64;
        total.fetch_add(bytes, Ordering::Relaxed);
        let total = Arc::clone(total);
        self.charge = Some(Charge { total, bytes });
        Arc::new(self)
    }

    /// Condenses `inside`, keeps `columns`, and lifts the ridge. Returns `None` when rounding defeats it (the caller
    /// keeps its old frame), and at a limit.
    ///
    /// `reference`: bounds are wanted for x with `P(x) ≤ reference`. The error is that of condensing alone: the caller
    /// adds [`Root::error`].
    pub(crate) fn new(
        root: &Root,
        inside: &[u32],
        columns: &[u32],
        budget: usize,
        reference: f64,
        lift: &Spread,
        limits: &Limits,
    ) -> Option<Self> {
        let condensed = Condensed::new(root, inside, columns, limits)?;
        let ridge: Vec<f64> = columns.iter().map(|j| root.ridge[*j as usize]).collect();
        let (g, scale) = condensed.lift(&ridge, lift, limits)?;
        let ratios = condensed.weights.iter().zip(&scale).map(|(w, s)| w / s);
        // |x̃| ≤ Y needs H' ⪰ diag(s²) of the true H', not only of the float one: s² has to stand well above their
        // difference, which in these coordinates is at most γ Σ (w_i/s_i)².
        let roundings = root.roundings() + 3 * inside.len() + 30;
        let squares: f64 = ratios.clone().map(|ratio| ratio * ratio).sum();
        if gamma(roundings) * squares > 0.25 {
            return None;
        }
        let steepest = ratios.fold(0.0, f64::max);
        let c: Vec<f64> = condensed.c.iter().zip(&scale).map(|(c, s)| c / s).collect();
        let sizes = [kernels::largest(&c), kernels::largest(&g)];
        let mut frame = Self {
            columns: columns.to_vec(),
            inside: inside.to_vec(),
            budget,
            g: Arc::new(g),
            c,
            c0: condensed.c0,
            scale,
            steepest: sizes[0],
            largest: sizes[1],
            error: 0.0,
            condensing: Condensing {
                steepest,
                tau: condensed.tau,
            },
            lipschitz: OnceLock::new(),
            charge: None,
        };
        frame.error = match lift {
            Spread::Unproved => f64::INFINITY,
            _ => frame.condensing_error(root, reference),
        };
        Some(frame)
    }

    /// Returns the frame of these columns, with this lift, for another budget and another reference.
    pub(crate) fn with_budget(&self, root: &Root, budget: usize, reference: f64) -> Self {
        let mut frame = Self {
            columns: self.columns.clone(),
            inside: self.inside.clone(),
            budget,
            g: Arc::clone(&self.g),
            c: self.c.clone(),
            scale: self.scale.clone(),
            lipschitz: self.lipschitz.clone(),
            charge: None,
            ..*self
        };
        if self.error.is_finite() {
            frame.error = frame.condensing_error(root, reference);
        }
        frame
    }

    /// Returns `E = γ (√2c0 + τ + Σ w_i|x_i|)²`, `Σ w_i|x_i| ≤ max(w/s) √m Y`; see [`Condensed`].
    fn condensing_error(&self, root: &Root, reference: f64) -> f64 {
        let Condensing { steepest, tau } = self.condensing;
        let spread = steepest * (self.budget as f64).sqrt() * root.reach(reference);
        let sum = (2.0 * root.c0).sqrt() + tau + spread;
        gamma(3 * self.inside.len() + 16) * sum * sum * (1.0 + 1e-3)
    }
}

/// f along a direction from the current point: `value + a slope + ½a² curve`.
#[derive(Debug, Clone, Copy, Default)]
struct Parabola {
    value: f64,
    slope: f64,
    curve: f64,
}

/// A frame as a model of the Newton solver, with the error terms of the point kept.
#[derive(Debug, Clone)]
pub(crate) struct FrameModel {
    frame: Arc<Frame>,
    /// Bounds are claimed only up to this.
    ceiling: f64,
    kept: f64,
    /// Bound on the error of D at the point kept.
    error: f64,
    /// Bound on what another selection of atoms adds to the error.
    selection_error: f64,
    /// Bound ε on the error of every entry of u at the point kept.
    slope_error: f64,
    line: Parabola,
    smooth: f64,
}

impl FrameModel {
    pub(crate) fn new(frame: Arc<Frame>, ceiling: f64) -> Self {
        Self {
            frame,
            ceiling,
            kept: f64::NEG_INFINITY,
            error: f64::INFINITY,
            selection_error: 0.0,
            slope_error: 0.0,
            line: Parabola::default(),
            smooth: 0.0,
        }
    }

    /// Returns the bound on the error of D at the point kept, that of the frame included.
    pub(crate) fn kept_error(&self) -> f64 {
        self.error + self.frame.error
    }

    /// Bound ε on the error of every entry of u at the point kept.
    pub(crate) fn slope_error(&self) -> f64 {
        self.slope_error
    }

    /// Returns a bound on what a selection of atoms other than that of D adds to the error.
    pub(crate) fn selection_error(&self) -> f64 {
        self.selection_error
    }

    /// Returns the bound of a child whose D is higher than that of the point kept by `rise`.
    pub(crate) fn child(&self, rise: f64) -> Certified {
        let error = self.kept_error() + self.selection_error;
        Certified::from_frame(self.kept + rise, self.ceiling, error)
    }
}

impl Model for FrameModel {
    fn size(&self) -> usize {
        self.frame.size()
    }

    /// Computes `u = c - Gx`, `f + uᵀx = c0 - ½ xᵀ(c - u)`.
    fn evaluate(&mut self, x: &[f64], support: &[usize], _: &Sets, u: &mut [f64]) -> (f64, f64) {
        let frame = &*self.frame;
        u.copy_from_slice(&frame.c);
        for j in support {
            kernels::axpy(-x[*j], frame.row(*j), u);
        }
        let (mut product, mut pull) = (0.0, 0.0);
        for j in support {
            product += x[*j] * (frame.c[*j] - u[*j]);
            pull += x[*j] * u[*j];
        }
        let base = frame.c0 - 0.5 * product;
        self.smooth = base - pull;
        (self.smooth, base)
    }

    fn hessian(&mut self, set: &[usize], rows: &mut [f64]) {
        let size = set.len();
        for (r, i) in set.iter().enumerate() {
            let g = self.frame.row(*i);
            for (out, j) in rows[r * size..].iter_mut().zip(&set[..=r]) {
                *out = g[*j];
            }
        }
    }

    /// Computes `u + Gx = c`: the new point depends on x only through the piece.
    fn right_side(&mut self, _u: &[f64], set: &[usize], out: &mut Vec<f64>) {
        out.extend(set.iter().map(|j| self.frame.c[*j]));
    }

    fn set_direction(&mut self, u: &[f64], direction: &[(usize, f64)]) {
        let (mut slope, mut curve) = (0.0, 0.0);
        for (at, (i, d)) in direction.iter().enumerate() {
            slope -= u[*i] * d;
            let row = self.frame.row(*i);
            let before: f64 = direction[..at].iter().map(|(j, e)| row[*j] * e).sum();
            curve += d * (2.0 * before + row[*i] * d);
        }
        self.line = Parabola {
            value: self.smooth,
            slope,
            curve,
        };
    }

    fn along(&mut self, a: f64) -> f64 {
        let Parabola {
            value,
            slope,
            curve,
        } = self.line;
        value + a * slope + 0.5 * a * a * curve
    }

    /// Keeps the point evaluated last, and bounds the error of D.
    /// With `|û - u| ≤ ε = γ_{p+2}(max|c| + max|G| |x|₁)`, p the non-zeros of x, and the selection fixed, the error is
    /// `ε(½|x|₁ + U₁) + (s+m)ε² + γ(c0 + ½Σ|x||c-u| + ½U₂)`, `U₁ ≤ Σ_S|u| + √(m·top)`, `U₂ = Σ_S u² + top`.
    fn keep(&mut self, x: &[f64], support: &[usize], u: &[f64], sets: &Sets, dual: f64, top: f64) {
        let frame = &*self.frame;
        let (mut length, mut absolute) = (0.0, 0.0);
        for j in support {
            length += x[*j].abs();
            absolute += (x[*j] * (frame.c[*j] - u[*j])).abs();
        }
        let slopes: f64 = sets.inside.iter().map(|j| u[*j].abs()).sum();
        let inside: f64 = sets.inside.iter().map(|j| u[*j] * u[*j]).sum();
        // A price is subtracted from an atom: two roundings more.
        let priced = if sets.costs.is_empty() { 0 } else { 2 };
        let terms = sets.inside.len() + sets.budget + priced;
        let steepest = frame.steepest + frame.largest * length;
        let step = gamma(support.len() + 2) * steepest;
        let first = slopes + (sets.budget as f64 * top).sqrt();
        let rounding = gamma(support.len() + terms + 8);
        let error = step * (0.5 * length + first)
            + terms as f64 * step * step
            + rounding * (frame.c0.abs() + 0.5 * absolute + 0.5 * (inside + top));
        self.kept = dual;
        self.slope_error = step;
        self.error = error * (1.0 + 1e-6);
        self.selection_error = 2.0 * (step * steepest + step * step) * (1.0 + 1e-6);
    }

    fn certify(&mut self, _sets: &Sets) -> Certified {
        Certified::from_frame(self.kept, self.ceiling, self.kept_error())
    }

    fn mean_curvature(&self) -> f64 {
        let d = self.frame.size();
        let trace: f64 = (0..d).map(|i| self.frame.row(i)[i]).sum();
        trace / d as f64
    }

    fn largest_curvature(&self) -> f64 {
        let frame = &*self.frame;
        let value = || largest_eigenvalue(&frame.g, frame.size());
        *frame.lipschitz.get_or_init(value)
    }
}

/// Estimates the largest eigenvalue by a few power iterations.
fn largest_eigenvalue(g: &[f64], d: usize) -> f64 {
    let mut v = vec![1.0; d];
    let mut w = vec![0.0; d];
    let mut value: f64 = 0.0;
    for _ in 0..12 {
        let length = kernels::norm(&v);
        if length == 0.0 {
            break;
        }
        v.iter_mut().for_each(|v| *v /= length);
        for (i, w) in w.iter_mut().enumerate() {
            *w = kernels::dot(&g[i * d..(i + 1) * d], &v);
        }
        value = kernels::norm(&w);
        std::mem::swap(&mut v, &mut w);
    }
    value.max(1e-300)
}
