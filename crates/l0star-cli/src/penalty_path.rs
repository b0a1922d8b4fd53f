//! `l0star path --l0-penalty-path`: the best model at every price per feature, and the prices where it changes.

use std::fmt::Write;
use std::process::ExitCode;

use l0star::{Piece, Problem, Settings, penalty_path};
use l0star_record::fields::{Coefficients, Constraints, Fitted, Numbers};
use l0star_report::text::significant;
use l0star_report::{Proof, proof};
use serde::Serialize;

use crate::failure::{self, Failure};
use crate::output;
use crate::screen::Screen;
use crate::task::{Task, TaskArgs};

/// The JSON output of the path over prices.
#[derive(Debug, Serialize)]
struct Output {
    k: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraints: Option<Constraints>,
    l0_penalty_path: Vec<Row>,
    warnings: Vec<String>,
}

/// The best model on an interval of prices.
#[derive(Debug, Serialize)]
struct Row {
    from: f64,
    /// Upper end; `null` for the last interval, which has none.
    to: Option<f64>,
    status: String,
    objective_without_penalty: f64,
    /// Factor of the price: the objective is `objective_without_penalty` plus the price times `weight`.
    weight: f64,
    intercept: Numbers,
    support: Vec<String>,
    coefficients: Coefficients,
    #[serde(skip)]
    fitted: Fitted,
}

/// The options of `path` that apply to the path over prices.
pub struct Asked<'a> {
    pub task: &'a TaskArgs,
    pub k: Option<usize>,
    pub ridge: f64,
    pub json: bool,
    pub quiet: bool,
    /// Warnings about options that are not followed as given.
    pub warnings: Vec<String>,
}

/// Runs the command; the exit code says whether all intervals are proved.
pub fn run(args: &Asked, settings: &Settings) -> Result<ExitCode, Failure> {
    let task = Task::read(args.task, args.quiet)?;
    let k = args.k.unwrap_or_else(|| task.features());
    let warnings = task.warnings(k);
    if !args.quiet && !args.json {
        output::warn(&args.warnings);
        output::warn(&warnings);
    }
    let problem = task.problem(k, args.ridge, task.weights.as_deref())?;
    let pieces = penalty_path(&problem, settings)?;
    let rows = pieces
        .iter()
        .map(|piece| row(&task, &problem, piece, args.ridge));
    let output = Output {
        k,
        constraints: task.rules.asked().cloned(),
        l0_penalty_path: rows.collect(),
        warnings,
    };
    if args.json {
        output::print_json(&output)?;
    } else if !args.quiet {
        output::print(&render(&output, &Screen::of_stdout()))?;
    }
    let statuses = pieces.iter().map(|piece| piece.status);
    Ok(ExitCode::from(failure::code(statuses)))
}

fn row(task: &Task, problem: &Problem, piece: &Piece, ridge: f64) -> Row {
    let fitted = task.outcome(problem, ridge, &[]).fitted(&piece.solution);
    Row {
        from: piece.from,
        to: piece.to.is_finite().then_some(piece.to),
        status: piece.status.to_string(),
        objective_without_penalty: piece.objective,
        weight: piece.weight,
        intercept: fitted.intercept.clone(),
        support: fitted.support.clone(),
        coefficients: fitted.coefficients.clone(),
        fitted: Fitted {
            status: piece.status.to_string(),
            ..fitted
        },
    }
}

fn render(output: &Output, screen: &Screen) -> String {
    let rows = &output.l0_penalty_path;
    let mut text = proof::pieces(rows.iter().map(|row| Proof::of(&row.fitted))) + "\n\n";
    let head = format!(
        "  {:<12} {:<12} {:>8} {:>14}  features",
        "price from", "to", "columns", "without it"
    );
    text += &(screen.bold(&head) + "\n");
    for row in rows {
        let to = row.to.map_or("any".to_owned(), |to| significant(to, 6));
        let names = row.support.iter().map(|name| screen.clip(name, 32));
        let names: Vec<String> = names.collect();
        let features = if names.is_empty() {
            "(none)".to_owned()
        } else {
            screen.clip(&names.join(", "), screen.width.saturating_sub(54))
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {:<12} {to:<12} {:>8} {:>14}  {features}",
            significant(row.from, 6),
            row.support.len(),
            significant(row.objective_without_penalty, 8),
        );
    }
    text
}
