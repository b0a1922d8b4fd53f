//! The interface of the tree to a node in Gram form.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::GramRelaxation;
use crate::bound::{Certified, Children, Subproblem};
use crate::gram::slot::{FrameSlot, GramStart};
use crate::gram::small::{self, LARGEST, LARGEST_BY_HUBS, are_fours_few, square_bytes};
use crate::gram::swaps;
use crate::limits::Limits;
use crate::linalg::rounding::U;
use crate::problem::Problem;
use crate::relaxation::model::Goal;
use crate::relaxation::newton::whole_from;
use crate::relaxation::{
    Exit, Known, Relaxation, SavedStarts, Task, Watch, branching, gather, largest_model, lengthen,
    shorten,
};
use crate::tuning::enumeration::{EASY_NODES, HARD_NODES, MANY_TRIPLES};
use crate::tuning::frames::{MOST_FRAMES, NEARLY, NODE_TOLERANCE, NODE_WORK, ROOT_TOLERANCE};

/// Share of the incumbent by which the value of a model of the quadratic must be below it for a fit.
const BETTER: f64 = -1e-10;

impl Relaxation for GramRelaxation<'_> {
    type Start = GramStart;

    fn prepare(&mut self, _: &Problem, task: &Task, start: Option<&GramStart>) {
        self.reframed = 0;
        self.expanded += 1;
        let own = start.and_then(|start| {
            let frame = self.frame_of(&start.slot, task)?;
            Some((Arc::clone(&start.slot), frame))
        });
        let whole = || {
            let slot = self.whole.clone()?;
            let frame = self.frame_of(&slot, task)?;
            Some((slot, frame))
        };
        if let Some((slot, frame)) = own.or_else(whole) {
            self.enter(&slot, frame);
        }
        let point = start.into_iter().flat_map(|start| lengthen(&start.x));
        self.go_to(&task.node, point);
    }

    fn initial_bound(&mut self, _: &Problem, _: &Subproblem) -> Certified {
        Certified::TRIVIAL
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let bound = self.run(&task.node, &goal(problem, task), task.limits);
        let bound = task.node.with_cost(problem, bound);
        (bound, Exit::of(bound, task))
    }

    /// Switches to a smaller frame.
    fn tighten(&mut self, _: &Problem, task: &Task) -> bool {
        self.reframed += 1;
        self.reframed <= MOST_FRAMES && self.reframe(&task.node, task.reference, task.limits)
    }

    /// Returns the bound of the frame with all features included that may be in.
    fn leaf_bound(&mut self, problem: &Problem, task: &Task) -> Option<Certified> {
        let mut included = task.node.included.to_vec();
        if task.node.budget > 0 {
            included.extend_from_slice(task.node.free);
        } else {
            let current = self.current.as_ref()?;
            let free = task.node.free.iter().filter_map(|j| current.place(*j));
            free.for_each(|place| self.newton.x[place] = 0.0);
        }
        let settled = Subproblem {
            included: &included,
            free: &[],
            budget: 0,
        };
        let bound = self.run(&settled, &goal(problem, task), task.limits);
        Some(settled.with_cost(problem, bound))
    }

    fn enumerate(
        &mut self,
        problem: &Problem,
        task: &Task,
        watch: &mut dyn Watch,
    ) -> Option<Certified> {
        let Subproblem { free, budget, .. } = task.node;
        // Larger models have too many nodes with three features left.
        let is_hard = self.expanded > HARD_NODES
            && problem.support_size() <= LARGEST_BY_HUBS
            && problem.observations() < problem.selectable.len() as u64;
        let is_worthwhile = if budget > LARGEST {
            // One open node has nothing included. Below all others, at most three features are left.
            is_hard
                && budget == problem.support_size()
                && are_fours_few(free.len(), 1, task.limits)
                && !std::mem::replace(&mut self.has_tried_fours, true)
        } else {
            let is_short = is_hard || budget < LARGEST || free.len() <= MANY_TRIPLES;
            problem.has_weak_bounds() || (self.expanded > EASY_NODES && is_short)
        };
        let bytes = square_bytes(free.len());
        if self.explicit.is_some()
            || !self.mechanisms.enumeration
            || !is_worthwhile
            || (budget >= LARGEST && task.limits.is_too_much(bytes))
        {
            return None;
        }
        let bound = small::enumerate_node(&self.root, task, watch)?;
        Some(bound.at_most(self.ceiling))
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        let Some(current) = &self.current else {
            return Vec::new();
        };
        let size = |j: usize| current.place(j).map_or(0.0, |at| self.newton.x[at].abs());
        let Some(prices) = problem.prices() else {
            return largest_model(problem, node, size);
        };
        // As many features as the shares add up to; more would cost more than the relaxed model pays.
        let share = |j: usize| match size(j) {
            0.0 => 0.0,
            size => (size / whole_from(prices[j])).min(1.0),
        };
        let used: f64 = node.free.iter().map(|j| share(*j)).sum();
        let budget = node.budget.min((used + 0.5) as usize);
        largest_model(problem, &Subproblem { budget, ..*node }, share)
    }

    /// Improves the support by swaps in the quadratic, where no row is explicit.
    fn improve(&mut self, problem: &Problem, support: &mut Vec<usize>, known: &Known) -> bool {
        if *support == self.last_candidate {
            return false;
        }
        self.last_candidate.clone_from(support);
        let index = |j: &usize| self.root.index(*j);
        let mut chosen = gather(support.iter().filter_map(index));
        if chosen.len() < support.len() {
            return true;
        }
        let value = swaps::value(self.root.form(), &chosen, &mut self.factor);
        let value = value + problem.cost(support);
        let is_mixed = self.explicit.is_some();
        let margin = if is_mixed { NEARLY } else { BETTER };
        if value >= known.reference + margin * known.reference.abs() {
            return false;
        }
        // A swap considers the quadratic alone.
        let is_swapped = !is_mixed && self.mechanisms.swaps && problem.has_one_price();
        if is_swapped && value < known.best {
            let pinned = self.pinned(known.decision);
            let (form, most) = (self.root.form(), 1000);
            swaps::improve(form, &mut chosen, most, pinned, known.limits);
            *support = chosen.iter().map(|i| self.root.columns[*i]).collect();
            support.sort_unstable();
        }
        true
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        let u = &self.newton.best_u;
        let place = |j: usize| self.current.as_ref()?.place(j);
        let places = node.free.iter().filter_map(|j| Some((*j, place(*j)?)));
        let child = |rise| match &self.current {
            Some(current) => current.model.child(rise),
            None => Certified::TRIVIAL,
        };
        let atoms = places.map(|(j, at)| (0.5 * u[at] * u[at], j));
        let Some(prices) = problem.prices() else {
            return Children::from_atoms(atoms, node.budget, child);
        };
        let atoms = atoms.map(|(q, j)| (q - prices[j], j));
        Children::from_atoms(atoms, node.budget, |rise| {
            // A price far above all atoms causes larger rounding errors than they do.
            node.with_cost(problem, child(rise - 8.0 * U * rise))
        })
    }

    fn branch(&mut self, _: &Problem, node: &Subproblem, gap: f64, limits: &Limits) -> usize {
        let Some(current) = &mut self.current else {
            return node.free[0];
        };
        current.set_node(self.problem, node);
        let sets = &current.sets;
        let (x, u) = (&self.newton.x, &self.newton.best_u);
        let place = if self.mechanisms.gains {
            branching::choose(current.model.as_model(), sets, x, u, gap, limits)
        } else {
            branching::steepest(sets, x, u)
        };
        self.root.columns[current.frame.columns[place] as usize]
    }

    fn start(&self) -> GramStart {
        let slot = self.current.as_ref().map(|current| &current.slot);
        let slot = slot.or(self.whole.as_ref()).cloned();
        GramStart {
            x: shorten(self.model()),
            slot: slot.unwrap_or_default(),
        }
    }

    fn restore(&self, problem: &Problem, saved: &SavedStarts) -> Vec<Option<GramStart>> {
        let frames = saved.frames.iter();
        let slot = |shape| {
            let with_explicit_rows = self.explicit.is_some();
            FrameSlot::restored(problem, &self.root, shape, with_explicit_rows)
        };
        let whole = self.whole.as_ref();
        let slots: Vec<Option<Arc<FrameSlot>>> = frames
            .map(|shape| match whole {
                Some(whole) if whole.has_shape(shape) => Some(Arc::clone(whole)),
                _ => slot(shape).map(Arc::new),
            })
            .collect();
        let points = saved.points.iter().map(|point| {
            let own = point.frame.and_then(|at| slots[at as usize].as_ref());
            Some(GramStart {
                x: shorten(point.model().into_iter()),
                slot: Arc::clone(own.or(whole)?),
            })
        });
        points.collect()
    }

    fn work(&self, _: &Problem, columns: usize) -> u64 {
        NODE_WORK * (columns as u64).pow(2)
    }

    fn shared_bytes(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }
}

/// Returns how accurately a node is solved.
fn goal(problem: &Problem, task: &Task) -> Goal {
    let best = task.reference;
    let share = if task.is_root {
        ROOT_TOLERANCE * best
    } else {
        NODE_TOLERANCE * (best - task.proved)
    };
    Goal {
        cut: task.cut_without_cost(problem),
        tolerance: share.max(1e-13 * best),
        share: None,
        tight: (0.3 * task.allowed).min(share).max(1e-14 * best),
    }
}
