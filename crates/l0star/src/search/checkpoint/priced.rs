//! [`Priced`]: progress of the prices of a solved problem.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::narrow::wide;
use super::prepared::{Heuristic, Prepared, shared};
use super::{State, refuse};
use crate::error::Result;
use crate::gram::triangle::Triangle;
use crate::problem::Problem;

/// The knowledge of each decision about a feature, and the searches that have begun.
///
/// Models are sets and are fitted again. Bounds are those of searches: they hold for the models that follow the
/// decision, whatever other prices are requested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Priced {
    /// The features of the model that is priced.
    pub chosen: Vec<u32>,
    /// The decisions: features, and whether they are in.
    pub decisions: Vec<(u32, bool)>,
    /// The best known model for each decision.
    pub models: Vec<Option<Vec<u32>>>,
    /// Number of chosen features for which a first model was sought …
    pub tried: u32,
    /// … and the progress of that for the next.
    pub heuristic: Option<Heuristic>,
    pub done: Vec<Option<Settled>>,
    /// The searches of the decisions that are not finished.
    pub begun: Vec<Option<State>>,
    /// The rows of their common Gram matrix, where they are costly.
    #[serde(with = "shared")]
    pub gram: Option<Arc<Triangle>>,
}

/// A decision whose search is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settled {
    /// The best model that follows the decision.
    pub support: Vec<u32>,
    pub bound: f64,
    pub calls: u64,
    pub nodes: u64,
    pub peak_open: u64,
    pub seconds: f64,
}

/// Number of open nodes above which the state is large.
const MANY: usize = 10_000;

impl Priced {
    /// Prices with nothing known yet.
    pub(crate) fn new(chosen: Vec<u32>, decisions: Vec<(u32, bool)>) -> Self {
        let count = decisions.len();
        Self {
            chosen,
            decisions,
            models: vec![None; count],
            done: vec![None; count],
            begun: vec![None; count],
            ..Self::default()
        }
    }

    /// The prices of a model with these features, for these decisions. Knowledge about shared decisions is kept.
    pub(crate) fn for_others(&self, chosen: Vec<u32>, decisions: Vec<(u32, bool)>) -> Self {
        if self.chosen == chosen && self.decisions == decisions {
            return self.clone();
        }
        let mut other = Self::new(chosen, decisions);
        for (at, decision) in other.decisions.iter().enumerate() {
            let known = self.decisions.iter().position(|own| own == decision);
            if let Some(known) = known {
                other.models[at].clone_from(&self.models[known]);
                other.done[at].clone_from(&self.done[known]);
                other.begun[at].clone_from(&self.begun[known]);
            }
        }
        other.gram.clone_from(&self.gram);
        other
    }

    /// Whether writing it takes long.
    pub(crate) fn is_large(&self) -> bool {
        let states = self.begun.iter().flatten();
        let nodes: usize = states.map(|state| state.open.len()).sum();
        self.gram.is_some() || nodes > MANY
    }

    /// Checks that the prices of this problem could have left this state behind.
    pub(crate) fn check(&self, problem: &Problem) -> Result<()> {
        match self.find_fault(problem) {
            None => Ok(()),
            Some(fault) => refuse(&format!("it does not fit its own problem: {fault}")),
        }
    }

    /// Finds a fault that no run could have left behind; see [`State::find_fault`].
    fn find_fault(&self, problem: &Problem) -> Option<&'static str> {
        let is_selectable = |j: &u32| problem.selectable.binary_search(&(*j as usize)).is_ok();
        let is_model = |set: &[u32]| {
            let structure = problem.structure.as_ref();
            set.len() <= problem.support_size()
                && set.is_sorted_by(|a, b| a < b)
                && set.iter().all(is_selectable)
                && structure.is_none_or(|structure| structure.is_closed(&wide(set)))
        };
        let count = self.decisions.len();
        if !is_model(&self.chosen)
            || !self.decisions.iter().all(|(j, _)| is_selectable(j))
            || [self.models.len(), self.done.len(), self.begun.len()] != [count; 3]
        {
            return Some("which prices it has");
        }
        let follows = |set: &[u32], (feature, inside): (u32, bool)| {
            is_model(set) && set.contains(&feature) == inside
        };
        for (at, decision) in self.decisions.iter().enumerate() {
            let model = self.models[at].as_ref();
            if !model.is_none_or(|set| follows(set, *decision)) {
                return Some("the model of a price");
            }
            let is_sound = |done: &Settled| {
                let is_time = (0.0..1e15).contains(&done.seconds);
                follows(&done.support, *decision) && done.bound.is_finite() && is_time
            };
            if !self.done[at].as_ref().is_none_or(is_sound) {
                return Some("a price");
            }
        }
        let prepared = Prepared {
            heuristic: self.heuristic.clone(),
            gram: self.gram.clone(),
            ..Prepared::default()
        };
        if !prepared.fits(problem) {
            return Some("what was prepared for prices");
        }
        let searches = self.begun.iter().flatten();
        let mut faults = searches.filter_map(|state| state.find_fault(problem));
        faults.next()
    }
}
