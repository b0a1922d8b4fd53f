//! A result as JSON and as a model file.

use l0star::{Problem, Settings, Solution};
use l0star_data::Model;
use l0star_data::model::{Asked, ByName, DataStamp, FORMAT, Fitted, List, Listed, VERSION};

use crate::ready::Job;
use crate::task::{Task, TaskArgs};

/// A solution in the words of the user's columns.
pub fn fitted(
    task: &Task,
    problem: &Problem,
    (k, ridge): (usize, f64),
    solution: &Solution,
    lists: bool,
    warnings: &[String],
) -> Fitted {
    let (support, coefficients) = named(task, &solution.support, &solution.coefficients);
    let deviations = problem.deviations(&task.columns(&solution.support));
    let effects = coefficients.0.iter().zip(deviations);
    let per_sd = effects.map(|((name, value), sd)| (name.clone(), value * sd));
    let twins = solution.support.iter().filter_map(|j| {
        let mut others = problem.twins(*j);
        others.retain(|i| !solution.support.contains(i));
        let name = |j: &usize| task.names[*j].clone();
        (!others.is_empty()).then(|| (name(j), others.iter().map(name).collect()))
    });
    let listed = solution.solutions.iter().map(|model| {
        let (support, coefficients) = named(task, &model.support, &model.coefficients);
        Listed {
            objective: model.objective,
            intercept: model.intercept,
            support,
            coefficients,
        }
    });
    let list = lists.then(|| List {
        solutions: listed.collect(),
        rest_bound: solution.rest_bound,
        truncated: solution.truncated,
    });
    Fitted {
        status: solution.status.to_string(),
        objective: solution.objective,
        lower_bound: solution.lower_bound,
        gap: solution.gap(),
        relative_gap: solution.relative_gap(),
        k,
        loss: task.loss.name().to_owned(),
        huber_delta: task.loss.huber_delta(),
        ridge,
        intercept: solution.intercept,
        support,
        per_sd: ByName(per_sd.collect()),
        twins: twins.collect(),
        coefficients,
        solver_calls: solution.solver_calls,
        nodes: solution.nodes,
        peak_open_nodes: solution.peak_open_nodes,
        seconds: solution.seconds,
        found_by: None,
        found_after: None,
        method: solution.method.to_string(),
        positive_label: task.labels.as_ref().map(|[_, positive]| positive.clone()),
        warnings: warnings.to_vec(),
        constraints: task.rules.asked().cloned(),
        prices: None,
        list,
    }
}

/// The names of a support, and the coefficients by name: its own, and those of features that are in for free.
fn named(task: &Task, support: &[usize], coefficients: &[f64]) -> (Vec<String>, ByName) {
    let columns = task.columns(support).into_iter();
    let values = columns.map(|j| (task.names[j].clone(), coefficients[j]));
    (
        support.iter().map(|&j| task.names[j].clone()).collect(),
        ByName(values.collect()),
    )
}

/// The result of a job.
pub fn of_job(job: &Job, solution: &Solution) -> Fitted {
    let size = (job.problem.k(), job.ridge);
    fitted(
        &job.task,
        &job.problem,
        size,
        solution,
        job.lists,
        &job.warnings,
    )
}

/// Where a result comes from.
pub struct Origin<'a> {
    args: &'a TaskArgs,
    task: &'a Task,
    problem: &'a Problem,
    settings: &'a Settings,
}

impl<'a> Origin<'a> {
    pub fn new(
        args: &'a TaskArgs,
        task: &'a Task,
        problem: &'a Problem,
        settings: &'a Settings,
    ) -> Self {
        Self {
            args,
            task,
            problem,
            settings,
        }
    }
}

/// The model file of a result.
pub fn model(origin: &Origin, fitted: Fitted) -> Model {
    let Origin {
        args,
        task,
        problem,
        settings,
    } = origin;
    let scale = |name: &String| {
        let j = task.names.iter().position(|own| own == name)?;
        Some((name.clone(), problem.scales()?[j]))
    };
    let names = fitted.coefficients.0.iter().map(|(name, _)| name.clone());
    let names: Vec<String> = names.collect();
    Model {
        format: FORMAT.to_owned(),
        version: VERSION,
        l0star: env!("CARGO_PKG_VERSION").to_owned(),
        target: task.target.clone(),
        labels: task.labels.clone(),
        weights: args.weights.clone(),
        offset: args.offset.clone(),
        fit_intercept: task.intercept,
        standardize: task.standardize,
        scales: ByName(names.iter().filter_map(scale).collect()),
        products: task.products(&names),
        indicators: task.indicators(&names),
        imputed: ByName(task.imputed.clone()),
        features: task.names.clone(),
        settings: Asked {
            gap: settings.gap,
            relative_gap: settings.relative_gap,
            top: settings.top.map(Into::into),
            within: settings.within,
            time_limit: settings.time_limit.map(|limit| limit.as_secs_f64()),
            search_time_limit: settings.search_time_limit.map(|limit| limit.as_secs_f64()),
            node_limit: settings.node_limit,
            memory_limit: settings.memory_limit,
            threads: settings.thread_count(),
        },
        data: DataStamp {
            file: task.file.display().to_string(),
            rows: task.rows(),
            columns: task.names.len(),
            rows_dropped: task.rows_dropped,
            hash: task.fingerprint(),
        },
        command: std::env::args().skip(1).collect(),
        fitted,
    }
}
