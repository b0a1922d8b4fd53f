//! The parts of the HTML page that need no script.

use std::fmt::Write as _;

use l0star_data::counted;
use l0star_record::Model;
use l0star_record::fields::Fitted;

use super::Charts;
use crate::face::Face;
use crate::proof::Proof;
use crate::text::{percent_up, significant};
use crate::width::width;
use crate::{effects, explain, quality};

const HTML: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// Length above which a name gets its own line on a phone.
const LONG_NAME: usize = 20;

/// Renders the page of a model.
pub fn render(model: &Model, charts: &Charts, face: Face) -> String {
    let fitted = &model.fitted;
    let json = serde_json::to_string(charts).expect("charts have no keys but strings");
    let proof = Proof::of(fitted);
    let class = if proof.is_complete() { "good" } else { "loud" };
    let parts: [(&str, String); 16] = [
        ("version", escape(env!("CARGO_PKG_VERSION"))),
        (
            "title",
            escape(&format!(
                "A model of '{}' with {}",
                model.target,
                counted(model.count(&fitted.support), "feature")
            )),
        ),
        ("status", escape(&proof.headline())),
        ("status_class", class.to_owned()),
        ("tiles", tiles(model)),
        (
            "warnings",
            fitted
                .warnings
                .iter()
                .map(|text| format!("<p class=\"warning\">Warning: {}.</p>\n", escape(text)))
                .collect(),
        ),
        ("bars", escape(&bars(model))),
        ("coefficients", coefficients(model)),
        (
            "sides",
            if has_both_signs(model) {
                "two-sided".to_owned()
            } else if fitted.outputs().is_empty() {
                "one-sided".to_owned()
            } else {
                "empty".to_owned()
            },
        ),
        ("twins", twins(fitted) + &effects(model, face)),
        ("quality", measures(fitted, face)),
        ("words", words(model, face)),
        ("small_print", escape(&quality::search(fitted))),
        ("css", CSS.to_owned()),
        // In a script, only `<` could end the data.
        ("data", json.replace('<', "\\u003c")),
        ("js", JS.to_owned()),
    ];
    fill(HTML, &parts)
}

/// Fills the parts into the template in one pass; the inserted text is not searched for placeholders.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::with_capacity(
        template.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>(),
    );
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after
            .split_once("}}")
            .expect("every brace of the page is closed");
        let part = parts.iter().find(|(own, _)| *own == name);
        page += before;
        page += &part.expect("every part of the page is known").1;
        rest = after;
    }
    page + rest
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c => safe.push(c),
        }
    }
    safe
}

fn tiles(model: &Model) -> String {
    let fitted = &model.fitted;
    let mut tiles = merits(fitted);
    tiles.push(("objective", significant(fitted.objective, 8)));
    if let (Some(bound), Some(gap)) = (fitted.lower_bound, fitted.relative_gap) {
        tiles.push(("lower bound", significant(bound, 8)));
        tiles.push(("relative gap", format!("{} %", percent_up(gap))));
    }
    tiles.push((
        "features",
        format!("{} of {}", model.count(&fitted.support), model.choices()),
    ));
    tiles.push(("rows", model.data.rows.to_string()));
    tiles.push(("loss", fitted.loss.clone()));
    tiles.push(("ridge", fitted.ridge.to_string()));
    let tile = |(name, value): &(&str, String)| {
        format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(value))
    };
    tiles.iter().map(tile).collect()
}

/// Returns the two measures that readers look for first, on held-out rows if there are any.
fn merits(fitted: &Fitted) -> Vec<(&'static str, String)> {
    let Some(quality) = &fitted.metrics else {
        return Vec::new();
    };
    let (metrics, names) = match &quality.holdout {
        Some(held_out) => (
            &held_out.metrics,
            [
                "R², held out",
                "RMSE, held out",
                "AUC, held out",
                "accuracy, held out",
            ],
        ),
        None => (
            &quality.training,
            [
                "R², training",
                "RMSE, training",
                "AUC, training",
                "accuracy, training",
            ],
        ),
    };
    let mut found = quality::measures(metrics);
    found.truncate(2);
    let name = |short: &str| names.into_iter().find(|name| name.starts_with(short));
    let named = found
        .into_iter()
        .filter_map(|(short, value)| Some((name(short)?, value)));
    named.collect()
}

/// Returns the measures of the fitted rows next to those of the held-out rows, and what they mean.
fn measures(fitted: &Fitted, face: Face) -> String {
    let Some(own) = &fitted.metrics else {
        return String::new();
    };
    let training = quality::measures(&own.training);
    let held_out = own
        .holdout
        .as_ref()
        .map(|held_out| quality::measures(&held_out.metrics));
    let mut text = String::from("<section id=\"quality\"><h2>How good it is</h2>\n");
    for paragraph in quality::notes(fitted, face) {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(&paragraph));
    }
    text += "<table class=\"measures\"><thead><tr><th scope=\"col\"></th>";
    let mut head = |rows: usize, which: &str| {
        let _ = write!(
            text,
            "<th scope=\"col\" class=\"number\">{}, {which}</th>",
            counted(rows, "row")
        );
    };
    head(own.training.rows, "fitted");
    if let Some(held_out) = &own.holdout {
        head(held_out.metrics.rows, "held out");
    }
    text += "</tr></thead>\n<tbody>\n";
    for (name, value) in &training {
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{name}</th><td class=\"number\">{value}</td>"
        );
        if let Some(held_out) = &held_out {
            let found = held_out.iter().find(|(other, _)| other == name);
            let value = found.map_or("", |(_, value)| value.as_str());
            let _ = write!(text, "<td class=\"number\">{value}</td>");
        }
        text += "</tr>\n";
    }
    text + "</tbody></table></section>\n"
}

/// Describes the bars of the coefficients.
fn bars(model: &Model) -> String {
    if !model.fitted.responses.is_empty() {
        return "A column for each response: how much its prediction changes with one unit of the feature.".to_owned();
    }
    if !model.fitted.classes.is_empty() {
        return "A column for each class: how much its score changes with one unit of the feature. Probabilities are in proportion to the exponentials of scores; only differences between classes count.".to_owned();
    }
    let moved = match &model.labels {
        Some([_, positive]) if model.has_log_odds() => {
            format!("the log-odds of '{positive}' change")
        }
        Some(_) => "the score changes".to_owned(),
        None if model.has_log_link() => {
            format!("the logarithm of the expected '{}' changes", model.target)
        }
        None if model.has_hazards() => "the logarithm of the hazard changes".to_owned(),
        None => "the prediction changes".to_owned(),
    };
    format!("Per SD, and as a bar: how much {moved} with one standard deviation of the feature.")
}

fn coefficients(model: &Model) -> String {
    let fitted = &model.fitted;
    if !fitted.outputs().is_empty() {
        // With several responses, a separate table has a column for each response.
        return String::new();
    }
    let effect = |name: &str| fitted.per_sd.get(name);
    let rows = &fitted.coefficients.0;
    let largest = rows
        .iter()
        .filter_map(|(name, _)| effect(name))
        .fold(0.0f64, |most, value| most.max(value.abs()));
    // Bars of one sign need no space for the other.
    let room = if has_both_signs(model) { 50.0 } else { 100.0 };
    let mut text = String::new();
    for (name, value) in rows {
        let value = value.first();
        let sign = if value < 0.0 { "minus" } else { "plus" };
        let effect = effect(name);
        let class = if width(name) > LONG_NAME {
            " class=\"long\""
        } else {
            ""
        };
        let length = match effect {
            Some(effect) if largest > 0.0 => room * effect.abs() / largest,
            _ => 0.0,
        };
        let _ = writeln!(
            text,
            "<tr{class}><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"bar\"><i><b class=\"{sign}\" style=\"width:{length:.2}%\"></b></i></td></tr>",
            escape(name),
            significant(value, 6),
            effect.map_or(String::new(), |effect| significant(effect, 4))
        );
    }
    if model.fit_intercept {
        let _ = writeln!(
            text,
            "<tr><td>(intercept)</td><td class=\"number\">{}</td><td class=\"number\"></td><td class=\"bar\"></td></tr>",
            significant(fitted.intercept.first(), 6)
        );
    }
    text
}

fn has_both_signs(model: &Model) -> bool {
    let has = |is: fn(&f64) -> bool| {
        let values = &model.fitted.coefficients.0;
        values.iter().any(|(_, value)| is(&value.first()))
    };
    has(|value| *value < 0.0) && has(|value| *value > 0.0)
}

/// Renders the meaning and precision of the coefficients.
fn effects(model: &Model, face: Face) -> String {
    let sentences = effects::sentences(model);
    let mut text = String::new();
    if !sentences.is_empty() {
        text += "\n<ul class=\"effects\">";
        for sentence in &sentences {
            let _ = write!(text, "<li>{}</li>", escape(sentence));
        }
        text += "</ul>";
    }
    let table = effects::table(model, face);
    let has_more = table.titles.len() > 2 || !model.fitted.outputs().is_empty();
    if has_more {
        text += "\n<div class=\"scroll\"><table class=\"worth\"><thead><tr><th scope=\"col\">feature</th>";
        for title in &table.titles {
            let _ = write!(
                text,
                "<th scope=\"col\" class=\"number\">{}</th>",
                escape(title)
            );
        }
        text += "</tr></thead>\n<tbody>";
        for (name, cells) in &table.rows {
            let _ = write!(text, "<tr><td>{}</td>", escape(name));
            for cell in cells {
                let _ = write!(text, "<td class=\"number\">{}</td>", escape(cell));
            }
            text += "</tr>\n";
        }
        text += "</tbody></table></div>";
    }
    for note in &table.notes {
        let _ = write!(text, "\n<p class=\"note\">{}</p>", escape(note));
    }
    text
}

/// Renders the features that could replace chosen ones.
fn twins(fitted: &Fitted) -> String {
    let sentences = explain::twins(fitted);
    let paragraphs = sentences
        .iter()
        .map(|text| format!("\n<p class=\"note\">{}</p>", escape(text)));
    paragraphs.collect()
}

fn words(model: &Model, face: Face) -> String {
    let mut text = String::new();
    // These sections are shown next to their tables and charts.
    let sections = explain::sections(model, face).into_iter();
    let elsewhere = [explain::QUALITY, explain::EFFECTS, explain::STABILITY];
    for section in sections.filter(|section| !elsewhere.contains(&section.title)) {
        let _ = writeln!(text, "<section><h2>{}</h2>", escape(section.title));
        for paragraph in &section.paragraphs {
            let safe = escape(paragraph);
            let _ = if explain::is_code(paragraph) {
                writeln!(text, "<p><code>{safe}</code></p>")
            } else {
                writeln!(text, "<p>{safe}</p>")
            };
        }
        text += "</section>\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_page() {
        assert_eq!(escape("<b a='1'>&\""), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;");
        let filled = fill(
            "a {{x}} b {{y}}",
            &[("x", "{{y}}".into()), ("y", "z".into())],
        );
        assert_eq!(filled, "a {{y}} b z");
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        for part in [HTML, CSS, JS] {
            let addresses = part.replace("http://www.w3.org/2000/svg", "");
            assert!(!addresses.contains("http") && !addresses.contains("url("));
        }
    }
}
