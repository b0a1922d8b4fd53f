//! Tables with text, missing values and dates: the classes `Frame` and `Prepared`.

use l0star_data::reading::{DatesAs, Unsettled, Wish};
use l0star_data::{DataError, DateOrder, Indicator, RawColumn, RawTable, Trouble, indicators};
use l0star_record::fields::ByName;
use l0star_report::{Face, troubles};
use numpy::ndarray::Array2;
use numpy::{PyArray2, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

/// Columns of numbers and text, as the command reads them from a file.
#[pyclass(frozen, module = "l0star._core")]
pub struct Frame(pub RawTable);

/// Features made from the columns of a frame.
#[pyclass(frozen, module = "l0star._core")]
pub struct Prepared {
    names: Vec<String>,
    rows: usize,
    values: Vec<f64>,
    /// The names of text columns, with the positions of their features.
    texts: Vec<(String, Vec<usize>)>,
    /// The column of the frame from which each feature is made.
    sources: Vec<usize>,
    /// The fields of a model file that describe how the features were made.
    parts: String,
    notes: Vec<String>,
}

fn wrong(error: DataError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Frame {
    /// A column is an array of float64, with NaN for a missing value, or a list of texts with an array of
    /// uint32 that holds the index of each row's text.
    #[new]
    fn new(names: Vec<String>, columns: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        type Texts<'py> = (Vec<String>, PyReadonlyArray1<'py, u32>);
        let column = |column: &Bound<'_, PyAny>| {
            if let Ok(values) = column.extract::<PyReadonlyArray1<f64>>() {
                return Ok(RawColumn::Number(values.as_array().to_vec()));
            }
            let (levels, codes): Texts = column.extract().map_err(|_| {
                PyTypeError::new_err(
                    "a column is an array of float64, or (texts, an array of uint32)",
                )
            })?;
            let codes = codes.as_array().to_vec();
            Ok(RawColumn::Text { levels, codes })
        };
        let columns = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
        RawTable::in_memory("X", names, columns)
            .map(Self)
            .map_err(wrong)
    }

    /// Makes features from the columns, as the command does; those of `exclude` are omitted.
    #[pyo3(signature = (*, exclude, rare, impute, as_number, as_text, dates, date_order))]
    #[expect(clippy::too_many_arguments)]
    fn prepare(
        &self,
        exclude: Vec<String>,
        rare: usize,
        impute: bool,
        as_number: Vec<String>,
        as_text: Vec<String>,
        dates: Option<&str>,
        date_order: Option<&str>,
    ) -> PyResult<Prepared> {
        let mut table = self.0.clone();
        let names = table.names().to_vec();
        let mut base: Vec<String> = names
            .iter()
            .filter(|name| !exclude.contains(name))
            .cloned()
            .collect();
        let wish = Wish {
            decimal_comma: false,
            numbers: as_number,
            texts: as_text,
            dates: dates.map(|word| {
                if word == "drop" {
                    DatesAs::Dropped
                } else {
                    DatesAs::Days
                }
            }),
            order: date_order.map(|word| {
                if word == "mdy" {
                    DateOrder::Mdy
                } else {
                    DateOrder::Dmy
                }
            }),
        };
        let (reading, words) = wish.settle(&mut table, &mut base).map_err(refused)?;
        let mut found = table.troubles(&base, rare, &reading.texts).map_err(wrong)?;
        found.retain(|own: &Trouble| {
            !(impute && own.problem.is_gap() && own.problem.as_str() == "missing")
        });
        if found.iter().any(|own| !own.problem.is_harmless()) {
            let lines = troubles::refusal("X", &found, Face::Python);
            return Err(PyValueError::new_err(lines.join("\n")));
        }
        let mut imputed = Vec::new();
        for name in &base {
            if let Some(mean) = table.impute_mean(name).map_err(wrong)? {
                imputed.push((name.clone(), mean));
            }
        }
        let (mut features, mut texts, mut sources, mut levels) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for name in &base {
            let source = table.position(name).map_err(wrong)?;
            let column = &table.columns()[source];
            if !matches!(column, RawColumn::Text { .. }) || column.is_boolean() {
                features.push(name.clone());
                sources.push(source);
                continue;
            }
            let own = table.levels(name, rare).map_err(wrong)?;
            let kept: Vec<&Indicator> = indicators::features(&own).iter().collect();
            let all: Vec<&Indicator> = own.iter().collect();
            table.add_indicators(name, &all, &kept).map_err(wrong)?;
            let first = features.len();
            features.extend(kept.iter().map(|level| level.name.clone()));
            sources.resize(features.len(), source);
            texts.push((name.clone(), (first..features.len()).collect()));
            levels.extend(own);
        }
        let parts = json!({"indicators": levels, "imputed": ByName(imputed), "reading": reading});
        let (names, rows, values) = table.into_numeric(&features).map_err(wrong)?.into_parts();
        Ok(Prepared {
            names,
            rows,
            values,
            texts,
            sources,
            parts: parts.to_string(),
            notes: words.iter().map(troubles::counted_as_missing).collect(),
        })
    }
}

fn refused(why: Unsettled) -> PyErr {
    PyValueError::new_err(match why {
        Unsettled::Data(error) => error.to_string(),
        Unsettled::Both(column) => format!(
            "column {column:?} is both in as_number and in as_text; take it out of one of them"
        ),
        Unsettled::Ambiguous(trouble) => format!(
            "dates in column {:?}, such as {:?}, may begin with the day or with the month; say which with date_order=\"dmy\" or date_order=\"mdy\"",
            trouble.column, trouble.example
        ),
        Unsettled::NothingLeft => {
            "dates=\"drop\" leaves no features; use dates=\"days\"".to_owned()
        }
    })
}

#[pymethods]
impl Prepared {
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Returns the features, one column each.
    #[getter]
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let by_column = Array2::from_shape_vec((self.names.len(), self.rows), self.values.clone());
        let by_column = by_column.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(by_column.reversed_axes().to_pyarray(py))
    }

    /// Returns the text columns with the features that stand for their levels.
    #[getter]
    fn texts(&self) -> Vec<(String, Vec<usize>)> {
        self.texts.clone()
    }

    /// Returns the column of the frame from which each feature is made.
    #[getter]
    fn sources(&self) -> Vec<usize> {
        self.sources.clone()
    }

    /// Returns the fields of a model file that describe how the features were made, as JSON.
    #[getter]
    fn parts(&self) -> String {
        self.parts.clone()
    }

    /// Returns notes for the user about the conversion.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}
