//! Cross-validation over the engine's paths.

use pyo3::prelude::*;

use crate::problem::Problem;
use crate::run::{self, Listeners, run};
use crate::settings::Settings;
use crate::tally::Tally;

/// Enters the scores of cross-validation in a tally. Every path, which is a penalty on the rows outside a fold,
/// is searched in turns on `settings["threads"]` threads, with one thread per search.
///
/// `begin(path)` returns the problem of a path, which has about `entries` numbers in `columns`
/// columns. `score(path, solution)` scores a search that was not cut off. Both are called on the
/// calling thread, and so is `callback`, as in `Problem.solve`. The time limit covers all searches:
/// those that it cuts off have no score.
#[pyfunction]
#[pyo3(signature = (tally, settings, *, entries, columns, begin, score, callback=None))]
#[expect(clippy::too_many_arguments)]
pub fn cross_validate(
    py: Python<'_>,
    tally: &Tally,
    settings: Settings,
    entries: usize,
    columns: usize,
    begin: Py<PyAny>,
    score: Py<PyAny>,
    callback: Option<Py<PyAny>>,
) -> PyResult<()> {
    let (settings, flag) = settings.ready()?;
    let room = l0star::batch::room_for(entries, columns);
    let begin = move |py: Python<'_>, path: usize| {
        let problem = begin.bind(py).call1((path,))?;
        Ok(problem.cast::<Problem>()?.get().shared())
    };
    let listeners = Listeners {
        k: tally.sizes.iter().copied().min().unwrap_or(0),
        callback,
        begin: Some(Box::new(begin)),
        score: Some(score),
        save: None,
    };
    let search = |events| run::cross_validate(tally, room, &settings, &events);
    let ((), stopped_by) = run(py, &flag, listeners, search)?;
    stopped_by.map_or(Ok(()), Err)
}
