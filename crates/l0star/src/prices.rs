//! The cost of every choice of a model: of omitting a chosen feature, and of including one that was not chosen.

mod archive;
mod together;
mod twins;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::{Decision, Problem};
use crate::search::Checkpoint;
use crate::search::checkpoint::Stamp;
use crate::search::decision_models::DecisionModels;
use crate::settings::{Method, Settings, Solution, Status};
use crate::solve::Run;
pub use archive::PriceSink;
use archive::{Keeping, PriceArchive};
use together::Asked;
use twins::Leaders;

/// The cost of the other decision about one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The feature, given by its first column.
    pub feature: usize,
    /// Columns of the feature: several for a group.
    pub columns: Vec<usize>,
    /// Whether the model has it. If so, the price is that of omitting it; otherwise that of including it (k counts
    /// it).
    pub chosen: bool,
    /// The rise of the objective: the difference of the best objectives found.
    pub cost: f64,
    /// A certified lower bound and a certified upper bound of that rise.
    pub cost_bounds: (f64, f64),
    /// The least objective with the other decision. It is +∞, and so are the costs, when no model can have the feature
    /// because it requires more others than k allows.
    pub objective: f64,
    /// A certified lower bound of that objective.
    pub lower_bound: f64,
    /// The status of the search for it.
    pub status: Status,
    /// The columns of the best model with the other decision.
    pub support: Vec<usize>,
    /// Number of nodes expanded for it; 0 where the results of other searches were enough.
    pub nodes: u64,
    /// Number of relaxations and restricted problems solved for it.
    pub solver_calls: u64,
}

/// Computes the prices of features of a solved problem: the cost of omitting each chosen one, and of including each
/// other one. `features`: the features to price (first columns of groups); `None` for all that can be chosen.
///
/// Each price is the exact optimum of the problem with that one decision changed, by the method of `settings`, which
/// has to be exact. With the default method, all prices share the data of one search: the Gram matrix, the bounds that
/// hold for several of them, and every model that any of them finds. With several threads they are solved side by
/// side. The limits on nodes and memory apply to each search. The time limit applies to all of them together, and each
/// has its share. A price that is not proved by then has the status `time_limit` and valid bounds.
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
    let mut run = PriceRun::new(problem, settings, solution);
    if let Some(features) = features {
        run = run.features(features.to_vec());
    }
    run.solve()
}

/// A run of [`prices`] with checkpoints (`method=best-first`).
///
/// ```
/// use std::time::Duration;
/// use l0star::{Checkpoint, Design, PriceRun, Problem, Run, Settings};
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(1).build()?;
/// let (settings, minute) = (Settings::default(), Duration::from_secs(60));
/// let mut saved = None;
/// let keep = Box::new(|checkpoint: &Checkpoint| saved = Some(checkpoint.clone()));
/// let solution = Run::new(&problem, &settings).save(minute, keep).solve()?;
/// let search = saved.take().expect("the last one comes at the end");
/// let keep = Box::new(|checkpoint: &Checkpoint| saved = Some(checkpoint.clone()));
/// let run = PriceRun::new(&problem, &settings, &solution).resume(search);
/// let prices = run.save(minute, keep).solve()?;
/// // Perhaps in another process: neither the search nor the prices are made again.
/// let checkpoint = Checkpoint::decode(&saved.expect("and here, too").encode())?;
/// let solution = Run::new(&problem, &settings).resume(checkpoint.clone()).solve()?;
/// let again = PriceRun::new(&problem, &settings, &solution).resume(checkpoint).solve()?;
/// assert_eq!(again, prices);
/// # Ok::<(), l0star::Error>(())
/// ```
pub struct PriceRun<'p> {
    problem: &'p Problem,
    settings: Settings,
    solution: &'p Solution,
    features: Option<Vec<usize>>,
    sink: Option<(Duration, PriceSink<'p>)>,
    resume: Option<Checkpoint>,
}

impl<'p> PriceRun<'p> {
    /// A run for the prices of all features that can be chosen.
    pub fn new(problem: &'p Problem, settings: &Settings, solution: &'p Solution) -> Self {
        Self {
            problem,
            settings: settings.clone(),
            solution,
            features: None,
            sink: None,
            resume: None,
        }
    }

    /// Restricts the run to these features, groups given by their first columns.
    pub fn features(mut self, features: Vec<usize>) -> Self {
        self.features = Some(features);
        self
    }

    /// Hands out a checkpoint at this interval (zero: at every step), and one at the end, however the run ends. It
    /// holds the finished prices, the searches that have begun, and the search of the problem itself as given to
    /// [`PriceRun::resume`].
    ///
    /// With several threads, each thread hands out its own at this interval.
    pub fn save(mut self, every: Duration, sink: PriceSink<'p>) -> Self {
        self.sink = Some((every, sink));
        self
    }

    /// Resumes from a checkpoint of prices. Also accepts the last checkpoint of the search of the problem, so that
    /// further checkpoints hold that as well.
    ///
    /// If the solution has changed since (because the search was stopped early and then resumed), results for
    /// decisions that are still requested are kept.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Self {
        self.resume = Some(checkpoint);
        self
    }

    /// Computes the prices.
    pub fn solve(self) -> Result<Vec<Price>> {
        let (problem, settings, solution) = (self.problem, &self.settings, self.solution);
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
        settings.check()?;
        let features = self.features.as_ref().unwrap_or(&problem.selectable);
        let stranger = |leader: &&usize| problem.selectable.binary_search(leader).is_err();
        if let Some(column) = features.iter().find(stranger) {
            return Err(Error::NotSelectable { column: *column });
        }
        let is_kept = self.sink.is_some() || self.resume.is_some();
        let stamp = is_kept.then(|| Stamp::new(problem, settings)).transpose()?;
        let leading = match settings.method {
            Method::BestFirst => problem.leading()?,
            _ => None,
        };
        let mut chosen = problem.selectable.clone();
        chosen.retain(|leader| solution.support.contains(leader));
        let decision = |leader: &usize| Decision {
            feature: *leader,
            inside: !chosen.contains(leader),
        };
        let decisions: Vec<Decision> = features.iter().map(decision).collect();
        let settings = Settings {
            top: None,
            within: None,
            ..settings.clone()
        };
        let found = match settings.method {
            Method::BestFirst => {
                let (resume, sink) = (self.resume, self.sink);
                let keeping = stamp.map(|stamp| Keeping {
                    stamp,
                    resume,
                    sink,
                });
                match &leading {
                    Some(leading) => {
                        let leaders = Leaders {
                            whole: problem,
                            leading,
                            settings: &settings,
                            solution,
                            chosen: &chosen,
                        };
                        leaders.solve(&decisions, keeping)?
                    }
                    None => solve_together(problem, &settings, &chosen, &decisions, keeping)?,
                }
            }
            _ => solve_one_by_one(problem, &settings, &chosen, &decisions)?,
        };
        let base = (solution.lower_bound.unwrap_or(0.0), solution.objective);
        let prices = decisions.iter().zip(found);
        let prices = prices.map(|(decision, found)| match found {
            Some(found) => Price::new(problem, *decision, found, base),
            None => Price::impossible(decision.feature, problem.data_columns(decision.feature)),
        });
        Ok(prices.collect())
    }
}

/// Solves all decisions with the data of one search.
fn solve_together<'p>(
    problem: &'p Problem,
    settings: &'p Settings,
    chosen: &'p [usize],
    decisions: &'p [Decision],
    keeping: Option<Keeping<'p>>,
) -> Result<Vec<Option<Solution>>> {
    let known_models = Arc::new(DecisionModels::new(decisions.iter().copied()));
    let archive = match keeping {
        Some(keeping) => {
            let models = Arc::clone(&known_models);
            Some(PriceArchive::new(
                problem, keeping, chosen, models, decisions,
            )?)
        }
        None => None,
    };
    together::solve(Asked {
        problem,
        settings,
        chosen,
        decisions,
        known_models,
        archive,
        enough: None,
    })
}

/// Solves one problem for each decision, in which it is already made.
fn solve_one_by_one(
    problem: &Problem,
    settings: &Settings,
    chosen: &[usize],
    decisions: &[Decision],
) -> Result<Vec<Option<Solution>>> {
    let start = Instant::now();
    let mut all = Vec::with_capacity(decisions.len());
    for decision in decisions {
        let limit = settings.time_limit;
        let settings = Settings {
            time_limit: limit.map(|limit| limit.saturating_sub(start.elapsed())),
            ..settings.clone()
        };
        let other = if decision.inside {
            problem.with(decision.feature)
        } else {
            problem.without(decision.feature)
        };
        all.push(match other {
            Ok(other) => {
                let run = Run::new(&other, &settings).start(vec![chosen.to_vec()]);
                Some(run.solve()?)
            }
            Err(Error::TooManyIncluded { .. }) => None,
            Err(error) => return Err(error),
        });
    }
    Ok(all)
}

impl Price {
    /// The price of a decision. `base`: the proved bound and the value of the optimum.
    fn new(problem: &Problem, decision: Decision, found: Solution, base: (f64, f64)) -> Self {
        let Decision { feature, inside } = decision;
        // A model of the problem with the decision is also one of the original problem.
        let low = found.lower_bound.unwrap_or(0.0).max(base.0);
        let above = |objective: f64| problem.value_above(objective);
        let mut support = found.support;
        if inside {
            // The feature is in even when its coefficient is 0, and so are those that it requires.
            let needs = problem.structure.as_ref();
            let needs = needs.map_or(&[][..], |structure| &structure.ancestors[feature]);
            problem.expand_into(&[needs, &[feature]].concat(), &mut support);
            support.retain(|j| *j < problem.features());
            support.sort_unstable();
            support.dedup();
        }
        Self {
            feature,
            columns: problem.data_columns(feature),
            chosen: !inside,
            cost: (found.objective - base.1).max(0.0),
            // The objectives and their difference are rounded, so the bounds are widened.
            cost_bounds: (
                (low - above(base.1)).next_down().max(0.0),
                (above(found.objective) - base.0).next_up().max(0.0),
            ),
            objective: found.objective,
            lower_bound: low,
            status: found.status,
            support,
            nodes: found.nodes,
            solver_calls: found.solver_calls,
        }
    }

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
            nodes: 0,
            solver_calls: 0,
        }
    }
}

#[cfg(test)]
mod tests;
