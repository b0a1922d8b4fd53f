//! Lists of models with twins.
//!
//! Each listed model of the leaders represents the models with other members of the same classes, which are fitted and
//! certified one by one. A model that is not fitted has leaders that are not in the list, or uses a class twice.

use super::lowered;
use crate::problem::Problem;
use crate::search::Context;
use crate::search::incumbents::PROMISE;
use crate::settings::{Settings, Solution, Status, scale_of};

/// Limit on the models that are fitted for one list. The bound of the rest accounts for those that are left out.
const MOST: usize = 20_000;

/// The list of the whole problem that a list of its leaders represents.
pub(super) struct Expanded {
    /// The solution, with the bounds of the models that were fitted.
    found: Solution,
    /// A lower bound of the models that were not fitted and use no class twice.
    rest: f64,
}

impl Expanded {
    pub(super) fn new(whole: &Problem, settings: &Settings, leaders: &Solution) -> Self {
        Self::within(whole, settings, leaders, MOST)
    }

    /// Fits at most `room` models.
    fn within(whole: &Problem, settings: &Settings, leaders: &Solution, mut room: usize) -> Self {
        let mut context = Context::new(whole, settings);
        let share = whole.twin_loss();
        let below = |bound: f64| lowered(bound, share, bound.max(leaders.objective));
        let mut rest = leaders.rest_bound.map_or(f64::INFINITY, below);
        for model in &leaders.solutions {
            let is_feature = |j: &usize| whole.selectable.binary_search(j).is_ok();
            let features: Vec<usize> = model.support.iter().copied().filter(is_feature).collect();
            let mut low = 0.0;
            let mut sets = Substitutes::new(whole, &features);
            while room > 0
                && let Some(set) = sets.next()
            {
                // The set of leaders comes first, and bounds the others.
                context.try_support(&set);
                let proved = context.certify_last();
                if set == features {
                    low = below(whole.of_rows(proved.value()));
                }
                context.record_bound(&set, proved);
                room -= 1;
                if low > context.incumbents.reference() || context.limits.reached().is_some() {
                    break;
                }
            }
            if !sets.is_over() {
                rest = rest.min(low);
            }
        }
        let discarded = context.evidence.mark();
        let found = context.solution(settings, None, discarded);
        Self { found, rest }
    }

    /// The bound that all models outside the list need.
    pub(super) fn promise(&self, settings: &Settings) -> f64 {
        let last = self.found.solutions.last();
        let last = last.map_or(f64::INFINITY, |model| model.objective);
        match settings.within {
            Some(within) if !self.found.truncated => self.found.objective * (1.0 + within),
            _ => last,
        }
    }

    /// The result. `doubled`: a bound of the models that use a class twice; `stopped`: the limit that was reached.
    pub(super) fn conclude(
        &self,
        settings: &Settings,
        doubled: f64,
        stopped: Option<Status>,
    ) -> Solution {
        let rest = self.rest.min(doubled);
        let mut found = self.found.clone();
        if rest.is_finite() {
            found.rest_bound = Some(found.rest_bound.map_or(rest, |fitted| fitted.min(rest)));
        }
        let bound = found.lower_bound.unwrap_or(0.0).min(rest);
        found.lower_bound = Some(bound);
        let room = |objective: f64| PROMISE * scale_of(objective, found.empty_objective);
        let promise = self.promise(settings);
        let is_proved = found.objective - bound <= room(found.objective)
            && found
                .rest_bound
                .is_none_or(|rest| rest >= promise - room(promise));
        if found.status == Status::Optimal && !is_proved {
            found.status = Status::Precision;
        }
        if found.status != Status::Optimal {
            found.status = stopped.unwrap_or(found.status);
        }
        found
    }
}

/// The sets in which members of classes replace their leaders.
struct Substitutes {
    /// The members of each feature's class, the leader first.
    members: Vec<Vec<usize>>,
    /// The member of each class in the next set; `None` at the end.
    at: Option<Vec<usize>>,
}

impl Substitutes {
    fn new(whole: &Problem, features: &[usize]) -> Self {
        Self {
            members: features.iter().map(|j| whole.class(*j)).collect(),
            at: Some(vec![0; features.len()]),
        }
    }

    fn is_over(&self) -> bool {
        self.at.is_none()
    }
}

impl Iterator for Substitutes {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let at = self.at.as_mut()?;
        let chosen = self.members.iter().zip(&*at);
        let mut set: Vec<usize> = chosen.map(|(members, at)| members[*at]).collect();
        set.sort_unstable();
        let next = (0..at.len()).find(|i| at[*i] + 1 < self.members[*i].len());
        match next {
            Some(i) => {
                at[..i].fill(0);
                at[i] += 1;
            }
            None => self.at = None,
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::problem::Design;
    use crate::solve::solve;

    /// A model that was not fitted for lack of room is part of the rest.
    #[test]
    fn models_without_room_lower_the_bound_of_the_rest() {
        let a = [1.0, 2.0, 4.0, 3.0, -1.0, 0.5];
        let b = [0.0, 1.0, 0.0, 2.0, 1.5, -2.0];
        let design = Design::dense(6, 3, [a, b, a.map(|v| 3.0 * v)].concat()).unwrap();
        let response = vec![1.0, 2.5, 4.0, 2.5, -0.5, 0.1];
        let builder = Problem::builder(design, response).k(1).intercept(true);
        let problem = builder.ridge(0.1).build().unwrap();
        let settings = Settings {
            top: NonZeroUsize::new(4),
            ..Settings::default()
        };
        let leaders = solve(&problem.leading().unwrap().unwrap(), &settings).unwrap();
        let all = Expanded::new(&problem, &settings, &leaders);
        let whole = all.conclude(&settings, f64::INFINITY, None);
        assert_eq!((whole.status, whole.solutions.len()), (Status::Optimal, 4));
        assert_eq!(whole.rest_bound, None);
        for room in 0..4 {
            let some = Expanded::within(&problem, &settings, &leaders, room);
            let found = some.conclude(&settings, f64::INFINITY, None);
            assert_ne!(found.status, Status::Optimal, "{room}");
            let listed = |model: &crate::settings::Model| {
                found
                    .solutions
                    .iter()
                    .any(|own| own.support == model.support)
            };
            let left = whole.solutions.iter().filter(|model| !listed(model));
            for model in left {
                assert!(found.rest_bound.unwrap() <= model.objective, "{room}");
            }
        }
    }
}
