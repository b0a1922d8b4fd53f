//! The likelihood of gamma responses, whose dispersion is estimated with the other parameters.

/// Shape from which the asymptotic series have sixteen digits.
const LARGE: f64 = 30.0;
const MAX_ROUNDS: usize = 200;

/// Minus twice the largest log-likelihood of a row, over all shapes ν, for a mean loss L (half the deviance), up to
/// terms that depend on the responses alone:
///
/// ```text
/// 2 (ν(L + 1) - ν ln ν + ln Γ(ν)),   ln ν - ψ(ν) = L.
/// ```
///
/// For small L it is `ln(2L) + ln 2π + 1`, as for normal errors.
pub(crate) fn gamma_deviance(loss: f64) -> f64 {
    // A perfect fit has no finite value.
    let loss = loss.max(f64::MIN_POSITIVE);
    // Thom's estimate, then a step that is exact where ln ν - ψ(ν) falls like 1/ν.
    let mut shape = (1.0 + (1.0 + 4.0 / 3.0 * loss).sqrt()) / (4.0 * loss);
    for _ in 0..MAX_ROUNDS {
        let next = shape * (lag(shape) / loss);
        let change = (next - shape).abs();
        shape = next;
        if change <= 1e-14 * shape {
            break;
        }
    }
    2.0 * (shape * loss + excess(shape))
}

/// `ln ν - ψ(ν)`.
fn lag(shape: f64) -> f64 {
    if shape < LARGE {
        // ψ(ν + 1) = ψ(ν) + 1/ν.
        let next = shape + 1.0;
        return lag(next) - (1.0 / shape).ln_1p() + 1.0 / shape;
    }
    let square = 1.0 / (shape * shape);
    let series = 1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0));
    0.5 / shape + square * series
}

/// `ln Γ(ν) - ν ln ν + ν`.
fn excess(shape: f64) -> f64 {
    if shape < LARGE {
        // ln Γ(ν + 1) = ln Γ(ν) + ln ν.
        let next = shape + 1.0;
        return excess(next) + next * (1.0 / shape).ln_1p() - 1.0;
    }
    let square = 1.0 / (shape * shape);
    let series = 1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0));
    0.5 * (std::f64::consts::TAU / shape).ln() + series / shape
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Euler's constant, and ln Γ(1) = 0, ln Γ(½) = ½ ln π.
    #[test]
    fn known_values() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        close(lag(1.0), 0.577_215_664_901_532_9);
        close(excess(1.0), 1.0);
        let half = std::f64::consts::PI.ln() * 0.5;
        close(excess(0.5), half + 0.5 * 2f64.ln() + 0.5);
        close(lag(LARGE), lag(LARGE * (1.0 - 1e-16)));
    }

    #[test]
    fn it_is_the_least_over_all_shapes() {
        for loss in [1e-8, 1e-3, 0.1, 0.577, 3.0, 40.0] {
            let least = gamma_deviance(loss);
            let at = |shape: f64| 2.0 * (shape * loss + excess(shape));
            let shapes = (-600..1200).map(|i| 10f64.powf(f64::from(i) / 100.0));
            let found = shapes.map(at).fold(f64::INFINITY, f64::min);
            let room = 1e-4 * (1.0 + found.abs());
            assert!(
                least <= found + 1e-12 && least >= found - room,
                "{loss}: {least} {found}"
            );
        }
        assert!(gamma_deviance(0.0).is_finite());
    }
}
