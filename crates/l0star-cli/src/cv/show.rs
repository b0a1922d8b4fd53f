//! The result of cross-validation as JSON and as text.

use std::fmt::Write;

use l0star_data::counted;
use l0star_record::cv::{Axis, Candidate, Choice, Folds, in_folds};
use l0star_record::fields::Fitted;
use l0star_report::Proof;
use l0star_report::text::significant;
use serde::Serialize;

use super::{Cut, Found};
use crate::screen::Screen;
use crate::table;

/// The JSON output of `cv`.
#[derive(Serialize)]
pub struct Report<'a> {
    /// `complete`, or the reason why searches were cut off: `time_limit`, `interrupted`.
    status: &'static str,
    /// Chosen size. It is `null` if nothing is chosen, and so are the penalties, the best candidate and the model.
    k: Option<usize>,
    ridge: Option<f64>,
    l0_penalty: Option<f64>,
    rule: &'static str,
    score: String,
    higher_is_better: bool,
    folds: usize,
    seed: u64,
    fold_rows: Vec<usize>,
    best: Option<Point>,
    candidates: Vec<Scores>,
    seconds: f64,
    warnings: &'a [String],
    model: Option<&'a Fitted>,
}

#[derive(Serialize)]
struct Point {
    k: usize,
    ridge: f64,
    l0_penalty: f64,
}

/// The scores of a candidate; `null` marks missing ones.
#[derive(Serialize)]
struct Scores {
    k: usize,
    ridge: f64,
    l0_penalty: f64,
    mean: Option<f64>,
    standard_error: Option<f64>,
    scores: Vec<Option<f64>>,
    statuses: Vec<Option<String>>,
    /// The number of features of each fold's model.
    features: Vec<Option<usize>>,
    /// The folds, counted from 1, whose search was stopped and was unlikely to finish.
    hopeless: Vec<usize>,
}

impl Scores {
    fn new(candidate: &Candidate) -> Self {
        let folds = || candidate.folds.iter();
        Self {
            k: candidate.k,
            ridge: candidate.ridge,
            l0_penalty: candidate.l0_penalty,
            mean: candidate.mean(),
            standard_error: candidate.standard_error(),
            scores: folds().map(|fold| Some((*fold)?.score)).collect(),
            statuses: folds()
                .map(|fold| Some((*fold)?.status.to_string()))
                .collect(),
            features: folds().map(|fold| Some((*fold)?.features)).collect(),
            hopeless: candidate.hopeless(),
        }
    }
}

/// The context of the scores.
pub struct About<'a> {
    pub folds: &'a Folds,
    pub seed: u64,
    pub rule: &'static str,
    pub warnings: &'a [String],
}

pub fn json<'a>(found: &Found, about: &About<'a>, model: Option<&'a Fitted>) -> Report<'a> {
    let candidate = |at: usize| &found.tally.candidates[at];
    let chosen = found.choice.map(|choice| candidate(choice.chosen));
    Report {
        status: match found.cut {
            None => "complete",
            Some(Cut::TimeLimit) => "time_limit",
            Some(Cut::Interrupted) => "interrupted",
        },
        k: chosen.map(|chosen| chosen.k),
        ridge: chosen.map(|chosen| chosen.ridge),
        l0_penalty: chosen.map(|chosen| chosen.l0_penalty),
        rule: about.rule,
        score: found.score.to_string(),
        higher_is_better: found.score.is_gain(),
        folds: about.folds.count,
        seed: about.seed,
        fold_rows: about.folds.sizes(),
        best: found.choice.map(|choice| {
            let Candidate {
                k,
                ridge,
                l0_penalty,
                ..
            } = *candidate(choice.best);
            Point {
                k,
                ridge,
                l0_penalty,
            }
        }),
        candidates: found.tally.candidates.iter().map(Scores::new).collect(),
        seconds: found.seconds,
        warnings: about.warnings,
        model,
    }
}

/// Formats the scores with a mark at the choice, and the model.
pub fn table(found: &Found, model: Option<&Fitted>, intercept: bool, screen: &Screen) -> String {
    let mut text = title(found, screen) + "\n\n";
    text += &scores(found, screen);
    if found
        .choice
        .is_some_and(|choice| choice.chosen != choice.best)
    {
        text += &format!("  chosen is {}\n", found.rule.reason(found.tally.axis()));
    }
    for note in &found.notes {
        text += &screen.wrapped("  ", "  ", note);
    }
    let Some(model) = model else {
        return text;
    };
    let quality = model.metrics.as_ref();
    let has_holdout = quality.is_some_and(|quality| quality.holdout.is_some());
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\nfitted to all rows{}: objective {}\n{}\n",
        if has_holdout {
            " but those held out"
        } else {
            ""
        },
        significant(model.objective, 8),
        Proof::of(model).headline()
    );
    text += &table::measures(model, screen);
    text.push('\n');
    text += &table::coefficients(model, intercept, screen);
    text.push('\n');
    text + &table::small_print(model, screen)
}

fn title(found: &Found, screen: &Screen) -> String {
    let Some(choice) = found.choice else {
        return screen.bold(match found.cut {
            Some(Cut::Interrupted) => "interrupted: nothing is chosen",
            _ => "stopped at the time limit: nothing is chosen",
        });
    };
    let chosen = &found.tally.candidates[choice.chosen];
    let tally = &found.tally;
    let mut parts = Vec::new();
    if tally.axis() == Axis::Sizes {
        parts.push(counted(chosen.k, "feature"));
    }
    if tally.has_prices() {
        parts.push(format!("the price {}", chosen.l0_penalty));
    }
    if tally.has_ridges() {
        parts.push(format!("the ridge {}", chosen.ridge));
    }
    let cut = match found.cut {
        Some(_) => ", stopped at the time limit",
        None => "",
    };
    screen.good(&format!(
        "chosen: {}, by {} in {} folds{cut}",
        parts.join(" and "),
        found.score,
        chosen.folds.len()
    ))
}

/// Formats the scores, one line per candidate.
fn scores(found: &Found, screen: &Screen) -> String {
    let tally = &found.tally;
    let is_priced = tally.axis() == Axis::Prices;
    // The columns that identify a candidate, and with prices also the sizes that they lead to.
    let left = |k: &str, price: &str, ridge: &str, features: &str| {
        let mut text = "  ".to_owned();
        if !is_priced {
            text += &format!("{k:>4}");
        }
        let mut add = |is_shown: bool, word: &str| {
            if is_shown {
                text += &format!("  {word:>8}");
            }
        };
        add(tally.has_prices(), price);
        add(tally.has_ridges(), ridge);
        add(is_priced, features);
        text
    };
    let name = found.score.to_string();
    let head = format!(
        "{}  {name:>12}  {:>10}",
        left("k", "price", "ridge", "features"),
        "std. error"
    );
    let mut text = screen.bold(&head) + "\n";
    for (at, candidate) in found.tally.candidates.iter().enumerate() {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| significant(value, digits))
        };
        let is =
            |place: fn(&Choice) -> usize| found.choice.as_ref().is_some_and(|own| place(own) == at);
        let mut marks: Vec<String> = Vec::new();
        if is(|choice| choice.best) {
            marks.push("best".to_owned());
        }
        if is(|choice| choice.chosen) {
            marks.push("chosen".to_owned());
        }
        let is_marked = !marks.is_empty();
        if !candidate.is_complete() {
            let (scored, folds) = (candidate.scored(), candidate.folds.len());
            marks.push(format!("{scored} of {folds} folds"));
        }
        let unproved = candidate.unproved();
        if !unproved.is_empty() {
            marks.push(format!("unproved in {}", in_folds(&unproved)));
        }
        let hopeless = candidate.hopeless();
        if !hopeless.is_empty() {
            marks.push(format!("no prospect in {}", in_folds(&hopeless)));
        }
        let line = format!(
            "{}  {:>12}  {:>10}  {}",
            left(
                &candidate.k.to_string(),
                &candidate.l0_penalty.to_string(),
                &candidate.ridge.to_string(),
                &number(candidate.mean_features(), 3),
            ),
            number(candidate.mean(), 5),
            number(candidate.standard_error(), 3),
            marks.join(", "),
        );
        let line = line.trim_end();
        let shown = if is_marked {
            screen.bold(line)
        } else {
            line.to_owned()
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{shown}");
    }
    text
}
