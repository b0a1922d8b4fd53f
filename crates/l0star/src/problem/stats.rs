//! Means and deviations of columns: what standardising divides by.

use super::{Design, Problem};

/// Variances outside these are computed anew in a unit that suits the column: squares over- and underflow.
const SAFE: std::ops::RangeInclusive<f64> = 1e-280..=1e280;

/// Deviations of so many units in the last place of the mean are those of a constant.
const LAST_PLACES: f64 = 16.0;

/// Mean and standard deviation of a column over the rows, by weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnStats {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// Whether the deviation is what rounding leaves of a constant.
    pub is_constant: bool,
}

impl ColumnStats {
    /// Of every column, as it is seen; `weights`: one a row, of any sum, `None` for equal ones.
    ///
    /// ```
    /// use l0star::Design;
    /// use l0star::problem::ColumnStats;
    ///
    /// let design = Design::dense(3, 2, vec![0.0, 2.0, 4.0, 7.0, 7.0, 7.0])?;
    /// let moments = ColumnStats::of(&design, Some(&[1.0, 2.0, 1.0]));
    /// assert_eq!((moments[0].mean, moments[0].sd), (2.0, 2f64.sqrt()));
    /// assert!(moments[1].is_constant);
    /// assert_eq!(moments[1].scale(), 1.0);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn of(design: &Design, weights: Option<&[f64]>) -> Vec<Self> {
        Self::of_columns(design, 0..design.columns(), weights)
    }

    /// What is subtracted from a column and what it is divided by to compare it with others: its mean and its deviation
    /// where a constant does not count (`centred`), else nothing and its root mean square.
    pub fn frame(&self, centred: bool) -> (f64, f64) {
        if centred {
            (self.mean, self.sd)
        } else {
            (0.0, self.sd.hypot(self.mean))
        }
    }

    /// Of some of the columns.
    pub(super) fn of_columns(
        design: &Design,
        columns: impl IntoIterator<Item = usize>,
        weights: Option<&[f64]>,
    ) -> Vec<Self> {
        let rows = design.rows();
        let shares: Vec<f64> = match weights {
            None => vec![1.0 / rows as f64; rows],
            Some(weights) => {
                let total: f64 = weights.iter().sum();
                weights.iter().map(|weight| weight / total).collect()
            }
        };
        let stored = |j: usize| -> f64 { design.entries(j).map(|(row, _)| shares[row]).sum() };
        // The same for all dense columns.
        let all = (!design.is_sparse() && design.columns() > 0).then(|| stored(0));
        let column = |j: usize| {
            // Entries that are not stored are zeros; shares need not add up to 1 exactly.
            let zeros = 1.0 - all.unwrap_or_else(|| stored(j));
            let is_rounding = zeros <= rows as f64 * f64::EPSILON;
            Self::of_column(design, j, &shares, if is_rounding { 0.0 } else { zeros })
        };
        columns.into_iter().map(column).collect()
    }

    /// `zeros`: the share of the rows that are not stored.
    fn of_column(design: &Design, j: usize, shares: &[f64], zeros: f64) -> Self {
        let (centre, scale) = design.view(j);
        let seen = |v: f64| (v - centre) * scale;
        let zero = if zeros > 0.0 { seen(0.0) } else { 0.0 };
        let in_unit = |unit: f64| {
            let entries = || {
                design
                    .entries(j)
                    .map(|(row, v)| (shares[row], seen(v) * unit))
            };
            let zero = zero * unit;
            let about = entries().map(|(share, v)| share * v).sum::<f64>() + zeros * zero;
            // What that sum has lost by rounding, and the spread about it.
            let (mut left, mut spread) = (zeros * (zero - about), zeros * (zero - about).powi(2));
            for (share, v) in entries() {
                let way = v - about;
                left += share * way;
                spread += share * (way * way);
            }
            let mean = about + left;
            let variance = (spread - left * left).max(0.0);
            // What rounding leaves of a constant: entries that differ in their last places.
            let n = design.rows() as f64;
            let rounding = n * f64::EPSILON * spread + (LAST_PLACES * mean * f64::EPSILON).powi(2);
            let moments = Self {
                mean: mean / unit,
                sd: variance.sqrt() / unit,
                is_constant: variance <= rounding,
            };
            (moments, SAFE.contains(&variance))
        };
        let (moments, is_safe) = in_unit(1.0);
        if is_safe {
            return moments;
        }
        let values = design.entries(j).map(|(_, v)| seen(v).abs());
        let largest = values.fold(zero.abs(), f64::max);
        // A power of two: nothing rounds.
        let exponent = largest.log2().clamp(-1000.0, 1000.0) as i32;
        in_unit(2f64.powi(-exponent)).0
    }

    /// The standard deviation, or 1 for a constant: what a column can be divided by.
    pub fn scale(&self) -> f64 {
        if self.is_constant { 1.0 } else { self.sd }
    }
}

impl Problem {
    /// The standard deviations of some data columns over the rows, by weight; 0 for a constant.
    ///
    /// A coefficient times the deviation of its column is comparable across columns of different units: it is how much the
    /// prediction changes when the column changes by one standard deviation.
    ///
    /// ```
    /// use l0star::{Design, Problem};
    ///
    /// let design = Design::dense(3, 2, vec![0.0, 2.0, 4.0, 7.0, 7.0, 7.0])?;
    /// let problem = Problem::builder(design, vec![1.0, 2.0, 3.0])
    ///     .weights(vec![1.0, 2.0, 1.0])
    ///     .k(1)
    ///     .build()?;
    /// assert_eq!(problem.deviations(&[1, 0]), [0.0, 2f64.sqrt()]);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn deviations(&self, columns: &[usize]) -> Vec<f64> {
        let moments = match &self.summary {
            Some(summary) => columns.iter().map(|j| summary.stats[*j]).collect(),
            None => {
                let columns = columns.iter().map(|j| self.origin(*j).0);
                let rows = self.design().rows();
                ColumnStats::of_columns(self.design(), columns, Some(&self.p[..rows]))
            }
        };
        let deviation = |moments: &ColumnStats| if moments.is_constant { 0.0 } else { moments.sd };
        moments.iter().map(deviation).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_and_dense_columns_have_the_same_moments() {
        let dense = Design::dense(4, 1, vec![0.0, 2.0, 0.0, 6.0]).unwrap();
        let sparse = Design::sparse(4, 1, vec![0, 2], vec![1, 3], vec![2.0, 6.0]).unwrap();
        for weights in [None, Some(&[1.0, 2.0, 0.5, 0.5][..])] {
            for (centre, scale) in [(0.0, 1.0), (3.0, -0.5)] {
                let of = |design: &Design| {
                    let seen = design.clone().with_view(vec![centre], vec![scale]);
                    ColumnStats::of(&seen.unwrap(), weights)[0]
                };
                let (a, b, plain) = (of(&dense), of(&sparse), ColumnStats::of(&dense, weights)[0]);
                assert!((a.mean - b.mean).abs() < 1e-15 && (a.sd - b.sd).abs() < 1e-15);
                assert!((a.mean - (plain.mean - centre) * scale).abs() < 1e-15);
                assert!((a.sd - plain.sd * scale.abs()).abs() < 1e-15);
            }
        }
        let plain = ColumnStats::of(&dense, None)[0];
        assert_eq!((plain.mean, plain.sd), (2.0, 6.0f64.sqrt()));
    }

    #[test]
    fn a_constant_has_the_scale_one() {
        let design = Design::dense(3, 3, vec![0.1, 0.1, 0.1, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
        let moments = ColumnStats::of(&design.unwrap(), None);
        assert_eq!(moments[0].scale(), 1.0);
        assert!(moments[1].scale() < 1.0);
        assert_eq!(moments[2].scale(), 1.0);
    }

    /// Shares of the rows add up to 1 only up to rounding; what is missing is no row of zeros.
    #[test]
    fn weights_do_not_hide_a_constant() {
        for n in 2..60 {
            let weights: Vec<f64> = (0..n).map(|i| 1.0 + (1.7 * i as f64).sin()).collect();
            let indices = (0..n as u32).collect();
            let designs = [
                Design::dense(n, 1, vec![3.7; n]).unwrap(),
                Design::sparse(n, 1, vec![0, n], indices, vec![3.7; n]).unwrap(),
            ];
            for design in designs {
                assert!(
                    ColumnStats::of(&design, Some(&weights))[0].is_constant,
                    "{n}"
                );
            }
        }
    }

    #[test]
    fn squares_that_leave_the_range_of_floats_do_no_harm() {
        let values = [1.0, 2.0, 4.0, 7.0];
        let plain = ColumnStats::of(&Design::dense(4, 1, values.to_vec()).unwrap(), None)[0];
        for unit in [2f64.powi(600), 2f64.powi(-600)] {
            let column = values.iter().map(|v| v * unit).collect();
            let moments = ColumnStats::of(&Design::dense(4, 1, column).unwrap(), None)[0];
            assert_eq!(
                (moments.mean, moments.sd),
                (plain.mean * unit, plain.sd * unit)
            );
            let constant = Design::dense(3, 1, vec![0.1 * unit; 3]).unwrap();
            assert!(ColumnStats::of(&constant, None)[0].is_constant);
        }
    }
}
