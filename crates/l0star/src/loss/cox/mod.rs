//! Cox's proportional hazards: the negative log partial likelihood, divided by the sum of the weights.

mod order;
mod partial;
mod wide;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::joint::Joint;
use super::{Loss, ResponseKind, Rows};
use crate::error::{Error, Result};
use order::Order;
use partial::PartialLikelihood;

/// How events at the same time are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ties {
    /// As if one after the other, on average over all orders: each event removes the same share of the tied rows.
    #[default]
    Efron,
    /// As if each event happened first.
    Breslow,
}

impl Ties {
    /// The words for all ways to count ties.
    pub const NAMES: &'static [&'static str] = &["efron", "breslow"];

    /// Returns the word for this way to count ties.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Efron => "efron",
            Self::Breslow => "breslow",
        }
    }
}

impl fmt::Display for Ties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Ties {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "efron" => Ok(Self::Efron),
            "breslow" => Ok(Self::Breslow),
            _ => Err(Error::Unknown {
                what: "way to count ties",
                value: word.to_owned(),
                allowed: Self::NAMES.join(", "),
            }),
        }
    }
}

/// Cox's partial likelihood of right-censored times: which rows have an event, in which stratum, and since when they are at
/// risk. The response of a row is its time.
///
/// A row with weight w counts as w rows would in the likelihood and in risk sets. Weights are measured in units of the
/// smallest weight of an event. The unit only changes the objective by a constant, and this one keeps it from being
/// negative.
///
/// ```
/// use std::sync::Arc;
/// use l0star::loss::Cox;
/// use l0star::{Design, Problem, Settings, Status, solve};
///
/// // The second column tells who is early.
/// let columns = vec![0.3, -0.2, 0.1, 0.4, -0.5, 0.2, 2.0, 1.5, 1.2, 0.1, -0.4, -1.0];
/// let times = vec![1.0, 2.0, 2.0, 5.0, 6.0, 9.0];
/// let cox = Cox::new(vec![true, true, true, false, true, false]);
/// let problem = Problem::builder(Design::dense(6, 2, columns)?, times)
///     .loss(Arc::new(cox))
///     .ridge(0.01)
///     .k(1)
///     .build()?;
/// let found = solve(&problem, &Settings::default())?;
/// assert_eq!((found.status, &found.support[..]), (Status::Optimal, &[1][..]));
/// // A larger value, a larger hazard.
/// assert!(found.coefficients[1] > 0.0);
/// # Ok::<(), l0star::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cox {
    events: Vec<bool>,
    strata: Vec<u32>,
    entry: Vec<f64>,
    ties: Ties,
}

impl Cox {
    /// Name of the loss.
    pub const NAME: &'static str = "cox";

    /// Creates the loss for rows whose time is that of an event (true) or of the last observation (false).
    pub fn new(events: Vec<bool>) -> Self {
        Self {
            events,
            strata: Vec::new(),
            entry: Vec::new(),
            ties: Ties::default(),
        }
    }

    /// Compares rows with rows of the same stratum only.
    pub fn strata(mut self, strata: Vec<u32>) -> Self {
        self.strata = strata;
        self
    }

    /// Sets the times from which rows are at risk, each before the row's own time.
    pub fn entry(mut self, entry: Vec<f64>) -> Self {
        self.entry = entry;
        self
    }

    /// Sets how events at the same time are counted.
    pub fn ties(mut self, ties: Ties) -> Self {
        self.ties = ties;
        self
    }

    /// Returns which rows have an event.
    pub fn events(&self) -> &[bool] {
        &self.events
    }

    fn check(&self, rows: &Rows) -> Result<()> {
        let count = rows.keep.len();
        let parts = [
            ("event", self.events.len(), true),
            ("strata", self.strata.len(), !self.strata.is_empty()),
            ("entry", self.entry.len(), !self.entry.is_empty()),
        ];
        for (what, found, is_given) in parts {
            if is_given && found != count {
                return Err(Error::Shape {
                    what: what.to_owned(),
                    expected: count,
                    found,
                });
            }
        }
        for (row, (entry, time)) in self.entry.iter().zip(rows.all).enumerate() {
            let row = row + 1;
            if !entry.is_finite() {
                return Err(Error::NotFinite {
                    row,
                    column: "entry".to_owned(),
                    value: *entry,
                });
            }
            if entry >= time {
                let (entry, time) = (*entry, *time);
                return Err(Error::LateEntry { row, entry, time });
            }
        }
        let mut kept = self.events.iter().zip(rows.keep);
        if kept.any(|(event, keep)| *event && *keep) {
            Ok(())
        } else {
            Err(Error::NoEvents)
        }
    }
}

/// Returns the parts of the rows that are kept.
fn kept<T: Copy>(parts: &[T], keep: &[bool]) -> Vec<T> {
    let rows = parts.iter().zip(keep);
    rows.filter_map(|(part, keep)| keep.then_some(*part))
        .collect()
}

impl Loss for Cox {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn response(&self) -> ResponseKind {
        ResponseKind::Time
    }

    fn bind(&self, rows: &Rows) -> Result<Option<Arc<dyn Joint>>> {
        self.check(rows)?;
        let events = kept(&self.events, rows.keep);
        let strata = kept(&self.strata, rows.keep);
        let entry = kept(&self.entry, rows.keep);
        let ties = self.ties;
        let terms = |count: usize| match ties {
            Ties::Efron => count,
            Ties::Breslow => 1,
        };
        let order = Order::new(rows.kept, &events, &strata, &entry, terms);
        let marks = events.iter().map(|event| f64::from(*event));
        let mut given: Vec<f64> = marks.collect();
        given.extend(strata.iter().map(|stratum| f64::from(*stratum)));
        given.extend(entry);
        given.push(ties as u8 as f64);
        Ok(Some(Arc::new(PartialLikelihood::new(order, rows.p, given))))
    }

    fn of_rows(&self, rows: &[usize]) -> Option<Arc<dyn Loss>> {
        fn chosen<T: Copy>(parts: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().filter_map(|i| parts.get(*i).copied()).collect()
        }
        Some(Arc::new(Self {
            events: chosen(&self.events, rows),
            strata: chosen(&self.strata, rows),
            entry: chosen(&self.entry, rows),
            ties: self.ties,
        }))
    }

    fn is_relative(&self) -> bool {
        true
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn has_hazards(&self) -> bool {
        true
    }

    fn formula(&self) -> String {
        format!(
            "the negative log partial likelihood ({} ties)",
            match self.ties {
                Ties::Efron => "Efron's",
                Ties::Breslow => "Breslow's",
            }
        )
    }

    super::joint::no_rows!();
}
