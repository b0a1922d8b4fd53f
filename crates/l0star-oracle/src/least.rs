//! The least objective of a set of columns, and the objective of a model.

use crate::newton::ActiveBounds;
use crate::problem::{ExactColumn, ExactRow, Least};
use crate::{Dyadic, Problem, curves, piecewise, smooth};

impl Problem {
    /// Computes the least objective over the columns of a set; `None` if it was not found,
    /// which is a bug in this crate.
    pub fn least(&self, set: &[usize]) -> Option<Least> {
        let columns: Vec<&ExactColumn> = set.iter().map(|j| &self.columns[*j]).collect();
        ActiveBounds::all(self, &columns)
            .into_iter()
            .find_map(|face| {
                if curves::is_smooth(&self.loss) {
                    smooth::least(&face)
                } else {
                    piecewise::least(&face)
                }
            })
    }

    /// Computes the objective of a model, given by its columns and their coefficients.
    pub fn objective(&self, model: &[(usize, f64)]) -> Least {
        let x: Vec<(&ExactColumn, Dyadic)> = model
            .iter()
            .map(|(j, x)| {
                let column = &self.columns[*j];
                (column, Dyadic::of(*x).shifted(column.power))
            })
            .collect();
        let square = |(column, x): &(&ExactColumn, Dyadic)| (&column.ridge * &(x * x)).shifted(-1);
        let mut sum: Dyadic = x.iter().map(square).sum();
        let predict = |(i, row): (usize, &ExactRow)| {
            let terms = x.iter().map(|(column, x)| &column.entries[i] * x);
            &terms.sum::<Dyadic>() + &row.o
        };
        let z: Vec<Dyadic> = self.rows.iter().enumerate().map(predict).collect();
        let (losses, error) = if curves::is_smooth(&self.loss) {
            curves::total(self, &z)
        } else {
            let rows = z.iter().zip(&self.rows);
            let own = rows.map(|(z, row)| &row.p * &piecewise::value(&self.loss, z, &row.b));
            (own.sum(), Dyadic::zero())
        };
        sum = &sum + &losses;
        Least {
            low: (&sum - &error).into(),
            high: (&sum + &error).into(),
        }
    }
}
