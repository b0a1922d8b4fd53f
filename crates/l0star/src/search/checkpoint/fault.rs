//! Finds states that no search could have left behind, whatever the checksum says.

use super::{SavedModel, SavedNode, State};
use crate::linalg::short::Short;
use crate::problem::Problem;
use crate::relaxation::{SavedPoint, SavedStarts};

/// Later than any search ends.
const MOST_SECONDS: f64 = 1e15;

impl State {
    /// Finds a fault that no search could have left behind. A checksum detects accidents. These checks also refuse
    /// forged states that would cause a panic, and most of those that would give false results.
    pub(super) fn find_fault(&self, problem: &Problem) -> Option<&'static str> {
        let evidence = [self.weakest, self.evicted].map(|v| v.unwrap_or(0.0));
        let numbers = [self.seconds, self.base, evidence[0], evidence[1]];
        if numbers.iter().any(|v| !v.is_finite()) || !(0.0..MOST_SECONDS).contains(&self.seconds) {
            return Some("a number");
        }
        if !self.prepared.fits(problem) {
            return Some("what was prepared");
        }
        let columns = Columns::new(problem);
        let models = self.models.iter();
        if let Some(fault) = models
            .filter_map(|model| columns.find_model_fault(model))
            .next()
        {
            return Some(fault);
        }
        let is_list =
            |list: &Vec<u32>| list.is_sorted_by(|a, b| a < b) && columns.are_selectable(list);
        if !self.lists.iter().all(is_list) {
            return Some("a list of columns");
        }
        let fault = columns.find_start_fault(&self.starts);
        let is_bad = |node: &SavedNode| self.is_bad(node, problem);
        fault.or_else(|| self.open.iter().any(is_bad).then_some("a node"))
    }

    /// Whether no search could have such an open node.
    fn is_bad(&self, node: &SavedNode, problem: &Problem) -> bool {
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
    }
}

/// The columns of a problem, for checks of what refers to them.
struct Columns<'a> {
    problem: &'a Problem,
    selectable: Vec<bool>,
    /// The first of the columns that are in and out together with each column.
    leader: Vec<u32>,
}

impl<'a> Columns<'a> {
    fn new(problem: &'a Problem) -> Self {
        let mut selectable = vec![false; problem.design.columns()];
        let mut leader: Vec<u32> = (0..problem.design.columns() as u32).collect();
        for j in &problem.selectable {
            selectable[*j] = true;
            let members = problem.members(*j);
            members.iter().for_each(|i| leader[*i] = *j as u32);
        }
        Self {
            problem,
            selectable,
            leader,
        }
    }

    fn is_selectable(&self, j: u32) -> bool {
        let known = self.selectable.get(j as usize);
        known.copied().unwrap_or(false)
    }

    fn are_selectable(&self, columns: &[u32]) -> bool {
        columns.iter().all(|j| self.is_selectable(*j))
    }

    fn find_model_fault(&self, model: &SavedModel) -> Option<&'static str> {
        let problem = self.problem;
        let is_rising = model.support.is_sorted_by(|a, b| a < b);
        let is_known = |(j, x): &(u32, f64)| {
            let Some(j) = self.leader.get(*j as usize) else {
                return false;
            };
            let in_model = !self.is_selectable(*j) || model.support.binary_search(j).is_ok();
            in_model && x.is_finite()
        };
        if !is_rising
            || !model.x.iter().all(is_known)
            || !self.are_selectable(&model.support)
            || model.support.len() > problem.support_size()
            || !self.keeps_rules(model)
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
        let is_bad = !saved.is_finite() || (saved - now).abs() > close || !proved.is_finite();
        is_bad.then_some("the objective of the model")
    }

    /// Whether a model is within its bounds, and has every feature that one of its features needs.
    fn keeps_rules(&self, model: &SavedModel) -> bool {
        self.problem.structure.as_ref().is_none_or(|structure| {
            let set: Vec<usize> = model.support.iter().map(|j| *j as usize).collect();
            let within = model.x.iter().all(|(j, x)| {
                let (low, high) = structure.bounds[*j as usize];
                low <= *x && *x <= high
            });
            within && structure.is_closed(&set)
        })
    }

    fn find_start_fault(&self, starts: &SavedStarts) -> Option<&'static str> {
        let mut seen = vec![usize::MAX; self.selectable.len()];
        for (at, frame) in starts.frames.iter().enumerate() {
            let mut is_new = |j: &u32| {
                self.is_selectable(*j) && std::mem::replace(&mut seen[*j as usize], at) != at
            };
            if !frame.inside.iter().chain(&frame.columns).all(&mut is_new) {
                return Some("a set of columns");
            }
            let is_scale = |scale: &f64| *scale > 0.0 && scale.is_finite();
            let count = frame.scales.len();
            if count > 0 && count != frame.columns.len() || !frame.scales.iter().all(is_scale) {
                return Some("the scales of a set of columns");
            }
        }
        let is_value = |(j, x): &(u32, Short)| (*j as usize) < seen.len() && x.value().is_finite();
        let frames = starts.frames.len();
        let is_point = |point: &SavedPoint| {
            point.x.iter().all(is_value) && point.frame.is_none_or(|at| (at as usize) < frames)
        };
        (!starts.points.iter().all(is_point)).then_some("a starting point")
    }
}
