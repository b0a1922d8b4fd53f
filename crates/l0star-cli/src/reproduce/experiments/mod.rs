//! The paper's experiments, one file each.

mod ablation;
mod cost;
mod real;
mod recovery;
mod sga_pdal;

pub use real::{GAPS, PANELS};

use super::page::{Chapter, Statement, short};
use super::plan::Point;
use super::results::{Results, mean};
use super::store::Record;

/// An experiment of the paper.
pub struct Experiment {
    /// The name in `l0star reproduce` and of the files.
    pub name: &'static str,
    /// The instances and methods.
    pub points: fn() -> Vec<Point>,
    /// The chapter of the page.
    pub chapter: fn(&Results) -> Chapter,
}

/// All experiments, in the paper's order.
pub const ALL: &[Experiment] = &[
    cost::COST,
    recovery::RECOVERY,
    recovery::STRONG,
    real::REAL,
    sga_pdal::SGA_PDAL,
    ablation::ABLATION,
];

/// Returns the mean over all places of a panel.
fn overall(results: &Results, panel: &str, method: &str, of: impl Fn(&Record) -> f64) -> f64 {
    let values: Vec<f64> = results.of(panel, method).map(of).collect();
    mean(&values)
}

fn seconds(record: &Record) -> f64 {
    record.seconds
}

fn calls(record: &Record) -> f64 {
    record.solver_calls as f64
}

/// Formats named values: `a: 1.2, b: 3.4`.
fn listed<'a>(values: impl IntoIterator<Item = (&'a str, f64)>) -> String {
    let items = values
        .into_iter()
        .map(|(name, value)| format!("{name}: {}", short(value)));
    items.collect::<Vec<_>>().join(", ")
}

/// Returns a statement whose truth is known: the paper's claim, the result, the rule, and whether it holds.
fn statement(paper: &str, found: String, rule: &str, holds: bool) -> Statement {
    Statement {
        paper: paper.to_owned(),
        found,
        rule: rule.to_owned(),
        holds: Some(holds),
    }
}
