//! The class `Model`: a model file.

use std::path::{Path, PathBuf};

use l0star_data::DataError;
use l0star_report::export::{self, Target};
use numpy::PyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::error::guarded;
use crate::frame::Frame;

/// A fitted model as the command reads and writes it.
#[pyclass(frozen, module = "l0star._core")]
pub struct Model(l0star_record::Model);

fn wrong(error: DataError) -> PyErr {
    match error {
        DataError::Io { .. } | DataError::IsFolder { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Scores of rows, and the columns with texts that the model has never seen, each with the number of its rows.
type Scored<'py> = (Bound<'py, PyArray1<f64>>, Vec<(String, usize)>);
/// Scores of rows for every response, and the columns with unseen texts, as in [`Scored`].
type ScoredEach<'py> = (Vec<Bound<'py, PyArray1<f64>>>, Vec<(String, usize)>);

#[pymethods]
impl Model {
    /// Reads a model from the JSON of its file.
    #[new]
    fn new(json: &str) -> PyResult<Self> {
        let model = l0star_record::Model::parse(Path::new("the model"), json.as_bytes());
        model.map(Self).map_err(wrong)
    }

    /// Reads a model from its file.
    #[staticmethod]
    fn load(file: PathBuf) -> PyResult<Self> {
        l0star_record::Model::load(file).map(Self).map_err(wrong)
    }

    /// Writes the file, whole or not at all.
    fn save(&self, file: PathBuf) -> PyResult<()> {
        self.0.save(file).map_err(wrong)
    }

    /// Returns the JSON of the file.
    #[getter]
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the columns that a prediction needs, the offset last.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns().into_iter().map(str::to_owned).collect()
    }

    /// Returns the scores of the rows of a frame, bit for bit those of the command.
    fn predict<'py>(&self, py: Python<'py>, frame: &Frame) -> PyResult<Scored<'py>> {
        let predict = || self.0.predict_seen(&frame.0);
        let (scores, unseen) = py.detach(|| guarded(predict))?.map_err(wrong)?;
        Ok((PyArray1::from_vec(py, scores), unseen))
    }

    /// Returns the predictions of every response for the rows of a frame.
    fn predict_each<'py>(&self, py: Python<'py>, frame: &Frame) -> PyResult<ScoredEach<'py>> {
        let predict = || self.0.predict_each(&frame.0);
        let (all, unseen) = py.detach(|| guarded(predict))?.map_err(wrong)?;
        let all = all.into_iter().map(|scores| PyArray1::from_vec(py, scores));
        Ok((all.collect(), unseen))
    }

    /// Returns the model as SQL or as Python code, or the score alone if `expression` is set.
    #[pyo3(signature = (to, *, table, expression))]
    fn export(&self, to: &str, table: &str, expression: bool) -> PyResult<String> {
        let to: Target = to
            .parse()
            .map_err(|why| PyValueError::new_err(format!("to={to:?}: {why}")))?;
        let whole = export::export(&self.0, to, table).map_err(PyValueError::new_err)?;
        if !expression {
            return Ok(whole);
        }
        let score = export::expression(&self.0, to).map_err(PyValueError::new_err)?;
        score.ok_or_else(|| PyValueError::new_err("an expression is for SQL; use to=\"sql\""))
    }
}
