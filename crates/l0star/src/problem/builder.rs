//! Unchecked inputs in, a valid [`Problem`] or a precise error out.

use std::sync::Arc;

use super::{Design, Problem, Unpenalised};
use crate::error::{Error, Result};
use crate::loss::{Loss, Quadratic, ResponseKind};

/// Weights below this share of the largest count as zero: their rows cannot change the objective, and their
/// reciprocals would overflow.
const NEGLIGIBLE_WEIGHT: f64 = 1e-150;

/// Collects the parts of a problem; [`Builder::build`] checks them all.
///
/// | part | default |
/// |---|---|
/// | `k` | 1 |
/// | `loss` | quadratic |
/// | `ridge` | 1e-3 |
/// | `weights` | 1 for every row |
/// | `offset` | 0 |
/// | `intercept` | off |
#[derive(Debug, Clone)]
pub struct Builder {
    design: Design,
    response: Vec<f64>,
    names: Option<Vec<String>>,
    loss: Arc<dyn Loss>,
    ridge: f64,
    k: usize,
    weights: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
    intercept: bool,
    always_in: Vec<(usize, f64)>,
    excluded: Vec<usize>,
}

impl Builder {
    pub(super) fn new(design: Design, response: Vec<f64>) -> Self {
        Self {
            design,
            response,
            names: None,
            loss: Arc::new(Quadratic),
            ridge: 1e-3,
            k: 1,
            weights: None,
            offset: None,
            intercept: false,
            always_in: Vec::new(),
            excluded: Vec::new(),
        }
    }

    /// Names of the columns, for messages.
    pub fn names(mut self, names: Vec<String>) -> Self {
        self.names = Some(names);
        self
    }

    /// The loss.
    pub fn loss(mut self, loss: Arc<dyn Loss>) -> Self {
        self.loss = loss;
        self
    }

    /// λ of the selectable features, > 0.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// At most this many selectable features; more than there are means all of them.
    pub fn k(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// Sample weights ≥ 0; rows of weight zero are dropped.
    pub fn weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// An offset added to every prediction.
    pub fn offset(mut self, offset: Vec<f64>) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Whether to fit an unpenalised intercept.
    pub fn intercept(mut self, on: bool) -> Self {
        self.intercept = on;
        self
    }

    /// Keeps a column in every model, outside the budget k, with its own ridge ≥ 0.
    pub fn always_in(mut self, column: usize, ridge: f64) -> Self {
        self.always_in.push((column, ridge));
        self
    }

    /// Keeps a column out of every model.
    pub fn exclude(mut self, column: usize) -> Self {
        self.excluded.push(column);
        self
    }

    /// Checks everything.
    pub fn build(self) -> Result<Problem> {
        let (rows, columns) = (self.design.rows(), self.design.columns());
        if columns == 0 {
            return Err(Error::Empty { what: "columns" });
        }
        let mut names = match &self.names {
            Some(names) => {
                check_length("the list of column names", names.len(), columns)?;
                names.clone()
            }
            None => (1..=columns).map(|j| format!("x{j}")).collect(),
        };
        check_vector("response", &self.response, rows)?;
        if let Some((row, column, value)) = self.design.find_not_finite() {
            return Err(Error::NotFinite {
                row: row + 1,
                column: names[column].clone(),
                value,
            });
        }
        if let Some(offset) = &self.offset {
            check_vector("offset", offset, rows)?;
        }
        let p = self.shares(rows)?;
        let kinds = self.kinds(&names)?;

        let keep: Vec<bool> = p.iter().map(|p| *p > 0.0).collect();
        let kept = |v: &[f64]| -> Vec<f64> {
            v.iter()
                .zip(&keep)
                .filter_map(|(v, keep)| keep.then_some(*v))
                .collect()
        };
        let b = kept(&self.response);
        self.check_labels(&keep)?;
        let offset = self.offset.as_deref().map(kept).unwrap_or_default();
        let p = kept(&p);
        let mut design = if keep.iter().all(|keep| *keep) {
            self.design
        } else {
            self.design.keep_rows(&keep)
        };

        let mut ridge = vec![self.ridge; columns];
        let mut selectable = Vec::new();
        let (mut penalised, mut free) = (Vec::new(), Vec::new());
        for (j, kind) in kinds.iter().enumerate() {
            match kind {
                Kind::Selectable => selectable.push(j),
                Kind::Excluded => {}
                Kind::AlwaysIn(own) => {
                    ridge[j] = *own;
                    if *own > 0.0 {
                        penalised.push(j);
                    } else {
                        free.push(j);
                    }
                }
            }
        }
        if self.intercept {
            design = design.with_column(&vec![1.0; b.len()]);
            ridge.push(0.0);
            names.push("(intercept)".to_owned());
            free.push(columns);
        }

        let (norms, sizes): (Vec<f64>, Vec<f64>) =
            (0..design.columns()).map(|j| design.norm_above(j)).unzip();
        if norms
            .iter()
            .chain(&sizes)
            .any(|norm| !(norm * norm).is_finite())
        {
            return Err(Error::Overflow {
                what: "the squared norm of a column",
            });
        }
        let origin = if offset.is_empty() {
            vec![0.0; b.len()]
        } else {
            offset.clone()
        };
        let null_value = self.loss.total(&p, &origin, &b);
        if !null_value.is_finite() {
            return Err(Error::Overflow {
                what: "the objective of the null model",
            });
        }
        let mut problem = Problem {
            design,
            loss: self.loss,
            b,
            p,
            offset,
            ridge,
            names,
            selectable,
            penalised,
            unpenalised: Unpenalised::default(),
            norms,
            sizes,
            k: self.k,
            has_intercept: self.intercept,
            null_value,
        };
        problem.unpenalised = Unpenalised::new(&problem, free)?;
        Ok(problem)
    }

    /// `p_i = w_i / Σw`.
    fn shares(&self, rows: usize) -> Result<Vec<f64>> {
        let Some(weights) = &self.weights else {
            return Ok(vec![1.0 / rows as f64; rows]);
        };
        check_vector("weights", weights, rows)?;
        if let Some(row) = weights.iter().position(|w| *w < 0.0) {
            return Err(Error::NegativeWeight {
                row: row + 1,
                value: weights[row],
            });
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(Error::Empty {
                what: "rows of positive weight",
            });
        }
        let scaled: Vec<f64> = weights
            .iter()
            .map(|w| w / largest)
            .map(|w| if w < NEGLIGIBLE_WEIGHT { 0.0 } else { w })
            .collect();
        let total: f64 = scaled.iter().sum();
        Ok(scaled.iter().map(|w| w / total).collect())
    }

    fn kinds(&self, names: &[String]) -> Result<Vec<Kind>> {
        let columns = names.len();
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(Error::Setting {
                name: "ridge",
                value: self.ridge.to_string(),
                range: "it must be a finite number > 0",
            });
        }
        let mut kinds = vec![Kind::Selectable; columns];
        let known = |column: usize| -> Result<()> {
            if column < columns {
                return Ok(());
            }
            Err(Error::NoSuchColumn { column, columns })
        };
        for column in &self.excluded {
            known(*column)?;
            kinds[*column] = Kind::Excluded;
        }
        for (column, ridge) in &self.always_in {
            known(*column)?;
            if matches!(kinds[*column], Kind::Excluded) {
                return Err(Error::Conflict {
                    column: names[*column].clone(),
                });
            }
            if !(*ridge >= 0.0 && ridge.is_finite()) {
                return Err(Error::Setting {
                    name: "the ridge of an always-in column",
                    value: ridge.to_string(),
                    range: "it must be a finite number >= 0",
                });
            }
            kinds[*column] = Kind::AlwaysIn(*ridge);
        }
        Ok(kinds)
    }

    fn check_labels(&self, keep: &[bool]) -> Result<()> {
        if self.loss.response() == ResponseKind::Real {
            return Ok(());
        }
        let loss = self.loss.name();
        if let Some(row) = self.response.iter().position(|b| b.abs() != 1.0) {
            return Err(Error::Label {
                row: row + 1,
                value: self.response[row],
                loss,
            });
        }
        let mut kept = self
            .response
            .iter()
            .zip(keep)
            .filter_map(|(b, keep)| keep.then_some(*b));
        let first = kept.next().unwrap_or(1.0);
        if kept.all(|b| b == first) {
            return Err(Error::OneClass { label: first, loss });
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Selectable,
    AlwaysIn(f64),
    Excluded,
}

fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Shape {
        what: what.to_owned(),
        expected,
        found,
    })
}

fn check_vector(what: &str, values: &[f64], rows: usize) -> Result<()> {
    check_length(&format!("the {what}"), values.len(), rows)?;
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::NotFinite {
            row: row + 1,
            column: what.to_owned(),
            value: values[row],
        }),
    }
}
