//! The quality of a model in words: its measures on the fitted rows and on held-out rows.

use l0star_data::counted;
use l0star_record::fields::Fitted;
use l0star_record::metrics::{HeldOut, Metrics, Quality};

use crate::face::Face;
use crate::text::{percent, significant};

/// Returns the measures by name, the most requested first.
///
/// For the quadratic loss without an offset, the deviance explained equals R² and is omitted.
pub fn measures(metrics: &Metrics) -> Vec<(&'static str, String)> {
    let number = |value: f64| significant(value, 4);
    let share = |value: f64| format!("{} %", percent(value));
    let is_r2 = |value: &f64| {
        let same = |r2: f64| number(r2) == number(*value);
        metrics.r2.is_some_and(same)
    };
    let deviance = metrics.deviance_explained.filter(|value| !is_r2(value));
    let all = [
        (
            if metrics.responses.is_empty() {
                "R²"
            } else {
                "mean R²"
            },
            metrics.r2.map(number),
        ),
        ("RMSE", metrics.rmse.map(number)),
        ("MAE", metrics.mae.map(number)),
        ("AUC", metrics.auc.map(number)),
        ("accuracy", metrics.accuracy.map(share)),
        ("log-loss", metrics.log_loss.map(number)),
        ("Brier", metrics.brier.map(number)),
        ("concordance", metrics.concordance.map(share)),
        ("deviance", metrics.deviance.map(number)),
        ("deviance explained", deviance.map(share)),
    ];
    let known = all
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    known.collect()
}

/// Returns the measures in one line.
pub fn line(metrics: &Metrics) -> String {
    let all = measures(metrics).into_iter();
    let all: Vec<String> = all.map(|(name, value)| format!("{name} {value}")).collect();
    all.join(", ")
}

/// Returns each set of rows for a table: a label, the measures, and a description of the rows.
pub fn lines(quality: &Quality) -> Vec<[String; 3]> {
    let rows = |metrics: &Metrics| counted(metrics.rows, "row");
    let mut lines = vec![[
        "training".to_owned(),
        line(&quality.training),
        format!("{}, which were fitted", rows(&quality.training)),
    ]];
    let each = |metrics: &Metrics| -> Vec<[String; 3]> {
        let own = metrics.responses.iter();
        own.map(|own| {
            [
                String::new(),
                line(&own.metrics),
                format!("of '{}'", own.name),
            ]
        })
        .collect()
    };
    lines.extend(each(&quality.training));
    if let Some(held_out) = &quality.holdout {
        lines.push([
            "holdout".to_owned(),
            line(&held_out.metrics),
            format!("{}, which were not", rows(&held_out.metrics)),
        ]);
        lines.extend(each(&held_out.metrics));
    }
    lines
}

/// Describes the measures and what they say.
pub fn paragraphs(fitted: &Fitted, face: Face) -> Vec<String> {
    let Some(quality) = &fitted.metrics else {
        return Vec::new();
    };
    let mut said = vec![format!(
        "On the {} that were fitted: {}.",
        counted(quality.training.rows, "row"),
        line(&quality.training)
    )];
    said.extend(
        quality
            .training
            .responses
            .iter()
            .map(|own| format!("Of '{}': {}.", own.name, line(&own.metrics))),
    );
    if let Some(held_out) = &quality.holdout {
        said.push(format!(
            "On {} that were held out: {}.",
            counted(held_out.metrics.rows, "row"),
            line(&held_out.metrics)
        ));
    }
    said.extend(notes(fitted, face));
    said
}

/// Explains what the measures say, and what they do not.
pub fn notes(fitted: &Fitted, face: Face) -> Vec<String> {
    let Some(quality) = &fitted.metrics else {
        return Vec::new();
    };
    vec![match &quality.holdout {
        Some(HeldOut { share, seed, .. }) => format!(
            "The rows that were held out are {} % of all, drawn with seed {seed}; nothing was learnt from them.",
            percent(*share),
        ),
        None if !fitted.outputs().is_empty() => "These are the rows that the features were chosen for, so on others the model will do somewhat worse.".to_owned(),
        None => format!(
            "These are the rows that the features were chosen for, so on others the model will do somewhat worse; {} or {} measures that.",
            face.holdout(),
            face.validation()
        ),
    }]
}

/// Describes the search effort in one line of small print.
pub fn small_print(nodes: u64, peak: u64, calls: u64, seconds: f64, method: &str) -> String {
    format!(
        "{} ({peak} open at most), {}, method {method}, {} seconds",
        counted(nodes, "node"),
        counted(calls, "solver call"),
        significant(seconds, 3),
    )
}

/// Describes the search effort of a result.
pub fn search(fitted: &Fitted) -> String {
    let Fitted {
        nodes,
        peak_open_nodes,
        solver_calls,
        seconds,
        ref method,
        ..
    } = *fitted;
    small_print(nodes, peak_open_nodes, solver_calls, seconds, method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_named_once() {
        let mut metrics = Metrics {
            rows: 9,
            r2: Some(0.5),
            rmse: Some(12.0),
            deviance_explained: Some(0.5),
            ..Metrics::default()
        };
        assert_eq!(line(&metrics), "R² 0.5000, RMSE 12.00");
        metrics.deviance_explained = Some(0.25);
        assert_eq!(
            line(&metrics),
            "R² 0.5000, RMSE 12.00, deviance explained 25.0 %"
        );
        assert_eq!(line(&Metrics::default()), "");
    }
}
