//! Explains a model in words: what was asked, what is proved and how, and what the result rests on.

use std::fmt::Write;

use l0star::loss;
use l0star_data::indicators::{MISSING, OTHER};
use l0star_data::{counted, plural};
use l0star_record::Model;
use l0star_record::fields::{Constraints, Fitted, Group};

use crate::face::Face;
use crate::proof::{Proof, bounded};
use crate::text::significant;
use crate::{effects, quality, stability};

/// Heading of the section on the quality of the model.
pub const QUALITY: &str = "How good it is";

/// Heading of the section on the meaning of the coefficients.
pub const EFFECTS: &str = "What it says";

/// Heading of the section on the resamples.
pub const STABILITY: &str = "How stable the choice is";

/// A section of an explanation.
pub struct Section {
    /// Heading of the section.
    pub title: &'static str,
    /// Text of the section; some paragraphs are code ([`is_code`]).
    pub paragraphs: Vec<String>,
}

/// Whether a paragraph is a command or a Python call.
pub fn is_code(paragraph: &str) -> bool {
    paragraph.starts_with("l0star ") || paragraph.starts_with("l0star.")
}

/// Returns the explanation, without the table of coefficients.
pub fn sections(model: &Model, face: Face) -> Vec<Section> {
    let section = |title, paragraphs| Section { title, paragraphs };
    let proof = Proof::of(&model.fitted);
    let proved = proof.paragraphs(model.fitted.list.as_ref(), face);
    let good = quality::paragraphs(&model.fitted, face);
    let mut effects = effects::sentences(model);
    effects.extend(effects::refit(&model.fitted));
    let stable = model.fitted.stability.as_ref();
    let stable = stable.map(stability::paragraphs).unwrap_or_default();
    let sections = [
        section("What was asked", asked(model)),
        section(QUALITY, good),
        section(EFFECTS, effects),
        section(STABILITY, stable),
        section("What is proved", proved),
        section(proof.how(), how(model)),
        section("What it rests on", rests_on(model)),
        section("How to do it again", again(model, face)),
    ];
    let has_text = |section: &Section| !section.paragraphs.is_empty();
    sections.into_iter().filter(has_text).collect()
}

fn asked(model: &Model) -> Vec<String> {
    let mut paragraphs = vec![question(model), formula(model)];
    let rules = model.constraints().map(rules).unwrap_or_default();
    if !rules.is_empty() {
        paragraphs.push(rules.join(" "));
    }
    if let Some(assumption) = &model.fitted.assumption {
        paragraphs.push(format!("Assumed and not proved: {}.", bounded(assumption)));
    }
    paragraphs
}

/// Formats names in quotes, separated by commas.
fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    names.join(", ")
}

/// Describes the constraints on the features, one sentence each.
fn rules(asked: &Constraints) -> Vec<String> {
    let mut said = Vec::new();
    for Group { name, columns } in &asked.groups {
        said.push(match columns.len() {
            1 => format!("'{name}' counts as one feature."),
            count => format!(
                "The {count} columns of '{name}' are in or out together and count as one feature."
            ),
        });
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
            "The coefficients of these features may not be negative: {names}."
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
    for (name, factor) in &asked.l0_factors.0 {
        said.push(format!("The price of '{name}' is multiplied by {factor}."));
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

/// Lists the features that could replace chosen ones, one sentence per chosen feature.
pub fn twins(fitted: &Fitted) -> Vec<String> {
    let sentence = |(feature, others): (&String, &Vec<String>)| {
        let names = quoted(others);
        format!("{names} could stand for '{feature}': up to units the columns are the same.")
    };
    fitted.twins.iter().map(sentence).collect()
}

fn question(model: &Model) -> String {
    let fitted = &model.fitted;
    let mut text = format!(
        "Of all linear models of {}'{}' with at most {} of {}, the one with the lowest objective.",
        if !fitted.classes.is_empty() {
            "the classes of "
        } else if model.has_log_link() {
            "the logarithm of the expected "
        } else if model.has_hazards() {
            "the logarithm of the hazard at "
        } else {
            ""
        },
        model.targets().join("', '"),
        fitted.k,
        counted(model.choices(), "feature")
    );
    if !fitted.classes.is_empty() {
        let _ = write!(
            text,
            " A feature has a coefficient for each of the classes '{}'; the probability of a class is in proportion to the exponential of its score.",
            fitted.classes.join("', '")
        );
    }
    if !fitted.responses.is_empty() {
        text +=
            " A feature is in the model of all of these or of none, with a coefficient for each.";
    }
    if let Some([negative, positive]) = &model.labels {
        let _ = write!(
            text,
            " The target has the labels '{negative}' (counted as -1) and '{positive}' (as +1)."
        );
    }
    if let Some(own) = &model.survival {
        let _ = write!(
            text,
            " {} of the times {} those of events, which '{}' tells{}; the others are censored.",
            own.events,
            if own.events == 1 { "is" } else { "are" },
            own.event,
            match &own.event_value {
                Some(value) => format!(" by '{value}'"),
                None => String::new(),
            }
        );
        if let Some(strata) = &own.strata {
            let _ = write!(
                text,
                " Rows are compared with rows of the same '{strata}' only."
            );
        }
        if let Some(entry) = &own.entry {
            let _ = write!(text, " A row is at risk from '{entry}' on.");
        }
    }
    text
}

fn formula(model: &Model) -> String {
    let fitted = &model.fitted;
    let loss = loss::by_name(&fitted.loss, fitted.huber_delta.unwrap_or(1.0));
    // A file may name a loss that this version does not know.
    let loss = loss.map_or_else(
        |_| format!("the loss '{}'", fitted.loss),
        |loss| loss.formula(),
    );
    let mean = match &model.weights {
        Some(column) => format!("the mean, weighted by '{column}',"),
        None => "the mean".to_owned(),
    };
    let of_rows = match &model.survival {
        None => format!("{mean} over the rows of {loss}"),
        // This loss couples all rows.
        Some(own) => {
            let rows = match &model.weights {
                Some(column) => format!("the sum of the weights '{column}'"),
                None => "the number of rows".to_owned(),
            };
            let ties = match own.ties.as_str() {
                "breslow" => "Breslow",
                _ => "Efron",
            };
            format!("the negative log partial likelihood (ties by {ties}), divided by {rows}")
        }
    };
    let (of_all, of_responses) = match (fitted.responses.is_empty(), model.standardize) {
        (true, _) => ("", ""),
        (false, true) => (
            "the sum over the responses, each in units of its standard deviation, of ",
            ", in the same units",
        ),
        (false, false) => ("the sum over the responses of ", ""),
    };
    let mut text = format!(
        "The objective is {of_all}{of_rows}, plus {}/2 times the sum of the squared coefficients",
        fitted.ridge
    );
    if model.standardize {
        text += " of the columns divided by their standard deviations";
    }
    text += of_responses;
    if fitted.l0_penalty > 0.0 {
        let _ = write!(
            text,
            ", plus a price of {} for each feature",
            fitted.l0_penalty
        );
    }
    text.push('.');
    if model.fit_intercept {
        text += " The intercept is neither penalised nor counted.";
    }
    if let Some(offset) = &model.offset {
        let what = if model.has_log_link() {
            "the logarithm of every expectation (the logarithm of an exposure, as a rule)"
        } else {
            "every prediction"
        };
        let _ = write!(text, " The column '{offset}' is added to {what}.");
    }
    if !model.offsets.is_empty() {
        let own = model.offsets.iter().zip(fitted.outputs());
        let own: Vec<String> = own
            .map(|(offset, output)| format!("'{offset}' to that of '{output}'"))
            .collect();
        let what = if fitted.classes.is_empty() {
            "the prediction of each response"
        } else {
            "the score of each class"
        };
        let _ = write!(text, " A column is added to {what}: {}.", own.join(", "));
    }
    text
}

fn how(model: &Model) -> Vec<String> {
    let fitted = &model.fitted;
    let seconds = format!("{} seconds", significant(fitted.seconds, 3));
    if fitted.lower_bound.is_none() {
        return vec![format!("The method '{}' took {seconds}.", fitted.method)];
    }
    let d = model.choices();
    let k = fitted.k.min(d);
    let most = if model.constraints().is_some() {
        "at most "
    } else {
        ""
    };
    let purpose = Proof::of(fitted).purpose();
    let ways = supports(d, k);
    let there = format!(
        "There {} to choose {k} of {} (C({d}, {k})).",
        match ways.as_str() {
            "1" => format!("is {most}1 way"),
            ways => format!("are {most}{ways} ways"),
        },
        counted(d, "feature")
    );
    if fitted.method == "exhaustive" {
        return vec![format!(
            "{there} The method 'exhaustive' fits one after the other: {} in {seconds} {purpose}.",
            counted(fitted.solver_calls, "fit")
        )];
    }
    vec![
        format!(
            "{there} The search examined {} of its tree and solved {} in {seconds} (method '{}') {purpose}. A node stands for all choices in which some of the features are decided.",
            counted(fitted.nodes, "node"),
            counted(fitted.solver_calls, "subproblem"),
            fitted.method
        ),
        "A node is discarded only when a lower bound on all its models, computed from a point of the dual problem, is not below the best model found. Each bound is reduced by a bound on its own rounding errors, so it holds in exact arithmetic and not only in floating point.".into(),
    ]
}

/// Formats `C(d, k)`: in full if it is short, otherwise as a power of ten.
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
    // The Python package does not hash: the user holds the data.
    let hash = if data.hash.is_empty() {
        ".".to_owned()
    } else {
        format!("; the numbers used have the hash {}.", data.hash)
    };
    let mut paragraphs = vec![format!(
        "Data: {}, {} and {}{hash}",
        data.file,
        counted(data.rows, "row"),
        counted(data.columns, "feature")
    )];
    if data.rows_dropped > 0 {
        paragraphs.push(format!(
            "{} with missing values {} dropped.",
            counted(data.rows_dropped, "row"),
            if data.rows_dropped == 1 {
                "was"
            } else {
                "were"
            }
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
    paragraphs.push(Proof::of(&model.fitted).limits());
    paragraphs
}

/// Describes how the text columns of the model are encoded.
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
            "'{column}' is categorical: a feature '{column}=…' is 1 in the rows of that category and 0 elsewhere."
        );
        for level in levels {
            if level.level == OTHER {
                let count = level.others.len();
                let _ = write!(
                    text,
                    " {OTHER} stands for {count} rare {}.",
                    plural(count, "category")
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
        "Run it with l0star {} and {}. With {} the result is the same bit for bit; with more threads the objective and the status are the same, and the number of nodes may differ.",
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
