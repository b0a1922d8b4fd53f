use super::{Loss, ResponseKind};
use crate::error::{Error, Result};
use crate::linalg::rounding::two_product;

/// Huber's loss: with `r = z - b`, `r²/2` where `|r| ≤ δ`, else `δ(|r| - δ/2)`.
#[derive(Debug, Clone, Copy)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// Creates the loss with this δ, which must be finite and > 0.
    pub fn new(delta: f64) -> Result<Self> {
        if delta > 0.0 && delta.is_finite() {
            return Ok(Self { delta });
        }
        Err(Error::Setting {
            name: "huber_delta",
            value: delta.to_string(),
            range: "it must be a finite number > 0",
        })
    }

    /// δ, the residual at which the loss turns from quadratic to linear.
    pub fn delta(&self) -> f64 {
        self.delta
    }
}

impl Loss for Huber {
    fn name(&self) -> &'static str {
        "huber"
    }

    fn huber_delta(&self) -> Option<f64> {
        Some(self.delta)
    }

    fn response(&self) -> ResponseKind {
        ResponseKind::Real
    }

    fn quadratic_within(&self) -> Option<f64> {
        Some(self.delta)
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn formula(&self) -> String {
        format!(
            "Huber's loss of the residual, which is half its square up to {} and linear beyond",
            self.delta
        )
    }

    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        self.value_near(z, 0.0, b)
    }

    #[inline]
    fn value_near(&self, high: f64, low: f64, b: f64) -> f64 {
        let r = ((high - b) + low).abs();
        let inner = r.min(self.delta);
        // inner (r - inner/2) is r²/2 inside and δ(r - δ/2) outside.
        inner * (r - 0.5 * inner)
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        (z - b).clamp(-self.delta, self.delta)
    }

    #[inline]
    fn curvature(&self, z: f64, b: f64) -> f64 {
        f64::from(u8::from((z - b).abs() <= self.delta))
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    /// `δ/|r|` beyond δ: the parabola about a residual of 0.
    #[inline]
    fn covering_curvature(&self, z: f64, b: f64) -> f64 {
        (self.delta / (z - b).abs()).min(1.0)
    }

    #[inline]
    fn domain(&self, _b: f64) -> (f64, f64) {
        (-self.delta, self.delta)
    }

    /// `l*(α) = α²/2 + bα` on `|α| ≤ δ`.
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

    /// In the quadratic part `(z + tb)/(1 + t)`, beyond it a step of length `tδ` towards `b`.
    #[inline]
    fn prox(&self, z: f64, b: f64, t: f64) -> f64 {
        let r = z - b;
        if r.abs() <= self.delta * (1.0 + t) {
            (z + t * b) / (1.0 + t)
        } else {
            z - t * self.delta * r.signum()
        }
    }

    /// The result of the quadratic loss, clipped: the constraint is an interval and the objective a parabola.
    #[inline]
    fn prox_conjugate(&self, v: f64, b: f64, t: f64) -> f64 {
        ((v - t * b) / (1.0 + t)).clamp(-self.delta, self.delta)
    }

    /// `h(r) ≥ δ|r| - δ²/2`.
    fn reach(&self, v: f64) -> f64 {
        v / self.delta + 0.5 * self.delta
    }

    fn span(&self) -> f64 {
        self.delta
    }

    fn can_lift(&self) -> bool {
        true
    }

    fn least_curvature(&self, low: f64, high: f64, b: f64) -> f64 {
        let rounding = 1e-15 * (low.abs() + high.abs() + b.abs());
        let furthest = (low - b).abs().max((high - b).abs()) + rounding;
        if furthest <= self.delta { 1.0 } else { 0.0 }
    }

    fn secant(&self, z: f64, b: f64, radius: f64) -> f64 {
        self.secant_near(z, b, radius, 0.0)
    }

    /// ½ within ±δ; beyond, `(et - e²/2)/t²` with `e` the distance to the nearer bend, which decreases.
    fn secant_near(&self, z: f64, b: f64, radius: f64, error: f64) -> f64 {
        let residual = (z - b).abs() + error + 1e-15 * (z.abs() + b.abs());
        let way = self.delta - residual;
        if way <= 0.0 {
            return 0.0;
        }
        if radius <= way {
            return 0.5;
        }
        (way * radius - 0.5 * way * way) / (radius * radius) * (1.0 - 1e-12)
    }

    /// The conjugate is a parabola of curvature 1 within ±δ. Near an end, a smaller w leaves room for a t of half of δ.
    #[inline]
    fn parabola(&self, alpha: f64, _b: f64) -> (f64, f64, f64) {
        const SAFE: f64 = 1.0 - 1e-9;
        let way = self.delta * SAFE - alpha.abs();
        if way <= 0.0 {
            return (0.0, f64::NEG_INFINITY, f64::INFINITY);
        }
        let w = (2.0 * way / self.delta).min(1.0);
        (w * SAFE, -way / w, way / w)
    }
}
