//! The stability of the choice of features, in words.

use l0star_data::counted;
use l0star_record::stability::Stability;

use crate::text::percent;

/// Describes the number of resamples, and what is proved about them.
pub fn headline(own: &Stability) -> String {
    let kind = match own.resampling {
        l0star_record::stability::Resampling::Bootstrap => "bootstrap resample",
        l0star_record::stability::Resampling::Half => "half-sample",
    };
    let done = counted(own.resamples, kind);
    let proved = if own.resamples == 0 {
        String::new()
    } else if own.proved == own.resamples {
        ", the best model of each proved".to_owned()
    } else {
        format!(", the best model of {} of them proved", own.proved)
    };
    let of = match own.status.as_str() {
        "complete" => String::new(),
        "interrupted" => format!(" of {}, interrupted", own.asked),
        _ => format!(" of {}, stopped at the time limit", own.asked),
    };
    format!("{done}{of}{proved}")
}

/// Describes what the resamples say about the model of all rows.
pub fn paragraphs(own: &Stability) -> Vec<String> {
    if own.resamples == 0 {
        return vec!["No resample is done.".to_owned()];
    }
    let mut said = vec![format!(
        "There are {} (seed {}). {}",
        headline(own),
        own.seed,
        verdict(own)
    )];
    let steady: Vec<String> = own
        .features
        .iter()
        .map(|feature| format!("'{}' {} %", feature.feature, percent(feature.frequency)))
        .take(12)
        .collect();
    said.push(format!(
        "How often features were chosen: {}.",
        steady.join(", ")
    ));
    for pair in own.pairs.iter().take(3) {
        said.push(format!("{}.", stand_in(pair)));
    }
    said.push(INTERVALS.to_owned());
    said
}

/// Explanation of the intervals of coefficients over resamples.
pub const INTERVALS: &str = "The intervals hold the middle 95 % of a coefficient over all resamples, with 0 where the feature was not chosen, so that the choice is part of them.";

/// Describes how often the model of all rows won.
pub fn verdict(own: &Stability) -> String {
    let models = counted(own.distinct, "different model");
    match own.models.iter().find(|model| model.chosen) {
        Some(model) => format!(
            "The best model of all rows is the best of {} % of them; {models} won.",
            percent(model.share)
        ),
        None => format!(
            "The best model of all rows is among the most frequent in none of them; {models} won."
        ),
    }
}

/// Describes two features that replace each other.
pub fn stand_in(pair: &l0star_record::stability::summary::Pair) -> String {
    format!(
        "'{}' and '{}' stand for each other: exactly one of them is in {} % of the models, both in {} %",
        pair.features[0],
        pair.features[1],
        percent(pair.one),
        percent(pair.both)
    )
}
