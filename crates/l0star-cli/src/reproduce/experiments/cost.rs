//! Section 4.1.1, Figure 3: running times and solver calls as d grows.

use super::{Experiment, calls, listed, overall, seconds, statement};
use crate::reproduce::figure::{CALLS, Figure, Panel, SECONDS, Series};
use crate::reproduce::page::{Chapter, Statement, short};
use crate::reproduce::plan::{BASELINES, BFS, ENGINE, Entrant, Point, Source};
use crate::reproduce::results::{Mark, Results, Solved};

pub const COST: Experiment = Experiment {
    name: "cost",
    points,
    chapter,
};

/// Name of the curve of the exhaustive search.
const EXHAUSTIVE: &str = "all supports";
const EXACT: [Entrant; 2] = [BFS, ENGINE];

/// The paper's counts among 600 instances: panel, title, solved by OMP, HTP, DIHT.
const SOLVED: [(&str, &str, [usize; 3]); 2] = [
    ("huber", "Huber", [598, 172, 233]),
    ("logistic", "Logistic", [464, 7, 82]),
];

fn points() -> Vec<Point> {
    let entrants: Vec<Entrant> = EXACT.into_iter().chain(BASELINES).collect();
    let point = |panel, d: usize, source| Point {
        panel,
        x: d as f64,
        source,
        entrants: entrants.clone(),
    };
    let huber = (50..=300)
        .step_by(50)
        .map(|d| point("huber", d, Source::huber(d, d / 10)));
    let logistic = (50..=100)
        .step_by(10)
        .map(|d| point("logistic", d, Source::logistic(d, d / 10)));
    huber.chain(logistic).collect()
}

fn chapter(results: &Results) -> Chapter {
    let methods: Vec<&str> = EXACT.iter().chain(&BASELINES).map(|e| e.name).collect();
    let panels = SOLVED.iter().flat_map(|(panel, title, _)| {
        let time = Panel::of(results, panel, title, "d", SECONDS, &methods);
        let mut calls = Panel::of(results, panel, title, "d", CALLS, &methods[..2]);
        calls.series.extend(exhaustive(&calls));
        [time, calls]
    });
    Chapter {
        name: COST.name,
        title: "running times and solver calls",
        setting: "Huber (d = 50 … 300) and logistic (d = 50 … 100) instances, k = d/10, n = ⌊10 k ln d⌋. The inexact methods count as one solver call.".into(),
        statements: SOLVED.iter().flat_map(|family| statements(results, family)).collect(),
        figures: vec![Figure {
            name: "cost",
            caption: "Running times and solver calls: means and standard deviations.",
            columns: 2,
            panels: panels.collect(),
        }],
        notes: Vec::new(),
    }
}

/// Returns the curve of an exhaustive search, with one solver call per support.
fn exhaustive(panel: &Panel) -> Option<Series> {
    let marks = panel.series.first()?.marks.iter().map(|mark| Mark {
        mean: binomial(mark.x, mark.x / 10.0),
        deviation: 0.0,
        cut_off: 0,
        ..*mark
    });
    Some(Series {
        name: EXHAUSTIVE.to_owned(),
        marks: marks.collect(),
    })
}

fn binomial(d: f64, k: f64) -> f64 {
    (1..=k as usize).fold(1.0, |product, i| product * (d - k + i as f64) / i as f64)
}

fn statements(
    results: &Results,
    (panel, title, solved): &(&str, &str, [usize; 3]),
) -> Vec<Statement> {
    let exact: Vec<(&str, Solved)> = EXACT
        .map(|e| (e.name, results.solved(panel, e.name)))
        .into();
    let runs = results.of(panel, BFS.name).count();
    let all = exact.iter().all(|(_, found)| found.solved == runs);
    let count = |(name, found): &(&str, Solved)| format!("{name}: {} of {runs}", found.solved);
    let mut statements = vec![statement(
        &format!("{title}: BFS solves all 600 instances"),
        exact.iter().map(count).collect::<Vec<_>>().join(", "),
        "both searches solve all that were run here",
        all,
    )];
    for (baseline, paper) in BASELINES.iter().zip(solved) {
        let found = results.solved(panel, baseline.name);
        let share = found.solved as f64 / found.known.max(1) as f64;
        let said = *paper as f64 / 600.0;
        statements.push(statement(
            &format!(
                "{title}: {} solves {paper} of 600 ({:.1} %)",
                baseline.name,
                100.0 * said
            ),
            format!(
                "{} of {} ({:.1} %)",
                found.solved,
                found.known,
                100.0 * share
            ),
            // The instances are random and the seeds differ, so a tenth of all instances either way counts as the same.
            "the shares differ by at most 10 percentage points",
            (share - said).abs() <= 0.1,
        ));
    }
    let last = results.marks(panel, BFS.name, calls).last().copied();
    let (most, supports) = last.map_or((f64::NAN, f64::NAN), |mark| {
        (mark.mean, binomial(mark.x, mark.x / 10.0))
    });
    statements.push(statement(
        &format!("{title}: BFS examines a very small fraction of the tree"),
        format!(
            "{} calls at the largest d, of {} supports",
            short(most),
            short(supports)
        ),
        "the mean at the largest d is below a thousandth of the supports",
        most < 1e-3 * supports,
    ));
    let times = |entrants: &[Entrant]| -> Vec<(&str, f64)> {
        let time = |e: &Entrant| (e.name, overall(results, panel, e.name, seconds));
        entrants.iter().map(time).collect()
    };
    let (own, others) = (times(&EXACT), times(&BASELINES));
    let slowest = others.iter().map(|(_, time)| *time).fold(0.0, f64::max);
    statements.push(statement(
        &format!("{title}: BFS is slower than the inexact methods on average"),
        format!(
            "mean seconds {}",
            listed(own.iter().chain(&others).copied())
        ),
        "its mean over all d is above that of each of them",
        own[0].1 > slowest,
    ));
    statements
}

#[cfg(test)]
mod tests {
    use super::binomial;

    #[test]
    fn binomials_count_supports() {
        assert_eq!(binomial(5.0, 2.0), 10.0);
        assert!((binomial(50.0, 5.0) - 2_118_760.0).abs() < 1e-3);
    }
}
