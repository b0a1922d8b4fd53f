//! Synthetic instances: the paper's Huber and logistic families, the AR(1) family of the best-subset
//! literature, and counts, amounts, times until an event, several responses and classes on AR(1) designs.
//!
//! An instance depends only on its arguments and its seed, and every machine generates the same bits. The
//! random stream ([`rng::Stream`]) uses only integer arithmetic, `+ − × ÷ √` and the software `log` and `exp`
//! of `libm`, and sums run left to right. Each family documents the order of its draws.

mod ar;
mod huber;
mod log_link;
mod logistic;
pub mod rng;
mod several;
mod survival;

pub use ar::ar;
pub use huber::huber;
pub use log_link::{gamma, poisson};
pub use logistic::logistic;
pub use several::{classes, responses};
pub use survival::cox;

use crate::error::DataError;
use crate::table::Table;

/// A generated problem with its known solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    table: Table,
    support: Vec<usize>,
    k: usize,
}

impl Instance {
    /// Creates an instance whose columns are named `x1 … xd` and `b`.
    fn new(
        design: Vec<f64>,
        response: Vec<f64>,
        support: Vec<usize>,
    ) -> Result<Instance, DataError> {
        let n = response.len();
        let d = design.len() / n.max(1);
        let mut names: Vec<String> = (1..=d).map(|j| format!("x{j}")).collect();
        names.push("b".into());
        let mut values = design;
        values.extend_from_slice(&response);
        let k = support.len();
        Ok(Instance {
            table: Table::new(names, n, values)?,
            support,
            k,
        })
    }

    /// Returns the features `x1 … xd`, then the response `b`.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the table by value.
    pub fn into_table(self) -> Table {
        self.table
    }

    /// Returns the true support, ascending, counted from 0.
    pub fn support(&self) -> &[usize] {
        &self.support
    }

    /// Returns the size of the true support.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns the design `A`, column-major, `n` rows.
    pub fn design(&self) -> &[f64] {
        self.table.split_last().0
    }

    /// Returns the response `b`.
    pub fn response(&self) -> &[f64] {
        self.table.split_last().1
    }
}

/// Returns the paper's sparsity: `k = d / 10`, at least 1.
pub fn default_k(d: usize) -> usize {
    (d / 10).max(1)
}

/// Returns the paper's sample size: `n = ⌊10 k ln d⌋`, at least 1.
pub fn default_n(d: usize, k: usize) -> usize {
    let n = 10.0 * k as f64 * libm::log(d as f64);
    // A cast of a float saturates: d = 0 gives 0 here, and then 1.
    (n as usize).max(1)
}

/// Checks `d`, `k` and `n`, and reserves memory for the `n x d` design and the response.
fn empty_design(d: usize, k: usize, n: usize) -> Result<Vec<f64>, DataError> {
    if d == 0 {
        return Err(DataError::argument(
            "d",
            d,
            "there must be at least one feature",
        ));
    }
    if k == 0 || k > d {
        let rule = format!("it must be at least 1 and at most d = {d}");
        return Err(DataError::argument("k", k, rule));
    }
    if n == 0 {
        return Err(DataError::argument(
            "n",
            n,
            "there must be at least one row",
        ));
    }
    let too_large =
        || DataError::argument("n", n, format!("{n} x {d} numbers do not fit in memory"));
    let cells = d
        .checked_add(1)
        .and_then(|c| c.checked_mul(n))
        .ok_or_else(too_large)?;
    let mut design = Vec::new();
    design.try_reserve_exact(cells).map_err(|_| too_large())?;
    design.resize(cells - n, 0.0);
    Ok(design)
}

/// Scales each column of `n` values to unit ℓ2 norm.
fn normalise_columns(design: &mut [f64], n: usize) {
    design
        .chunks_exact_mut(n)
        .for_each(crate::expand::normalise);
}

/// Computes `A x` for the sparse `x` that has the value `weight` on `support`, column by column.
fn times_indicator(design: &[f64], n: usize, support: &[usize], weight: f64) -> Vec<f64> {
    let mut product = vec![0.0; n];
    for &j in support {
        add_multiple(&mut product, weight, &design[j * n..(j + 1) * n]);
    }
    product
}

/// Computes `y += a x`.
fn add_multiple(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Scales `v` so that its norm is `norm`; a zero vector stays zero.
fn rescale(v: &mut [f64], norm: f64) {
    let own = crate::expand::norm(v);
    if own > 0.0 {
        let factor = norm / own;
        v.iter_mut().for_each(|entry| *entry *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_papers() {
        assert_eq!(default_k(100), 10);
        assert_eq!(default_k(5), 1);
        assert_eq!(default_n(100, 10), 460);
        assert_eq!(default_n(50, 5), 195);
        assert_eq!(default_n(1, 1), 1);
        assert_eq!(default_n(0, 0), 1);
    }

    #[test]
    fn arguments_out_of_range_are_named() {
        let refused = |d, k, n| empty_design(d, k, n).unwrap_err().to_string();
        assert!(refused(0, 1, 1).starts_with("d = 0 is not allowed"));
        assert!(refused(5, 0, 1).starts_with("k = 0 is not allowed"));
        assert!(refused(5, 6, 1).contains("k = 6 is not allowed: it must be at least 1"));
        assert!(refused(5, 1, 0).starts_with("n = 0 is not allowed"));
        assert!(refused(usize::MAX, 1, 9).contains("do not fit in memory"));
        assert!(refused(usize::MAX / 64, 1, 2).contains("do not fit in memory"));
    }
}
