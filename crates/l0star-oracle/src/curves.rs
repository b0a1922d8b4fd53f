//! The losses without pieces at a prediction, each number with a proved bound of its error.

use crate::problem::Loss;
use crate::{Dyadic, series};

/// The slope of a loss and its curvature.
pub(crate) struct Slope {
    pub slope: Dyadic,
    pub curvature: Dyadic,
    /// Of the slope.
    pub error: Dyadic,
}

/// Whether the loss has no pieces.
pub(crate) fn is_smooth(loss: &Loss) -> bool {
    matches!(loss, Loss::Logistic | Loss::Poisson | Loss::Gamma)
}

/// The slope at z.
pub(crate) fn slope(loss: &Loss, z: &Dyadic, b: &Dyadic) -> Slope {
    match loss {
        Loss::Poisson => {
            let (e, error) = series::exp(z);
            Slope {
                slope: &e - b,
                curvature: e,
                error,
            }
        }
        Loss::Gamma => {
            let (e, error) = series::exp(&-z);
            let curvature = b * &e;
            Slope {
                slope: &Dyadic::of(1.0) - &curvature,
                curvature,
                error: b * &error,
            }
        }
        _ => {
            let (q, curvature) = series::wrong(&(b * z));
            Slope {
                slope: -&(b * &q),
                curvature,
                error: series::error(),
            }
        }
    }
}

/// The loss at z, and a bound of its error.
pub(crate) fn value(loss: &Loss, z: &Dyadic, b: &Dyadic) -> (Dyadic, Dyadic) {
    match loss {
        Loss::Poisson => {
            let (e, error) = series::exp(z);
            if b.is_zero() {
                return (e, error);
            }
            let rest = &(&series::log(b) - z) - &Dyadic::of(1.0);
            (&e + &(b * &rest), &error + &(b * &series::error()))
        }
        Loss::Gamma => {
            let (e, error) = series::exp(&-z);
            let rest = &(z - &series::log(b)) - &Dyadic::of(1.0);
            (&(b * &e) + &rest, &(b * &error) + &series::error())
        }
        _ => (series::logistic(&(b * z)), series::error()),
    }
}
