//! What each choice of a model is worth: the cost of doing without a feature that was chosen, and of having one that was not.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::settings::{Method, Settings, Solution, Status};
use crate::solve::Run;

/// What it costs to decide otherwise about one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The feature, by its first column.
    pub feature: usize,
    /// Its columns: more than one for a group.
    pub columns: Vec<usize>,
    /// Whether the model has it: then the price is that of doing without it, else that of having it (k counts it).
    pub chosen: bool,
    /// How much the objective rises: the difference of the best objectives found.
    pub cost: f64,
    /// A certified lower bound of that rise, and a certified upper bound.
    pub cost_bounds: (f64, f64),
    /// The least objective with the other decision; +∞ when no model can have the feature (it needs more others than k
    /// allows), and so are the costs.
    pub objective: f64,
    /// A certified lower bound of that objective.
    pub lower_bound: f64,
    /// What is known of it.
    pub status: Status,
    /// The columns of the best model with the other decision.
    pub support: Vec<usize>,
}

/// The prices of features of a solved problem: for each chosen one the cost of doing without it, for each other one the cost
/// of having it. `features`: which (first columns of groups), `None` for all that can be chosen.
///
/// Each is the exact optimum of the problem with that one decision made otherwise, by the method of `settings`, which has to
/// be exact; they share the Gram matrix and start from models next to the solution. The time limit is one for all of them:
/// what comes after it has the status `time_limit` and bounds that are valid.
///
/// ```
/// use l0star::{Design, Problem, Settings, prices, solve};
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(1).build()?;
/// let settings = Settings::default();
/// let solution = solve(&problem, &settings)?;
/// let prices = prices(&problem, &settings, &solution, None)?;
/// // The second column was chosen; without it the first has to do, so both decisions cost the same.
/// assert!(!prices[0].chosen && prices[1].chosen);
/// assert!((prices[0].cost - prices[1].cost).abs() < 1e-9);
/// assert!(prices[1].cost > 1.0);
/// # Ok::<(), l0star::Error>(())
/// ```
pub fn prices(
    problem: &Problem,
    settings: &Settings,
    solution: &Solution,
    features: Option<&[usize]>,
) -> Result<Vec<Price>> {
    if !matches!(
        settings.method,
        Method::BestFirst | Method::Paper | Method::Exhaustive
    ) {
        return Err(Error::Setting {
            name: "method",
            value: settings.method.to_string(),
            range: "prices need an exact method: best-first, paper or exhaustive",
        });
    }
    let start = Instant::now();
    let shared = Problem {
        root: Some(Arc::new(OnceLock::new())),
        ..problem.clone()
    };
    let features = features.unwrap_or(&problem.selectable);
    let is_chosen = |leader: &usize| solution.support.contains(leader);
    let chosen: Vec<usize> = problem
        .selectable
        .iter()
        .copied()
        .filter(is_chosen)
        .collect();
    let base = (solution.lower_bound.unwrap_or(0.0), solution.objective);
    let mut all = Vec::with_capacity(features.len());
    for leader in features {
        if problem.selectable.binary_search(leader).is_err() {
            return Err(Error::NotSelectable { column: *leader });
        }
        let limit = settings.time_limit;
        let settings = Settings {
            time_limit: limit.map(|limit| limit.saturating_sub(start.elapsed())),
            top: None,
            within: None,
            ..settings.clone()
        };
        let is_in = chosen.contains(leader);
        let other = match is_in {
            true => shared.without(*leader),
            false => shared.with(*leader),
        };
        let columns = problem.members(*leader);
        let found = match other {
            Ok(other) => Run::new(&other, &settings)
                .start(vec![chosen.clone()])
                .solve()?,
            Err(Error::TooManyIncluded { .. }) => {
                all.push(Price::impossible(*leader, columns));
                continue;
            }
            Err(error) => return Err(error),
        };
        // A model of this problem is one of the original's, too.
        let low = found.lower_bound.unwrap_or(0.0).max(base.0);
        all.push(Price {
            feature: *leader,
            columns,
            chosen: is_in,
            cost: (found.objective - base.1).max(0.0),
            cost_bounds: ((low - base.1).max(0.0), (found.objective - base.0).max(0.0)),
            objective: found.objective,
            lower_bound: low,
            status: found.status,
            support: found.support,
        });
    }
    Ok(all)
}

impl Price {
    fn impossible(feature: usize, columns: Vec<usize>) -> Self {
        let never = f64::INFINITY;
        Self {
            feature,
            columns,
            chosen: false,
            cost: never,
            cost_bounds: (never, never),
            objective: never,
            lower_bound: never,
            status: Status::Optimal,
            support: Vec::new(),
        }
    }
}
