//! Arguments and file together: a valid [`Job`], or what is wrong with them.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use l0star::loss::{self, ResponseKind};
use l0star::{Method, Problem, RelaxationKind, Settings};
use l0star_data::{RawColumn, RawTable, Table, interactions};

use crate::args::FitArgs;
use crate::columns;
use crate::design::{self, Named};
use crate::failure::Failure;
use crate::output;

/// How long one thread searches before the others join: most runs are over by then, and the same every time.
const SOLO: Duration = Duration::from_millis(100);

/// A problem that can be solved, and how.
#[derive(Debug)]
pub struct Job {
    pub problem: Problem,
    pub settings: Settings,
    pub ridge: f64,
    /// Whether `--top` or `--within` asks for a list of models.
    pub lists: bool,
    /// The label that stands for +1, for a loss on labels.
    pub positive_label: Option<String>,
}

impl Job {
    /// Checks everything that can be checked before the long part.
    pub fn prepare(args: &FitArgs) -> Result<Self, Failure> {
        let loss = loss::by_name(&args.loss, args.huber_delta)?;
        let settings = settings(args)?;
        check_roles(args)?;
        if let Some(out) = &args.out {
            output::check_writable(out)?;
            output::check_distinct("--out", out, "the data", &args.data)?;
        }

        let raw = args.input.load(&args.data)?;
        let weights = args.weights.as_deref().map(|name| raw.number(name));
        let weights = weights.transpose()?;
        if let (Some(name), Some(weights)) = (&args.weights, &weights) {
            check_weights(&raw, name, weights)?;
        }
        let offset = args.offset.as_deref().map(|name| raw.number(name));
        let offset = offset.transpose()?;
        let (response, labels) = match loss.response() {
            ResponseKind::Label => {
                let (signs, labels) = raw.labels(&args.target)?;
                (signs, Some(labels))
            }
            ResponseKind::Real => {
                let response = raw.number(&args.target)?;
                if offset.is_none() {
                    check_varies(&raw, &args.target, &response, weights.as_deref())?;
                }
                (response, None)
            }
        };
        let file = raw.file().to_path_buf();
        let (names, design) = features(args, raw)?;

        let mut builder = Problem::builder(design, response)
            .names(names)
            .loss(loss)
            .ridge(args.ridge)
            .k(args.k)
            .intercept(!args.no_intercept);
        if let Some(weights) = weights {
            builder = builder.weights(weights);
        }
        if let Some(offset) = offset {
            builder = builder.offset(offset);
        }
        let problem = builder
            .build()
            .map_err(|error| explain(error, &file, args, labels.as_ref()))?;
        Ok(Self {
            problem,
            settings,
            ridge: args.ridge,
            lists: args.top.is_some() || args.within.is_some(),
            positive_label: labels.map(|[_, positive]| positive),
        })
    }
}

fn settings(args: &FitArgs) -> Result<Settings, Failure> {
    if args.method != Method::Paper {
        let switches = [
            (args.relaxation != RelaxationKind::Pdal, "--relaxation sga"),
            (args.no_warm_start, "--no-warm-start"),
            (args.no_pruning, "--no-pruning"),
        ];
        if let Some((_, switch)) = switches.iter().find(|(given, _)| *given) {
            return Err(Failure::Usage(format!(
                "{switch} belongs to --method paper, and the method is '{}'; add --method paper or drop {switch}",
                args.method
            )));
        }
    }
    if args.method != Method::BestFirst && args.threads.is_some_and(|threads| threads.get() > 1) {
        return Err(Failure::Usage(format!(
            "--threads belongs to --method best-first, and the method is '{}'; drop one of them",
            args.method
        )));
    }
    if args.method != Method::BestFirst && (args.checkpoint.is_some() || args.resume.is_some()) {
        return Err(Failure::Usage(format!(
            "--checkpoint and --resume belong to --method best-first, and the method is '{}'; drop one of them",
            args.method
        )));
    }
    check_list(args)?;
    let cores = || std::thread::available_parallelism().ok();
    Ok(Settings {
        threads: args.threads.or_else(cores),
        solo: SOLO,
        gap: args.gap,
        relative_gap: args.relative_gap,
        top: args.top,
        within: args.within,
        relaxation: args.relaxation,
        warm_start: !args.no_warm_start,
        pruning: !args.no_pruning,
        time_limit: args.time_limit,
        node_limit: args.node_limit,
        memory_limit: args.memory_limit,
        ..Settings::new(args.method)
    })
}

/// What `--top` and `--within` do not go with.
fn check_list(args: &FitArgs) -> Result<(), Failure> {
    let option = match (args.within, args.top) {
        (Some(_), _) => "--within",
        (None, Some(top)) if top.get() > 1 => "--top",
        _ => return Ok(()),
    };
    if !matches!(args.method, Method::BestFirst | Method::Exhaustive) {
        return Err(Failure::Usage(format!(
            "{option} belongs to --method best-first or exhaustive, and the method is '{}'; drop one of them",
            args.method
        )));
    }
    if args.gap > 0.0 || args.relative_gap > 0.0 {
        return Err(Failure::Usage(format!(
            "{option} makes an exact list, and a gap is allowed; drop {option}, or --gap and --relative-gap"
        )));
    }
    Ok(())
}

/// The columns that are no features, with what they are.
fn roles(args: &FitArgs) -> impl Iterator<Item = (&'static str, &str)> {
    let target = ("--target", args.target.as_str());
    let weights = args.weights.as_deref().map(|name| ("--weights", name));
    let offset = args.offset.as_deref().map(|name| ("--offset", name));
    [Some(target), weights, offset].into_iter().flatten()
}

fn check_roles(args: &FitArgs) -> Result<(), Failure> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (role, name) in roles(args) {
        if let Some((other, _)) = seen.iter().find(|(_, taken)| *taken == name) {
            return Err(Failure::Usage(format!(
                "column '{name}' is both {other} and {role}; name two different columns"
            )));
        }
        seen.push((role, name));
    }
    Ok(())
}

fn check_weights(raw: &RawTable, column: &str, weights: &[f64]) -> Result<(), Failure> {
    let Some(row) = weights.iter().position(|weight| *weight < 0.0) else {
        return Ok(());
    };
    let place = raw.place(raw.position(column)?, row);
    Err(Failure::BadData(format!(
        "{place}: weight {} is negative; weights must be zero or more",
        weights[row]
    )))
}

/// Without an offset there is nothing to explain in a target that is the same everywhere.
fn check_varies(
    raw: &RawTable,
    column: &str,
    target: &[f64],
    weights: Option<&[f64]>,
) -> Result<(), Failure> {
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let mut values = (0..target.len())
        .filter(|row| counts(*row))
        .map(|row| target[row]);
    // No row of positive weight is an error of its own, with a better message.
    let Some(first) = values.next() else {
        return Ok(());
    };
    if values.any(|value| value != first) {
        return Ok(());
    }
    Err(Failure::BadData(format!(
        "{}: the target '{column}' is {first} in every row, so there is nothing to explain; choose a column that varies",
        raw.file().display()
    )))
}

/// All columns without a role, expanded if asked for, less the excluded ones.
fn features(args: &FitArgs, raw: RawTable) -> Result<Named, Failure> {
    let excluded: HashSet<&str> = args
        .exclude
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty())
        .collect();
    let roles: Vec<(&str, &str)> = roles(args).collect();
    let mut candidates = columns::candidates(&args.columns, &raw, &roles)?;
    if candidates.is_empty() {
        return Err(Failure::BadData(format!(
            "{}: there is no column besides '{}', so there are no features; add some",
            raw.file().display(),
            args.target
        )));
    }
    if !args.interactions {
        for name in &excluded {
            raw.column(name)?;
        }
        candidates.retain(|name| !excluded.contains(name));
        let names: Vec<String> = candidates.into_iter().map(str::to_owned).collect();
        return design::of_file(raw, &some_left(names)?);
    }
    // A column of text has no products: excluded by its name, it is gone before the expansion.
    let is_text = |name: &str| matches!(raw.column(name), Ok(RawColumn::Text { .. }));
    candidates.retain(|name| !(excluded.contains(name) && is_text(name)));
    let expanded = interactions(&raw.numeric(&some_left(candidates)?)?)?;
    for name in &excluded {
        if expanded.find(name).is_none() && raw.column(name).is_err() {
            expanded.clone().take_column(name)?;
        }
    }
    if excluded.is_empty() {
        return design::of_table(expanded);
    }
    let (names, rows, values) = expanded.into_parts();
    let kept: Vec<usize> = (0..names.len())
        .filter(|j| !excluded.contains(names[*j].as_str()))
        .collect();
    let kept = some_left(kept)?;
    let values = kept
        .iter()
        .flat_map(|j| &values[j * rows..(j + 1) * rows])
        .copied()
        .collect();
    let names = kept.iter().map(|j| names[*j].clone()).collect();
    design::of_table(Table::new(names, rows, values)?)
}

fn some_left<T>(features: Vec<T>) -> Result<Vec<T>, Failure> {
    if features.is_empty() {
        return Err(Failure::Usage(
            "--exclude leaves no features; exclude fewer columns".into(),
        ));
    }
    Ok(features)
}

/// The engine knows neither the file nor the labels: say them.
fn explain(
    error: l0star::Error,
    file: &Path,
    args: &FitArgs,
    labels: Option<&[String; 2]>,
) -> Failure {
    let file = file.display();
    match (error, labels) {
        (l0star::Error::OneClass { label, .. }, Some(labels)) => Failure::BadData(format!(
            "{file}: column '{}' has the label '{}' in every row of positive weight; a classifier needs both labels",
            args.target,
            labels[usize::from(label > 0.0)]
        )),
        (
            error @ (l0star::Error::Empty { .. }
            | l0star::Error::Overflow { .. }
            | l0star::Error::Dependent { .. }),
            _,
        ) => Failure::BadData(format!("{file}: {error}")),
        (error, _) => error.into(),
    }
}
