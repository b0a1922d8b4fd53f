//! The paper's two real instances, from data included in the program.

use std::path::Path;

use crate::csv::parse_csv;
use crate::error::DataError;
use crate::expand::paper_expansion;
use crate::table::Table;

/// A data set of the paper's Section 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealData {
    /// Disease progression of 442 patients, 10 measurements: 65 expanded features.
    Diabetes,
    /// House prices of 506 districts, 13 measurements: 103 expanded features.
    Boston,
}

impl RealData {
    /// Returns the file name, the content and the target.
    fn source(self) -> (&'static str, &'static str, &'static str) {
        match self {
            RealData::Diabetes => (
                "diabetes.csv",
                include_str!("../data/diabetes.csv"),
                "target",
            ),
            RealData::Boston => ("boston.csv", include_str!("../data/boston.csv"), "MEDV"),
        }
    }

    /// Returns the data as published: the features under their own names, then the target.
    pub fn table(self) -> Result<Table, DataError> {
        let (name, text, _) = self.source();
        parse_csv(Path::new(name), text.as_bytes())?.into_table()
    }
}

/// Returns the paper's instance of a data set: expanded features of unit norm, then the response `b` of unit
/// norm; see [`paper_expansion`].
pub fn real_instance(data: RealData) -> Result<Table, DataError> {
    let (_, _, target) = data.source();
    let (features, response) = data.table()?.take_column(target)?;
    paper_expansion(features, &response)
}
