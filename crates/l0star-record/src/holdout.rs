//! Draws the rows that are held out and not used in a fit.

use crate::cv::folds::{distinct, shuffle};

/// The reason why no rows can be held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HoldoutError {
    /// Fewer than two rows of positive weight.
    FewRows(usize),
    /// A label or class has fewer than two rows, so that one part would lack it.
    FewOfLabel {
        /// The label (±1) or the number of the class (from 0).
        label: f64,
        /// Number of rows with this label or class.
        rows: usize,
    },
}

/// Draws the rows to hold out: `share` of the rows of positive weight, at least one and not all. With labels
/// (±1) or class numbers, the share is drawn from each of them.
///
/// The same seed gives the same rows.
pub fn draw(
    response: &[f64],
    weights: Option<&[f64]>,
    has_labels: bool,
    share: f64,
    seed: u64,
) -> Result<Vec<bool>, HoldoutError> {
    let counts = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
    let mut rows: Vec<usize> = (0..response.len()).filter(counts).collect();
    shuffle(&mut rows, seed);
    let mut held = vec![false; response.len()];
    let mut hold = |rows: &[usize]| {
        let wanted = (share * rows.len() as f64).round() as usize;
        for row in &rows[..wanted.clamp(1, rows.len() - 1)] {
            held[*row] = true;
        }
    };
    if !has_labels {
        if rows.len() < 2 {
            return Err(HoldoutError::FewRows(rows.len()));
        }
        hold(&rows);
        return Ok(held);
    }
    for label in distinct(response) {
        let own = rows.iter().copied();
        let own: Vec<usize> = own.filter(|row| response[*row] == label).collect();
        if own.len() < 2 {
            return Err(HoldoutError::FewOfLabel {
                label,
                rows: own.len(),
            });
        }
        hold(&own);
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(held: &[bool]) -> usize {
        held.iter().filter(|held| **held).count()
    }

    #[test]
    fn a_share_of_the_rows_that_count_the_same_for_the_same_seed() {
        let response: Vec<f64> = (0..101).map(f64::from).collect();
        let held = draw(&response, None, false, 0.2, 7).unwrap();
        assert_eq!(count(&held), 20);
        assert_eq!(draw(&response, None, false, 0.2, 7).unwrap(), held);
        assert_ne!(draw(&response, None, false, 0.2, 8).unwrap(), held);
        let mut weights = vec![1.0; 101];
        weights[..51].fill(0.0);
        let held = draw(&response, Some(&weights), false, 0.2, 7).unwrap();
        assert_eq!((count(&held[..51]), count(&held)), (0, 10));
    }

    #[test]
    fn each_label_is_on_both_sides() {
        let response: Vec<f64> = (0..50).map(|i| if i < 4 { 1.0 } else { -1.0 }).collect();
        for (share, positives, all) in [(0.25, 1, 13), (0.01, 1, 2), (0.99, 3, 48)] {
            let held = draw(&response, None, true, share, 1).unwrap();
            assert_eq!((count(&held[..4]), count(&held)), (positives, all));
        }
        let one = draw(&response[3..], None, true, 0.2, 1);
        let few = HoldoutError::FewOfLabel {
            label: 1.0,
            rows: 1,
        };
        assert_eq!(one, Err(few));
        assert_eq!(
            draw(&[1.0], None, false, 0.5, 1),
            Err(HoldoutError::FewRows(1))
        );
    }
}
