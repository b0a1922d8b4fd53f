//! The step of the restricted minimiser where coefficients have bounds: the minimum of a convex quadratic in a box.

use super::Restricted;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;

impl Restricted<'_> {
    /// Sets the direction to `x - y`, where y is the minimum of the quadratic model at x within the bounds. Returns how
    /// much the model falls.
    pub(super) fn bounded_direction(&mut self) -> f64 {
        self.target.clone_from(&self.x);
        minimise(
            &self.hessian,
            &self.gradient,
            &self.bounds,
            &mut self.target,
        );
        for ((d, x), y) in self.direction.iter_mut().zip(&self.x).zip(&self.target) {
            *d = x - y;
        }
        let slope = kernels::dot(&self.direction, &self.gradient);
        let mut image = vec![0.0; self.direction.len()];
        multiply(&self.hessian, &self.direction, &mut image);
        slope - 0.5 * kernels::dot(&self.direction, &image)
    }

    /// Replaces the gradient in `direction` by the Newton step on the face that x is in.
    pub(super) fn keep_to_face(&mut self) {
        let held = |at: usize| {
            let (low, high) = self.bounds[at];
            let (x, g) = (self.x[at], self.direction[at]);
            (x <= low && g >= 0.0) || (x >= high && g <= 0.0)
        };
        let free: Vec<usize> = (0..self.x.len()).filter(|at| !held(*at)).collect();
        let mut step: Vec<f64> = free.iter().map(|at| self.direction[*at]).collect();
        solve_on(&self.hessian, self.x.len(), &free, &mut step);
        self.direction.fill(0.0);
        for (at, step) in free.iter().zip(step) {
            self.direction[*at] = step;
        }
    }

    /// Returns `P(x) - D(β) = Σ δ(-g - λδ/2)`, `δ = clamp(x - g/λ) - x`, over the penalised columns, for β the slopes
    /// at x.
    pub(super) fn bounded_gap(&self, penalised: usize) -> f64 {
        let mut gap = 0.0;
        for at in 0..penalised {
            let (low, high) = self.bounds[at];
            let (x, g) = (self.x[at], self.gradient[at]);
            let ridge = self.problem.ridge[self.columns[at]];
            let y = (x - g / ridge).max(low).min(high);
            // Between the bounds the difference is known without rounding x.
            let step = if y > low && y < high {
                -g / ridge
            } else {
                y - x
            };
            gap += step * (-g - 0.5 * ridge * step);
        }
        gap
    }
}

/// Computes `out = Hv` for a symmetric H given by its lower triangle.
fn multiply(h: &[f64], v: &[f64], out: &mut [f64]) {
    let size = v.len();
    out.fill(0.0);
    for r in 0..size {
        for c in 0..r {
            out[r] += h[r * size + c] * v[c];
            out[c] += h[r * size + c] * v[r];
        }
        out[r] += h[r * size + r] * v[r];
    }
}

/// Computes `step ← H_FF⁻¹ step`; where rounding makes H_FF indefinite, its diagonal grows until it is definite.
fn solve_on(h: &[f64], size: usize, free: &[usize], step: &mut [f64]) {
    let mut factor = Cholesky::new();
    let mut extra = 0.0;
    loop {
        let count = free.len();
        let rows = factor.start(count);
        for (r, i) in free.iter().enumerate() {
            for (c, j) in free[..=r].iter().enumerate() {
                rows[r * count + c] = h[i * size + j];
            }
            rows[r * count + r] *= 1.0 + extra;
        }
        if count == 0 || factor.factor() {
            break;
        }
        if extra > 1.0 {
            step.fill(0.0);
            return;
        }
        extra = if extra == 0.0 { 1e-14 } else { extra * 10.0 };
    }
    factor.solve(step);
}

/// Moves y, which lies within the bounds, to the minimum of `gᵀ(x - y) + ½(x - y)ᵀH(x - y)` over x within them. g is
/// the gradient at y, and H is given by its lower triangle.
///
/// This is an active-set method. A Newton step on the free coordinates goes up to the first bound in its way, which
/// fixes that coordinate. At the minimum of a face, the fixed coordinate that gains most is released.
fn minimise(h: &[f64], g: &[f64], bounds: &[(f64, f64)], y: &mut [f64]) {
    let size = y.len();
    let start = y.to_vec();
    let mut gradient = g.to_vec();
    let pushes_out =
        |y: f64, g: f64, (low, high): (f64, f64)| (y <= low && g >= 0.0) || (y >= high && g <= 0.0);
    let mut is_free: Vec<bool> = (0..size)
        .map(|i| !pushes_out(y[i], gradient[i], bounds[i]))
        .collect();
    let mut moved = vec![0.0; size];
    for _ in 0..20 + 6 * size {
        let free: Vec<usize> = (0..size).filter(|i| is_free[*i]).collect();
        let mut step: Vec<f64> = free.iter().map(|i| -gradient[*i]).collect();
        solve_on(h, size, &free, &mut step);
        let mut length = 1.0;
        let mut first = None;
        for (i, d) in free.iter().zip(&step) {
            let (low, high) = bounds[*i];
            let room = if *d < 0.0 { low - y[*i] } else { high - y[*i] };
            if *d != 0.0 && room / d < length {
                length = (room / d).max(0.0);
                first = Some((*i, if *d < 0.0 { low } else { high }));
            }
        }
        for (i, d) in free.iter().zip(&step) {
            let (low, high) = bounds[*i];
            y[*i] = (y[*i] + length * d).max(low).min(high);
        }
        if let Some((i, bound)) = first {
            y[i] = bound;
            is_free[i] = false;
        }
        for (moved, (y, start)) in moved.iter_mut().zip(y.iter().zip(&start)) {
            *moved = y - start;
        }
        multiply(h, &moved, &mut gradient);
        gradient.iter_mut().zip(g).for_each(|(out, g)| *out += g);
        if first.is_some() {
            continue;
        }
        let gain = |i: usize| gradient[i] * gradient[i] / h[i * size + i];
        let held = (0..size).filter(|i| !is_free[*i]);
        let wrong = held.filter(|i| !pushes_out(y[*i], gradient[*i], bounds[*i]));
        let Some(next) = wrong.max_by(|i, j| gain(*i).total_cmp(&gain(*j))) else {
            return;
        };
        is_free[next] = true;
    }
}
