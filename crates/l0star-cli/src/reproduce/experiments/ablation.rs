//! Appendix C, Figure 7: the effect of pruning and warm starts.

use super::{Experiment, listed, overall, seconds, statement};
use crate::reproduce::figure::{CALLS, Figure, Panel, SECONDS};
use crate::reproduce::page::Chapter;
use crate::reproduce::plan::{BFS, ENGINE, Entrant, Point, Source};
use crate::reproduce::results::Results;

pub const ABLATION: Experiment = Experiment {
    name: "ablation",
    points,
    chapter,
};

const BOTH: Entrant = BFS.named("both (paper)").with(true, true);
const PRUNING: Entrant = BFS.named("pruning (paper)").with(true, false);
const WARM: Entrant = BFS.named("warm start (paper)").with(false, true);
const NEITHER: Entrant = BFS.named("neither (paper)").with(false, false);
const ENTRANTS: [Entrant; 5] = [BOTH, ENGINE, PRUNING, WARM, NEITHER];

fn points() -> Vec<Point> {
    let point = |k: usize| Point {
        panel: "huber",
        x: k as f64,
        source: Source::huber(50, k),
        entrants: ENTRANTS.to_vec(),
    };
    (5..=30).step_by(5).map(point).collect()
}

fn chapter(results: &Results) -> Chapter {
    let methods = ENTRANTS.map(|entrant| entrant.name);
    let panels = [SECONDS, CALLS]
        .map(|axis| Panel::of(results, "huber", "Huber, d = 50", "k", axis, &methods));
    let times = ENTRANTS.map(|e| (e.name, overall(results, "huber", e.name, seconds)));
    let [both, _, pruning, warm, neither] = times.map(|(_, time)| time);
    Chapter {
        name: ABLATION.name,
        title: "pruning and warm start",
        setting: "Huber instances with d = 50, k = 5 … 30, n = ⌊10 k ln d⌋; BFS with pruning, with warm starts, with both and with neither.".into(),
        statements: vec![
            statement(
                "The combination of pruning and warm start greatly reduces the running time",
                format!("mean seconds {}", listed(times)),
                "the mean over all k is lower with both than with either and with neither",
                both < pruning.min(warm).min(neither),
            ),
            statement(
                "The warm start alone does not always accelerate BFS",
                format!(
                    "warm start alone is faster than neither at {} of {} values of k",
                    faster(results),
                    results.marks("huber", WARM.name, seconds).len()
                ),
                "it is not faster at some k",
                faster(results) < results.marks("huber", WARM.name, seconds).len(),
            ),
        ],
        figures: vec![Figure {
            name: "ablation",
            caption: "BFS with and without pruning and warm start: means and standard deviations.",
            columns: 2,
            panels: panels.into(),
        }],
        notes: Vec::new(),
    }
}

/// Counts the values of k at which the warm start alone helps.
fn faster(results: &Results) -> usize {
    let [warm, neither] = [WARM, NEITHER].map(|e| results.marks("huber", e.name, seconds));
    warm.iter()
        .zip(&neither)
        .filter(|(warm, neither)| warm.mean < neither.mean)
        .count()
}
