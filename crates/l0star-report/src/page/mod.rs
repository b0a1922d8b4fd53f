//! The result as one self-contained HTML page.
//!
//! | module | its one job |
//! |---|---|
//! | `page.html`, `page.css`, `page.js` | the page; `{{name}}` is filled in here, and charts are drawn in the browser |
//! | `markup` | the parts without a script: tiles, coefficients, measures, words |
//! | `fit_quality` | residuals, or ROC and calibration, of the fitted rows |
//! | `trace` | the objective and the bound during the search |
//!
//! The data of the charts are one JSON object in the page, with one field per panel; a panel whose field
//! is absent stays hidden. A new panel is a field of `Charts`, a section of `page.html` with the same id,
//! and a function in `page.js`.

mod fit_quality;
mod markup;
mod survival;
mod trace;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use l0star_data::{DataError, counted, write_atomically};
use l0star_record::Model;
use l0star_record::fields::{Fitted, List, Priced};
use l0star_record::metrics::Rows;
use l0star_record::stability::Stability;
use serde::Serialize;

use crate::face::Face;
use crate::proof::{self, Cost, Proof};
use crate::text::{share, significant};
use crate::{prices, stability};

pub use self::trace::Trace;

/// Upper limits on the entries of the charts; nobody reads more.
const MOST_MODELS: usize = 100;
const MOST_FEATURES: usize = 60;
const MOST_PRICES: usize = 40;

/// The data of the charts, by the id of their panels.
#[derive(Debug, Default, Serialize)]
struct Charts<'a> {
    notes: HashMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<trace::Chart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a PathChart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cv: Option<&'a CvChart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<&'a Stability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<Vec<Bar<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<Grid<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    residuals: Option<fit_quality::Residuals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<fit_quality::Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    survival: Option<survival::Curves>,
}

/// A price, and whether its cost is proved.
#[derive(Debug, Serialize)]
struct Bar<'a> {
    #[serde(flatten)]
    price: &'a Priced,
    exact: bool,
    /// The reason why the bounds of the cost differ.
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

/// The features of each model in a list.
#[derive(Debug, Serialize)]
struct Grid<'a> {
    features: Vec<&'a str>,
    models: Vec<Column<'a>>,
}

#[derive(Debug, Serialize)]
struct Column<'a> {
    objective: f64,
    /// Percent above the best objective.
    above: f64,
    coefficients: &'a l0star_record::fields::Coefficients,
}

/// The sizes of a path.
#[derive(Debug, Serialize)]
pub struct PathChart<'a> {
    /// The criterion by which the size is chosen.
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
    /// Status of the search.
    pub status: &'a str,
    /// A certified lower bound on the objective of every model of that size.
    pub lower_bound: Option<f64>,
    /// Akaike's criterion.
    pub aic: Option<f64>,
    /// The Bayesian criterion.
    pub bic: Option<f64>,
    /// The extended Bayesian criterion.
    pub ebic: Option<f64>,
    /// The features.
    pub support: &'a [String],
}

impl PathChart<'_> {
    /// States what is proved about the sizes, and which size the page shows.
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
                .of_moments(fitted.moments)
        };
        let title = proof::path(self.points.iter().map(of));
        let (first, rest) = title.split_at(1);
        format!(
            "{}{rest}. {} is smallest at {}, the model above. The grid shows the features of each size.",
            first.to_uppercase(),
            self.criterion,
            counted(self.chosen, "feature")
        )
    }
}

/// The contents of a page.
pub struct Page<'a> {
    /// The face whose option names are used.
    pub face: Face,
    /// The result and its origin.
    pub model: &'a Model,
    /// The rows that were fitted; without them, there are no charts of residuals or labels.
    pub rows: Option<Rows<'a>>,
    /// The progress of the search.
    pub trace: Option<&'a Trace>,
    /// The sizes from which the model was chosen.
    pub path: Option<PathChart<'a>>,
    /// The scores by which it was chosen.
    pub cv: Option<CvChart>,
}

impl<'a> Page<'a> {
    /// Creates a page that shows only a model.
    pub fn new(face: Face, model: &'a Model) -> Self {
        Self {
            face,
            model,
            rows: None,
            trace: None,
            path: None,
            cv: None,
        }
    }
}

/// The scores of cross-validation.
#[derive(Debug, Serialize)]
pub struct CvChart {
    /// The score of the folds.
    pub score: String,
    /// The candidates, by price and ridge; k varies fastest.
    pub points: Vec<CvPoint>,
    /// The models of the folds for the chosen candidate.
    pub folds: Vec<FoldModel>,
}

/// A candidate of cross-validation.
#[derive(Debug, Serialize)]
pub struct CvPoint {
    /// Upper limit on the number of features.
    pub k: usize,
    /// Weight of the ridge.
    pub ridge: f64,
    /// Price of a feature.
    pub l0_penalty: f64,
    /// Mean number of features in the models of the folds, if every fold has one.
    pub features: Option<f64>,
    /// Mean score of the folds, if every fold has one.
    pub mean: Option<f64>,
    /// Standard error of the mean.
    pub error: Option<f64>,
    /// Whether it is the chosen candidate.
    pub chosen: bool,
    /// Whether its mean is the best.
    pub best: bool,
}

/// The model of a fold.
#[derive(Debug, Serialize)]
pub struct FoldModel {
    /// Number of the fold.
    pub fold: usize,
    /// Score of the fold.
    pub score: Option<f64>,
    /// The features.
    pub support: Vec<String>,
}

/// Writes the page.
pub fn save(file: &Path, page: &Page) -> Result<(), DataError> {
    let html = markup::render(page.model, &Charts::new(page), page.face);
    write_atomically(file, |file| file.write_all(html.as_bytes()))?;
    Ok(())
}

impl<'a> Charts<'a> {
    fn new(page: &'a Page<'a>) -> Self {
        let mut charts = Self::default();
        charts.show_search(page);
        charts.show_choice(page);
        if let Some(prices) = &page.model.fitted.prices {
            charts.show_prices(prices);
        }
        if let Some(rows) = &page.rows {
            charts.show_rows(rows, page);
        }
        if let Some(list) = &page.model.fitted.list {
            let (grid, left_out) = grid(list, &page.model.fitted);
            charts.note("models", left_out);
            charts.models = Some(grid);
        }
        charts
    }

    fn note(&mut self, panel: &'static str, text: String) {
        self.notes.insert(panel, text);
    }

    fn show_search(&mut self, page: &'a Page<'a>) {
        let Some(trace) = page.trace else {
            return;
        };
        let proof = Proof::of(&page.model.fitted);
        let is_proved = proof.is_optimal();
        self.trace = trace.chart(is_proved);
        let mut words = match trace.flat(is_proved) {
            Some(_) => format!("The search examined {}.", counted(trace.nodes(), "node")),
            None => proof.trace(trace.nodes()),
        };
        if let Some(found) = found(&page.model.fitted) {
            let _ = write!(words, " {found}");
        }
        self.note("trace", words);
    }

    /// Shows what the model was chosen from, and how stable the choice is.
    fn show_choice(&mut self, page: &'a Page<'a>) {
        let fitted = &page.model.fitted;
        if let Some(path) = &page.path {
            self.path = Some(path);
            self.note("path", path.note(fitted));
        }
        if let Some(cv) = &page.cv {
            self.cv = Some(cv);
            self.note(
                "cv",
                format!(
                    "The mean {} of the held-out folds with one standard error up and down; the choice is the model above. The grid shows which features the folds chose there.",
                    cv.score
                ),
            );
        }
        if let Some(own) = &fitted.stability {
            self.stability = Some(own).filter(|own| own.resamples > 0);
            let pairs = own.pairs.iter().take(3);
            let stand_ins: String = pairs
                .map(|pair| format!(" {}.", stability::stand_in(pair)))
                .collect();
            self.note(
                "stability",
                format!(
                    "{}. {} Blue: in the model above. A cell of the grid: how often both were chosen, in the order of the bars.{stand_ins}",
                    stability::headline(own),
                    stability::verdict(own),
                ),
            );
        }
    }

    fn show_prices(&mut self, prices: &'a [Priced]) {
        let all = prices::ordered(prices);
        let shown = all.len().min(MOST_PRICES);
        let mut text = "How much the objective rises when one choice is made otherwise: blue without a feature of the model, orange with another one in it.".to_owned();
        if shown < all.len() {
            let _ = write!(text, " The first {shown} of {} are shown.", all.len());
        }
        self.note("prices", text);
        self.prices = Some(all[..shown].iter().copied().map(Bar::new).collect());
    }

    /// Shows how well the model describes the rows that were fitted.
    fn show_rows(&mut self, rows: &Rows, page: &Page) {
        let model = page.model;
        let fitted_rows = format!(
            "On the rows that were fitted; on others it will do a little worse ({} tells how much).",
            page.face.validation()
        );
        if let Some(labels) = &model.labels {
            self.note(
                "labels",
                format!("{fitted_rows} Positive is '{}'.", labels[1]),
            );
            self.labels = Some(fit_quality::labels(rows, model));
        } else if model.has_hazards() {
            let own = model.survival.as_ref();
            let own = own.filter(|_| !rows.times.events.is_empty());
            self.survival = own.map(|own| survival::curves(rows, own));
            let horizon = self.survival.as_ref().and_then(survival::Curves::horizon);
            let beside = horizon.map_or_else(String::new, |time| {
                let time = significant(time, 4);
                format!(" Beside it, predicted and observed shares without an event up to {time}, the median time of an event.")
            });
            self.note(
                "survival",
                format!(
                    "The share of rows without an event (Kaplan and Meier), by the thirds of their scores.{beside} {fitted_rows}"
                ),
            );
        } else {
            self.note("residuals", fitted_rows);
            let expected = model.expectations(rows.scores);
            let rows = Rows {
                scores: &expected,
                ..*rows
            };
            self.residuals = Some(fit_quality::residuals(&rows));
        }
    }
}

/// Returns the features of a list by how often they are chosen, and a note on entries that are not shown.
fn grid<'a>(list: &'a List, fitted: &Fitted) -> (Grid<'a>, String) {
    let best = fitted.objective;
    let shown = &list.solutions[..list.solutions.len().min(MOST_MODELS)];
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in shown.iter().flat_map(|model| &model.support) {
        match counts.iter_mut().find(|(own, _)| own == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    // A stable sort: features with equal counts keep the order of the best models.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let features: Vec<&str> = counts
        .iter()
        .map(|(name, _)| *name)
        .take(MOST_FEATURES)
        .collect();
    let mut text = match fitted.outputs() {
        [] => "A column is a model, the best on the left; blue raises the prediction, orange lowers it.",
        _ => "A column is a model, the best on the left; blue features are in it.",
    }
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

/// Describes where the model came from, and when.
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
