//! Numbers that double precision cannot square and add up are refused here, by row and column.
//!
//! The limits leave room for everything that is computed from the data: sums over rows, a Gram matrix in units of the
//! ridge (`|a_j|²/λ_j`, whose entries are squared again), atoms (`(a_jᵀb)²/λ_j`), and bounds of rounding errors 1e-30 times
//! smaller than the objective.

use crate::error::{Error, Result};
use crate::problem::Design;
use crate::problem::shapes::check_vector;

/// Entries as they are stored: their squares, and their products with the response, are finite.
const LARGEST_ENTRY: f64 = 1e145;
/// Responses and offsets.
pub(super) const LARGEST_RESPONSE: f64 = 1e120;
/// The mean square of the response; rounding errors, squared, are far smaller.
const LEAST_SQUARE: f64 = 1e-220;
/// `|a_j|²/λ_j`.
const LARGEST_RATIO: f64 = 1e140;
/// `|a_j|²/λ_j` times the mean square of the response.
const LARGEST_ATOM: f64 = 1e280;
/// The largest stored entry of a column that is divided by something small, times the root mean square of the response: the
/// products of both are added up before they are divided. Rounding is relative to far larger numbers than what underflows then,
/// for slopes down to 1e-40 of the response.
const LEAST_PRODUCT: f64 = 1e-250;
/// The product of the largest entries of two stored columns, which sparse ones are multiplied as.
const LEAST_SPARSE: f64 = 1e-140;
/// A weight as a share of the largest. Rows of smaller ones could not be told from rows without weight.
const LEAST_WEIGHT: f64 = 1e-150;

/// Refuses entries that are not finite or too large.
pub(super) fn check_entries(design: &Design, names: &[String]) -> Result<()> {
    let Some((row, column, value)) = design.find_entry(|v| v.is_nan() || v.abs() > LARGEST_ENTRY)
    else {
        return Ok(());
    };
    let (row, column) = (row + 1, names[column].clone());
    Err(if value.is_finite() {
        Error::TooLarge { row, column, value }
    } else {
        Error::NotFinite { row, column, value }
    })
}

/// Refuses a response or an offset (`what`) with entries that are not finite or too large.
pub(super) fn check_rows(what: &str, values: &[f64], rows: usize) -> Result<()> {
    check_vector(what, values, rows)?;
    let is_large = |v: &f64| v.abs() > LARGEST_RESPONSE;
    values.iter().position(is_large).map_or(Ok(()), |row| {
        Err(Error::TooLarge {
            row: row + 1,
            column: what.to_owned(),
            value: values[row],
        })
    })
}

/// Refuses weights that are negative, all zero, or too far apart; gives the largest.
pub(super) fn check_weights(weights: &[f64], rows: usize) -> Result<f64> {
    check_vector("weights", weights, rows)?;
    if let Some(row) = weights.iter().position(|w| *w < 0.0) {
        return Err(Error::NegativeWeight {
            row: row + 1,
            value: weights[row],
        });
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Err(Error::Empty {
            what: "rows of positive weight",
        });
    }
    let is_lost = |w: &f64| *w > 0.0 && w / largest < LEAST_WEIGHT;
    match weights.iter().position(is_lost) {
        None => Ok(largest),
        Some(row) => Err(Error::SmallWeight {
            row: row + 1,
            value: weights[row],
            largest,
        }),
    }
}

/// The mean square of the response less the offset; refuses one that underflows though some of it is not 0.
pub(super) fn mean_square(p: &[f64], b: &[f64], offset: &[f64]) -> Result<f64> {
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for (i, (p, b)) in p.iter().zip(b).enumerate() {
        let y = b - offset.get(i).copied().unwrap_or(0.0);
        sum += p * y * y;
        largest = largest.max(y.abs());
    }
    if sum < LEAST_SQUARE && largest > 0.0 {
        return Err(Error::TooSmall { largest });
    }
    Ok(sum)
}

/// Refuses columns that are too large beside their ridges, or beside those and the response. `sizes`: those of the columns
/// of `design`, which has the rows that are marked in `keep`.
pub(super) fn check_columns(
    design: &Design,
    sizes: &[f64],
    ridge: &[f64],
    square: f64,
    names: &[String],
    keep: &[bool],
) -> Result<()> {
    let is_large = |j: &usize| {
        let unit = if ridge[*j] > 0.0 { ridge[*j] } else { 1.0 };
        let ratio = sizes[*j] * (sizes[*j] / unit);
        // A product that is not finite is no smaller, either.
        !(ratio <= LARGEST_RATIO && ratio * square <= LARGEST_ATOM)
    };
    let Some(j) = (0..design.columns()).find(is_large) else {
        return check_scaled(design, square, names);
    };
    let entries = design.entries(j);
    let largest = entries.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let (row, value) = largest.unwrap_or((0, 0.0));
    let mut kept = keep.iter().enumerate().filter(|(_, keep)| **keep);
    Err(Error::TooLarge {
        row: kept.nth(row).map_or(row, |(row, _)| row) + 1,
        column: names[j].clone(),
        value,
    })
}

/// Refuses columns whose stored entries are so small that their products underflow before they are scaled.
fn check_scaled(design: &Design, square: f64, names: &[String]) -> Result<()> {
    let least = if design.is_sparse() {
        LEAST_SPARSE
    } else {
        0.0
    };
    // Beside a response of zeros nothing has a slope.
    let least = if square > 0.0 {
        least.max(LEAST_PRODUCT / square.sqrt())
    } else {
        least
    };
    for (j, name) in names.iter().enumerate() {
        // The size of a column that is shown is about 1: only a large divisor, or factor, tells of small entries.
        if design.view(j).1 < 0.01 / least {
            continue;
        }
        let sizes = design.entries(j).map(|(_, value)| value.abs());
        let largest = sizes.fold(0.0, f64::max);
        if largest > 0.0 && largest < least {
            return Err(Error::SmallColumn {
                column: name.clone(),
                largest,
            });
        }
    }
    Ok(())
}
