//! Nodes with proved boxes in Gram form.
//!
//! Nodes are condensed, boxes are shrunk again in every node, and the bound uses the ridge as it is. This is for Gram
//! matrices that are singular, or nearly so, compared with a small ridge.

mod node;
mod probe;
mod rule;

pub use self::probe::probe;
pub use crate::boxes::Probed;

use std::borrow::Cow;
use std::sync::Arc;

use self::node::{Counted, Current, Held};
use super::condensed::Condensed;
use super::root::Root;
use super::small::{self, LARGEST, square_bytes};
use crate::bound::{Certified, Children, OtherSide, Subproblem};
use crate::boxes::ascent::Ascent;
use crate::boxes::sweep::Round;
use crate::boxes::{Boxes, Choice, Crew, Quadratic, Rounds, few};
use crate::limits::Limits;
use crate::linalg::rounding::{U, gamma};
use crate::problem::Problem;
use crate::relaxation::{
    Exit, Relaxation, ShortModel, Start, Task, Watch, largest, largest_one, lengthen, shorten,
};
use crate::tuning::boxes::{AGAIN, ENOUGH};

/// The last point of the ascent of a node, and the boxes that were proved there.
#[derive(Debug)]
pub(crate) struct BoxedStart {
    x: ShortModel,
    held: Option<Arc<Held>>,
}

impl Start for BoxedStart {
    fn model(&self) -> Vec<(usize, f64)> {
        lengthen(&self.x).collect()
    }

    fn bytes(&self) -> usize {
        let held = self.held.as_ref();
        let held = held.map_or(0, |held| held.boxes.bytes() + held.columns.len() * 8);
        size_of::<Self>() + size_of_val(&*self.x) + held
    }
}

/// The relaxation of nodes with proved boxes.
#[derive(Debug, Clone)]
pub(crate) struct Boxed {
    root: Arc<Root>,
    /// Bounds are claimed only up to this, the ceiling of the relaxation that this one replaces.
    ceiling: f64,
    /// Whether nodes with three features left are enumerated.
    enumerates: bool,
    /// Index of each column of the problem in the root.
    indices: Arc<Vec<Option<u32>>>,
    held: Option<Arc<Held>>,
    /// Whether the boxes of the current node are shrunk, as those of its ancestors may have been.
    is_begun: bool,
    /// Starting point of the ascent, by column.
    x: Vec<(usize, f64)>,
    current: Option<Current>,
    ascent: Ascent,
    /// Number of threads that the root may use.
    threads: usize,
    crew: Crew,
    /// Bytes of the certificates that all workers keep.
    certificates: Counted,
}

impl Boxed {
    /// Creates the relaxation. Columns of the problem that are not in the root have been ruled out.
    pub(crate) fn new(problem: &Problem, root: &Arc<Root>) -> Self {
        let mut indices = vec![None; problem.design.columns()];
        for (i, j) in root.columns.iter().enumerate() {
            indices[*j] = Some(i as u32);
        }
        Self {
            root: Arc::clone(root),
            ceiling: f64::INFINITY,
            enumerates: false,
            indices: Arc::new(indices),
            held: None,
            is_begun: false,
            x: Vec::new(),
            current: None,
            ascent: Ascent::default(),
            threads: 1,
            crew: Crew::default(),
            certificates: Counted::default(),
        }
    }

    /// Returns the quadratic of a node; `None` when rounding defeats it, and at a limit.
    fn condense(
        &self,
        included: &[usize],
        columns: &[usize],
        limits: &Limits,
    ) -> Option<Quadratic<'static>> {
        let index = |j: &usize| self.indices[*j];
        let inside: Vec<u32> = included.iter().map(index).collect::<Option<_>>()?;
        let columns: Vec<u32> = columns.iter().map(index).collect::<Option<_>>()?;
        let root = &*self.root;
        // Section 16 of `docs/numerics.md`: if this holds, condensing errs by at most four times what its parts do.
        let share = root.share() + gamma(3 * inside.len() + 16);
        let sizes = inside.iter().map(|i| root.rounding_size(*i as usize));
        let ridges = inside.iter().map(|i| root.ridge[*i as usize]);
        let least = ridges.fold(f64::INFINITY, f64::min);
        if !inside.is_empty() && share * sizes.sum::<f64>() > 0.5 * least {
            return None;
        }
        let made = Condensed::new(root, &inside, &columns, limits)?;
        Some(Quadratic {
            h: Cow::Owned(made.h.into_owned()),
            c: made.c,
            c0: made.c0,
            ridge: columns.iter().map(|i| root.ridge[*i as usize]).collect(),
            sizes: made.weights,
            response: (2.0 * root.c0).sqrt() * (1.0 + 1e-9) + made.tau,
            share: 4.0 * share,
        })
    }

    /// Enters a node; returns false when it cannot be condensed.
    fn enter(&mut self, problem: &Problem, task: &Task) -> bool {
        let Subproblem {
            included,
            free,
            budget,
        } = task.node;
        let cut = task.cut_without_cost(problem);
        let spare = (0.01 * (task.reference - task.cut)).max(16.0 * U * task.cut.abs());
        // Where features have prices, the included ones may have used up the whole ceiling; then no model remains.
        let ceiling = match (cut + spare).min(self.ceiling) {
            below if below < 0.0 => 0.0,
            ceiling => ceiling,
        };
        let price = match (problem.prices(), free.first()) {
            (Some(prices), Some(first)) => prices[*first],
            _ => 0.0,
        };
        let choice = Choice {
            most: budget,
            price,
        };
        let is_below = |current: &Current| current.included == included;
        if let Some(current) = self.current.as_mut().filter(|node| is_below(node)) {
            let place = |j: &usize| current.columns.binary_search(j).ok();
            let kept: Vec<usize> = free.iter().filter_map(place).collect();
            if kept.len() < current.columns.len() {
                current.keep(&kept);
            }
            current.gone.clear();
            current.boxes.lower(ceiling);
            current.choice = choice.within(ceiling);
            return true;
        }
        let here = self.current.take();
        let here = here.map(|current| (current.columns, current.boxes));
        let known = here.as_ref().map(|(columns, boxes)| (&columns[..], boxes));
        let held = self.held.as_ref();
        let known = known.or(held.map(|held| (&held.columns[..], &held.boxes)));
        // A column that is neither here nor in the root has been ruled out, or its bounds allow only zero.
        let is_left = |j: &usize| match &known {
            Some((columns, _)) => columns.binary_search(j).is_ok(),
            None => self.indices[*j].is_some() && problem.range(*j) != (0.0, 0.0),
        };
        let mut columns: Vec<usize> = free.iter().copied().filter(is_left).collect();
        columns.sort_unstable();
        let gone = free.iter().copied().filter(|j| !is_left(j)).collect();
        let Some(quadratic) = self.condense(included, &columns, task.limits) else {
            return false;
        };
        let boxes = match known {
            Some((known, boxes)) => {
                let kept: Vec<usize> = columns
                    .iter()
                    .filter_map(|j| known.binary_search(j).ok())
                    .collect();
                let place = |i: u32| {
                    let found = columns.binary_search(&known[i as usize]).ok();
                    found.map(|at| at as u32)
                };
                let mut boxes = boxes.restricted(&kept, place);
                boxes.lower(ceiling);
                boxes
            }
            None => {
                let given = columns.iter().map(|j| problem.range(*j));
                Boxes::new(&quadratic, choice, ceiling).within(given)
            }
        };
        self.current = Some(Current {
            included: included.to_vec(),
            columns,
            choice: choice.within(ceiling),
            quadratic,
            boxes,
            gone,
            best: None,
        });
        true
    }

    /// Shrinks the boxes of a root for the first time; returns false at a limit.
    fn begin(&mut self, limits: &Limits) -> bool {
        let current = self.current.as_mut().filter(|_| !self.is_begun);
        let Some(current) = current.filter(|current| current.choice.most > 2) else {
            return true;
        };
        self.is_begun = true;
        let (quadratic, choice) = (&current.quadratic, current.choice);
        current
            .boxes
            .begin(quadratic, choice, &mut self.crew, limits)
    }

    /// Whether the bound rules out so many columns that it is better to shrink the boxes without these.
    fn thins(&self, cut: f64) -> bool {
        let Some(current) = &self.current else {
            return false;
        };
        let children = self.ascent.children(&current.bounded(), |i| i);
        let ruled_out = |other: &&OtherSide| !other.is_out && other.bound.value() >= cut;
        let gone = children.other_sides.iter().filter(ruled_out).count();
        let size = current.columns.len();
        (size - gone) as f64 <= AGAIN * size as f64
    }

    /// Computes one bound with the current boxes, without the prices of included features.
    fn bound(&mut self, cut: f64, task: &Task) -> Certified {
        let Self {
            current, x, ascent, ..
        } = self;
        let Some(current) = current else {
            return Certified::TRIVIAL;
        };
        let start = x.iter().filter_map(|(j, x)| {
            let place = current.columns.binary_search(j).ok()?;
            Some((place, *x))
        });
        let start: Vec<(usize, f64)> = start.collect();
        let bound = ascent.maximise(&current.bounded(), &start, cut, task.limits);
        let y = current.columns.iter().zip(ascent.y());
        *x = y
            .filter(|(_, y)| **y != 0.0)
            .map(|(j, y)| (*j, *y))
            .collect();
        bound
    }
}

impl Relaxation for Boxed {
    type Start = BoxedStart;

    fn prepare(&mut self, _: &Problem, _: &Task, start: Option<&BoxedStart>) {
        self.current = None;
        self.certificates.set(0);
        self.held = start.and_then(|start| start.held.clone());
        self.is_begun = self.held.as_ref().is_some_and(|held| held.is_begun);
        self.x = start.map(BoxedStart::model).unwrap_or_default();
    }

    fn initial_bound(&mut self, _problem: &Problem, _node: &Subproblem) -> Certified {
        Certified::TRIVIAL
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let cut = task.cut_without_cost(problem);
        let priced = |bound| task.node.with_cost(problem, bound);
        let stopped = |bound| (priced(bound), Exit::Stopped);
        let is_first = !self.is_begun;
        // Below the root, the threads have their own nodes.
        self.crew
            .set_threads(if task.is_root { self.threads } else { 1 });
        if !self.enter(problem, task) {
            self.current = None;
            if task.limits.stop() {
                return stopped(Certified::TRIVIAL);
            }
            return (priced(Certified::TRIVIAL), Exit::Converged);
        }
        // The boxes that the ridges alone give are not worth a bound.
        if !problem.is_boxed() && !self.begin(task.limits) {
            return stopped(Certified::TRIVIAL);
        }
        let mut best = Certified::TRIVIAL;
        let Rounds { most, enough } = Rounds::of(is_first);
        for round in 0..=most {
            let Some(current) = &mut self.current else {
                break;
            };
            current.drop_zeros();
            if current.choice.most <= 2 {
                let boxes = current.boxes.boxes();
                let ceiling = current.boxes.ceiling();
                let (chosen, bound) =
                    few::enumerate(&current.quadratic, boxes, current.choice, ceiling);
                let chosen = chosen.iter().map(|i| current.columns[*i]).collect();
                current.best = Some((chosen, bound));
                best = best.tighter(bound);
                break;
            }
            let needed = (0..current.columns.len()).filter(|i| current.boxes.is_needed(*i));
            if needed.count() > current.choice.most {
                best = best.tighter(current.outside());
                break;
            }
            best = best.tighter(self.bound(cut, task));
            if best.value() >= cut || round == most {
                break;
            }
            // Given boxes may be as good as any that cost passes over all features.
            let is_near = !self.is_begun && (cut - best.value()).max(0.0) <= ENOUGH * cut;
            if is_near || problem.is_boxed() && self.thins(cut) {
                break;
            }
            if !self.begin(task.limits) {
                return stopped(best);
            }
            let Some(current) = &mut self.current else {
                break;
            };
            let Current {
                boxes,
                quadratic,
                choice,
                ..
            } = current;
            match boxes.round(quadratic, *choice, &mut self.crew, task.limits) {
                Round::Stopped => return stopped(best),
                Round::Done(share) if share > enough && !boxes.is_trying_harder() => {
                    current.drop_zeros();
                    best = best.tighter(self.bound(cut, task));
                    break;
                }
                Round::Done(_) => {}
            }
        }
        let kept = self.current.as_ref();
        let kept = kept.map_or(0, |current| current.boxes.certificate_bytes());
        self.certificates.set(kept as u64);
        let best = priced(best);
        (best, Exit::of(best, task))
    }

    /// A node is solved again after fixing if a feature came in, or many were ruled out.
    fn tighten(&mut self, _problem: &Problem, task: &Task) -> bool {
        let Some(current) = &self.current else {
            return false;
        };
        let (before, left) = (current.columns.len(), task.node.free.len());
        task.node.included.len() > current.included.len() || left as f64 <= AGAIN * before as f64
    }

    /// Enumerates nodes with three features left; one or two are enumerated in the boxes.
    fn enumerate(&mut self, _: &Problem, task: &Task, watch: &mut dyn Watch) -> Option<Certified> {
        let Subproblem { free, budget, .. } = task.node;
        if !self.enumerates
            || budget != LARGEST
            || task.limits.is_too_much(square_bytes(free.len()))
        {
            return None;
        }
        let bound = small::enumerate_node(&self.root, task, watch)?;
        Some(bound.at_most(self.ceiling))
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        let k = node.included.len() - problem.penalised.len() + node.budget;
        let Some(current) = &self.current else {
            return Vec::new();
        };
        let is_selectable = |j: &usize| problem.selectable.binary_search(j).is_ok();
        let mut support: Vec<usize> = current.included.clone();
        support.retain(is_selectable);
        match &current.best {
            Some((chosen, _)) => support.extend(chosen),
            None => {
                let shares = current.columns.iter().copied();
                let shares = shares.zip(self.ascent.shares.iter().copied());
                let mut left = k.saturating_sub(support.len());
                if problem.is_priced() {
                    // As many features as the shares add up to; more would cost more than the relaxed model pays.
                    let used: f64 = self.ascent.shares.iter().sum();
                    left = left.min((used + 0.5) as usize);
                }
                support.extend(largest(shares, left));
            }
        }
        support.sort_unstable();
        support.truncate(k);
        support
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        let Some(current) = &self.current else {
            return Children {
                low: Certified::TRIVIAL,
                other_sides: Vec::new(),
            };
        };
        let mut children = match &current.best {
            Some((_, bound)) => Children {
                low: *bound,
                other_sides: Vec::new(),
            },
            None => {
                let column = |i: usize| current.columns[i];
                self.ascent.children(&current.bounded(), column)
            }
        };
        let outside = current.outside();
        let gone = current.gone.iter();
        children.other_sides.extend(gone.map(|j| OtherSide {
            feature: *j,
            is_out: false,
            bound: outside,
        }));
        for other in &mut children.other_sides {
            let Ok(i) = current.columns.binary_search(&other.feature) else {
                continue;
            };
            if current.boxes.is_needed(i) {
                (other.is_out, other.bound) = (true, outside);
            } else if current.boxes.boxes()[i].is_zero() {
                (other.is_out, other.bound) = (false, outside);
            }
        }
        children.low = node.with_cost(problem, children.low);
        for other in &mut children.other_sides {
            other.bound = node.with_cost(problem, other.bound);
        }
        children
    }

    fn branch(&mut self, _: &Problem, node: &Subproblem, _gap: f64, _: &Limits) -> usize {
        let Some(current) = &self.current else {
            return node.free[0];
        };
        let score = |j: usize| {
            let Ok(i) = current.columns.binary_search(&j) else {
                return 0.0;
            };
            match &current.best {
                Some((chosen, _)) => f64::from(u8::from(chosen.contains(&j))),
                None => {
                    let z = self.ascent.shares[i];
                    z * (1.0 - z) + 0.5 * z
                }
            }
        };
        largest_one(node.free, score)
    }

    fn start(&self) -> BoxedStart {
        let held = self.current.as_ref().map(|current| {
            Arc::new(Held {
                columns: current.columns.clone(),
                boxes: current.boxes.for_children(),
                is_begun: self.is_begun,
            })
        });
        BoxedStart {
            x: shorten(self.x.iter().copied()),
            held,
        }
    }

    fn restored(&self, x: Vec<(usize, f64)>) -> Option<BoxedStart> {
        let x = shorten(x.into_iter());
        Some(BoxedStart { x, held: None })
    }

    fn shared_bytes(&self) -> u64 {
        self.certificates.total()
    }
}
