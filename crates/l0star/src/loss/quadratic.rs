use super::{Loss, ResponseKind};
use crate::linalg::rounding::two_product;

/// `l(z, b) = (z - b)²/2`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quadratic;

impl Loss for Quadratic {
    fn name(&self) -> &'static str {
        "quadratic"
    }

    fn response(&self) -> ResponseKind {
        ResponseKind::Real
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn formula(&self) -> String {
        "half the squared residual".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        0.5 * (z - b) * (z - b)
    }

    #[inline]
    fn value_near(&self, high: f64, low: f64, b: f64) -> f64 {
        let residual = (high - b) + low;
        0.5 * residual * residual
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        z - b
    }

    #[inline]
    fn curvature(&self, _z: f64, _b: f64) -> f64 {
        1.0
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    #[inline]
    fn domain(&self, _b: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// `l*(α) = α²/2 + bα`.
    #[inline]
    fn conjugate_terms(&self, alpha: f64, b: f64) -> (f64, f64) {
        (0.5 * alpha * alpha, b * alpha)
    }

    fn conjugate_rest(&self, alpha: f64, b: f64) -> Option<f64> {
        Some(two_product(alpha, b).1)
    }

    #[inline]
    fn conjugate_slope(&self, alpha: f64, b: f64) -> f64 {
        alpha + b
    }

    #[inline]
    fn prox(&self, z: f64, b: f64, t: f64) -> f64 {
        (z + t * b) / (1.0 + t)
    }

    /// `α²/2 + bα + (α - v)²/2t` is least at `(v - tb)/(1 + t)`.
    #[inline]
    fn prox_conjugate(&self, v: f64, b: f64, t: f64) -> f64 {
        (v - t * b) / (1.0 + t)
    }

    fn reach(&self, v: f64) -> f64 {
        (2.0 * v).sqrt()
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}
