//! Finds states that no search could have left behind, whatever the checksum says.

use super::{SavedModel, SavedNode, State};
use crate::linalg::short::Short;
use crate::problem::Problem;
use crate::relaxation::SavedPoint;

impl State {
    /// Finds a fault that no search could have left behind. A checksum detects accidents. These checks also refuse
    /// forged states that would cause a panic, and most of those that would give false results.
    pub(super) fn find_fault(&self, problem: &Problem) -> Option<&'static str> {
        let evidence = [self.weakest, self.evicted].map(|v| v.unwrap_or(0.0));
        let numbers = [self.seconds, self.base, evidence[0], evidence[1]];
        if numbers.iter().any(|v| !v.is_finite()) || !(0.0..1e15).contains(&self.seconds) {
            return Some("a number");
        }
        if !self.prepared.fits(problem) {
            return Some("what was prepared");
        }
        let mut selectable = vec![false; problem.design.columns()];
        problem
            .selectable
            .iter()
            .for_each(|j| selectable[*j] = true);
        let is_selectable = |j: &u32| selectable.get(*j as usize).copied().unwrap_or(false);
        let mut leader: Vec<u32> = (0..problem.design.columns() as u32).collect();
        for j in &problem.selectable {
            let members = problem.members(*j);
            members.iter().for_each(|i| leader[*i] = *j as u32);
        }
        let allowed = |model: &SavedModel| {
            problem.structure.as_ref().is_none_or(|structure| {
                let set: Vec<usize> = model.support.iter().map(|j| *j as usize).collect();
                let within = model.x.iter().all(|(j, x)| {
                    let (low, high) = structure.bounds[*j as usize];
                    low <= *x && *x <= high
                });
                within && structure.is_closed(&set)
            })
        };
        for model in &self.models {
            let rising = model.support.is_sorted_by(|a, b| a < b);
            let known = model.x.iter().all(|(j, x)| {
                let Some(j) = leader.get(*j as usize) else {
                    return false;
                };
                let in_model = !is_selectable(j) || model.support.binary_search(j).is_ok();
                in_model && x.is_finite()
            });
            if !rising
                || !known
                || !model.support.iter().all(is_selectable)
                || model.support.len() > problem.support_size()
                || !allowed(model)
            {
                return Some("the model");
            }
            let x: Vec<(usize, f64)> = model.x.iter().map(|(j, x)| (*j as usize, *x)).collect();
            let set: Vec<usize> = model.support.iter().map(|j| *j as usize).collect();
            let now = problem.precise_value(&x, problem.cost(&set));
            let saved = model.objective;
            // Rounding error of a perfect fit, which has no scale of its own with a log link.
            let rest = if problem.loss.has_log_link() {
                1e-18 * problem.usual_curvature
            } else {
                0.0
            };
            let close = 1e-6 * saved.abs() + 1e-9 * problem.null_value + rest;
            let proved = model.evidence.unwrap_or(0.0);
            if !saved.is_finite() || (saved - now).abs() > close || !proved.is_finite() {
                return Some("the objective of the model");
            }
        }
        let mut seen = vec![usize::MAX; selectable.len()];
        let is_list =
            |list: &Vec<u32>| list.is_sorted_by(|a, b| a < b) && list.iter().all(is_selectable);
        if !self.lists.iter().all(is_list) {
            return Some("a list of columns");
        }
        for (at, frame) in self.starts.frames.iter().enumerate() {
            let new =
                |j: &u32| is_selectable(j) && std::mem::replace(&mut seen[*j as usize], at) != at;
            if !frame.inside.iter().chain(&frame.columns).all(new) {
                return Some("a set of columns");
            }
            let is_scale = |scale: &f64| *scale > 0.0 && scale.is_finite();
            let count = frame.scales.len();
            if count > 0 && count != frame.columns.len() || !frame.scales.iter().all(is_scale) {
                return Some("the scales of a set of columns");
            }
        }
        let is_value =
            |(j, x): &(u32, Short)| (*j as usize) < selectable.len() && x.value().is_finite();
        let frames = self.starts.frames.len();
        let is_point = |point: &SavedPoint| {
            point.x.iter().all(is_value) && point.frame.is_none_or(|at| (at as usize) < frames)
        };
        if !self.starts.points.iter().all(is_point) {
            return Some("a starting point");
        }
        let bad = |node: &SavedNode| {
            let Some(list) = self.lists.get(node.list as usize) else {
                return true;
            };
            let count = list.len();
            let words = count.div_ceil(8);
            if node.inside.len() != words || node.outside.len() != words {
                return true;
            }
            let inside = (0..8 * words).filter(|i| node.is_inside(*i)).count();
            let beyond = (count..8 * words).any(|i| node.is_inside(i) || node.is_outside(i));
            let both = (0..count).any(|i| node.is_inside(i) && node.is_outside(i));
            let points = self.starts.points.len();
            let start = node.start.is_some_and(|at| at as usize >= points);
            let too_many = inside > problem.support_size();
            beyond || both || start || too_many || !node.bound.is_finite()
        };
        self.open.iter().any(bad).then_some("a node")
    }
}
