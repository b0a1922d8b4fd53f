//! The class `Moments`: sums over rows, for the Python class with the same name.

use std::path::PathBuf;

use l0star::problem;
use l0star_record::MomentFile;
use l0star_record::moments::About;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{guarded, refuse};
use crate::{about, design};

/// Moments of some rows; they are immutable.
#[pyclass(frozen, module = "l0star._core")]
pub struct Moments {
    pub file: MomentFile,
}

#[pymethods]
impl Moments {
    /// Computes the moments of the rows of a matrix.
    #[new]
    #[pyo3(signature = (names, target, X, y, weights=None))]
    #[expect(non_snake_case)]
    fn new(
        py: Python<'_>,
        names: Vec<String>,
        target: String,
        X: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<f64>,
        weights: Option<PyReadonlyArray1<f64>>,
    ) -> PyResult<Self> {
        let design = design::copy(X)?;
        let vector = |array: PyReadonlyArray1<f64>| array.as_array().to_vec();
        let (y, weights) = (vector(y), weights.map(vector));
        let sum = || {
            let mut moments = problem::Moments::new(names)?;
            moments.add(&design, &y, weights.as_deref())?;
            Ok::<_, l0star::Error>(moments)
        };
        let moments = py.detach(|| guarded(sum))?.map_err(refuse)?;
        let about = About {
            target,
            ..About::default()
        };
        Ok(Self {
            file: MomentFile { moments, about },
        })
    }

    /// Returns the moments of the rows of both.
    fn plus(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let mut file = self.file.clone();
        let merged = py.detach(|| guarded(|| file.merge(&other.file)))?;
        merged.map_err(PyValueError::new_err)?;
        Ok(Self { file })
    }

    /// Returns the bytes of the file.
    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.file.encode())
    }

    #[staticmethod]
    fn decode(bytes: &[u8]) -> PyResult<Self> {
        let file = MomentFile::parse(bytes).map_err(PyValueError::new_err)?;
        Ok(Self { file })
    }

    fn save(&self, file: PathBuf) -> PyResult<()> {
        let saved = self.file.save(file);
        saved.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[staticmethod]
    fn load(file: PathBuf) -> PyResult<Self> {
        let loaded = MomentFile::load(file);
        let file = loaded.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { file })
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.file.moments.names().to_vec()
    }

    #[getter]
    fn target(&self) -> &str {
        &self.file.about.target
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.file.moments.rows()
    }

    #[getter]
    fn weight(&self) -> f64 {
        self.file.moments.weight()
    }

    #[getter]
    fn error(&self) -> f64 {
        self.file.moments.error()
    }

    /// Returns the means of the features, followed by that of the target.
    #[getter]
    fn means<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.file.moments.means())
    }

    /// Returns the standard deviations, in the order of `means`.
    #[getter]
    fn deviations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.file.moments.deviations())
    }

    /// Returns the fields of a model file that say how features are made from columns, as JSON.
    #[getter]
    fn parts(&self) -> String {
        about::parts(&self.file.about, self.file.moments.names())
    }

    /// Returns the text columns with the positions of the features that stand for their levels.
    #[getter]
    fn texts(&self) -> Vec<(String, Vec<usize>)> {
        about::texts(&self.file.about, self.file.moments.names())
    }
}
