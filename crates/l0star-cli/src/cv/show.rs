//! What cross-validation found, for scripts and for readers.

use std::fmt::Write;

use l0star_data::counted;
use l0star_data::model::Fitted;
use l0star_report::Proof;
use l0star_report::text::significant;
use serde::Serialize;

use super::Found;
use super::choose::Candidate;
use super::folds::Folds;
use crate::screen::Screen;
use crate::table;

/// The object as scripts read it.
#[derive(Serialize)]
pub struct Report<'a> {
    k: usize,
    ridge: f64,
    rule: &'static str,
    score: String,
    higher_is_better: bool,
    folds: usize,
    seed: u64,
    fold_rows: Vec<usize>,
    best: Point,
    candidates: Vec<Scored<'a>>,
    seconds: f64,
    model: &'a Fitted,
}

#[derive(Serialize)]
struct Point {
    k: usize,
    ridge: f64,
}

#[derive(Serialize)]
struct Scored<'a> {
    k: usize,
    ridge: f64,
    mean: f64,
    standard_error: f64,
    scores: &'a [f64],
}

pub fn json<'a>(
    found: &'a Found,
    folds: &Folds,
    seed: u64,
    rule: &'static str,
    model: &'a Fitted,
) -> Report<'a> {
    let best = &found.candidates[found.choice.best];
    let chosen = &found.candidates[found.choice.chosen];
    let scored = |candidate: &'a Candidate| Scored {
        k: candidate.k,
        ridge: candidate.ridge,
        mean: candidate.mean,
        standard_error: candidate.standard_error,
        scores: &candidate.scores,
    };
    Report {
        k: chosen.k,
        ridge: chosen.ridge,
        rule,
        score: found.score.to_string(),
        higher_is_better: found.score.is_gain(),
        folds: folds.count,
        seed,
        fold_rows: folds.sizes(),
        best: Point {
            k: best.k,
            ridge: best.ridge,
        },
        candidates: found.candidates.iter().map(scored).collect(),
        seconds: found.seconds,
        model,
    }
}

/// The scores with a mark at the choice, and the model.
pub fn table(found: &Found, model: &Fitted, intercept: bool, screen: &Screen) -> String {
    let choice = found.choice;
    let chosen = &found.candidates[choice.chosen];
    let folds = chosen.scores.len();
    let has_ridges = found.candidates.iter().any(|c| c.ridge != chosen.ridge);
    let ridge = match has_ridges {
        true => format!(" and the ridge {}", chosen.ridge),
        false => String::new(),
    };
    let mut text = screen.good(&format!(
        "chosen: {}{ridge}, by {} in {folds} folds",
        counted(chosen.k, "feature"),
        found.score
    ));
    text += "\n\n";
    let name = found.score.to_string();
    let head = match has_ridges {
        true => format!(
            "  {:>4}  {:>8}  {name:>12}  {:>10}",
            "k", "ridge", "std. error"
        ),
        false => format!("  {:>4}  {name:>12}  {:>10}", "k", "std. error"),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", screen.bold(&head));
    for (at, candidate) in found.candidates.iter().enumerate() {
        let ridge = match has_ridges {
            true => format!("  {:>8}", candidate.ridge),
            false => String::new(),
        };
        let mark = match (at == choice.chosen, at == choice.best) {
            (true, true) => "  best, chosen",
            (true, false) => "  chosen",
            (false, true) => "  best",
            (false, false) => "",
        };
        let line = format!(
            "  {:>4}{ridge}  {:>12}  {:>10}{mark}",
            candidate.k,
            significant(candidate.mean, 5),
            significant(candidate.standard_error, 3),
        );
        let shown = match mark.is_empty() {
            true => line,
            false => screen.bold(&line),
        };
        let _ = writeln!(text, "{shown}");
    }
    if choice.chosen != choice.best {
        text += "  chosen is the smallest k within one standard error of the best\n";
    }
    let _ = writeln!(
        text,
        "\nfitted to all rows: objective {}\n{}\n",
        significant(model.objective, 8),
        Proof::of(model).headline()
    );
    text + &table::coefficients(model, intercept, screen)
}
