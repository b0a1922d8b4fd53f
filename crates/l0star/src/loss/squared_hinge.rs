use super::{Loss, ResponseKind};

/// `l(z, b) = max(0, 1 - bz)²/2`, `b ∈ {-1, 1}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn name(&self) -> &'static str {
        "squared-hinge"
    }

    fn response(&self) -> ResponseKind {
        ResponseKind::Label
    }

    fn formula(&self) -> String {
        "half the square of what the margin lacks to 1".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        let miss = (1.0 - b * z).max(0.0);
        0.5 * miss * miss
    }

    /// The difference is exact next to the kink, and the low part decides on which side of it the prediction is.
    #[inline]
    fn value_near(&self, high: f64, low: f64, b: f64) -> f64 {
        let miss = ((1.0 - b * high) - b * low).max(0.0);
        0.5 * miss * miss
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        -b * (1.0 - b * z).max(0.0)
    }

    #[inline]
    fn curvature(&self, z: f64, b: f64) -> f64 {
        f64::from(u8::from(b * z < 1.0))
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    /// The slope always points away from the wrong side: `bα ≤ 0`.
    #[inline]
    fn domain(&self, b: f64) -> (f64, f64) {
        if b > 0.0 {
            (f64::NEG_INFINITY, 0.0)
        } else {
            (0.0, f64::INFINITY)
        }
    }

    /// With `t = -bα ≥ 0` the supremum of `αz - l` is at `bz = 1 - t`: `l*(α) = t²/2 - t`.
    #[inline]
    fn conjugate_terms(&self, alpha: f64, b: f64) -> (f64, f64) {
        (0.5 * alpha * alpha, b * alpha)
    }

    #[inline]
    fn conjugate_slope(&self, alpha: f64, b: f64) -> f64 {
        alpha + b
    }

    /// z where the margin is at least 1; otherwise the minimum of the sum of two parabolas.
    #[inline]
    fn prox(&self, z: f64, b: f64, t: f64) -> f64 {
        if b * z >= 1.0 {
            z
        } else {
            (z + t * b) / (1.0 + t)
        }
    }

    /// `max(0, 1 + m)²/2 ≤ v ⇒ m ≤ √(2v)`.
    fn reach(&self, v: f64) -> f64 {
        (2.0 * v).sqrt()
    }

    fn can_lift(&self) -> bool {
        true
    }

    fn least_curvature(&self, low: f64, high: f64, b: f64) -> f64 {
        let furthest = (b * low).max(b * high);
        f64::from(u8::from(furthest * (1.0 + 1e-15) < 1.0))
    }

    /// The conjugate is a parabola of curvature 1 on one side of 0. Near 0, a smaller w leaves room for a t of 1.
    #[inline]
    fn parabola(&self, alpha: f64, b: f64) -> (f64, f64, f64) {
        const SAFE: f64 = 1.0 - 1e-9;
        let miss = -b * alpha * SAFE;
        if miss <= 0.0 {
            return (0.0, f64::NEG_INFINITY, f64::INFINITY);
        }
        let w = miss.min(1.0);
        let way = miss / w;
        if b > 0.0 {
            (w * SAFE, f64::NEG_INFINITY, way)
        } else {
            (w * SAFE, -way, f64::INFINITY)
        }
    }
}
