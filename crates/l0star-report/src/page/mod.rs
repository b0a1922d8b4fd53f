//! The result as one HTML page that needs nothing else.
//!
//! | module | its one job |
//! |---|---|
//! | `page.html`, `page.css`, `page.js` | the page; `{{name}}` is filled in here, charts are drawn there |
//! | `fit_quality` | residuals, or ROC and calibration, of the rows that were fitted |
//! | `trace` | the objective and the bound while the search ran |
//!
//! The data of the charts are one JSON object in the page, one field a panel; a panel whose field is absent stays hidden.
//! A new panel is a field of `Charts`, a section of `page.html` with the same id, and a function in `page.js`.

mod fit_quality;
mod trace;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use l0star_data::{DataError, counted, write_atomically};
use l0star_record::Model;
use l0star_record::fields::{Fitted, List, Priced};
use serde::Serialize;

use crate::explain;
use crate::face::Face;
use crate::prices;
use crate::proof::{self, Cost, Proof};
use crate::text::{percent_up, share, significant};
use crate::width::width;

pub use self::fit_quality::Rows;
pub use self::trace::Trace;

const HTML: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// A grid of more is no longer looked at.
const MOST_MODELS: usize = 100;
const MOST_FEATURES: usize = 60;
const MOST_PRICES: usize = 40;
/// A longer name has a line of its own on a phone.
const LONG_NAME: usize = 20;

/// The data of the charts, by the id of their panel.
#[derive(Debug, Default, Serialize)]
struct Charts<'a> {
    notes: HashMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<trace::Chart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a PathChart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<Vec<Bar<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<Grid<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    residuals: Option<fit_quality::Residuals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<fit_quality::Labels>,
}

/// A price, and whether its cost is proved.
#[derive(Debug, Serialize)]
struct Bar<'a> {
    #[serde(flatten)]
    price: &'a Priced,
    exact: bool,
    /// What keeps the bounds of the cost apart.
    note: &'static str,
}

impl<'a> Bar<'a> {
    fn new(price: &'a Priced) -> Self {
        let (exact, note) = match proof::cost(price) {
            Cost::Exact(_) => (true, ""),
            Cost::Between(_, _, why) => (false, why),
            Cost::Impossible => (false, "impossible"),
        };
        Self { price, exact, note }
    }
}

/// Which features are in which model.
#[derive(Debug, Serialize)]
struct Grid<'a> {
    features: Vec<&'a str>,
    models: Vec<Column<'a>>,
}

#[derive(Debug, Serialize)]
struct Column<'a> {
    objective: f64,
    /// Percent above the best.
    above: f64,
    coefficients: &'a l0star_record::fields::ByName,
}

/// The sizes of a path.
#[derive(Debug, Serialize)]
pub struct PathChart<'a> {
    /// What the size of the model is best by.
    pub criterion: &'a str,
    /// The size that the criterion chooses.
    pub chosen: usize,
    /// The sizes in order.
    pub points: Vec<PathPoint<'a>>,
}

/// One size of a path.
#[derive(Debug, Serialize)]
pub struct PathPoint<'a> {
    /// The size.
    pub k: usize,
    /// The value of the objective.
    pub objective: f64,
    /// The status of the search.
    pub status: &'a str,
    /// A certified lower bound on all models of that size.
    pub lower_bound: Option<f64>,
    /// The value of the criterion.
    pub criterion: Option<f64>,
    /// The features.
    pub support: &'a [String],
}

impl PathChart<'_> {
    /// What is proved of the sizes, and which of them the page is about.
    fn note(&self, fitted: &Fitted) -> String {
        let of = |point: &PathPoint| {
            let PathPoint {
                k,
                objective,
                status,
                lower_bound,
                ..
            } = *point;
            Proof::new(status, k, objective, lower_bound, &fitted.method)
                .given(fitted.l0_penalty, fitted.assumption)
        };
        let title = proof::path(self.points.iter().map(of));
        let (first, rest) = title.split_at(1);
        format!(
            "{}{rest}. {} is smallest at {}, the model above.",
            first.to_uppercase(),
            self.criterion,
            counted(self.chosen, "feature")
        )
    }
}

/// The contents of a page.
pub struct Page<'a> {
    /// Whose words are used.
    pub face: Face,
    /// The result and where it comes from.
    pub model: &'a Model,
    /// The rows that were fitted; without them there are no charts of residuals or labels.
    pub rows: Option<Rows<'a>>,
    /// How the search went.
    pub trace: Option<&'a Trace>,
    /// The sizes that the model was chosen from.
    pub path: Option<PathChart<'a>>,
}

/// Writes the page.
pub fn save(file: &Path, page: &Page) -> Result<(), DataError> {
    let Page {
        face,
        model,
        rows,
        trace,
        path,
    } = page;
    let proof = Proof::of(&model.fitted);
    let is_proved = proof.is_optimal();
    let mut charts = Charts {
        trace: trace.and_then(|trace| trace.chart(is_proved)),
        path: path.as_ref(),
        ..Charts::default()
    };
    let fitted_rows = format!(
        "On the rows that were fitted; on others it will do a little worse ({} tells how much).",
        face.validation()
    );
    let mut note = |panel, text: String| {
        charts.notes.insert(panel, text);
    };
    if let Some(trace) = trace {
        let mut words = match trace.flat(is_proved) {
            Some(_) => format!("The search examined {}.", counted(trace.nodes(), "node")),
            None => proof.trace(trace.nodes()),
        };
        if let Some(found) = found(&model.fitted) {
            let _ = write!(words, " {found}");
        }
        note("trace", words);
    }
    if let Some(path) = path {
        note("path", path.note(&model.fitted));
    }
    if let Some(prices) = &model.fitted.prices {
        let all = prices::ordered(prices);
        let shown = all.len().min(MOST_PRICES);
        let mut text = "How much the objective rises when one choice is made otherwise: blue without a feature of the model, orange with another one in it.".to_owned();
        if shown < all.len() {
            let _ = write!(text, " The first {shown} of {} are shown.", all.len());
        }
        note("prices", text);
        charts.prices = Some(all[..shown].iter().copied().map(Bar::new).collect());
    }
    match (rows, &model.labels) {
        (None, _) => {}
        (Some(rows), None) => {
            note("residuals", fitted_rows);
            charts.residuals = Some(fit_quality::residuals(rows));
        }
        (Some(rows), Some(labels)) => {
            let found = fit_quality::labels(rows, model);
            let area = significant(found.area, 3);
            note(
                "labels",
                format!(
                    "{fitted_rows} Positive is '{}'; the area under the ROC curve is {area}.",
                    labels[1]
                ),
            );
            charts.labels = Some(found);
        }
    }
    if let Some(list) = &model.fitted.list {
        let (grid, left_out) = grid(list, model.fitted.objective);
        note("models", left_out);
        charts.models = Some(grid);
    }
    let html = render(model, &charts, *face);
    write_atomically(file, |file| file.write_all(html.as_bytes()))?;
    Ok(())
}

/// The features of a list by how often they are chosen, and what there was no room for.
fn grid(list: &List, best: f64) -> (Grid<'_>, String) {
    let shown = &list.solutions[..list.solutions.len().min(MOST_MODELS)];
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in shown.iter().flat_map(|model| &model.support) {
        match counts.iter_mut().find(|(own, _)| own == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    // A stable sort: features of equal count stay in the order of the best models.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let features: Vec<&str> = counts
        .iter()
        .map(|(name, _)| *name)
        .take(MOST_FEATURES)
        .collect();
    let mut text =
        "A column is a model, the best on the left; blue raises the prediction, orange lowers it."
            .to_owned();
    if shown.len() < list.solutions.len() {
        let _ = write!(
            text,
            " The first {} of {} are shown.",
            shown.len(),
            counted(list.solutions.len(), "model")
        );
    }
    if features.len() < counts.len() {
        let _ = write!(
            text,
            " The {} most frequent of {} are shown.",
            features.len(),
            counted(counts.len(), "feature")
        );
    }
    let models = shown.iter().map(|model| Column {
        objective: model.objective,
        above: 100.0 * share(model.objective - best, best),
        coefficients: &model.coefficients,
    });
    (
        Grid {
            features,
            models: models.collect(),
        },
        text,
    )
}

/// What found the model, and when.
fn found(fitted: &Fitted) -> Option<String> {
    let who = match fitted.found_by.as_deref()? {
        "given" => return Some("The model was known before the search began.".to_owned()),
        "greedy" => "greedy steps and swaps",
        "local-search" => "the local search for models",
        _ => "the search itself",
    };
    let seconds = significant(fitted.found_after?, 2);
    Some(format!(
        "The model was found by {who}, {seconds} s after the start."
    ))
}

fn render(model: &Model, charts: &Charts, face: Face) -> String {
    let fitted = &model.fitted;
    let json = serde_json::to_string(charts).expect("charts have no keys but strings");
    let proof = Proof::of(fitted);
    let class = if proof.is_complete() { "good" } else { "loud" };
    let parts: [(&str, String); 14] = [
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
                "two-sided"
            } else {
                "one-sided"
            }
            .to_owned(),
        ),
        ("twins", twins(fitted)),
        ("words", words(model, face)),
        ("css", CSS.to_owned()),
        // In a script only this would end it.
        ("data", json.replace('<', "\\u003c")),
        ("js", JS.to_owned()),
    ];
    fill(HTML, &parts)
}

/// Puts the parts into the page, in one pass: what is put in is not looked at again.
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
    let mut tiles = vec![("objective", significant(fitted.objective, 8))];
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
    tiles.push(("nodes", fitted.nodes.to_string()));
    tiles.push(("seconds", significant(fitted.seconds, 3)));
    let tile = |(name, value): &(&str, String)| {
        format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(value))
    };
    tiles.iter().map(tile).collect()
}

/// What the bars of the coefficients are.
fn bars(model: &Model) -> String {
    let moved = match &model.labels {
        Some([_, positive]) if model.has_log_odds() => {
            format!("the log-odds of '{positive}' change")
        }
        Some(_) => "the score changes".to_owned(),
        None => "the prediction changes".to_owned(),
    };
    format!("Per SD, and as a bar: how much {moved} with one standard deviation of the feature.")
}

fn coefficients(model: &Model) -> String {
    let fitted = &model.fitted;
    let effect = |name: &str| fitted.per_sd.get(name);
    let rows = &fitted.coefficients.0;
    let largest = rows
        .iter()
        .filter_map(|(name, _)| effect(name))
        .fold(0.0f64, |most, value| most.max(value.abs()));
    // Bars of one sign need no room for the other.
    let room = if has_both_signs(model) { 50.0 } else { 100.0 };
    let mut text = String::new();
    for (name, value) in rows {
        let sign = if *value < 0.0 { "minus" } else { "plus" };
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
            significant(*value, 6),
            effect.map_or(String::new(), |effect| significant(effect, 4))
        );
    }
    if model.fit_intercept {
        let _ = writeln!(
            text,
            "<tr><td>(intercept)</td><td class=\"number\">{}</td><td class=\"number\"></td><td class=\"bar\"></td></tr>",
            significant(fitted.intercept, 6)
        );
    }
    text
}

fn has_both_signs(model: &Model) -> bool {
    let has = |is: fn(&f64) -> bool| {
        let values = &model.fitted.coefficients.0;
        values.iter().any(|(_, value)| is(value))
    };
    has(|value| *value < 0.0) && has(|value| *value > 0.0)
}

/// Features that could stand for chosen ones.
fn twins(fitted: &Fitted) -> String {
    let sentences = explain::twins(fitted);
    let paragraphs = sentences
        .iter()
        .map(|text| format!("\n<p class=\"note\">{}</p>", escape(text)));
    paragraphs.collect()
}

fn words(model: &Model, face: Face) -> String {
    let mut text = String::new();
    for section in explain::sections(model, face) {
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
