//! The least objective of a set of columns, and the objective of a model.

use crate::newton::ActiveBounds;
use crate::problem::{ExactColumn, Least};
use crate::{Dyadic, Problem, curves, piecewise, smooth};

impl Problem {
    /// The least objective over the columns of a set; `None` if it was not found, which is a fault of this crate.
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

    /// The objective of a model, given by its columns and their coefficients.
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
        let mut error = Dyadic::zero();
        for (i, row) in self.rows.iter().enumerate() {
            let terms = x.iter().map(|(column, x)| &column.entries[i] * x);
            let z = &terms.sum::<Dyadic>() + &row.o;
            let loss = if curves::is_smooth(&self.loss) {
                let (loss, within) = curves::value(&self.loss, &z, &row.b);
                error = &error + &(&row.p * &within);
                loss
            } else {
                piecewise::value(&self.loss, &z, &row.b)
            };
            sum = &sum + &(&row.p * &loss);
        }
        Least {
            low: (&sum - &error).into(),
            high: (&sum + &error).into(),
        }
    }
}
