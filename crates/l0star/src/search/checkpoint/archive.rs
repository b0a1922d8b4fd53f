//! [`Archive`]: the saved state of a run of any kind.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::prepared::shared;
use super::{Priced, Stamp, State, refuse};
use crate::error::{Error, Result};
use crate::gram::triangle::Triangle;
use crate::problem::Problem;

/// The state of a run: of one search, of a path, or of many paths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Archive {
    /// Stamp of all the data, where each part is about some of them.
    stamp: Option<Stamp>,
    /// The other parameters that determine the parts and their results.
    parameters: Vec<String>,
    /// Time that earlier runs took in total.
    pub seconds: f64,
    /// `None` for a part that was not begun.
    pub parts: Vec<Option<Part>>,
}

/// Searches on the same data that differ only in k, and the prices of a single one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Stamp of the problem with the largest size.
    stamp: Stamp,
    /// The sizes, in increasing order.
    sizes: Vec<u64>,
    /// The rows of the Gram matrix, if they are costly: one matrix for all sizes.
    #[serde(with = "shared")]
    pub gram: Option<Arc<Triangle>>,
    /// One state per size; `None` where nothing was done yet.
    pub states: Vec<Option<State>>,
    #[serde(with = "shared")]
    pub prices: Option<Arc<Priced>>,
}

impl Archive {
    /// An archive of this many parts with nothing done. Each part is about some of the data with this stamp.
    pub(crate) fn new(stamp: Stamp, parameters: Vec<String>, parts: usize) -> Self {
        Self {
            stamp: Some(stamp),
            parameters,
            seconds: 0.0,
            parts: vec![None; parts],
        }
    }

    /// An archive of one part: the saved one, or a new one.
    pub(crate) fn of_one(saved: Option<Self>) -> Result<Self> {
        let new = Self {
            parts: vec![None],
            ..Self::default()
        };
        match saved {
            Some(saved) => saved.check(&new, &[]).map(|()| saved),
            None => Ok(new),
        }
    }

    /// Resumes a part: returns its saved state, if it belongs to `new`, an empty part; or `new`.
    pub(crate) fn take_up(&mut self, at: usize, new: Part) -> Result<&mut Part> {
        if let Some(saved) = &self.parts[at] {
            saved.belongs_to(&new)?;
        }
        Ok(self.parts[at].get_or_insert(new))
    }

    /// Whether writing it takes long.
    pub(crate) fn is_large(&self) -> bool {
        let is_large = |part: &Part| {
            part.gram.is_some() || part.prices.as_ref().is_some_and(|prices| prices.is_large())
        };
        self.parts.iter().flatten().any(is_large)
    }

    /// Checks that this archive belongs to the same run as `now`, an empty archive, whose parameters have these names.
    /// Parts are compared with their own problems when they are resumed ([`Archive::take_up`]).
    pub(crate) fn check(&self, now: &Self, names: &[&'static str]) -> Result<()> {
        if self.parameters.len() != now.parameters.len() {
            return refuse("it belongs to searches of another kind");
        }
        let values = self.parameters.iter().zip(&now.parameters);
        for (what, (saved, now)) in names.iter().zip(values) {
            if saved != now {
                return Err(Error::OtherSearch {
                    what,
                    saved: saved.clone(),
                    now: now.clone(),
                });
            }
        }
        if let (Some(saved), Some(now)) = (&self.stamp, &now.stamp) {
            saved.check(now)?;
        }
        if self.parts.len() != now.parts.len() || !(0.0..1e15).contains(&self.seconds) {
            return refuse("it does not fit its own problem: the paths");
        }
        Ok(())
    }

    /// The searches that are over: the number of the part, and the size.
    pub(crate) fn finished(&self) -> Vec<(usize, usize)> {
        let parts = self.parts.iter().enumerate();
        let of = |(at, part): (usize, &Option<Part>)| {
            let sizes = part.as_ref().map(Part::finished);
            sizes.into_iter().flatten().map(move |k| (at, k))
        };
        parts.flat_map(of).collect()
    }

    /// Number of nodes expanded so far in all searches.
    pub(crate) fn nodes(&self) -> u64 {
        let states = self.parts.iter().flatten().flat_map(|part| &part.states);
        states.flatten().map(|state| state.nodes).sum()
    }
}

impl Part {
    /// A part with nothing done. `stamp`: of the largest size.
    pub(crate) fn new(stamp: Stamp, sizes: &[usize]) -> Self {
        Self {
            stamp,
            sizes: sizes.iter().map(|k| *k as u64).collect(),
            gram: None,
            states: vec![None; sizes.len()],
            prices: None,
        }
    }

    /// The sizes whose search is over.
    fn finished(&self) -> Vec<usize> {
        let over = |(k, state): (&u64, &Option<State>)| {
            let is_over = state.as_ref().is_some_and(State::is_over);
            is_over.then_some(*k as usize)
        };
        let sizes = self.sizes.iter().zip(&self.states);
        sizes.filter_map(over).collect()
    }

    /// Checks that this part belongs to the same searches as `now`, an empty part.
    fn belongs_to(&self, now: &Self) -> Result<()> {
        let is_single = |part: &Self| part.sizes.len() == 1;
        if self.sizes != now.sizes && !(is_single(self) && is_single(now)) {
            return Err(Error::OtherSearch {
                what: "sizes",
                saved: words(&self.sizes),
                now: words(&now.sizes),
            });
        }
        self.stamp.check(&now.stamp)?;
        if self.sizes != now.sizes || self.states.len() != self.sizes.len() {
            return refuse("it does not fit its own problem: the sizes");
        }
        Ok(())
    }

    /// Checks that searches of this problem, for the sizes of the part, could have left this state behind.
    pub(crate) fn check(&self, problem: &Problem) -> Result<()> {
        for (at, k) in self.sizes.iter().enumerate() {
            let problem = problem.with_k(*k as usize)?;
            if let Some(state) = self.resume(at, &problem) {
                state.check(&problem)?;
            }
        }
        Ok(())
    }

    /// Enters the state of one size. All sizes share one Gram matrix.
    pub(crate) fn enter(&mut self, at: usize, mut state: State) {
        if let Some(gram) = state.prepared.gram.take() {
            self.gram = Some(gram);
        } else if state.is_over() && self.sizes.len() == 1 {
            self.gram = None;
        }
        self.states[at] = Some(state);
    }

    /// The state that a size resumes from, with the shared Gram matrix.
    pub(crate) fn resume(&self, at: usize, problem: &Problem) -> Option<State> {
        let mut state = match (&self.states[at], &self.gram) {
            (None, None) => return None,
            (Some(state), _) => state.clone(),
            (None, Some(_)) => State::fresh(problem),
        };
        if !state.is_over() {
            state.prepared.gram.clone_from(&self.gram);
        }
        Some(state)
    }
}

/// Sizes in words: a range where they are consecutive.
fn words(sizes: &[u64]) -> String {
    // A damaged checkpoint may hold any numbers.
    let follows = |pair: &[u64]| pair[0].checked_add(1) == Some(pair[1]);
    match sizes {
        [first, .., last] if sizes.windows(2).all(follows) => format!("{first} to {last}"),
        _ => {
            let words: Vec<String> = sizes.iter().map(u64::to_string).collect();
            words.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_follow_each_other_are_a_range() {
        for (sizes, said) in [
            (&[4][..], "4"),
            (&[2, 3, 4], "2 to 4"),
            (&[2, 4], "2, 4"),
            (&[7, 3], "7, 3"),
            (&[u64::MAX, 0], "18446744073709551615, 0"),
        ] {
            assert_eq!(words(sizes), said);
        }
    }
}
