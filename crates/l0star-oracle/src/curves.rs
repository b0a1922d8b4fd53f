//! Losses without pieces at given predictions; each number has a proved error bound.

use crate::problem::Loss;
use crate::series::Slope;
use crate::{Dyadic, Problem, series};

/// Whether the loss has no pieces.
pub(crate) fn is_smooth(loss: &Loss) -> bool {
    matches!(
        loss,
        Loss::Logistic | Loss::Poisson | Loss::Gamma | Loss::Cox(_)
    )
}

/// Computes the slopes of all rows.
pub(crate) fn slopes(problem: &Problem, z: &[Dyadic]) -> Vec<Slope> {
    if let Some(hazards) = &problem.hazards {
        return hazards.slopes(z);
    }
    let rows = z.iter().zip(&problem.rows);
    rows.map(|(z, row)| slope(&problem.loss, z, &row.b))
        .collect()
}

/// Computes the loss of all rows, and a bound on its error.
pub(crate) fn total(problem: &Problem, z: &[Dyadic]) -> (Dyadic, Dyadic) {
    if let Some(hazards) = &problem.hazards {
        return hazards.total(z);
    }
    let (mut total, mut error) = (Dyadic::zero(), Dyadic::zero());
    for (z, row) in z.iter().zip(&problem.rows) {
        let (loss, within) = value(&problem.loss, z, &row.b);
        total = &total + &(&row.p * &loss);
        error = &error + &(&row.p * &within);
    }
    (total, error)
}

/// Computes the slope at z.
fn slope(loss: &Loss, z: &Dyadic, b: &Dyadic) -> Slope {
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

/// Computes the loss at z, and a bound on its error.
fn value(loss: &Loss, z: &Dyadic, b: &Dyadic) -> (Dyadic, Dyadic) {
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
