//! Responses that a loss cannot have are refused here, by row.

use super::range::LARGEST_RESPONSE;
use crate::error::{Error, Result};
use crate::loss::{Loss, ResponseKind};

/// Counts: far below where the loss stops being an exponential.
const LARGEST_COUNT: f64 = 1e60;
/// Amounts: their products with exponentials are finite.
const LEAST_AMOUNT: f64 = 1e-200;

/// Refuses labels other than −1 and 1, a single class, negative counts and times, amounts of 0, and counts that are all 0 where there is an
/// intercept. `keep`: the rows of positive weight.
pub(super) fn check(
    loss: &dyn Loss,
    response: &[f64],
    keep: &[bool],
    has_intercept: bool,
) -> Result<()> {
    let kept = || {
        let rows = response.iter().zip(keep);
        rows.filter_map(|(b, keep)| keep.then_some(*b))
    };
    let name = loss.name();
    match loss.response() {
        ResponseKind::Real => Ok(()),
        ResponseKind::Class => Ok(()),
        ResponseKind::Time => {
            check_amounts(name, response, |b| b >= 0.0, "0 or more", LARGEST_RESPONSE)
        }
        ResponseKind::Label => {
            if let Some(row) = response.iter().position(|b| b.abs() != 1.0) {
                return Err(Error::Label {
                    row: row + 1,
                    value: response[row],
                    loss: name,
                });
            }
            let label = kept().next().unwrap_or(1.0);
            if kept().all(|b| b == label) {
                Err(Error::OneClass { label, loss: name })
            } else {
                Ok(())
            }
        }
        ResponseKind::Count => {
            check_amounts(name, response, |b| b >= 0.0, "0 or more", LARGEST_COUNT)?;
            // The best intercept would be −∞.
            if has_intercept && kept().all(|b| b == 0.0) {
                Err(Error::NoCounts { loss: name })
            } else {
                Ok(())
            }
        }
        ResponseKind::Positive => {
            let is_allowed = |b: f64| b > 0.0;
            check_amounts(
                name,
                response,
                is_allowed,
                "greater than 0",
                LARGEST_RESPONSE,
            )?;
            match response.iter().position(|b| *b < LEAST_AMOUNT) {
                None => Ok(()),
                Some(row) => Err(Error::SmallResponse {
                    row: row + 1,
                    value: response[row],
                }),
            }
        }
    }
}

fn check_amounts(
    loss: &'static str,
    response: &[f64],
    is_allowed: impl Fn(f64) -> bool,
    allowed: &'static str,
    most: f64,
) -> Result<()> {
    for (row, value) in response.iter().copied().enumerate() {
        let row = row + 1;
        if !is_allowed(value) {
            return Err(Error::Response {
                row,
                value,
                loss,
                allowed,
            });
        }
        if value > most {
            let column = "response".to_owned();
            return Err(Error::TooLarge { row, column, value });
        }
    }
    Ok(())
}
