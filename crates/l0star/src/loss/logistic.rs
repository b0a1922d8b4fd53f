use super::{Loss, ResponseKind};

/// `l(z, b) = log(1 + exp(-bz))`, `b ∈ {-1, 1}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Logistic;

/// Margins beyond this are as good as certain: `e^{-30}` is 1e-13.
const FAR: f64 = 30.0;

/// `1/(1 + e^m)`, the probability of the wrong class at margin `m`, without overflow.
#[inline]
fn wrong(m: f64) -> f64 {
    if m >= 0.0 {
        let e = (-m).exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + m.exp())
    }
}

impl Loss for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn response(&self) -> ResponseKind {
        ResponseKind::Label
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn has_log_odds(&self) -> bool {
        true
    }

    fn formula(&self) -> String {
        "log(1 + exp(-margin))".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        let m = b * z;
        (-m.abs()).exp().ln_1p() + (-m).max(0.0)
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        -b * wrong(b * z)
    }

    #[inline]
    fn curvature(&self, z: f64, _b: f64) -> f64 {
        let e = (-z.abs()).exp();
        e / ((1.0 + e) * (1.0 + e))
    }

    fn smoothness(&self) -> f64 {
        0.25
    }

    /// `tanh(z/2)/2z`: the parabola that is even about a margin of 0 (Jaakkola and Jordan).
    #[inline]
    fn covering_curvature(&self, z: f64, _b: f64) -> f64 {
        let size = z.abs();
        if size < 1e-3 {
            0.25
        } else {
            (0.5 - wrong(size)) / size
        }
    }

    #[inline]
    fn domain(&self, b: f64) -> (f64, f64) {
        ((-b).min(0.0), (-b).max(0.0))
    }

    /// With `t = -bα ∈ [0, 1]`: `l*(α) = t ln t + (1 - t) ln(1 - t)`, `0 ln 0 = 0`.
    #[inline]
    fn conjugate_terms(&self, alpha: f64, b: f64) -> (f64, f64) {
        let t = -b * alpha;
        let first = if t > 0.0 { t * t.ln() } else { 0.0 };
        let second = if t < 1.0 {
            (1.0 - t) * (-t).ln_1p()
        } else {
            0.0
        };
        (first, second)
    }

    /// `z = -b ln(t/(1 - t))`, with t kept 1e-15 away from the ends.
    #[inline]
    fn conjugate_slope(&self, alpha: f64, b: f64) -> f64 {
        let t = (-b * alpha).clamp(1e-15, 1.0 - 1e-15);
        -b * (t / (1.0 - t)).ln()
    }

    /// With the margin `m = by` and `c = bz`: the root of `g(m) = m - c - t/(1 + e^m)`, which increases and lies in
    /// `[c, c + t]`. Newton's method, kept inside a shrinking bracket, finds it. The start also suits large t, where
    /// the probability `(m - c)/t` hardly depends on m.
    #[inline]
    fn prox(&self, z: f64, b: f64, t: f64) -> f64 {
        let c = b * z;
        let (mut low, mut high) = (c, c + t);
        let share = -c / t;
        let mut m = if t <= 1.0 || share >= 1.0 {
            if share >= 1.0 { high } else { c }
        } else if share > 0.0 {
            ((1.0 - share) / share).ln().clamp(low, high)
        } else {
            c.max(t.ln().min(high))
        };
        for _ in 0..60 {
            let w = wrong(m);
            let g = m - c - t * w;
            if g > 0.0 {
                high = m;
            } else {
                low = m;
            }
            let mut next = m - g / (1.0 + t * w * (1.0 - w));
            if !(low..=high).contains(&next) {
                next = 0.5 * (low + high);
            }
            let change = (next - m).abs();
            m = next;
            // One more step from here would move m by about change², below its last place.
            if change <= 1e-6 * (1.0 + m.abs()) {
                break;
            }
        }
        b * m
    }

    /// With equal weights eight factors `1 + e` share a logarithm. `excess` is their product less 1, a sum of positive
    /// terms: nothing is lost where all of them are small.
    fn total(&self, p: &[f64], z: &[f64], b: &[f64]) -> f64 {
        let Some(weight) = p.first().copied().filter(|p0| p.iter().all(|p| p == p0)) else {
            let rows = p.iter().zip(z).zip(b);
            return rows.map(|((p, z), b)| p * self.value(*z, *b)).sum();
        };
        let (mut sum, mut misses) = (0.0, 0.0);
        for (z, b) in z.chunks(8).zip(b.chunks(8)) {
            let mut excess = 0.0;
            for (z, b) in z.iter().zip(b) {
                let m = b * z;
                let e = (-m.abs()).exp();
                excess += e + excess * e;
                misses += (-m).max(0.0);
            }
            sum += excess.ln_1p();
        }
        weight * (sum + misses)
    }

    /// `log(1 + e^t) ≥ t`.
    fn reach(&self, v: f64) -> f64 {
        v
    }

    fn can_lift(&self) -> bool {
        true
    }

    /// l'' falls away from 0 on either side: it is least at the further end.
    fn least_curvature(&self, low: f64, high: f64, b: f64) -> f64 {
        self.curvature(low.abs().max(high.abs()), b) * (1.0 - 1e-12)
    }

    /// The quotient is `∫₀¹(1-s) l''(z + st) ds`. It does not depend on b, and is even in (z, t); l'' falls away from 0, so it
    /// is least at the end that is further from 0, which for `z ≤ 0` is `t = -radius`. There it is `(ln(1 - σq) +
    /// σ radius)/radius²`, `σ = l'` of `ln(1 + e^z)`, `q = 1 - e^{-radius}`. A small radius leaves few digits: there
    /// `l''(z + t) ≥ l''(z) e^{-|t|}`.
    fn secant(&self, z: f64, b: f64, radius: f64) -> f64 {
        // Slopes this close to an end of the domain determine their prediction too poorly.
        if z.abs() > FAR {
            return 0.0;
        }
        if radius < 0.01 {
            return self.curvature(z, b) * (0.5 - radius / 6.0) * (1.0 - 1e-12);
        }
        let slope = wrong(z.abs());
        let rise = (slope * (-radius).exp_m1()).ln_1p() + slope * radius;
        (rise / (radius * radius) * (1.0 - 1e-9)).max(0.0)
    }

    /// `|l'''| ≤ l''`, so that l'' changes by a factor of at most `e^{error}`.
    fn secant_near(&self, z: f64, b: f64, radius: f64, error: f64) -> f64 {
        (self.secant(z, b, radius) * (1.0 - error)).max(0.0)
    }

    /// With `t = -bα` the divergence `l*(α') - l*(α) - z(α' - α)` is that between two coins, at most
    /// `(t' - t)²/(t(1 - t))`: half of the curvature is valid for every slope of the domain.
    #[inline]
    fn parabola(&self, alpha: f64, b: f64) -> (f64, f64, f64) {
        const SAFE: f64 = 1.0 - 1e-9;
        let t = -b * alpha;
        // Slopes near the end 1 do not determine their distance from it.
        if !(t > 1e-300 && t < 1.0 - 1e-4) {
            return (0.0, f64::NEG_INFINITY, f64::INFINITY);
        }
        // From t to 0 as the margin grows, to 1 as it falls.
        let (down, up) = (2.0 / (1.0 - t) * SAFE, 2.0 / t * SAFE);
        let (low, high) = if b > 0.0 { (-up, down) } else { (-down, up) };
        (0.5 * t * (1.0 - t) * SAFE, low, high)
    }
}
