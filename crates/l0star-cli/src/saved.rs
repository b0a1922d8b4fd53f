//! The model file of a result.

use l0star::{Problem, Settings};
use l0star_record::fields::{ByName, DataStamp, Fitted};
use l0star_record::model::{FORMAT, VERSION};
use l0star_record::{Model, outcome};

use crate::failure::Failure;
use crate::task::Task;

/// The task, problem and settings that a result comes from.
pub struct Origin<'a> {
    task: &'a Task,
    problem: &'a Problem,
    settings: &'a Settings,
}

impl<'a> Origin<'a> {
    pub fn new(task: &'a Task, problem: &'a Problem, settings: &'a Settings) -> Self {
        Self {
            task,
            problem,
            settings,
        }
    }
}

impl Origin<'_> {
    /// Adds to a result how good it is on held-out rows.
    pub fn measured(&self, mut fitted: Fitted) -> Result<Fitted, Failure> {
        self.task.check_unchanged()?;
        if let Some(held_out) = &self.task.held_out {
            let model = unstamped(self, fitted.clone());
            let measured = held_out.measure(&model, self.problem.loss())?;
            if let Some(quality) = &mut fitted.metrics {
                quality.holdout = Some(measured);
            }
        }
        Ok(fitted)
    }
}

/// Builds the model file of a result.
pub fn model(origin: &Origin, fitted: Fitted) -> Model {
    let task = origin.task;
    Model {
        data: DataStamp {
            file: task.file.display().to_string(),
            rows: task.rows(),
            columns: task.names.len(),
            rows_dropped: task.rows_dropped,
            hash: task.fingerprint(),
        },
        ..unstamped(origin, fitted)
    }
}

/// Builds the model file without the stamp of the data, which takes a pass over all of them.
fn unstamped(origin: &Origin, fitted: Fitted) -> Model {
    let Origin {
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
    let survival = task.survival.as_ref().map(|own| {
        let coefficient = |name: &String| fitted.coefficients.get(name).unwrap_or(0.0);
        let coefficients: Vec<f64> = task.names.iter().map(coefficient).collect();
        let fields = own.fields.clone();
        fields.with_baseline(problem, &coefficients, &own.strata_names)
    });
    let (offset, offsets) = match &task.offset_columns[..] {
        [one] => (Some(one.clone()), Vec::new()),
        several => (None, several.to_vec()),
    };
    Model {
        survival,
        format: FORMAT.to_owned(),
        version: VERSION,
        l0star: env!("CARGO_PKG_VERSION").to_owned(),
        target: task.target.clone(),
        labels: task.labels.clone(),
        weights: task.weight_column.clone(),
        offset,
        offsets,
        fit_intercept: task.intercept,
        standardize: task.standardize,
        scales: ByName(names.iter().filter_map(scale).collect()),
        products: task.products(&names),
        indicators: task.indicators(&names),
        imputed: ByName(task.imputed.clone()),
        reading: task.reading.clone(),
        features: task.names.clone(),
        settings: outcome::asked(settings),
        data: DataStamp::default(),
        command: std::env::args().skip(1).collect(),
        fitted,
    }
}
