//! Moments that were summed elsewhere.

use super::{Moments, block, place};
use crate::error::{Error, Result};
use crate::linalg::double::Double;
use crate::linalg::rounding::U;
use crate::problem::shapes::check_length;

impl Moments {
    /// Moments that were summed elsewhere, in a database for example.
    ///
    /// `means`: of the features, that of the response behind them. `products`: `Σ w (a_i - ā_i)(a_j - ā_j)` of the same columns, a
    /// full square, row by row. `error`: entries are within this share of `√(m_ii m_jj)` of the true ones; bounds hold for every
    /// data set whose moments are that close to these.
    ///
    /// ```
    /// use l0star::problem::Moments;
    ///
    /// // Of the rows (1, 2), (2, 3), (3, 7).
    /// let names = vec!["a".to_owned()];
    /// let moments = Moments::given(names, 3, 3.0, &[2.0, 4.0], &[2.0, 5.0, 5.0, 14.0], 0.0)?;
    /// assert_eq!(moments.rows(), 3);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn given(
        names: Vec<String>,
        rows: u64,
        weight: f64,
        means: &[f64],
        products: &[f64],
        error: f64,
    ) -> Result<Self> {
        let mut moments = Self::new(names)?;
        let columns = moments.means.len();
        check_length("the list of means", means.len(), columns)?;
        check_length(
            "the square of products",
            products.len(),
            columns.saturating_mul(columns),
        )?;
        let refuse = |name, value: f64, range| {
            let value = value.to_string();
            Err(Error::Setting { name, value, range })
        };
        if rows == 0 || !(weight > 0.0 && weight.is_finite()) {
            return refuse(
                "weight",
                weight,
                "moments are of at least one row, and of a finite weight > 0",
            );
        }
        if !(0.0..=1e-3).contains(&error) {
            return refuse(
                "error",
                error,
                "it is a share of the moments, from 0 to 0.001",
            );
        }
        let at = |i: usize, j: usize| products[i * columns + j];
        for (i, mean) in means.iter().enumerate() {
            if !mean.is_finite() {
                return Err(moments.not_finite(i, *mean));
            }
            let is_square = at(i, i) >= 0.0 && at(i, i).is_finite();
            let is_symmetric = (0..i).all(|j| at(i, j) == at(j, i) && at(i, j).is_finite());
            if !(is_square && is_symmetric) {
                return Err(Error::Moments {
                    reason: format!(
                        "the products of column '{}' are not those of data: they must be finite, symmetric, and not \
                         negative on the diagonal",
                        moments.name(i)
                    ),
                });
            }
            moments.means[i] = Double::from(*mean);
            moments.exponents[i] = block::exponent(at(i, i).sqrt());
        }
        for i in 0..columns {
            for j in 0..=i {
                let product = Double::from(at(i, j));
                let (left, right) = (moments.exponents[i], moments.exponents[j]);
                moments.products[place(i, j)] = product.times_power(-left).times_power(-right);
            }
            moments.sizes[i] = moments.products[place(i, i)].high;
        }
        (moments.rows, moments.weight) = (rows, Double::from(weight));
        // The units are powers of two, but a tiny product may lose its last bits to them.
        moments.error = error + U;
        Ok(moments)
    }

    fn not_finite(&self, i: usize, value: f64) -> Error {
        Error::NotFinite {
            row: 1,
            column: self.name(i).to_owned(),
            value,
        }
    }
}
