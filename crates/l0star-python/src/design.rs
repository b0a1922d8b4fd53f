//! Converts a NumPy matrix, or the arrays of a SciPy one, to the engine's columns.

use l0star::Design;
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::refuse;
use crate::store::Columns;

/// Rows and columns of a tile, such that both sides of a transposition stay in the first-level cache.
const TILE: usize = 32;

/// Compressed sparse columns: shape, offsets of the columns, rows of the values, values.
type Sparse<'py> = (
    (usize, usize),
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, f64>,
);

/// Copies a matrix: doubles, singles, or compressed sparse columns of doubles. Columns
/// of a store are not copied.
///
/// There is one copy, whatever the layout: the engine owns its data, since Python code could change
/// the array during a search.
pub fn copy(matrix: &Bound<'_, PyAny>) -> PyResult<Design> {
    if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<f64>>() {
        return columns(matrix);
    }
    if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<f32>>() {
        return columns(matrix);
    }
    if let Ok(((rows, columns), starts, indices, values)) = matrix.extract::<Sparse>() {
        let starts = starts.as_array().iter().map(|at| *at as usize).collect();
        let indices = indices.as_array().to_vec();
        let values = values.as_array().to_vec();
        return Design::sparse(rows, columns, starts, indices, values).map_err(refuse);
    }
    if let Ok((store, places)) = matrix.extract::<(PyRef<Columns>, Vec<usize>)>() {
        return store.design(&places);
    }
    Err(PyTypeError::new_err(
        "X must be a two-dimensional NumPy array of float64 or float32, or ((rows, columns), indptr as uint64, \
         indices as uint32, values as float64), or (Columns, places)",
    ))
}

fn columns<T: Element + Copy + Into<f64>>(matrix: PyReadonlyArray2<T>) -> PyResult<Design> {
    let view = matrix.as_array();
    let (rows, columns) = view.dim();
    Design::dense(rows, columns, by_column(&view)).map_err(refuse)
}

/// Returns all columns one after the other, with room for that of the intercept.
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
