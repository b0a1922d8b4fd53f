//! The class `Problem`: checked data, to be solved for any k.

mod held_out;

use std::sync::Arc;

use l0star::problem::Builder;
use l0star::{Checkpoint, PathCheckpoint, loss};
use l0star_record::Rules as Resolved;
use l0star_record::outcome::Outcome;
use l0star_record::stability::summary::Resampled;
use l0star_record::stability::{DrawnFile, Plan, Resampling, Searches, Stability, Stop};
use l0star_record::survival::Survival;
use l0star_report::{Face, Outlook, warnings};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use self::held_out::Held;
pub use self::held_out::hold_out;
use crate::design;
use crate::error::{guarded, refuse};
use crate::moments::Moments;
use crate::remote::Remote;
use crate::rules::Rules;
use crate::run::{self, Events, Listeners, PricePiece, run};
use crate::settings::{Settings, kept};
use crate::solution::{Price, Solution, complete};
use crate::survival::Followed;

/// Checked data, to be solved for any k.
#[pyclass(frozen, module = "l0star._core")]
pub struct Problem {
    problem: l0star::Problem,
    /// Weights of all rows; rows of weight 0 are not in the engine's problem.
    weights: Option<Vec<f64>>,
    /// Offsets of all rows: none, or one for each response or class.
    offsets: Vec<Vec<f64>>,
    rules: Resolved,
    /// The names of several responses; empty for one.
    responses: Vec<String>,
    /// The classes of a loss with several; empty for another loss.
    classes: Vec<String>,
    ridge: f64,
    /// The builder with all rows, for problems with other weights.
    builder: Builder,
}

impl Problem {
    /// Returns the data for a search on another thread.
    pub fn shared(&self) -> run::Begun {
        run::Begun {
            problem: self.problem.clone(),
            free: self.rules.free().to_vec(),
        }
    }

    /// Returns the names of several responses or classes; empty for a single output.
    fn outputs(&self) -> &[String] {
        if self.classes.is_empty() {
            &self.responses
        } else {
            &self.classes
        }
    }
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (X, y, *, rules, loss, huber_delta, ridge, fit_intercept, standardize, weights=None, offset=None, followed=None, others=None, responses=Vec::new(), classes=Vec::new()))]
    #[expect(clippy::too_many_arguments, non_snake_case)]
    fn new(
        py: Python<'_>,
        X: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<f64>,
        rules: &Rules,
        loss: &str,
        huber_delta: Option<f64>,
        ridge: f64,
        fit_intercept: bool,
        standardize: bool,
        weights: Option<PyReadonlyArray1<f64>>,
        offset: Option<PyReadonlyArray2<f64>>,
        followed: Option<Followed>,
        others: Option<PyReadonlyArray2<f64>>,
        responses: Vec<String>,
        classes: Vec<String>,
    ) -> PyResult<Self> {
        let vector = |array: PyReadonlyArray1<f64>| array.as_array().to_vec();
        let design = design::copy(X)?;
        // Names and δ are checked before the data.
        let name = loss;
        let given: Arc<dyn loss::Loss> = match &followed {
            Some(followed) => followed.loss()?,
            None if !classes.is_empty() => Arc::new(loss::Multinomial::new(classes.len())),
            None => loss::by_name(name, huber_delta.unwrap_or(1.0)).map_err(refuse)?,
        };
        let is_huber = given.huber_delta().is_some();
        // Any k may be requested later, so this k must not be too small for the included features.
        let builder = l0star::Problem::builder(design, vector(y))
            .k(rules.names.len())
            .names(rules.names.clone())
            .loss(given)
            .ridge(ridge)
            .intercept(fit_intercept)
            .standardize(standardize);
        let mut builder = rules.rules.apply(builder);
        let weights = weights.map(vector);
        let columns = |array: PyReadonlyArray2<f64>| -> Vec<Vec<f64>> {
            let columns = array.as_array();
            let columns = columns.columns().into_iter();
            columns.map(|own| own.to_vec()).collect()
        };
        let offsets = offset.map(columns).unwrap_or_default();
        if let Some(weights) = &weights {
            builder = builder.weights(weights.clone());
        }
        builder = builder
            .more_responses(others.map(columns).unwrap_or_default())
            .offsets(offsets.clone());
        let build = || {
            if huber_delta.is_none() && is_huber {
                let loss = l0star::loss_for(&builder, name, None)?;
                builder = builder.loss(loss);
            }
            let problem = builder.clone().build()?;
            Ok::<_, l0star::Error>((problem, builder))
        };
        let built = py.detach(|| guarded(build))?;
        let (problem, builder) = built.map_err(refuse)?;
        Ok(Self {
            problem,
            builder,
            weights,
            offsets,
            rules: rules.rules.clone(),
            responses,
            classes,
            ridge,
        })
    }

    /// Creates a problem from moments instead of rows.
    #[staticmethod]
    #[pyo3(signature = (moments, *, rules, ridge, fit_intercept, standardize))]
    fn of_moments(
        py: Python<'_>,
        moments: &Moments,
        rules: &Rules,
        ridge: f64,
        fit_intercept: bool,
        standardize: bool,
    ) -> PyResult<Self> {
        let builder = l0star::Problem::from_moments(moments.file.moments.clone())
            .k(rules.names.len())
            .ridge(ridge)
            .intercept(fit_intercept)
            .standardize(standardize);
        let builder = rules.rules.apply(builder);
        let built = py.detach(|| guarded(|| builder.clone().build()))?;
        Ok(Self {
            problem: built.map_err(refuse)?,
            builder,
            weights: None,
            offsets: Vec::new(),
            rules: rules.rules.clone(),
            responses: Vec::new(),
            classes: Vec::new(),
            ridge,
        })
    }

    /// Returns δ of Huber's loss, as given or computed from the data; None for other losses.
    #[getter]
    fn huber_delta(&self) -> Option<f64> {
        self.problem.loss().huber_delta()
    }

    /// Returns the baseline hazards of a solution as JSON of a model file; `strata` has the names
    /// of the strata, by number.
    fn survival(&self, fields: &str, solution: &Solution, strata: Vec<String>) -> PyResult<String> {
        let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
        let fields: Survival = serde_json::from_str(fields).map_err(wrong)?;
        let found = &solution.found.coefficients;
        let survival = fields.with_baseline(&self.problem, found, &strata);
        serde_json::to_string(&survival).map_err(wrong)
    }

    /// Solves the problem, and returns the exception that stopped the search, if there was one.
    ///
    /// `callback(kind, seconds, objective, lower_bound, nodes, open_nodes, support, k)` is called on the
    /// calling thread while the search waits; a true answer stops it. `save(bytes)` receives checkpoints on the
    /// same thread, every `save_every` seconds and at the end; `resume` has the bytes of one.
    ///
    /// `cluster` explores subtrees in other processes: an object with the methods of `l0star._cluster.Workers`.
    #[pyo3(signature = (k, settings, *, refit=false, callback=None, save=None, save_every=60.0, resume=None, cluster=None))]
    #[expect(clippy::too_many_arguments)]
    fn solve(
        &self,
        py: Python<'_>,
        k: usize,
        settings: Settings,
        refit: bool,
        callback: Option<Py<PyAny>>,
        save: Option<Py<PyAny>>,
        save_every: f64,
        resume: Option<&[u8]>,
        cluster: Option<Py<PyAny>>,
    ) -> PyResult<(Solution, Option<PyErr>)> {
        let kept = kept(save_every, resume, Checkpoint::decode)?;
        let (settings, flag) = settings.ready()?;
        let search = |events: Events| {
            let problem = self.problem.with_k(k)?;
            let cluster = cluster.map(|cluster| Remote::new(events.caller(), cluster));
            run::solve(&problem, &settings, &events, kept, cluster)
        };
        let listeners = Listeners {
            k,
            callback,
            save,
            ..Listeners::default()
        };
        let (mut solution, stopped_by) = run(py, &flag, listeners, search)?;
        if refit {
            solution.drop_ridge(&self.problem);
        }
        solution.complete(self.rules.free());
        solution.describe(&self.problem);
        Ok((solution, stopped_by))
    }

    /// Returns the fields of a solution as the command's `--json` prints them, with its prices. Supports
    /// include the free features.
    ///
    /// `holdout` has the share of held-out rows, the seed, and their scores, targets, weights and offset.
    #[pyo3(signature = (solution, *, lists, positive_label=None, warnings, prices=None, holdout=None))]
    fn record(
        &self,
        solution: &Solution,
        lists: bool,
        positive_label: Option<&str>,
        warnings: Vec<String>,
        prices: Option<Vec<PyRef<'_, Price>>>,
        holdout: Option<Held<'_>>,
    ) -> PyResult<String> {
        let outcome = Outcome {
            problem: &self.problem,
            rules: &self.rules,
            k: solution.k,
            ridge: self.ridge,
            lists,
            free_in_support: true,
            is_refit: solution.is_refit,
            responses: &self.responses,
            classes: &self.classes,
            positive_label,
            warnings: &warnings,
        };
        let fitted = outcome.fitted(&solution.found);
        let mut fitted = outcome.with_inference(fitted, &solution.found);
        if let Some(quality) = &mut fitted.metrics {
            quality.holdout = holdout.map(|held| self.measure(held)).transpose()?;
        }
        let prices = prices.map(|prices| -> Vec<l0star::Price> {
            prices.iter().map(|price| price.0.clone()).collect()
        });
        fitted.prices = prices.map(|prices| outcome.prices(&prices));
        serde_json::to_string(&fitted).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Describes a search that was stopped and unlikely to finish, and what would help;
    /// None for any other search.
    fn outlook(&self, solution: &Solution) -> Option<String> {
        if !solution.found.status.stopped_early() {
            return None;
        }
        let outlook = Outlook::of(solution.rows().iter().copied());
        outlook.words(&self.problem, self.ridge, Face::Python)
    }

    /// Computes `intercept + Ax + o` for every row, 0 for rows of weight zero.
    fn scores<'py>(&self, py: Python<'py>, solution: &Solution) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.predictions(solution))
    }

    /// Returns warnings about the data before a model with k features is fitted.
    fn warnings(&self, py: Python<'_>, k: usize) -> PyResult<Vec<String>> {
        let problem = &self.problem;
        if problem.is_from_moments() {
            let features = problem.selectable().len() + problem.included().len();
            let rows = usize::try_from(problem.observations()).unwrap_or(usize::MAX);
            let counts = warnings::counts(k, features, rows, problem.has_intercept());
            return Ok(counts.into_iter().collect());
        }
        let counted = self.weights.as_ref().map(|weights| {
            let counted = weights.iter().filter(|weight| **weight > 0.0);
            counted.copied().collect::<Vec<f64>>()
        });
        let data = warnings::Data {
            design: problem.design(),
            names: &problem.names()[..problem.features()],
            weights: counted.as_deref(),
            features: problem.selectable().len() + problem.included().len(),
            intercept: problem.has_intercept(),
            standardize: problem.scales().is_some(),
        };
        py.detach(|| guarded(|| warnings::warnings(&data, k, Face::Python)))
    }

    /// Solves the problem for several k, which share their work; a time limit covers all of them.
    ///
    /// `callback`, `save`, `save_every` and `cluster` are as in `solve`; `resume` has the bytes of a
    /// checkpoint of such a path.
    #[pyo3(signature = (sizes, settings, *, refit=false, callback=None, save=None, save_every=60.0, resume=None, cluster=None))]
    #[expect(clippy::too_many_arguments)]
    fn path(
        &self,
        py: Python<'_>,
        sizes: Vec<usize>,
        settings: Settings,
        refit: bool,
        callback: Option<Py<PyAny>>,
        save: Option<Py<PyAny>>,
        save_every: f64,
        resume: Option<&[u8]>,
        cluster: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Solution>, Option<PyErr>)> {
        let kept = kept(save_every, resume, PathCheckpoint::decode)?;
        let (settings, flag) = settings.ready()?;
        let listeners = Listeners {
            k: sizes.iter().copied().min().unwrap_or(0),
            callback,
            save,
            ..Listeners::default()
        };
        let search = |events: Events| {
            let cluster = cluster.map(|cluster| Remote::new(events.caller(), cluster));
            run::path(&self.problem, &settings, &events, sizes, kept, cluster)
        };
        let (mut solutions, stopped_by) = run(py, &flag, listeners, search)?;
        for solution in &mut solutions {
            if refit {
                solution.drop_ridge(&self.problem);
            }
            solution.complete(self.rules.free());
            solution.describe(&self.problem);
        }
        Ok((solutions, stopped_by))
    }

    /// Finds the best model with at most k features at every price of a feature.
    ///
    /// Each entry has the range of prices for which the model is best, the sum of the factors of its features,
    /// its objective without the price, the status of the proof, and the solution at a price in this range.
    fn penalty_path(
        &self,
        py: Python<'_>,
        k: usize,
        settings: Settings,
    ) -> PyResult<(Vec<PricePiece>, Option<PyErr>)> {
        let (settings, flag) = settings.ready()?;
        let problem = self.problem.with_k(k).map_err(refuse)?;
        let search = |_| run::penalty_path(&problem, &settings);
        let (mut pieces, stopped_by) = run(py, &flag, Listeners::default(), search)?;
        for (.., solution) in &mut pieces {
            solution.complete(self.rules.free());
        }
        Ok((pieces, stopped_by))
    }

    /// Finds the best models of resamples of the rows, and returns their summary as the JSON of `l0star
    /// stability`, what ended the run early, and which exception did.
    ///
    /// `y` and `has_labels` say which rows are drawn together; `start` is the model of all rows. `save` and
    /// `save_every` are as in `solve`, with the bytes of a file that belongs to `key`; `resume` has the bytes
    /// of one. `callback` receives the number of finished resamples.
    #[pyo3(signature = (k, settings, *, y, has_labels, resamples, resampling, seed, start, key, callback=None, save=None, save_every=60.0, resume=None))]
    #[expect(clippy::too_many_arguments)]
    fn stability<'py>(
        &self,
        py: Python<'py>,
        k: usize,
        settings: Settings,
        y: PyReadonlyArray1<f64>,
        has_labels: bool,
        resamples: usize,
        resampling: &str,
        seed: u64,
        start: Vec<usize>,
        key: String,
        callback: Option<Py<PyAny>>,
        save: Option<Py<PyAny>>,
        save_every: f64,
        resume: Option<&[u8]>,
    ) -> PyResult<(String, Bound<'py, PyArray2<f64>>, Option<PyErr>)> {
        let resampling: Resampling = resampling.parse().map_err(PyValueError::new_err)?;
        let kept = kept(save_every, resume, DrawnFile::decode)?;
        let (settings, flag) = settings.ready()?;
        let response = y.as_array().to_vec();
        let plan = Plan {
            resampling,
            seed,
            response: &response,
            weights: self.weights.as_deref(),
            has_labels,
        };
        let listeners = Listeners {
            k,
            callback,
            save,
            ..Listeners::default()
        };
        let searches = Searches {
            resamples,
            settings: &settings,
            threads: settings.thread_count(),
            free: self.rules.free(),
            start: &start,
            every: kept.every,
        };
        let problem = |at: usize| self.builder.clone().weights(plan.draw(at)).k(k).build();
        let columns = self.problem.columns();
        let search =
            |events| run::stability(&searches, problem, &events, key, columns, kept.resume);
        let ((drawn, stop, seconds), stopped_by) = run(py, &flag, listeners, search)?;
        let feature = |j: usize| self.rules.name(j).to_owned();
        let summary = Stability::of(&Resampled {
            drawn: &drawn,
            names: &self.problem.names()[..self.problem.features()],
            outputs: self.outputs(),
            feature: &feature,
            chosen: &self.rules.columns(&start),
            resampling,
            seed,
            asked: resamples,
            status: match stop {
                None => "complete",
                Some(Stop::TimeLimit) => "time_limit",
                Some(Stop::Interrupted) => "interrupted",
            },
            seconds,
        });
        let json = serde_json::to_string(&summary);
        let json = json.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let coefficients = PyArray2::zeros(py, [drawn.len(), columns], false);
        {
            let mut writable = coefficients.readwrite();
            let mut array = writable.as_array_mut();
            for (row, own) in drawn.iter().enumerate() {
                for (j, x) in &own.coefficients {
                    array[[row, *j]] = *x;
                }
            }
        }
        Ok((json, coefficients, stopped_by))
    }

    /// Computes the cost of deciding otherwise about each feature; a time limit covers all of them.
    ///
    /// `save` and `save_every` are as in `solve`; `resume` has the bytes of the last checkpoint
    /// of `solve` or of `prices`.
    #[pyo3(signature = (solution, settings, *, save=None, save_every=60.0, resume=None))]
    fn prices(
        &self,
        py: Python<'_>,
        solution: &Solution,
        settings: Settings,
        save: Option<Py<PyAny>>,
        save_every: f64,
        resume: Option<&[u8]>,
    ) -> PyResult<(Vec<Price>, Option<PyErr>)> {
        let kept = kept(save_every, resume, Checkpoint::decode)?;
        let (settings, flag) = settings.ready()?;
        let search = |events| {
            let problem = self.problem.with_k(solution.k)?;
            run::prices(&problem, &settings, &solution.found, &events, kept)
        };
        let listeners = Listeners {
            save,
            ..Listeners::default()
        };
        let (prices, stopped_by) = run(py, &flag, listeners, search)?;
        let price = |mut price: l0star::Price| {
            complete(&mut price.support, self.rules.free());
            Price(price)
        };
        Ok((prices.into_iter().map(price).collect(), stopped_by))
    }
}
