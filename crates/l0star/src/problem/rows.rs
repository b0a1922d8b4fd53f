//! The loss over the rows of a problem: a sum, or a function that couples them.

use super::Problem;
use crate::linalg::kernels;
use crate::loss::{HazardStep, Joint};

impl Problem {
    /// The loss of all rows, where it couples them.
    pub(crate) fn joint(&self) -> Option<&dyn Joint> {
        self.joint.as_deref()
    }

    /// `L(z)`.
    pub(crate) fn loss_of(&self, z: &[f64]) -> f64 {
        match &self.joint {
            None => self.loss.total(&self.p, z, &self.b),
            Some(joint) => joint.total(z),
        }
    }

    /// `β = ∇L(z)`. The slopes α, with `β_i = p_i α_i`, are those of single rows and stay as they are where rows are coupled.
    pub(crate) fn slopes_of(&self, z: &[f64], alpha: &mut [f64], beta: &mut [f64]) {
        match &self.joint {
            None => {
                self.loss.slopes(z, &self.b, alpha);
                self.weigh(alpha, beta);
            }
            Some(joint) => joint.gradient(z, beta),
        }
    }

    /// h with `∇²L(z) ⪯ diag(h)`: the Hessian itself where rows are not coupled.
    pub(crate) fn curvatures_of(&self, z: &[f64], h: &mut [f64]) {
        match &self.joint {
            None => self.loss.weighted_curvatures(&self.p, z, &self.b, h),
            Some(joint) => joint.curvatures(z, h),
        }
    }

    /// The derivative of `L(z + a dz)` in a.
    pub(crate) fn slope_along(&self, z: &[f64], dz: &[f64], a: f64) -> f64 {
        match &self.joint {
            None => self.loss.slope_along(&self.p, z, dz, a, &self.b),
            Some(joint) => {
                let mut moved = z.to_vec();
                kernels::axpy(a, dz, &mut moved);
                let mut beta = vec![0.0; z.len()];
                joint.gradient(&moved, &mut beta);
                kernels::dot(&beta, dz)
            }
        }
    }

    /// Takes off `A_Wᵀ diag(h) A_W`, given by its lower triangle, what makes it `A_Wᵀ ∇²L(z) A_W`.
    pub(crate) fn couple_gram(&self, set: &[usize], z: &[f64], gram: &mut [f64]) {
        let Some(joint) = &self.joint else {
            return;
        };
        let hessian = joint.hessian(z);
        let (size, rank) = (set.len(), hessian.rank());
        let mut projected = vec![0.0; size * rank];
        let mut column = vec![0.0; self.rows()];
        for (j, out) in set.iter().zip(projected.chunks_exact_mut(rank)) {
            self.design.column_into(*j, &mut column);
            hessian.project(&column, out);
        }
        let projected: Vec<&[f64]> = projected.chunks_exact(rank).collect();
        for r in 0..size {
            for c in 0..=r {
                gram[r * size + c] -= kernels::dot(projected[r], projected[c]);
            }
        }
    }

    /// Takes off `diag(h) t` what makes it `∇²L(z) t`.
    pub(crate) fn couple_product(&self, z: &[f64], t: &[f64], product: &mut [f64]) {
        let Some(joint) = &self.joint else {
            return;
        };
        let hessian = joint.hessian(z);
        let mut projected = vec![0.0; hessian.rank()];
        hessian.project(t, &mut projected);
        hessian.subtract(&projected, product);
    }

    /// The share of comparable pairs of rows that scores, one for each row of positive weight, have in order, for a loss that
    /// compares rows ([`Joint::concordance`]).
    pub fn concordance(&self, scores: &[f64]) -> Option<f64> {
        self.joint.as_ref()?.concordance(scores)
    }

    /// The cumulative baseline hazards for such scores, of a loss that has hazards ([`Joint::baseline`]).
    pub fn baseline_hazard(&self, scores: &[f64]) -> Vec<HazardStep> {
        let joint = self.joint.as_ref();
        joint.map_or_else(Vec::new, |joint| joint.baseline(scores))
    }

    /// How many observations the likelihood has: rows, or events where only these count.
    pub(crate) fn informative(&self) -> f64 {
        let counted = self.joint.as_ref().and_then(|joint| joint.observations());
        counted.unwrap_or(self.observations() as f64)
    }
}
