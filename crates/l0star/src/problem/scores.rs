//! [`Scores`]: rows with more than one score, and how the engine's columns are numbered then.

use super::{Design, Problem};

/// How the columns of a problem belong to features and responses, where a row has several scores.
///
/// Column `r d + j` is feature j of response r, d the number of features. Behind them are the intercepts, one for each response or,
/// of classes, for each but the last.
#[derive(Debug, Clone)]
pub(crate) struct Scores {
    /// How many responses or classes there are.
    pub count: usize,
    /// How many columns the data has.
    pub features: usize,
    /// How many of the responses have an intercept.
    pub intercepts: usize,
    /// The unit of each response, a power of two.
    pub units: Vec<f64>,
    /// How far each response is moved, exactly: its intercept takes that up.
    pub centres: Vec<f64>,
    /// The columns of the data as the engine has them.
    pub base: Design,
}

impl Scores {
    /// The response that a column belongs to.
    pub(crate) fn block(&self, j: usize) -> usize {
        let own = self.features * self.count;
        if j < own { j / self.features } else { j - own }
    }
}

impl Problem {
    /// How many numbers are predicted for a row: as many as there are responses or classes.
    pub fn outputs(&self) -> usize {
        self.scores.as_ref().map_or(1, |scores| scores.count)
    }

    /// How many columns the data has. With [`Problem::outputs`] of m, a model has m times as many coefficients: those of response r
    /// are the r-th part.
    pub fn features(&self) -> usize {
        self.columns() / self.outputs()
    }

    /// The responses of the rows of positive weight, of one of several responses, in the units of the data.
    pub fn response_of(&self, output: usize) -> Vec<f64> {
        let n = self.rows() / self.outputs();
        let (unit, centre) = self.scores().map_or((1.0, 0.0), |scores| {
            (scores.units[output], scores.centres[output])
        });
        let own = self.b[output * n..(output + 1) * n].iter();
        own.map(|b| b * unit + centre).collect()
    }

    /// The offset of one of several responses or classes in these rows, in the units of the data; `None` without offsets.
    pub fn offset_of(&self, output: usize) -> Option<Vec<f64>> {
        let n = self.rows() / self.outputs();
        let unit = self.scores().map_or(1.0, |scores| scores.units[output]);
        let own = self.offset.chunks_exact(n).nth(output)?;
        Some(own.iter().map(|o| o * unit).collect())
    }

    /// The columns of the data that a feature has: those of [`Problem::members`] that are of the first response.
    pub(crate) fn data_columns(&self, leader: usize) -> Vec<usize> {
        let mut columns = self.members(leader);
        columns.retain(|j| *j < self.features());
        columns
    }

    /// How rows with several scores are laid out.
    pub(crate) fn scores(&self) -> Option<&Scores> {
        self.scores.as_deref()
    }

    /// The response or class that a column of the engine belongs to.
    pub(crate) fn block(&self, j: usize) -> usize {
        self.scores().map_or(0, |scores| scores.block(j))
    }

    /// The column of the data, and the unit of the response, that a column of the engine belongs to.
    pub(crate) fn origin(&self, j: usize) -> (usize, f64) {
        match self.scores() {
            None => (j, 1.0),
            Some(scores) => (self.design.place(j).0, scores.units[scores.block(j)]),
        }
    }

    /// The mean squared residual of each response, by weight, for coefficients on the data's own scale.
    pub fn mean_squares(&self, x: &[(usize, f64)]) -> Vec<f64> {
        let mut z = vec![0.0; self.rows()];
        self.predict_into(&self.inward(x), &mut z);
        let n = self.rows() / self.outputs();
        let rows = z.chunks_exact(n).zip(self.b.chunks_exact(n));
        let rows = rows.zip(self.p.chunks_exact(n)).enumerate();
        rows.map(|(r, ((z, b), p))| {
            let unit = self.scores().map_or(1.0, |scores| scores.units[r]);
            let squares = z
                .iter()
                .zip(b)
                .zip(p)
                .map(|((z, b), p)| p * (z - b) * (z - b));
            let total: f64 = p.iter().sum();
            squares.sum::<f64>() / total * (unit * unit)
        })
        .collect()
    }
}
