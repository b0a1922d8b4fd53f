//! Supergradient ascent (Algorithm 5 of the paper; Liu et al. 2017).
//!
//! `D(β)` has the supergradient `A x̃(β) + o - ∇L*(β)`, where x̃ keeps the m largest free entries of `-Aᵀβ/λ`. Steps
//! double after every success and halve until D does not fall. β is projected onto the domain of D.

use super::{Exit, Relaxation, Start, Task, largest, largest_model, largest_one};
use crate::bound::{Certified, Children, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::problem::Problem;

const MAX_ITERATIONS: usize = 20_000;
const MAX_HALVINGS: usize = 100;

/// Supergradient ascent: Algorithm 5 of the paper.
#[derive(Debug)]
pub struct Sga {
    epsilon: f64,
    start: DualPoint,
    start_step: f64,
    current: DualPoint,
    next: DualPoint,
    /// The step that led to β¹, which the children inherit.
    first_step: f64,
    x: Vec<(usize, f64)>,
    gradient: Vec<f64>,
    scratch: Vec<f64>,
}

/// The dual point of a node, and the step that led to β¹.
#[derive(Debug, Clone)]
pub struct SgaStart {
    alpha: Vec<f64>,
    step: f64,
}

impl Start for SgaStart {
    fn model(&self) -> Vec<(usize, f64)> {
        Vec::new()
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.alpha.capacity() * 8
    }
}

impl Sga {
    fn coefficient(&self, j: usize) -> f64 {
        let found = self.x.iter().find(|(i, _)| *i == j);
        found.map_or(0.0, |(_, x)| *x)
    }

    /// Creates the method for one problem; `epsilon` is the paper's ε.
    pub fn new(problem: &Problem, epsilon: f64) -> Self {
        let start = DualPoint::new(problem);
        Self {
            epsilon,
            current: start.clone(),
            next: start.clone(),
            start,
            start_step: 1.0,
            first_step: 1.0,
            x: Vec::new(),
            gradient: vec![0.0; problem.rows()],
            scratch: Vec::new(),
        }
    }

    /// Computes `x̃(β)`: `-v_j/λ_j` on the included columns and the m free ones of largest `v_j²/λ_j`.
    pub(crate) fn primal(&mut self, problem: &Problem, node: &Subproblem) {
        let v = &self.current.v;
        let score = |j: usize| v[j] * v[j] / problem.ridge[j];
        let top = largest(node.free.iter().map(|j| (*j, score(*j))), node.budget);
        self.x.clear();
        self.x.extend(
            node.included
                .iter()
                .chain(&top)
                .map(|j| (*j, -v[*j] / problem.ridge[*j])),
        );
    }

    /// Takes one ascent step from a point with the bound `before`. Returns `None` when no step helps, and at a limit.
    pub(crate) fn ascend(
        &mut self,
        problem: &Problem,
        node: &Subproblem,
        before: Certified,
        step: &mut f64,
        limits: &Limits,
    ) -> Option<Certified> {
        self.primal(problem, node);
        problem.predict_into(&self.x, &mut self.gradient);
        for ((g, alpha), b) in self
            .gradient
            .iter_mut()
            .zip(&self.current.alpha)
            .zip(&problem.b)
        {
            *g -= problem.loss.conjugate_slope(*alpha, *b);
        }
        problem.unpenalised.project(&mut self.gradient);
        *step *= 2.0;
        for _ in 0..MAX_HALVINGS {
            if limits.stop() {
                return None;
            }
            for (((next, alpha), g), p) in self
                .next
                .alpha
                .iter_mut()
                .zip(&self.current.alpha)
                .zip(&self.gradient)
                .zip(&problem.p)
            {
                *next = alpha + *step * g / p;
            }
            problem.loss.clip(&mut self.next.alpha, &problem.b);
            self.next.update(problem);
            self.next.dots(problem, node);
            let bound = self.next.bound(problem, node, &mut self.scratch);
            if bound >= before && self.next.alpha.iter().all(|alpha| alpha.is_finite()) {
                std::mem::swap(&mut self.current, &mut self.next);
                return Some(bound);
            }
            *step *= 0.5;
        }
        None
    }

    /// Returns to the starting point, and returns its bound.
    pub(crate) fn restart(&mut self, problem: &Problem, node: &Subproblem) -> Certified {
        self.current.copy_from(&self.start);
        self.current.bound(problem, node, &mut self.scratch)
    }

    fn run(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let node = &task.node;
        let mut bound = self.restart(problem, node);
        if bound.value() > task.cut {
            return (bound, Exit::Quit);
        }
        let mut step = self.start_step;
        for iteration in 0..MAX_ITERATIONS {
            if task.limits.stop() {
                return (bound, Exit::Stopped);
            }
            let Some(next) = self.ascend(problem, node, bound, &mut step, task.limits) else {
                if task.limits.stop() {
                    return (bound, Exit::Stopped);
                }
                break;
            };
            if iteration == 0 {
                self.first_step = step;
            }
            let gain = next.value() - bound.value();
            bound = next;
            if bound.value() > task.cut {
                return (bound, Exit::Quit);
            }
            if gain <= self.epsilon * task.scale {
                break;
            }
        }
        self.primal(problem, node);
        (bound, Exit::Converged)
    }
}

impl Relaxation for Sga {
    type Start = SgaStart;

    fn prepare(&mut self, problem: &Problem, task: &Task, start: Option<&SgaStart>) {
        match start {
            Some(start) => {
                self.start.alpha.clone_from(&start.alpha);
                self.start_step = start.step;
            }
            None => {
                self.start.alpha.fill(0.0);
                problem.loss.clip(&mut self.start.alpha, &problem.b);
                self.start_step = 1.0;
            }
        }
        self.start.update(problem);
        self.start.dots(problem, &task.node);
    }

    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified {
        self.start.bound(problem, node, &mut self.scratch)
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        self.first_step = self.start_step;
        self.run(problem, task)
    }

    /// Returns the support of x̃(β): S and the k - s largest free features.
    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        largest_model(problem, node, |j| self.coefficient(j).abs())
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        self.current.children(problem, node)
    }

    fn branch(&mut self, _: &Problem, node: &Subproblem, _gap: f64, _: &Limits) -> usize {
        largest_one(node.free, |j| self.coefficient(j).abs())
    }

    fn start(&self) -> SgaStart {
        SgaStart {
            alpha: self.current.alpha.clone(),
            step: self.first_step,
        }
    }
}
