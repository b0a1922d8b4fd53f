//! Models and solutions in terms of the data's columns, as results; and models that are given as input.

use super::Context;
use crate::bound::Certified;
use crate::problem::Problem;
use crate::search::Source;
use crate::search::count::count_subsets;
use crate::search::incumbents::PROMISE;
use crate::search::pool::{Entry, Incumbent};
use crate::settings::{Model, Settings, Solution, Status};

impl Context<'_> {
    /// Adopts a model of the same problem with a smaller k.
    pub(crate) fn adopt(&mut self, known: &Model) {
        let columns = self.problem.columns();
        let coefficients = known.coefficients.iter().enumerate();
        let used = coefficients.filter(|(_, x)| **x != 0.0);
        let mut x: Vec<(usize, f64)> = used.map(|(j, x)| (j, *x)).collect();
        if self.problem.has_intercept {
            x.extend((columns..).zip(known.intercepts()));
        }
        let x = self.problem.inward(&x);
        // The support of a model shows all its columns. A feature is the first of its columns, and always-in columns
        // are no features.
        let is_feature = |j: &usize| self.problem.selectable.binary_search(j).is_ok();
        let support: Vec<usize> = known.support.iter().copied().filter(is_feature).collect();
        // The model is fitted again, because converting coefficients to the data's scale and back rounds. The error is
        // largest for the intercept of columns whose means are far from zero.
        let mut fit = self.restricted.fit_from(&support, &x);
        let precise = self.restricted.precise_objective();
        if precise.is_finite() {
            fit.objective = precise;
        }
        self.incumbents.offer(&support, fit, Source::Given);
    }

    /// The result. `stopped`: the limit that ended the run; `bound`: the proved bound (`None` for an inexact method).
    pub fn solution(
        &mut self,
        settings: &Settings,
        stopped: Option<Status>,
        bound: Option<Certified>,
    ) -> Solution {
        if self.incumbents.first().is_none() {
            // The run stopped before anything was fitted: the null model is always available.
            self.try_support(&[]);
        }
        let incumbents = self.incumbents.clone();
        let pool = incumbents.pool();
        let (listed, truncated) = pool.listed();
        let models = listed.iter();
        let solutions: Vec<Model> = models
            .map(|entry| model(self.problem, &entry.model))
            .collect();
        let best = solutions.first();
        let (objective, intercept) = best.map_or((f64::INFINITY, 0.0), |best| {
            (best.objective, best.intercept)
        });
        let more_intercepts = best.map_or_else(Vec::new, |best| best.more_intercepts.clone());
        let coefficients = best.map_or_else(
            || vec![0.0; self.problem.columns()],
            |best| best.coefficients.clone(),
        );
        let support = used(self.problem, &coefficients);
        // The bound of a problem from moments is given in terms of the rows behind them.
        let proved = |bound: Certified| self.problem.of_rows(bound.value());
        let mut proved_list = true;
        let (mut rest_bound, mut bound) = (None, bound);
        if incumbents.wants_list() {
            // The bound of a list's search covers the sets without evidence of their own.
            let rest = bound
                .into_iter()
                .chain(pool.unshown())
                .reduce(Certified::weaker);
            bound = rest
                .into_iter()
                .chain(pool.evidence())
                .reduce(Certified::weaker);
            rest_bound = rest.map(proved).filter(|_| !pool.is_everything());
            let promise = pool.promise();
            let room = |objective: f64| PROMISE * incumbents.scale_of(objective);
            // A set that the search has not reached individually is covered by the bound of the rest.
            let is_proved = |entry: &Entry| {
                let (objective, proof) = (entry.model.fit.objective, entry.evidence.or(rest));
                proof.is_some_and(|proof| objective - proved(proof) <= room(objective))
            };
            proved_list = rest_bound.is_none_or(|rest| rest >= promise - room(promise))
                && listed.iter().all(is_proved);
        }
        drop(pool);
        let lower_bound = bound.map(|bound| proved(bound).min(objective));
        if !incumbents.wants_list() && settings.top.is_some() && count_subsets(self.problem) > 1 {
            // What holds for the best model holds for all others.
            rest_bound = lower_bound;
        }
        let promised = PROMISE * incumbents.scale_of(objective);
        let status = match lower_bound {
            None => stopped.unwrap_or(Status::Heuristic),
            Some(bound) if proved_list && objective - bound <= promised => Status::Optimal,
            Some(bound) if proved_list && objective - bound <= settings.asked_gap(objective) => {
                Status::GapReached
            }
            Some(_) => stopped.unwrap_or(Status::Precision),
        };
        Solution {
            status,
            objective,
            lower_bound,
            empty_objective: self.problem.empty_objective(),
            support,
            coefficients,
            intercept,
            more_intercepts,
            solutions,
            rest_bound,
            truncated,
            solver_calls: self.counters.calls,
            nodes: self.counters.nodes,
            peak_open_nodes: self.counters.peak_open,
            seconds: self.limits.seconds(),
            method: settings.method,
        }
    }
}

/// A model in terms of the data's columns.
fn model(problem: &Problem, found: &Incumbent) -> Model {
    let (coefficients, mut intercepts) = problem.outward(&found.fit.x);
    let more_intercepts = intercepts.split_off(1);
    Model {
        objective: found.fit.objective,
        support: shown(problem, &found.support),
        coefficients,
        intercept: intercepts[0],
        more_intercepts,
    }
}

/// The columns of some selectable features and of those that are included, in order.
pub(super) fn shown(problem: &Problem, features: &[usize]) -> Vec<usize> {
    let mut columns = problem.expanded(features);
    columns.extend(problem.included().flatten());
    // The columns of the data are shown, not those of each response.
    columns.retain(|j| *j < problem.features());
    columns.sort_unstable();
    columns
}

/// The columns of the features that a model uses, and of the features that these require.
fn used(problem: &Problem, coefficients: &[f64]) -> Vec<usize> {
    let selectable = problem.selectable.iter().copied();
    let Some(structure) = &problem.structure else {
        let features: Vec<usize> = selectable.filter(|j| coefficients[*j] != 0.0).collect();
        return shown(problem, &features);
    };
    let is_used = |j: &usize| {
        structure.members[*j]
            .iter()
            .any(|i| coefficients[*i] != 0.0)
    };
    let features = structure.close(&[], selectable.filter(is_used), |_| true, usize::MAX);
    shown(problem, &features)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::problem::Design;

    /// The status of a search that has proved the objective up to `proved`. `stopped`: the limit that ended it, or
    /// `None`.
    fn status(gap: f64, relative_gap: f64, proved: f64, stopped: Option<Status>) -> Status {
        let design = Design::dense(4, 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let builder = Problem::builder(design, vec![3.0, 1.0, 4.0, 1.0]).k(1);
        let problem = builder.build().unwrap();
        let settings = Settings {
            gap,
            relative_gap,
            ..Settings::default()
        };
        let mut context = Context::new(&problem, &settings);
        let objective = context.try_support(&[0]);
        let bound = Certified::restored(objective - proved * objective);
        let found = context.solution(&settings, stopped, Some(bound));
        assert_eq!(found.objective, objective);
        found.status
    }

    #[test]
    fn the_status_claims_only_what_is_proved() {
        let complete = |gap, share, proved| status(gap, share, proved, None);
        assert_eq!(complete(0.0, 0.0, 0.5e-9), Status::Optimal);
        assert_eq!(complete(0.0, 0.0, 1e-6), Status::Precision);
        assert_eq!(complete(0.0, 1e-3, 1e-6), Status::GapReached);
        assert_eq!(complete(0.0, 1e-3, 0.5e-9), Status::Optimal);
        // A gap that was requested and missed.
        assert_eq!(complete(0.0, 1e-7, 1e-6), Status::Precision);
        assert_eq!(complete(2.8e-10, 0.0, 5.5e-9), Status::Precision);
        // The larger of the two counts.
        assert_eq!(complete(1e-3, 1e-12, 1e-6), Status::GapReached);
        // Only the trivial bound.
        assert_eq!(complete(0.0, 0.5, 1.0), Status::Precision);
        for limit in [
            Status::TimeLimit,
            Status::NodeLimit,
            Status::MemoryLimit,
            Status::Interrupted,
        ] {
            assert_eq!(status(0.0, 0.0, 1e-6, Some(limit)), limit);
            assert_eq!(status(0.0, 1e-3, 1e-6, Some(limit)), Status::GapReached);
            assert_eq!(status(0.0, 0.0, 0.5e-9, Some(limit)), Status::Optimal);
        }
    }

    #[test]
    fn precision_falls_short_but_was_not_stopped_early() {
        assert!(Status::Precision.falls_short() && !Status::Precision.stopped_early());
        assert!(Status::TimeLimit.falls_short() && Status::TimeLimit.stopped_early());
        for status in [Status::Optimal, Status::GapReached, Status::Heuristic] {
            assert!(!status.falls_short() && !status.stopped_early());
        }
    }

    /// A list is optimal only if each of its sets is proved to be at its own minimum.
    #[test]
    fn the_evidence_of_every_model_of_a_list_counts() {
        let columns = vec![1.0, 2.0, 4.0, 3.0, 0.0, 1.0, 0.0, 2.0, 5.0, 3.0, 1.0, 0.0];
        let design = Design::dense(4, 3, columns).unwrap();
        let builder = Problem::builder(design, vec![1.0, 2.5, 4.0, 2.5]).k(1);
        let problem = builder.ridge(0.1).build().unwrap();
        let settings = Settings {
            top: NonZeroUsize::new(3),
            ..Settings::default()
        };
        let sets: [&[usize]; 4] = [&[], &[0], &[1], &[2]];
        for weak in [None, Some(0), Some(1), Some(2), Some(3)] {
            let mut context = Context::new(&problem, &settings);
            let objectives = sets.map(|set| context.try_support(set));
            let last = objectives.iter().copied().fold(0.0, f64::max);
            for (at, set) in sets.iter().enumerate() {
                context.try_support(set);
                let proved = context.certify_last().value();
                let lowered = if weak == Some(at) { 1e-8 * proved } else { 0.0 };
                context.record_bound(set, Certified::restored(proved - lowered));
            }
            let bound = context.lower_bound(None);
            let found = context.solution(&settings, None, Some(bound));
            assert_eq!(found.solutions.len(), 3);
            // A set outside the list only has to be proved to be no better than those in it.
            let is_listed = weak.is_some_and(|at| objectives[at] < last);
            assert_eq!(found.status == Status::Optimal, !is_listed, "{weak:?}");
        }
    }
}
