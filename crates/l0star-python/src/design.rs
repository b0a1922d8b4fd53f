//! From a NumPy matrix to the engine's columns.

use l0star::Design;
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Rows and columns of a tile: both sides of a transposition stay in the first-level cache.
const TILE: usize = 32;

/// Copies a matrix of doubles or singles, each column divided by its scale if there is one.
///
/// One copy, whatever the layout: the engine owns its data, since Python code could change the array during a search.
pub fn copy(matrix: &Bound<'_, PyAny>, scale: Option<&[f64]>) -> PyResult<Design> {
    if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<f64>>() {
        return columns(matrix, scale);
    }
    if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<f32>>() {
        return columns(matrix, scale);
    }
    Err(PyTypeError::new_err(
        "X must be a two-dimensional NumPy array of float64 or float32",
    ))
}

fn columns<T: Element + Copy + Into<f64>>(
    matrix: PyReadonlyArray2<T>,
    scale: Option<&[f64]>,
) -> PyResult<Design> {
    let view = matrix.as_array();
    let (rows, columns) = view.dim();
    let mut values = by_column(&view);
    if let Some(scale) = scale {
        if scale.len() != columns {
            return Err(PyTypeError::new_err("scale must have one entry a column"));
        }
        for (column, scale) in values.chunks_exact_mut(rows.max(1)).zip(scale) {
            column.iter_mut().for_each(|value| *value /= scale);
        }
    }
    Design::dense(rows, columns, values).map_err(crate::problem::refuse)
}

/// All columns end to end, with room for the intercept's.
fn by_column<T: Copy + Into<f64>>(view: &ArrayView2<T>) -> Vec<f64> {
    let (rows, columns) = view.dim();
    let mut values = Vec::with_capacity(rows * (columns + 1));
    if let Some(in_order) = view.t().as_slice() {
        values.extend(in_order.iter().map(|value| (*value).into()));
        return values;
    }
    values.resize(rows * columns, 0.0);
    for left in (0..columns).step_by(TILE) {
        let right = columns.min(left + TILE);
        for top in (0..rows).step_by(TILE) {
            for i in top..rows.min(top + TILE) {
                let row = view.row(i);
                for j in left..right {
                    values[j * rows + i] = row[j].into();
                }
            }
        }
    }
    values
}
