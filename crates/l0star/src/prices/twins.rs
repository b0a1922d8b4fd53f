//! Prices of problems with duplicate columns (twins), searched without the copies.
//!
//! A decision about a column becomes one about the leaders of the classes ([`crate::solve::twins`]).
//!
//! - Where a copy can replace a column, in or out, the model is as good as before: nothing is searched.
//! - A column that is a class of its own is decided among the leaders, and so is a leader that has to be in. A copy
//!   that has to be in replaces its leader in the model that has the leader in.
//! - A shorter member that has to be in leads its class in a problem of its own. A leader that has to be out and has
//!   only shorter followers leaves a problem whose classes are formed again.
//!
//! These results are exact for models that use no class twice. For the others, the same decision is made in the
//! problem that bounds them ([`Problem::doubling`]). Where that is not enough, the decision is searched among all
//! columns.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::archive::Keeping;
use super::together::{self, Asked};
use crate::bound::Certified;
use crate::error::Result;
use crate::problem::{Decision, Problem};
use crate::search::Context;
use crate::search::decision_models::DecisionModels;
use crate::settings::{Settings, Solution, Status};
use crate::solve::Run;
use crate::solve::twins::{concluded, exact, narrowed, proved, root, stopped, sufficient};

/// A solved problem with twins, and the problem of their leaders.
pub(super) struct Leaders<'a> {
    pub whole: &'a Problem,
    pub leading: &'a Problem,
    pub settings: &'a Settings,
    pub solution: &'a Solution,
    /// The features of the solution.
    pub chosen: &'a [usize],
}

/// How a decision is made among the leaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the decision of this number about leaders; then this member replaces the leader that is in.
    Led(usize, Option<usize>),
    /// With this member leading its class, and in.
    Shorter { leader: usize, member: usize },
    /// In the problem without the column.
    Without,
}

/// The best model of a decision among those that use no class twice.
struct Item {
    /// Number of the decision.
    at: usize,
    /// The corresponding decision about leaders.
    doubled: Decision,
    found: Solution,
}

impl Leaders<'_> {
    /// The best model of each decision, with its proof; `None` for a feature that no model can have.
    pub(super) fn solve(
        &self,
        decisions: &[Decision],
        keeping: Option<Keeping>,
    ) -> Result<Vec<Option<Solution>>> {
        let begun = Instant::now();
        let mut found: Vec<Option<Solution>> = vec![None; decisions.len()];
        let (mut asked, mut ways) = (Vec::new(), Vec::new());
        for (at, decision) in decisions.iter().enumerate() {
            found[at] = self.exchanged(*decision);
            if found[at].is_none() {
                ways.push((at, self.way(*decision, &mut asked)));
            }
        }
        let narrow = narrowed(self.whole, self.settings);
        let chosen = self.led();
        let alone = |way: &Way| !matches!(way, Way::Led(..));
        let alone = ways.iter().filter(|(_, way)| alone(way)).count();
        let share = asked.len() as f64 / (asked.len() + alone).max(1) as f64;
        let own = self.within_time(&narrow, begun, share);
        let led = super::solve_together(self.leading, &own, &chosen, &asked, keeping)?;
        let (mut items, mut left) = (Vec::new(), alone);
        for (at, way) in ways {
            let share = 1.0 / left.max(1) as f64;
            match way {
                Way::Led(number, member) => {
                    let model = led[number].clone().map(|model| match member {
                        Some(member) => self.substituted(asked[number].feature, member, model),
                        None => model,
                    });
                    // A feature that requires more others than k allows stays impossible.
                    items.extend(model.map(|found| Item {
                        at,
                        doubled: asked[number],
                        found,
                    }));
                }
                Way::Shorter { leader, member } => {
                    let settings = self.within_time(&narrow, begun, share);
                    let doubled = Decision {
                        feature: leader,
                        inside: true,
                    };
                    let found = self.shorter(leader, member, &settings)?;
                    items.extend(found.map(|found| Item { at, doubled, found }));
                    left -= 1;
                }
                Way::Without => {
                    let settings = self.within_time(self.settings, begun, share);
                    let other = self.whole.without(decisions[at].feature)?;
                    let run = Run::new(&other, &settings).start(vec![self.chosen.to_vec()]);
                    found[at] = Some(run.solve()?);
                    left -= 1;
                }
            }
        }
        let open = self.prove(&narrow, begun, items, &mut found)?;
        let rest: Vec<Decision> = open.iter().map(|item| decisions[item.at]).collect();
        if !rest.is_empty() {
            let settings = self.within_time(self.settings, begun, 1.0);
            let known_models = Arc::new(DecisionModels::new(rest.iter().copied()));
            for item in &open {
                known_models.enter(&self.features(&item.found), item.found.objective);
            }
            let more = together::solve(Asked {
                problem: self.whole,
                settings: &settings,
                chosen: self.chosen,
                decisions: &rest,
                known_models,
                archive: None,
                enough: None,
            })?;
            for (item, more) in open.into_iter().zip(more) {
                found[item.at] = more.map(|more| with_counts(more, &item.found));
            }
        }
        Ok(found)
    }

    /// The model of a decision in which a copy replaces a column of the solution, where the bound of the solution
    /// proves it.
    fn exchanged(&self, decision: Decision) -> Option<Solution> {
        let Decision { feature, inside } = decision;
        let is_chosen = |j: &usize| self.chosen.contains(j);
        let mut copies = self.whole.twins(feature);
        let leader = self.whole.leader(feature);
        if !inside && !copies.contains(&leader) && leader != feature {
            copies.push(leader);
        }
        let other = copies.into_iter().find(|j| is_chosen(j) == inside)?;
        let (out, new) = if inside {
            (other, feature)
        } else {
            (feature, other)
        };
        let mut support = self.chosen.to_vec();
        support.retain(|j| *j != out);
        support.push(new);
        support.sort_unstable();
        let found = self.fitted(decision, &support, Certified::of(self.solution), None);
        (!found.status.falls_short()).then_some(found)
    }

    /// A model that follows a decision, with its bound.
    fn fitted(
        &self,
        decision: Decision,
        support: &[usize],
        bound: Certified,
        stopped: Option<Status>,
    ) -> Solution {
        let settings = Settings {
            time_limit: None,
            search_time_limit: None,
            interrupt: None,
            ..self.settings.clone()
        };
        let mut context = Context::for_decision(self.whole, &settings, Some(decision), None);
        context.counters.calls += 1;
        context.try_support(support);
        context.solution(&settings, stopped, Some(bound))
    }

    /// Chooses how to make a requested decision; decisions about leaders are added to `asked`.
    fn way(&self, decision: Decision, asked: &mut Vec<Decision>) -> Way {
        let Decision { feature, inside } = decision;
        let leader = self.whole.leader(feature);
        let is_alone = leader == feature && self.whole.class(leader).len() == 1;
        if !inside && !is_alone {
            return Way::Without;
        }
        if leader != feature && !self.whole.twins(feature).contains(&leader) {
            return Way::Shorter {
                leader,
                member: feature,
            };
        }
        let own = Decision {
            feature: leader,
            inside,
        };
        let known = asked.iter().position(|other| *other == own);
        let number = known.unwrap_or_else(|| {
            asked.push(own);
            asked.len() - 1
        });
        Way::Led(number, (leader != feature).then_some(feature))
    }

    /// The leaders of the chosen features, each once.
    fn led(&self) -> Vec<usize> {
        let leaders = self.chosen.iter().map(|j| self.whole.leader(*j));
        let mut leaders: Vec<usize> = leaders.collect();
        leaders.sort_unstable();
        leaders.dedup();
        leaders
    }

    /// The selectable features of a model.
    fn features(&self, model: &Solution) -> Vec<usize> {
        let mut features = model.support.clone();
        features.retain(|j| self.whole.selectable.binary_search(j).is_ok());
        features
    }

    /// The model that has a leader in, with a copy in place of the leader.
    fn substituted(&self, leader: usize, member: usize, model: Solution) -> Solution {
        let mut support = self.features(&model);
        support.retain(|j| *j != leader);
        support.push(member);
        support.sort_unstable();
        let stopped = model.status.falls_short().then_some(model.status);
        let decision = Decision {
            feature: member,
            inside: true,
        };
        let found = self.fitted(decision, &support, Certified::of(&model), stopped);
        with_counts(found, &model)
    }

    /// The best model with a shorter member of a class, among those that use no class twice.
    fn shorter(
        &self,
        leader: usize,
        member: usize,
        settings: &Settings,
    ) -> Result<Option<Solution>> {
        let problem = self.leading.led_by(leader, member)?;
        let mut chosen = self.led();
        chosen.retain(|j| *j != leader);
        let decisions = [Decision {
            feature: member,
            inside: true,
        }];
        let mut found = super::solve_together(&problem, settings, &chosen, &decisions, None)?;
        Ok(found.pop().flatten())
    }

    /// Bounds the models that use a class twice; returns the items for which all columns have to be searched.
    fn prove(
        &self,
        narrow: &Settings,
        begun: Instant,
        items: Vec<Item>,
        found: &mut [Option<Solution>],
    ) -> Result<Vec<Item>> {
        let doubling = self.whole.doubling(self.leading)?;
        let enough = |item: &Item| {
            let own = &item.found;
            sufficient(narrow, own.objective, own.empty_objective)
        };
        let mut base = f64::INFINITY;
        let mut decisions: Vec<Decision> = Vec::new();
        let mut needed: Vec<f64> = Vec::new();
        if let Some(problem) = &doubling
            && !items.is_empty()
        {
            let settings = root(&self.within_time(self.settings, begun, 1.0));
            base = proved(&Run::new(problem, &settings).solve()?);
            for item in &items {
                if item.found.status.stopped_early() || base >= enough(item) {
                    continue;
                }
                match decisions.iter().position(|own| *own == item.doubled) {
                    Some(known) => needed[known] = needed[known].max(enough(item)),
                    None => {
                        decisions.push(item.doubled);
                        needed.push(enough(item));
                    }
                }
            }
        }
        let mut more = Vec::new();
        if let Some(problem) = &doubling
            && !decisions.is_empty()
        {
            let settings = exact(&self.within_time(self.settings, begun, 1.0));
            let mut chosen = self.led();
            chosen.truncate(problem.support_size());
            let known_models = Arc::new(DecisionModels::new(decisions.iter().copied()));
            more = together::solve(Asked {
                problem,
                settings: &settings,
                chosen: &chosen,
                decisions: &decisions,
                known_models,
                archive: None,
                enough: Some(&needed),
            })?;
        }
        let mut open = Vec::new();
        let mut counted = vec![false; decisions.len()];
        for mut item in items {
            let enough = enough(&item);
            let asked = decisions.iter().position(|own| *own == item.doubled);
            let asked = asked.filter(|_| base < enough && !item.found.status.stopped_early());
            let mut bound = base;
            if let Some(number) = asked {
                // No model that uses a class twice has room for the feature.
                let Some(more) = &more[number] else {
                    found[item.at] = Some(self.concluded(item.found, f64::INFINITY));
                    continue;
                };
                if !counted[number] {
                    item.found = with_counts(item.found, more);
                    counted[number] = true;
                }
                bound = bound.max(proved(more));
                match stopped(self.settings, more, needed[number]) {
                    _ if bound >= enough => {}
                    Some(limit) => item.found.status = limit,
                    None => {
                        open.push(item);
                        continue;
                    }
                }
            }
            found[item.at] = Some(self.concluded(item.found, bound));
        }
        Ok(open)
    }

    fn concluded(&self, found: Solution, bound: f64) -> Solution {
        concluded(self.whole, self.settings, found, bound)
    }

    /// The settings with a share of the remaining time.
    fn within_time(&self, settings: &Settings, begun: Instant, share: f64) -> Settings {
        let time = |limit: Duration| limit.saturating_sub(begun.elapsed()).mul_f64(share);
        Settings {
            time_limit: settings.time_limit.map(time),
            ..settings.clone()
        }
    }
}

/// A solution that also counts the nodes, calls and time of an earlier search.
fn with_counts(found: Solution, earlier: &Solution) -> Solution {
    Solution {
        nodes: found.nodes + earlier.nodes,
        solver_calls: found.solver_calls + earlier.solver_calls,
        seconds: found.seconds + earlier.seconds,
        ..found
    }
}
