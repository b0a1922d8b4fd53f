//! What was proved of a model, and how, for whoever has to defend it.

use std::fmt::Write;

use l0star_data::Model;
use l0star_data::indicators::{MISSING, OTHER};
use l0star_data::model::{Constraints, Fitted, Group};

use crate::face::Face;
use crate::text::{percent_above, significant};

/// A title and what there is to say.
pub struct Section {
    /// What it is about.
    pub title: &'static str,
    /// What there is to say; some are code ([`is_code`]).
    pub paragraphs: Vec<String>,
}

/// Whether a paragraph is a command or a call in Python.
pub fn is_code(paragraph: &str) -> bool {
    paragraph.starts_with("l0star ") || paragraph.starts_with("l0star.")
}

/// The words, without the table of coefficients.
pub fn sections(model: &Model, face: Face) -> Vec<Section> {
    let section = |title, paragraphs| Section { title, paragraphs };
    vec![
        section("What was asked", asked(model)),
        section("What is proved", proved(&model.fitted, face)),
        section("How it was proved", how(model)),
        section("What it rests on", rests_on(model)),
        section("How to do it again", again(model, face)),
    ]
}

fn asked(model: &Model) -> Vec<String> {
    let mut paragraphs = vec![question(model), formula(model)];
    let rules = model.constraints().map(rules).unwrap_or_default();
    if !rules.is_empty() {
        paragraphs.push(rules.join(" "));
    }
    paragraphs
}

/// What was asked of the features, a sentence a rule.
fn rules(asked: &Constraints) -> Vec<String> {
    let quoted = |names: &[String]| -> String {
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        names.join(", ")
    };
    let mut said = Vec::new();
    for Group { name, columns } in &asked.groups {
        said.push(format!(
            "The {} columns of '{name}' are in or out together and count as one feature.",
            columns.len()
        ));
    }
    if !asked.include.is_empty() {
        let names = quoted(&asked.include);
        said.push(format!("In every model, and counted: {names}."));
    }
    if !asked.include_free.is_empty() {
        let names = quoted(&asked.include_free);
        said.push(format!("In every model, and not counted: {names}."));
    }
    if asked.all_nonnegative {
        said.push("No coefficient may be negative.".into());
    } else if !asked.nonnegative.is_empty() {
        let names = quoted(&asked.nonnegative);
        said.push(format!(
            "The coefficients of these may not be negative: {names}."
        ));
    }
    for bounded in &asked.bounds {
        let range = match (bounded.lower, bounded.upper) {
            (Some(lower), Some(upper)) => format!("between {lower} and {upper}"),
            (Some(lower), None) => format!("at least {lower}"),
            (None, Some(upper)) => format!("at most {upper}"),
            (None, None) => continue,
        };
        said.push(format!(
            "The coefficient of '{}' has to be {range}.",
            bounded.feature
        ));
    }
    for (name, factor) in &asked.ridge_factors.0 {
        said.push(format!("The ridge of '{name}' is multiplied by {factor}."));
    }
    if asked.heredity {
        said.push("A product or a square may be in only together with its factors.".into());
    }
    for needed in &asked.requires {
        let names = quoted(&needed.needs);
        said.push(format!(
            "'{}' may be in only together with {names}.",
            needed.feature
        ));
    }
    said
}

fn question(model: &Model) -> String {
    let fitted = &model.fitted;
    let mut text = format!(
        "Of all linear models of '{}' with at most {} of {} features, the one with the lowest objective.",
        model.target,
        fitted.k,
        model.choices()
    );
    if let Some([negative, positive]) = &model.labels {
        let _ = write!(
            text,
            " The target has the labels '{negative}' (counted as -1) and '{positive}' (as +1)."
        );
    }
    text
}

fn formula(model: &Model) -> String {
    let fitted = &model.fitted;
    let loss = match fitted.loss.as_str() {
        "quadratic" => "half the squared residual".to_owned(),
        "huber" => format!(
            "Huber's loss of the residual, which is half its square up to {} and linear beyond",
            fitted.huber_delta.unwrap_or(1.0)
        ),
        "logistic" => "log(1 + exp(-margin))".to_owned(),
        "squared-hinge" => "half the square of what the margin lacks to 1".to_owned(),
        other => format!("the loss '{other}'"),
    };
    let mean = match &model.weights {
        Some(column) => format!("the mean, weighted by '{column}',"),
        None => "the mean".to_owned(),
    };
    let mut text = format!(
        "The objective is {mean} over the rows of {loss}, plus {}/2 times the sum of the squared coefficients",
        fitted.ridge
    );
    text += if model.standardize {
        " of the columns divided by their standard deviations."
    } else {
        "."
    };
    if model.fit_intercept {
        text += " The intercept is neither penalised nor counted.";
    }
    if let Some(offset) = &model.offset {
        let _ = write!(text, " The column '{offset}' is added to every prediction.");
    }
    text
}

fn proved(fitted: &Fitted, face: Face) -> Vec<String> {
    let objective = format!("Its objective is {}.", significant(fitted.objective, 12));
    let (Some(bound), Some(gap), Some(relative)) =
        (fitted.lower_bound, fitted.gap, fitted.relative_gap)
    else {
        return vec![
            objective,
            format!(
                "Nothing is proved: '{}' is a heuristic, and a better model with as many features may exist. Use {} for a proof.",
                fitted.method,
                face.exact()
            ),
        ];
    };
    let bound = format!(
        "No model with at most {} features has an objective below {} (the lower bound), so this one is at most {} above the optimum: {} % of it.",
        fitted.k,
        significant(bound, 12),
        significant(gap, 3),
        percent_above(relative)
    );
    let meaning = match fitted.status.as_str() {
        "optimal" => {
            "Status optimal: the two agree to 9 digits, which is as far as the promise goes. No other choice of features, and no other coefficients, can do better than that."
        }
        "gap_reached" => {
            "Status gap_reached: the search ended as soon as the error that was allowed was proved, or where double precision could not prove more. A model better by less than the gap may exist."
        }
        "time_limit" | "node_limit" | "memory_limit" => &format!(
            "It was stopped at a limit before the proof was complete: the bound holds, but a model better by less than the gap may exist. A longer run, or {} of a checkpoint, closes it.",
            face.resume()
        ),
        "interrupted" => {
            "It was interrupted before the proof was complete: the bound holds, but a model better by less than the gap may exist."
        }
        other => return vec![objective, bound, format!("Status {other}.")],
    };
    let mut paragraphs = vec![objective, bound, meaning.to_owned()];
    if let Some(list) = &fitted.list {
        let count = list.solutions.len();
        paragraphs.push(match list.rest_bound {
            Some(rest) => format!(
                "{} the {count} best models; every other one has an objective of at least {}.",
                face.list(),
                significant(rest, 12)
            ),
            None => format!("{} all {count} models that there are.", face.list()),
        });
    }
    paragraphs
}

fn how(model: &Model) -> Vec<String> {
    let fitted = &model.fitted;
    if fitted.lower_bound.is_none() {
        return vec![format!(
            "Method '{}' in {} seconds.",
            fitted.method,
            significant(fitted.seconds, 3)
        )];
    }
    let d = model.choices();
    let most = if model.constraints().is_some() {
        "at most "
    } else {
        ""
    };
    let k = fitted.k.min(d);
    if fitted.method == "exhaustive" {
        return vec![format!(
            "By trying: each of the {most}{} ways to choose {k} of {d} features (C({d}, {k})) was fitted, or as many as the limits allowed, in {} seconds.",
            supports(d, k),
            significant(fitted.seconds, 3)
        )];
    }
    let mut paragraphs = vec![format!(
        "There are {most}{} ways to choose {k} of {d} features (C({d}, {k})). The search ruled out all that are worse with {} of a search tree (a node is all choices in which some features are decided) and {}, in {} seconds (method '{}').",
        supports(d, k),
        counted(fitted.nodes, "node"),
        counted(fitted.solver_calls, "subproblem"),
        significant(fitted.seconds, 3),
        fitted.method
    )];
    paragraphs.push(
        "A node is given up only when a lower bound of all models in it, from a point of the dual problem, is not below the best model found. Every such bound is lowered by a bound of its own rounding errors, so that it holds for the exact numbers and not only for what the computer made of them.".into(),
    );
    if fitted.status != "optimal" && fitted.status != "gap_reached" {
        paragraphs[0] = paragraphs[0].replace(
            "The search ruled out all that are worse with",
            "The search got as far as it did with",
        );
    }
    paragraphs
}

/// `1 node`, `2 nodes`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// `C(d, k)`: in full while that is short, else as a power of ten.
pub fn supports(d: usize, k: usize) -> String {
    let k = k.min(d - k.min(d));
    let mut exact: Option<u128> = Some(1);
    let mut logarithm = 0.0;
    for i in 0..k {
        exact = exact
            .and_then(|count| count.checked_mul((d - i) as u128))
            .map(|count| count / (i as u128 + 1));
        logarithm += ((d - i) as f64 / (i as f64 + 1.0)).log10();
    }
    match exact {
        Some(count) if count < 1_000_000_000 => count.to_string(),
        _ => {
            let power = logarithm.floor();
            format!("about {:.1}e{power}", 10f64.powf(logarithm - power))
        }
    }
}

fn rests_on(model: &Model) -> Vec<String> {
    let data = &model.data;
    // Python does not hash: the numbers are in the user's hands.
    let hash = match data.hash.is_empty() {
        true => ".".to_owned(),
        false => format!("; the numbers used have the hash {}.", data.hash),
    };
    let mut paragraphs = vec![format!(
        "Data: {}, {} rows and {} features{hash}",
        data.file, data.rows, data.columns
    )];
    if data.rows_dropped > 0 {
        paragraphs.push(format!(
            "{} rows were dropped since a value was missing.",
            data.rows_dropped
        ));
    }
    if !model.imputed.is_empty() {
        let names: Vec<&str> = model
            .imputed
            .0
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        paragraphs.push(format!(
            "Missing values of {} were replaced by the mean of the column.",
            names.join(", ")
        ));
    }
    paragraphs.extend(texts(model));
    for warning in &model.fitted.warnings {
        paragraphs.push(format!("Warning: {warning}."));
    }
    paragraphs.push(
        "The best model of a sample is not the truth: another sample may choose other features. What is proved is that, by this objective and on these rows, no choice is better.".into(),
    );
    paragraphs
}

/// What became of columns of text, as far as the model has them.
fn texts(model: &Model) -> Vec<String> {
    let mut columns: Vec<&str> = Vec::new();
    for indicator in &model.indicators {
        if columns.last() != Some(&indicator.column.as_str()) {
            columns.push(&indicator.column);
        }
    }
    let told = |column: &str| {
        let levels = model.indicators.iter().filter(|own| own.column == column);
        let mut text = format!(
            "'{column}' holds text: a feature '{column}=…' is 1 where a row has that text, else 0."
        );
        for level in levels {
            if level.level == OTHER {
                let count = level.others.len() as u64;
                let _ = write!(
                    text,
                    " {OTHER} stands for {} that few rows have.",
                    counted(count, "text")
                );
            } else if level.level == MISSING {
                let _ = write!(text, " {MISSING} stands for missing values.");
            }
        }
        text
    };
    columns.into_iter().map(told).collect()
}

fn again(model: &Model, face: Face) -> Vec<String> {
    let quoted = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words: Vec<String> = model.command.iter().map(quoted).collect();
    let mut paragraphs = Vec::new();
    match face {
        Face::Command if words.is_empty() => {}
        Face::Command => paragraphs.push(format!("l0star {}", words.join(" "))),
        Face::Python => paragraphs.extend(model.command.iter().cloned()),
    }
    paragraphs.push(format!(
        "with l0star {} and {}. With {} a run repeats itself bit for bit; with more threads objective and status stay, and the nodes on the way may differ.",
        model.l0star,
        match face {
            Face::Command => "data of the same hash",
            Face::Python => "the same data",
        },
        face.one_thread()
    ));
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_counted() {
        assert_eq!(supports(10, 3), "120");
        assert_eq!(supports(10, 10), "1");
        assert_eq!(supports(5, 0), "1");
        assert_eq!(supports(1000, 10), "about 2.6e23");
        assert_eq!(supports(100_000, 50), "about 3.2e185");
    }
}
