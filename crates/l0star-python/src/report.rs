//! The HTML page of a result, identical to that of the command.

use std::path::PathBuf;

use l0star_data::DataError;
use l0star_record::Model;
use l0star_record::metrics::Rows;
use l0star_report::Face;
use l0star_report::page::{self, CvChart, CvPoint, FoldModel, Page, PathChart, PathPoint, Trace};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::error::guarded;
use crate::survival::Followed;

/// Scores, targets and weights of the rows.
type RowArrays<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    Option<PyReadonlyArray1<'py, f64>>,
);

/// A size of a path: k, status, objective, lower bound, (AIC, BIC, EBIC), features.
type PathRow = (
    usize,
    String,
    f64,
    Option<f64>,
    [Option<f64>; 3],
    Vec<String>,
);

/// A candidate: k, ridge, price, mean number of features, mean score, standard error, and whether it
/// is the choice and the best.
type CvRow = (
    usize,
    f64,
    f64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    bool,
    bool,
);

/// The score of cross-validation, its candidates, and for each fold its score and the features at the choice.
type CvRows = (String, Vec<CvRow>, Vec<(Option<f64>, Vec<String>)>);

fn refuse(error: DataError) -> PyErr {
    match error {
        DataError::Io { .. } | DataError::IsFolder { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Writes the page of a model, which is given as the JSON of a model file.
///
/// `rows` are scores, targets and weights, and `events` says which targets are event times. `trace` has rows of
/// (seconds, objective, lower bound, nodes). `path` is a criterion, the size that it chooses, and all sizes.
/// `cv` has the scores of cross-validation.
#[pyfunction]
#[pyo3(signature = (file, model, *, rows=None, followed=None, strata=Vec::new(), trace=None, path=None, cv=None))]
#[expect(clippy::too_many_arguments)]
pub fn report(
    file: PathBuf,
    model: &str,
    rows: Option<RowArrays<'_>>,
    followed: Option<Followed>,
    strata: Vec<String>,
    trace: Option<PyReadonlyArray2<'_, f64>>,
    path: Option<(String, usize, Vec<PathRow>)>,
    cv: Option<CvRows>,
) -> PyResult<()> {
    let model = Model::parse(&file, model.as_bytes()).map_err(refuse)?;
    let vector = |array: &PyReadonlyArray1<f64>| array.as_array().to_vec();
    let rows = rows.map(|(scores, response, weights)| {
        (
            vector(&scores),
            vector(&response),
            weights.as_ref().map(vector),
        )
    });
    let rows = rows.as_ref().map(|(scores, response, weights)| Rows {
        scores,
        response,
        weights: weights.as_deref(),
        offset: None,
        times: followed
            .as_ref()
            .map(|followed| followed.times(&strata))
            .unwrap_or_default(),
    });
    let trace = trace.map(|trace| {
        let rows = trace.as_array();
        let rows = rows.rows();
        Trace::of(rows.into_iter().map(|row| [row[0], row[1], row[2], row[3]]))
    });
    let path = path.as_ref().map(|(criterion, chosen, sizes)| PathChart {
        criterion,
        chosen: *chosen,
        points: sizes.iter().map(point).collect(),
    });
    let page = Page {
        rows,
        trace: trace.as_ref(),
        path,
        cv: cv.map(scores),
        ..Page::new(Face::Python, &model)
    };
    guarded(|| page::save(&file, &page))?.map_err(refuse)
}

fn scores((score, points, folds): CvRows) -> CvChart {
    let point = |(k, ridge, l0_penalty, features, mean, error, chosen, best): CvRow| CvPoint {
        k,
        ridge,
        l0_penalty,
        features,
        mean,
        error,
        chosen,
        best,
    };
    let fold = |(at, (score, support))| FoldModel {
        fold: at + 1,
        score,
        support,
    };
    CvChart {
        score,
        points: points.into_iter().map(point).collect(),
        folds: folds.into_iter().enumerate().map(fold).collect(),
    }
}

fn point((k, status, objective, lower_bound, criteria, support): &PathRow) -> PathPoint<'_> {
    let [aic, bic, ebic] = *criteria;
    PathPoint {
        k: *k,
        objective: *objective,
        status,
        lower_bound: *lower_bound,
        aic,
        bic,
        ebic,
        support,
    }
}
