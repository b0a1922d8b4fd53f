//! The claims of a result, compared with the exact minima of all models.

use std::ops::Not;

use l0star::internals::Probed;
use l0star::path::PathSize;
use l0star::{Price, Problem, Settings, Solution, Status};
use l0star_oracle::{Exact, Least};

use super::draw::Case;
use crate::soak::common::Random;

/// Relative error allowed between `objective` and P of its model (`docs/numerics.md`, section 11).
const ROUNDING: f64 = 32.0 / (1u64 << 53) as f64;
/// Absolute error from underflow in an objective (the same section).
const TINY: f64 = 1e-290;
/// Absolute error of a residual under a loss with a log link (the same section).
const RESIDUAL: f64 = 1e-28;
/// Relative error that `optimal` allows, as a share of [`scale`].
const PROMISE: f64 = 1e-9;
/// Factor for the float operations that compare a gap with the allowed gap.
const ROOM: f64 = 1.0 + 1e-14;

/// A set of columns that the constraints allow as a model.
struct Model {
    /// The columns as the oracle needs them, with the intercept.
    columns: Vec<usize>,
    /// The support as a solution shows it, without always-in columns that k does not count.
    support: Vec<usize>,
    /// The least P with the prices of the features; `cost` is the sum of these prices.
    least: Least,
    cost: Exact,
}

/// The exact minimum of every model.
pub struct Truth<'c> {
    case: &'c Case,
    exact: l0star_oracle::Problem,
    models: Vec<Model>,
    /// P(0), the minimum without selectable features; `None` if no model is allowed.
    empty: Option<Least>,
}

/// Returns what a tolerance is relative to: the objective, at least 1e-12 of the reported P(0) ([`Truth::empty`]).
fn scale(objective: f64, found: &Solution) -> f64 {
    objective.max(1e-12 * found.empty_objective).max(1e-280)
}

/// Returns the smallest of several enclosed numbers.
fn smallest<'a>(all: impl Iterator<Item = &'a Least>) -> Option<Least> {
    all.cloned().reduce(|a, b| Least {
        low: a.low.min(b.low),
        high: a.high.min(b.high),
    })
}

/// Returns a finding unless the claim holds.
fn claim(holds: bool, words: impl FnOnce() -> String) -> Result<(), String> {
    holds.not().then(words).map_or(Ok(()), Err)
}

/// Returns a reported number, which must be finite.
fn number(name: &str, value: f64) -> Result<Exact, String> {
    claim(value.is_finite(), || format!("{name} is {value}"))?;
    Ok(Exact::of(value))
}

/// Returns the upper limit on P of the model with this objective.
fn above(objective: f64) -> Result<Exact, String> {
    let value = number("an objective", objective)?;
    Ok(value
        .times(&Exact::of(1.0 + ROUNDING))
        .plus(&Exact::of(TINY)))
}

impl<'c> Truth<'c> {
    /// Minimises P over every set that the rules allow.
    pub fn new(case: &'c Case, problem: &Problem) -> Result<Self, String> {
        let exact = case.exact(problem);
        let mut models = Vec::new();
        for set in case.rules.allowed() {
            let mut columns = set.clone();
            if case.intercept {
                columns.push(case.columns.len());
            }
            let least = exact.least(&columns);
            let least = least.ok_or_else(|| format!("the oracle has no minimum over {set:?}"))?;
            let costs = case.prices.costs(&case.rules, &set);
            let cost = costs.into_iter().map(Exact::of);
            let cost = cost.fold(Exact::of(0.0), |sum, own| sum.plus(&own));
            let least = Least {
                low: least.low.plus(&cost),
                high: least.high.plus(&cost),
            };
            let mut support = set;
            support.retain(|j| !case.rules.include_free.contains(j));
            models.push(Model {
                columns,
                support,
                least,
                cost,
            });
        }
        let sizes = models.iter().map(|model: &Model| model.support.len());
        let fewest = sizes.min();
        let empty = models.iter().find(|m| Some(m.support.len()) == fewest);
        let empty = empty.map(|model| model.least.clone());
        Ok(Self {
            case,
            exact,
            models,
            empty,
        })
    }

    /// Returns the models with at most `k` features.
    fn sized(&self, k: usize) -> impl Iterator<Item = &Model> {
        let rules = &self.case.rules;
        self.models
            .iter()
            .filter(move |m| rules.count(&m.support) <= k)
    }

    fn find(&self, support: &[usize], k: usize) -> Result<&Model, String> {
        let found = self.sized(k).find(|model| model.support == support);
        found.ok_or_else(|| format!("{support:?} is not allowed"))
    }

    fn optimum(&self, k: usize) -> Result<Least, String> {
        let all = self.sized(k).map(|model| &model.least);
        smallest(all).ok_or_else(|| "no model is allowed, but one was found".to_owned())
    }

    /// Checks a bound that was announced at any time.
    pub fn bound(&self, bound: f64, k: usize) -> Result<(), String> {
        let optimum = self.optimum(k)?;
        // A bound of −∞ claims nothing.
        let holds = bound == f64::NEG_INFINITY || number("a bound", bound)? <= optimum.high;
        claim(holds, || {
            let above = Exact::of(bound).minus(&optimum.high).value();
            let optimum = optimum.high.value();
            format!("the bound {bound:e} is above the optimum {optimum:e} by {above:e}")
        })
    }

    /// Checks that a model is allowed, respects the bounds, and has no objective below the minimum of its set.
    fn model(
        &self,
        problem: &Problem,
        (support, objective): (&[usize], f64),
        coefficients: &[f64],
        k: usize,
    ) -> Result<&Model, String> {
        let model = self.find(support, k)?;
        claim(model.least.low <= above(objective)?, || {
            let least = model.least.low.value();
            format!("{support:?} has the objective {objective:e}, less than its least {least:e}")
        })?;
        for (j, x) in coefficients.iter().enumerate() {
            let (low, high) = problem.bounds(j);
            claim(*x == 0.0 || model.columns.contains(&j), || {
                format!("the coefficient {x:e} of column {j} is not of the model {support:?}")
            })?;
            claim((low..=high).contains(x), || {
                format!("the coefficient {x:e} of column {j} is outside [{low:e}, {high:e}]")
            })?;
        }
        // With an intercept or standardisation, coefficients are rounded once more when they are reported.
        if !self.case.intercept && problem.scales().is_none() {
            let pairs: Vec<(usize, f64)> = coefficients.iter().copied().enumerate().collect();
            let exact = self.exact.objective(&pairs);
            let exact = Least {
                low: exact.low.plus(&model.cost),
                high: exact.high.plus(&model.cost),
            };
            let share = Exact::of(ROUNDING)
                .times(&exact.high)
                .plus(&Exact::of(TINY + self.of_residuals(exact.high.value())));
            let own = number("an objective", objective)?;
            let holds = own <= exact.high.plus(&share) && exact.low.minus(&share) <= own;
            claim(holds, || {
                let value = exact.high.value();
                let error = own.minus(&exact.high).value() / value;
                format!(
                    "{support:?}: objective {objective:e} for a model of {value:e}, off by a share of {error:e}"
                )
            })?;
        }
        Ok(model)
    }

    /// Error allowed in an objective of this value because residuals are of two doubles (the same section).
    fn of_residuals(&self, objective: f64) -> f64 {
        let responses = &self.case.response;
        let mass = match self.case.loss {
            "poisson" => responses.iter().copied().fold(1.0, f64::max),
            "gamma" => 1.0,
            _ => return 0.0,
        };
        RESIDUAL * (2.0 * objective * mass).sqrt() + RESIDUAL * RESIDUAL * mass
    }

    /// Checks the best model, its bound and its status.
    pub fn solution(
        &self,
        problem: &Problem,
        settings: &Settings,
        found: &Solution,
        k: usize,
    ) -> Result<(), String> {
        let objective = found.objective;
        let bound = found.lower_bound.ok_or("there is no bound")?;
        self.bound(bound, k)?;
        self.model(problem, (&found.support, objective), &found.coefficients, k)?;
        self.empty(found)?;
        let gap = number("the objective", objective)?.minus(&number("the bound", bound)?);
        let within = |allowed: f64| gap <= Exact::of(allowed * ROOM);
        let status = found.status;
        let holds = match status {
            Status::Optimal => within(PROMISE * scale(objective, found)),
            Status::GapReached => within(settings.gap.max(settings.relative_gap * objective)),
            Status::NodeLimit => settings.node_limit.is_some(),
            Status::Interrupted => settings.interrupt.is_some(),
            Status::Precision => true,
            _ => false,
        };
        claim(holds, || {
            let gap = gap.value();
            let empty = self
                .empty
                .as_ref()
                .map_or(f64::NAN, |empty| empty.high.value());
            let own = found.empty_objective;
            format!(
                "status {status}, objective {objective:e}, gap {gap:e}, P(0) {empty:e}, reported as {own:e}"
            )
        })
    }

    /// Checks the reported P(0). It is an evaluation: at most twice the minimum, up to rounding. If the minimum is a
    /// perfect fit, the limit is P without coefficients.
    fn empty(&self, found: &Solution) -> Result<(), String> {
        let (own, mut null) = (found.empty_objective, self.exact.objective(&[]).high);
        // With a log link, tolerances may be relative to the mean of the counts, or to 1.
        let most = self.case.response.iter().copied().fold(1.0, f64::max);
        let whole = match self.case.loss {
            "poisson" => Exact::of(most),
            "gamma" => Exact::of(1.0),
            _ => Exact::of(0.0),
        };
        if null <= whole {
            null = whole;
        }
        let Some(empty) = &self.empty else {
            return Ok(());
        };
        let rest = null.times(&Exact::of(1e-14));
        let highest = empty.high.times(&Exact::of(2.0)).plus(&rest);
        let is_perfect = empty.low <= null.times(&Exact::of(1e-27));
        let holds = empty.low <= above(own)?
            && (Exact::of(own) <= highest
                || is_perfect && Exact::of(own) <= null.times(&above(1.0)?));
        claim(holds, || {
            let (empty, null) = (empty.low.value(), null.value());
            format!("P(0) is {empty:e}, without coefficients {null:e}, reported as {own:e}")
        })
    }

    /// Checks a list of the best models.
    pub fn list(
        &self,
        problem: &Problem,
        settings: &Settings,
        found: &Solution,
    ) -> Result<(), String> {
        let k = self.case.rules.k;
        let listed = &found.solutions;
        let pairs = listed.windows(2);
        let ordered = pairs.filter(|pair| pair[0].objective > pair[1].objective);
        claim(ordered.count() == 0, || {
            "the list is not in order".to_owned()
        })?;
        for (at, own) in listed.iter().enumerate() {
            let model = self.model(problem, (&own.support, own.objective), &own.coefficients, k)?;
            claim(
                listed[..at].iter().all(|m| m.support != own.support),
                || format!("{:?} is in the list twice", own.support),
            )?;
            if found.status == Status::Optimal {
                let room = Exact::of(PROMISE * scale(own.objective, found) * ROOM);
                let over = Exact::of(own.objective).minus(&model.least.high);
                claim(over <= room, || {
                    let (set, least) = (&own.support, model.least.high.value());
                    format!(
                        "{set:?} is listed with {:e}, its least is {least:e}",
                        own.objective
                    )
                })?;
            }
        }
        let is_other = |m: &&Model| listed.iter().all(|own| own.support != m.support);
        let others: Vec<&Model> = self.sized(k).filter(is_other).collect();
        let rest = smallest(others.iter().map(|m| &m.least));
        let Some(rest) = rest else {
            return claim(found.rest_bound.is_none_or(f64::is_finite), || {
                format!("the rest of nothing is bounded by {:?}", found.rest_bound)
            });
        };
        if let Some(bound) = found.rest_bound {
            claim(number("the bound of the rest", bound)? <= rest.high, || {
                let rest = rest.high.value();
                format!("the rest is bounded by {bound:e}, the best of it has {rest:e}")
            })?;
        }
        if found.status != Status::Optimal {
            return Ok(());
        }
        claim(found.rest_bound.is_some(), || {
            "the rest has no bound".to_owned()
        })?;
        let last = listed.last().map_or(f64::INFINITY, |last| last.objective);
        let full = settings.top.is_none_or(|top| listed.len() == top.get());
        match settings.within {
            None => {
                claim(full, || format!("{} models are not all", listed.len()))?;
                let room = Exact::of(PROMISE * scale(last, found) * ROOM);
                claim(Exact::of(last).minus(&room) <= rest.high, || {
                    let rest = rest.high.value();
                    format!("{last:e} is the last in the list, but {rest:e} is not in it")
                })
            }
            Some(within) if !found.truncated => {
                // The threshold is lowered by the room up to which objectives are proved.
                let share = Exact::of((1.0 + within) * (1.0 - 4.0 * ROUNDING));
                let threshold = self.optimum(k)?.low.times(&share);
                let room = Exact::of(PROMISE * scale(threshold.value(), found) * ROOM);
                let threshold = threshold.minus(&room);
                claim(threshold <= rest.high, || {
                    let rest = rest.high.value();
                    format!("{rest:e} is within {within} of the best and not in the list")
                })
            }
            Some(_) => Ok(()),
        }
    }

    /// Checks the cost of the opposite decision on each feature.
    pub fn prices(&self, found: &Solution, prices: &[Price]) -> Result<(), String> {
        let k = self.case.rules.k;
        let optimum = self.optimum(k)?;
        for price in prices {
            let j = price.feature;
            claim(found.support.contains(&j) == price.chosen, || {
                format!("column {j} is chosen or not: {price:?}")
            })?;
            let others = self.sized(k);
            let others = others.filter(|m| m.columns.contains(&j) != price.chosen);
            let Some(other) = smallest(others.map(|m| &m.least)) else {
                let never = price.objective == f64::INFINITY;
                claim(never, || format!("column {j} cannot be in: {price:?}"))?;
                continue;
            };
            let say = |what: &str| {
                let (low, high) = (other.low.value(), optimum.high.value());
                format!("{what} of column {j}, exactly {low:e} - {high:e}: {price:?}")
            };
            let (low, high) = price.cost_bounds;
            claim(number("a bound", price.lower_bound)? <= other.high, || {
                say("the bound")
            })?;
            let most = other.high.minus(&optimum.low);
            claim(number("a cost", low)? <= most, || say("the lower cost"))?;
            // While no objective is known, the upper cost is infinite.
            let least = other.low.minus(&optimum.high);
            let holds = high == f64::INFINITY || number("a cost", high)? >= least;
            claim(holds, || say("the upper cost"))?;
            let holds = price.objective == f64::INFINITY || other.low <= above(price.objective)?;
            claim(holds, || say("the objective"))?;
            if price.status == Status::Optimal {
                let gap = Exact::of(price.objective).minus(&other.high);
                let room = Exact::of(PROMISE * scale(price.objective, found) * ROOM);
                claim(gap <= room, || say("the proof"))?;
            }
        }
        Ok(())
    }

    /// Draws an objective to beat: the minimum over all models or one above it; `None` if there is no such float.
    pub fn reference(&self, random: &mut Random) -> Option<f64> {
        let k = self.case.rules.k;
        let least = self.optimum(k).ok()?.high.value();
        let null = self.exact.objective(&[]).high.value();
        let above = [0.0, 1e-9, 1e-3, 0.05, 0.5, 3.0][random.below(6)];
        let reference = least * (1.0 + above) + [0.0, 1e-12][random.below(2)] * null;
        (reference.is_finite() && reference > 1e-280).then_some(reference)
    }

    /// Checks the boxes of a node, the features it is said to need, its bound and those of its children.
    pub fn probed(&self, inside: &[usize], free: &[usize], found: &Probed) -> Result<(), String> {
        let rules = &self.case.rules;
        let is_here = |model: &&Model| {
            let allowed =
                |j: &usize| inside.contains(j) || free.contains(j) || rules.include.contains(j);
            model.support.iter().all(allowed) && inside.iter().all(|j| model.support.contains(j))
        };
        let ceiling = number("the ceiling", found.ceiling)?;
        for model in self.sized(rules.k).filter(is_here) {
            let (set, least) = (&model.support, &model.least.high);
            let is_below = |bound: f64| bound == f64::NEG_INFINITY || Exact::of(bound) <= *least;
            claim(is_below(found.bound), || {
                format!("{set:?} has {:e}, below {:e}", least.value(), found.bound)
            })?;
            for (j, out, bound) in &found.others {
                claim(set.contains(j) == *out || is_below(*bound), || {
                    format!("{set:?} has {:e}, a child of {j} {bound:e}", least.value())
                })?;
            }
            if *least > ceiling {
                continue;
            }
            let lacking = found.needed.iter().find(|j| !set.contains(j));
            claim(lacking.is_none(), || format!("{set:?} lacks {lacking:?}"))?;
            let extents = self.exact.extents(&model.columns, found.ceiling);
            let extents = extents.ok_or("the oracle has no extents")?;
            for (j, extent) in model.columns.iter().zip(&extents) {
                let known = found.boxes.iter().find(|(feature, ..)| feature == j);
                let Some((_, low, high)) = known else {
                    continue;
                };
                claim(extent.is_within(*low, *high), || {
                    let (center, square) = (extent.center.value(), extent.square.value());
                    let reach = square.sqrt();
                    format!(
                        "{set:?} has x_{j} = {center:e} ± {reach:e}, not in [{low:e}, {high:e}]"
                    )
                })?;
            }
        }
        Ok(())
    }

    /// Checks every size of a path.
    pub fn path(
        &self,
        problem: &Problem,
        settings: &Settings,
        points: &[PathSize],
    ) -> Result<(), String> {
        for PathSize { k, solution, .. } in points {
            let outcome = self.solution(problem, settings, solution, *k);
            outcome.map_err(|finding| format!("size {k}: {finding}"))?;
        }
        Ok(())
    }
}
