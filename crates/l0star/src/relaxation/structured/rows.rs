//! The smooth part in matrix form: any loss, `x̃_j = √λ_j x_j`. Its bounds are those of [`crate::bound`], at the slopes of
//! the best point.
//!
//! Where the loss is curved wherever a better model can be, the ridge is lifted as for problems without groups and
//! bounds ([`crate::relaxation::rows`]): a lift and its region do not depend on these.

mod lifting;
mod nodes;

use std::sync::Arc;

use super::{Backend, Blocks, Shape, Smooth};
use crate::bound::{Certified, Children, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::linalg::rounding::U;
use crate::problem::Problem;
use crate::relaxation::Task;
use crate::relaxation::rows::lift::Lift;
use crate::relaxation::rows::model::{RowModel, Work};
use crate::relaxation::rows::{is_liftable, promising_width};
use crate::settings::Mechanisms;

use self::nodes::{LiftedAt, RowsAt};

/// Maximum number of Newton steps for the unpenalised coefficients at one point.
const MAX_STEPS: usize = 30;

/// The backend over the data in matrix form.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    /// The current coordinates, and those without a lift.
    shape: Arc<Shape>,
    plain: Arc<Shape>,
    /// `s Σ p a_ij²`, where s is the usual curvature of the loss, or its bound if it has one.
    squares: Arc<Vec<f64>>,
    /// Buffers, with the current lift.
    work: Work,
    mechanisms: Mechanisms,
    limits: Limits,
    /// Unpenalised coefficients, the best ones at each point.
    unpenalised: Vec<f64>,
    z: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    curvature: Vec<f64>,
    weighted: Vec<f64>,
    kept: Vec<f64>,
    kept_z: Vec<f64>,
    point: DualPoint,
    scratch: Vec<f64>,
}

impl Rows {
    pub(crate) fn new(problem: &Problem, mechanisms: Mechanisms, limits: &Limits) -> Self {
        let n = problem.rows();
        let columns = problem.design.columns();
        let root = |ridge: &f64| if *ridge > 0.0 { ridge.sqrt() } else { 1.0 };
        let scale: Vec<f64> = problem.ridge.iter().map(root).collect();
        let mut weighted = vec![0.0; n];
        let mut squares = vec![0.0; columns];
        let unpenalised = problem.unpenalised.columns().iter().copied();
        for j in problem.ridged().into_iter().chain(unpenalised) {
            problem.design.weigh_column(j, &problem.p, &mut weighted);
            squares[j] = problem.usual_curvature * problem.design.dot(j, &weighted);
        }
        let curvature = squares.iter().zip(&scale).map(|(c, s)| c / (s * s));
        let curvature = curvature.collect();
        let plain = Arc::new(Shape::new(problem, 0..columns, scale, curvature));
        Self {
            shape: Arc::clone(&plain),
            plain,
            squares: Arc::new(squares),
            work: Work::new(problem, limits),
            mechanisms,
            limits: limits.clone(),
            unpenalised: vec![problem.first_intercept; problem.unpenalised.columns().len()],
            z: vec![0.0; n],
            alpha: vec![0.0; n],
            beta: vec![0.0; n],
            curvature: vec![0.0; n],
            weighted,
            kept: vec![0.0; n],
            kept_z: vec![0.0; n],
            point: DualPoint::new(problem),
            scratch: Vec::new(),
        }
    }

    /// Switches to another lift, or to none.
    fn change(&mut self, problem: &Problem, lift: Option<Arc<Lift>>) {
        if lift.is_none() && self.work.lift.is_none() {
            return;
        }
        self.shape = match &lift {
            None => Arc::clone(&self.plain),
            Some(lift) => {
                let mut scale = self.plain.scale.clone();
                let mut curvature = self.plain.curvature.clone();
                for (j, mu) in &lift.ridges {
                    let j = *j as usize;
                    let square = problem.ridge[j] + mu;
                    scale[j] = square.sqrt();
                    // The usual curvature may be less than that in a region.
                    let whole = if problem.is_steep() {
                        self.squares[j].max(2.0 * mu)
                    } else {
                        self.squares[j]
                    };
                    curvature[j] = (whole - mu).max(0.0) / square;
                }
                let columns = 0..scale.len();
                Arc::new(Shape::new(problem, columns, scale, curvature))
            }
        };
        self.work.change(problem, lift);
    }

    /// Returns `L` at z, and computes the slopes and β.
    fn value(&mut self, problem: &Problem) -> f64 {
        problem.slopes_of(&self.z, &mut self.alpha, &mut self.beta);
        problem.loss_of(&self.z)
    }

    /// Moves the unpenalised coefficients to the minimum of L, and returns L.
    ///
    /// It uses Newton's method and, where that does not help, a step for the largest curvature that the loss
    /// can have, or for its usual one.
    fn settle(&mut self, problem: &Problem) -> f64 {
        let columns = problem.unpenalised.columns();
        let unpenalised = columns
            .iter()
            .copied()
            .zip(self.unpenalised.iter().copied());
        problem.design.add_columns(unpenalised, &mut self.z);
        let mut value = self.value(problem);
        if columns.is_empty() {
            return value;
        }
        let (size, design) = (columns.len(), &problem.design);
        let mut factor = Cholesky::new();
        let mut gradient = vec![0.0; size];
        for _ in 0..MAX_STEPS {
            design.dots(columns, &self.beta, &mut gradient);
            let length = kernels::norm(&self.beta);
            let is_small = |(g, j): (&f64, &usize)| g.abs() <= 1e-15 * problem.norms[*j] * length;
            if gradient.iter().zip(columns).all(is_small) {
                break;
            }
            problem.curvatures_of(&self.z, &mut self.curvature);
            let rows = factor.start(size);
            for (r, i) in columns.iter().enumerate() {
                design.weigh_column(*i, &self.curvature, &mut self.weighted);
                let out = &mut rows[r * size..r * size + r + 1];
                design.dots(&columns[..=r], &self.weighted, out);
            }
            problem.couple_gram(columns, &self.z, rows);
            let mut moved = false;
            for newton in [factor.factor(), false] {
                let mut step = gradient.clone();
                if newton {
                    factor.solve(&mut step);
                } else {
                    problem.unpenalised.solve(&mut step);
                    let curvature = problem.usual_curvature;
                    step.iter_mut().for_each(|s| *s /= curvature);
                }
                let back = columns.iter().copied().zip(step.iter().map(|s| -s));
                design.add_columns(back, &mut self.z);
                let next = self.value(problem);
                if next < value {
                    value = next;
                    self.unpenalised
                        .iter_mut()
                        .zip(&step)
                        .for_each(|(x, s)| *x -= s);
                    moved = true;
                    break;
                }
                let forth = columns.iter().copied().zip(step.iter().copied());
                design.add_columns(forth, &mut self.z);
            }
            if !moved {
                value = self.value(problem);
                break;
            }
        }
        value
    }
}

impl Backend for Rows {
    fn place(&self, column: usize) -> Option<usize> {
        Some(column)
    }

    fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    fn smooth<'a>(
        &'a mut self,
        problem: &'a Problem,
        node: Subproblem<'a>,
    ) -> Box<dyn Smooth + 'a> {
        if self.work.lift.is_some() {
            let model = RowModel {
                problem,
                work: &mut self.work,
                limits: &self.limits,
            };
            return Box::new(LiftedAt { model });
        }
        Box::new(RowsAt {
            rows: self,
            problem,
            node,
        })
    }

    fn children(
        &self,
        problem: &Problem,
        node: &Subproblem,
        blocks: &Blocks,
        u: &[f64],
    ) -> Children {
        let Some(lift) = &self.work.lift else {
            return self.point.children(problem, node);
        };
        let frame = &self.work.frame;
        blocks.children(node.free, u, |rise, rounding| {
            let error = frame.error + frame.selection + rounding;
            let bound = Certified::from_frame(frame.dual + rise, lift.ceiling, error);
            self.claim(problem, node, bound)
        })
    }

    /// Returns the bound with prices; with a lift, it is claimed only up to the ceiling of the lift.
    fn claim(&self, problem: &Problem, node: &Subproblem, bound: Certified) -> Certified {
        let bound = node.with_cost(problem, bound);
        let ceiling = self.work.lift.as_ref().map(|lift| lift.ceiling);
        match ceiling.filter(|ceiling| ceiling.is_finite()) {
            Some(ceiling) => bound.at_most(ceiling - 4.0 * U * ceiling.abs()),
            None => bound,
        }
    }

    type Lift = Lift;

    fn load(&mut self, problem: &Problem, lift: Option<&Arc<Lift>>) {
        self.change(problem, lift.cloned());
    }

    fn lift(&self) -> Option<&Arc<Lift>> {
        self.work.lift.as_ref()
    }

    fn bytes(lift: &Lift) -> usize {
        lift.bytes()
    }

    fn unpenalised<'a>(&self, problem: &'a Problem) -> &'a [usize] {
        match self.work.lift {
            // With a lift, they have a ridge like the included columns.
            Some(_) => problem.unpenalised.columns(),
            None => &[],
        }
    }

    fn unpenalised_values(&self) -> &[f64] {
        &self.unpenalised
    }

    /// Lifts the ridge of the rest of a node, when that looks worthwhile.
    fn tighten(
        &mut self,
        problem: &Problem,
        task: &Task,
        blocks: &Blocks,
        point: &[f64],
        gains: &dyn Fn(usize) -> f64,
    ) -> bool {
        let free = problem.expanded(task.node.free);
        let unpenalised = problem.unpenalised.columns();
        let alive = problem.expanded(task.node.included).len() + free.len() + unpenalised.len();
        let before = self.work.lift.clone();
        if !is_liftable(
            problem,
            alive,
            task.reference,
            before.as_deref(),
            self.mechanisms,
        ) {
            return false;
        }
        let gap = task.reference - task.proved;
        let worth = free.iter().map(|j| gains(*j) * self.work.mu[*j]).sum();
        let z = match before {
            Some(_) => &self.work.kept_z,
            None => &self.z,
        };
        let Some(width) = promising_width(problem, z, alive, gap, before.as_deref(), worth) else {
            return false;
        };
        self.lift(problem, task, blocks, point, gains, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relaxation::rows::region::Region;
    use crate::relaxation::rows::tests::{Lifting, better_models_are_held};
    use crate::relaxation::structured::Structured;

    impl Lifting for Structured<Rows> {
        fn try_lift(&mut self, problem: &Problem, task: &Task) -> bool {
            self.tighten_by(problem, task, |backend, blocks, point, gains| {
                backend.lift(problem, task, blocks, point, gains, 1.0)
            })
        }

        fn region(&self) -> &Region {
            &self.backend.work.lift.as_ref().unwrap().region
        }
    }

    #[test]
    fn better_models_are_in_the_region_and_above_the_lifted_bounds() {
        better_models_are_held(true, |problem| {
            let rows = Rows::new(problem, Mechanisms::default(), &Limits::none());
            Structured::new(rows, Mechanisms::default(), &[])
        });
    }
}
