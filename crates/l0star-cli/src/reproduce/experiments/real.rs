//! Section 4.2, Figure 5: real data with several allowed errors.

use super::{Experiment, statement};
use crate::reproduce::figure::{CALLS, ERROR, Figure, Panel, SECONDS};
use crate::reproduce::page::{Chapter, Statement, short};
use crate::reproduce::plan::{BASELINES, BFS, ENGINE, Entrant, MIP, Point, Source};
use crate::reproduce::results::Results;

pub const REAL: Experiment = Experiment {
    name: "real",
    points,
    chapter,
};

/// Errors that the paper allows.
pub const GAPS: [f64; 6] = [0.0, 2e-6, 4e-6, 6e-6, 8e-6, 1e-5];
/// Error from which the paper's search makes a single solver call.
const ONE_CALL: f64 = 4e-6;
pub const PANELS: [(&str, &str, Source); 2] = [
    ("diabetes", "Diabetes", Source::Diabetes),
    ("boston", "Boston", Source::Boston),
];

fn points() -> Vec<Point> {
    let point = |panel, source, gap| Point {
        panel,
        x: gap,
        source,
        entrants: [BFS, ENGINE]
            .map(|entrant| entrant.allowing(gap))
            .into_iter()
            .chain(BASELINES)
            .collect(),
    };
    PANELS
        .iter()
        .flat_map(|(panel, _, source)| GAPS.map(|gap| point(*panel, *source, gap)))
        .collect()
}

fn chapter(results: &Results) -> Chapter {
    let mut methods = vec![BFS.name, ENGINE.name];
    methods.extend(BASELINES.map(|entrant| entrant.name));
    methods.push(MIP);
    let searches = [BFS.name, ENGINE.name, MIP];
    let panels = PANELS.iter().flat_map(|(panel, title, _)| {
        [
            Panel::of(results, panel, title, "Δ", SECONDS, &methods),
            Panel::of(results, panel, title, "Δ", CALLS, &searches),
            Panel::of(results, panel, title, "Δ", ERROR, &methods),
        ]
    });
    Chapter {
        name: REAL.name,
        title: "real data with errors allowed",
        setting: "Diabetes (442 × 65) and Boston (506 × 103) with interactions and squares, quadratic loss, k = 10, λ = 0.001. The solver calls of MIP are its nodes. Short runs are timed nine times; the median counts.".into(),
        statements: PANELS
            .iter()
            .flat_map(|(panel, title, _)| statements(results, panel, title))
            .chain([inexact(results)])
            .collect(),
        figures: vec![Figure {
            name: "real",
            caption: "Running times, solver calls and objective errors against the error Δ that is allowed.",
            columns: 3,
            panels: panels.collect(),
        }],
        notes: Vec::new(),
    }
}

/// Returns what the paper says of one data set, and whether it holds.
fn statements(results: &Results, panel: &str, title: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    statements.extend(faster_with_gaps(results, panel, title));
    statements.push(faster_than_mip(results, panel, title));
    statements.push(one_call(results, panel, title));
    statements.push(optimum_found(results, panel, title));
    statements
}

/// Returns the mean seconds of a method at each allowed gap.
fn mean_seconds(results: &Results, panel: &str, method: &str) -> Vec<f64> {
    let marks = results.marks(panel, method, |record| record.seconds);
    marks.into_iter().map(|mark| mark.mean).collect()
}

/// Returns the statement that larger gaps make the search faster, if both searches ran.
fn faster_with_gaps(results: &Results, panel: &str, title: &str) -> Option<Statement> {
    let ends = |method: &str| {
        let seconds = mean_seconds(results, panel, method);
        Some((*seconds.first()?, *seconds.last()?))
    };
    let ((bfs, bfs_last), (own, own_last)) = (ends(BFS.name)?, ends(ENGINE.name)?);
    Some(statement(
        &format!("{title}: BFS becomes faster as Δ increases"),
        format!(
            "seconds at Δ = 0 and 1e-5: {} {} and {}, {} {} and {}",
            BFS.name,
            short(bfs),
            short(bfs_last),
            ENGINE.name,
            short(own),
            short(own_last)
        ),
        "the time at Δ = 1e-5 is below that at Δ = 0",
        bfs_last < bfs,
    ))
}

/// Returns the statement that the search is faster than the MIP solver, by what the paper says of the data.
fn faster_than_mip(results: &Results, panel: &str, title: &str) -> Statement {
    let ratio = |method: &str| {
        let pairs = mean_seconds(results, panel, MIP).into_iter();
        let pairs = pairs.zip(mean_seconds(results, panel, method));
        pairs.map(|(mip, own)| mip / own).collect::<Vec<f64>>()
    };
    let least = |ratios: &[f64]| ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let (bfs, own) = (ratio(BFS.name), ratio(ENGINE.name));
    if bfs.is_empty() {
        return Statement {
            paper: format!("{title}: BFS is faster than MIP with every Δ"),
            found: "the MIP solver was not there".into(),
            rule: "MIP takes longer at every Δ".into(),
            holds: None,
        };
    }
    let found = format!(
        "MIP takes at least {} times as long as {} ({} times at Δ = 0), {} times as long as {} ({} times at Δ = 0)",
        short(least(&bfs)),
        BFS.name,
        short(bfs[0]),
        short(least(&own)),
        ENGINE.name,
        short(own[0])
    );
    let (more, rule, times) = if panel == "boston" {
        let rule = "MIP takes longer at every Δ, and 300 times as long at Δ = 0";
        (", at Δ = 0 more than 300 times", rule, 300.0)
    } else {
        ("", "MIP takes longer at every Δ", 0.0)
    };
    statement(
        &format!("{title}: BFS is faster than MIP with every Δ{more}"),
        found,
        rule,
        least(&bfs) > 1.0 && bfs[0] > times,
    )
}

/// Returns the statement that a single solver call is enough where the gap is large.
fn one_call(results: &Results, panel: &str, title: &str) -> Statement {
    let calls = |method: &str| {
        let runs = results.of(panel, method);
        let runs = runs.filter(|record| record.x >= ONE_CALL);
        runs.map(|record| record.solver_calls).max().unwrap_or(0)
    };
    let (bfs, own) = (calls(BFS.name), calls(ENGINE.name));
    statement(
        &format!("{title}: one solver call for Δ ≥ 4e-6"),
        format!("at most {}: {bfs}, {}: {own}", BFS.name, ENGINE.name),
        "BFS (paper) needs one",
        bfs == 1,
    )
}

/// Returns the statement that the search finds the optimum in spite of its gap.
fn optimum_found(results: &Results, panel: &str, title: &str) -> Statement {
    let missed = |method: &str| {
        let runs = results.of(panel, method);
        runs.filter(|record| results.error(record) != Some(0.0))
            .map(|record| format!("{:e}", record.x))
            .collect::<Vec<_>>()
    };
    let (bfs, own) = (missed(BFS.name), missed(ENGINE.name));
    let found = match (bfs.is_empty(), own.is_empty()) {
        (true, true) => "both searches find it with every Δ".into(),
        (true, false) => format!(
            "{} with every Δ, {} except at {}",
            BFS.name,
            ENGINE.name,
            own.join(", ")
        ),
        (false, _) => format!("{} except at {}", BFS.name, bfs.join(", ")),
    };
    let (place, rule, excepted) = if panel == "boston" {
        (
            "except at Δ = 2e-6",
            "BFS (paper) misses it nowhere else",
            "2e-6",
        )
    } else {
        ("with every Δ", "BFS (paper) misses it nowhere", "")
    };
    statement(
        &format!("{title}: BFS finds the optimum {place}"),
        found,
        rule,
        bfs.is_empty() || bfs == [excepted],
    )
}

/// Returns the statement that each inexact method misses an optimum on one of the data sets.
fn inexact(results: &Results) -> Statement {
    let error = |panel: &str, entrant: &Entrant| {
        let mut runs = results.of(panel, entrant.name);
        let error = runs.find_map(|record| results.error(record));
        (entrant.name, error.unwrap_or(f64::NAN))
    };
    let found = PANELS.map(|(panel, title, _)| {
        let errors = BASELINES.map(|entrant| error(panel, &entrant));
        format!("{title}: {}", super::listed(errors))
    });
    statement(
        "None of the inexact methods finds the optimum of both data sets",
        format!("objective errors on {}", found.join("; on ")),
        "each of them has an objective error on one of the two",
        BASELINES.iter().all(|entrant| {
            PANELS
                .iter()
                .any(|(panel, ..)| error(panel, entrant).1 > 0.0)
        }),
    )
}
