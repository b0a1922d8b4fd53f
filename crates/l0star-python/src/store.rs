//! The class `Columns`: a column store, for the Python class `ColumnStore`.

use std::path::PathBuf;

use l0star::Design;
use l0star_data::store::{Precision, Shape};
use l0star_data::{ColumnStore, DataError};
use l0star_record::StoreFile;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::about;
use crate::error::{guarded, refuse};

/// The columns of a file, in place.
#[pyclass(frozen, module = "l0star._core")]
pub struct Columns {
    file: StoreFile,
}

impl Columns {
    /// Returns some columns as a design of the engine.
    pub fn design(&self, places: &[usize]) -> PyResult<Design> {
        for place in places {
            self.check_place(*place)?;
        }
        self.file.design(places).map_err(refuse)
    }

    fn check_place(&self, place: usize) -> PyResult<()> {
        let columns = self.file.store().columns();
        if place < columns {
            return Ok(());
        }
        Err(PyIndexError::new_err(format!(
            "there is no column {place}; the file has {columns} columns, counted from 0."
        )))
    }
}

#[pymethods]
impl Columns {
    /// Opens a file after comparing its checksums.
    #[new]
    fn new(py: Python<'_>, file: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| guarded(|| StoreFile::open(&file, &|_, _| {})))?;
        let file = opened.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { file })
    }

    /// Returns the path, so that another process opens the file itself.
    fn __getnewargs__(&self) -> (PathBuf,) {
        let path = self.file.store().path();
        (std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()),)
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.file.store().names().to_vec()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.file.store().rows()
    }

    /// Returns the target column that was named when the file was written; empty if there was none.
    #[getter]
    fn target(&self) -> &str {
        &self.file.about.target
    }

    /// Returns the labels that 0 and 1 in the target stand for.
    #[getter]
    fn labels(&self) -> Option<[String; 2]> {
        self.file.about.labels.clone()
    }

    /// Returns `f64` or `f32`.
    #[getter]
    fn precision(&self) -> &'static str {
        match self.file.store().precision() {
            Precision::Double => "f64",
            Precision::Single => "f32",
        }
    }

    /// Returns a column in memory.
    fn numbers<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.check_place(place)?;
        Ok(PyArray1::from_vec(py, self.file.store().numbers(place)))
    }

    /// Returns the fields of a model file that say how some features are made from columns, as JSON.
    fn parts(&self, names: Vec<String>) -> String {
        about::parts(&self.file.about, &names)
    }

    /// Returns the text columns with the positions of their features among `names`.
    fn texts(&self, names: Vec<String>) -> Vec<(String, Vec<usize>)> {
        about::texts(&self.file.about, &names)
    }

    /// Fails if the file was changed after it was opened.
    fn check(&self) -> PyResult<()> {
        let unchanged = self.file.store().check_unchanged();
        unchanged.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The source of a failed write: the rows, or the file.
enum Fault {
    Rows(PyErr),
    File(DataError),
}

impl From<DataError> for Fault {
    fn from(error: DataError) -> Self {
        Self::File(error)
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Rows(error)
    }
}

/// Writes a file of `rows` rows, which come in pieces: matrices of doubles, with one column for each name.
#[pyfunction]
pub fn write_columns(
    file: PathBuf,
    names: Vec<String>,
    rows: usize,
    single: bool,
    pieces: &Bound<'_, PyIterator>,
) -> PyResult<()> {
    let shape = Shape {
        names: &names,
        rows,
        precision: if single {
            Precision::Single
        } else {
            Precision::Double
        },
        note: "",
    };
    let written = ColumnStore::write(file, &shape, |file| {
        for piece in pieces {
            let piece = piece?.extract::<PyReadonlyArray2<f64>>()?;
            let columns: Vec<Vec<f64>> = piece
                .as_array()
                .columns()
                .into_iter()
                .map(|own| own.to_vec())
                .collect();
            file.append(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        Ok(())
    });
    written.map_err(|fault| match fault {
        Fault::Rows(error) => error,
        Fault::File(error) => PyValueError::new_err(error.to_string()),
    })
}
