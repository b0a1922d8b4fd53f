//! Section 4.1.2, Figure 4, and Appendix D, Figure 8: the frequency with which the true support is found, with the
//! paper's ridge and with ten times that ridge.

use super::{Experiment, listed, overall, seconds, statement};
use crate::reproduce::figure::{Figure, PSSR, Panel, SECONDS};
use crate::reproduce::page::{Chapter, Statement};
use crate::reproduce::plan::{
    BASELINES, BFS, ENGINE, Entrant, LOGISTIC_RIDGE, Point, RIDGE, Source,
};
use crate::reproduce::results::Results;
use crate::reproduce::store::Record;

pub const RECOVERY: Experiment = Experiment {
    name: "recovery",
    points: || points(1.0),
    chapter: |results| chapter(results, &USUAL),
};

pub const STRONG: Experiment = Experiment {
    name: "recovery-strong",
    points: || points(STRONGER),
    chapter: |results| chapter(results, &STRONG_RIDGE),
};

const STRONGER: f64 = 10.0;

/// Error that the approximate searches allow.
const ALLOWED: f64 = 0.005;
const EXACT: [Entrant; 2] = [BFS, ENGINE];
const APPROXIMATE: [Entrant; 2] = [
    BFS.named("BFS (paper) Δ=0.005").allowing(ALLOWED),
    ENGINE.named("l0star Δ=0.005").allowing(ALLOWED),
];
const PANELS: [(&str, &str); 2] = [("huber", "Huber"), ("logistic", "Logistic")];

/// The differences between the two experiments on the page.
struct Variant {
    name: &'static str,
    title: &'static str,
    setting: &'static str,
    figure: &'static str,
}

const USUAL: Variant = Variant {
    name: "recovery",
    title: "support recovery",
    setting: "(d, k) = (50, 5), λ = 0.001 (Huber) and 0.0002 (logistic). PSSR is the percentage of instances whose true support is found.",
    figure: "recovery",
};

const STRONG_RIDGE: Variant = Variant {
    name: "recovery-strong",
    title: "support recovery with a stronger ridge",
    setting: "The same instances with λ = 0.01 (Huber) and 0.002 (logistic). Statements that compare the two ridges are read off both figures.",
    figure: "recovery-strong",
};

fn points(factor: f64) -> Vec<Point> {
    let entrants: Vec<Entrant> = EXACT
        .into_iter()
        .chain(APPROXIMATE)
        .chain(BASELINES)
        .collect();
    let (d, k) = (50, 5);
    let point = |panel, n: usize, source| Point {
        panel,
        x: n as f64,
        source,
        entrants: entrants.clone(),
    };
    let huber = (50..=100).step_by(10).map(|n| {
        let ridge = factor * RIDGE;
        point("huber", n, Source::Huber { d, k, n, ridge })
    });
    let logistic = (100..=500).step_by(100).map(|n| {
        let ridge = factor * LOGISTIC_RIDGE;
        point("logistic", n, Source::Logistic { d, k, n, ridge })
    });
    huber.chain(logistic).collect()
}

fn chapter(results: &Results, variant: &Variant) -> Chapter {
    let all = EXACT.iter().chain(&APPROXIMATE).chain(&BASELINES);
    let methods: Vec<&str> = all.map(|entrant| entrant.name).collect();
    let panels = PANELS.iter().flat_map(|(panel, title)| {
        let pssr = Panel::of(results, panel, title, "n", PSSR, &methods).without_deviations();
        [
            pssr,
            Panel::of(results, panel, title, "n", SECONDS, &methods),
        ]
    });
    Chapter {
        name: variant.name,
        title: variant.title,
        setting: variant.setting.into(),
        statements: PANELS
            .iter()
            .flat_map(|panel| statements(results, *panel))
            .collect(),
        figures: vec![Figure {
            name: variant.figure,
            caption: "Percentage of successful support recovery, and running times (means and standard deviations).",
            columns: 2,
            panels: panels.collect(),
        }],
        notes: Vec::new(),
    }
}

fn found(record: &Record) -> f64 {
    if record.recovered == Some(true) {
        100.0
    } else {
        0.0
    }
}

fn statements(results: &Results, (panel, title): (&str, &str)) -> Vec<Statement> {
    let pssr = |e: &Entrant| (e.name, overall(results, panel, e.name, found));
    let exact: Vec<(&str, f64)> = EXACT.iter().map(pssr).collect();
    let inexact: Vec<(&str, f64)> = BASELINES.iter().map(pssr).collect();
    let best = inexact.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let places = results.marks(panel, BFS.name, seconds);
    let (first, last) = match (places.first(), places.last()) {
        (Some(first), Some(last)) => (first.mean, last.mean),
        _ => (f64::NAN, f64::NAN),
    };
    let allowed: Vec<f64> = [&BFS, &APPROXIMATE[0]]
        .map(|entrant| overall(results, panel, entrant.name, seconds))
        .to_vec();
    vec![
        statement(
            &format!("{title}: BFS recovers more supports than the inexact methods"),
            format!(
                "mean PSSR {}",
                listed(exact.iter().chain(&inexact).copied())
            ),
            "its mean PSSR over all n is at least that of each of them",
            exact[0].1 >= best,
        ),
        statement(
            &format!("{title}: BFS gets faster as n grows"),
            format!(
                "{}, mean seconds {}",
                BFS.name,
                listed([("smallest n", first), ("largest n", last)])
            ),
            "the mean at the largest n is below that at the smallest",
            last < first,
        ),
        statement(
            &format!("{title}: BFS that accepts Δ = 0.005 is faster"),
            format!(
                "mean seconds {}",
                listed([("Δ = 0", allowed[0]), ("Δ = 0.005", allowed[1])])
            ),
            "the mean over all n is lower",
            allowed[1] < allowed[0],
        ),
    ]
}
