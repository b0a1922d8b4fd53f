//! The smooth part in matrix form: any loss, `x̃_j = √λ_j x_j`. Its bounds are those of [`crate::bound`], at the slopes of
//! the best point.

use std::sync::Arc;

use super::{Backend, Blocks, Shape, Smooth};
use crate::bound::{Certified, Children, DualPoint, Subproblem};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::problem::Problem;

/// Most Newton steps for the unpenalised coefficients at one point.
const MAX_STEPS: usize = 30;

/// The data themselves.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    shape: Arc<Shape>,
    /// The unpenalised coefficients: at each point those that are best there.
    bare: Vec<f64>,
    z: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    curvature: Vec<f64>,
    weighted: Vec<f64>,
    kept: Vec<f64>,
    point: DualPoint,
    scratch: Vec<f64>,
}

impl Rows {
    pub(crate) fn new(problem: &Problem) -> Self {
        let n = problem.rows();
        let columns = problem.design.columns();
        let root = |ridge: &f64| if *ridge > 0.0 { ridge.sqrt() } else { 1.0 };
        let scale: Vec<f64> = problem.ridge.iter().map(root).collect();
        let mut weighted = vec![0.0; n];
        let mut curvature = vec![0.0; columns];
        for j in problem.ridged() {
            problem.design.weigh_column(j, &problem.p, &mut weighted);
            let square = problem.design.dot(j, &weighted);
            curvature[j] = problem.loss.smoothness() * square / problem.ridge[j];
        }
        Self {
            shape: Arc::new(Shape::new(problem, 0..columns, scale, curvature)),
            bare: vec![0.0; problem.unpenalised.columns().len()],
            z: vec![0.0; n],
            alpha: vec![0.0; n],
            beta: vec![0.0; n],
            curvature: vec![0.0; n],
            weighted,
            kept: vec![0.0; n],
            point: DualPoint::new(problem),
            scratch: Vec::new(),
        }
    }

    /// `L` at z, with slopes and β.
    fn value(&mut self, problem: &Problem) -> f64 {
        let loss = &problem.loss;
        loss.slopes(&self.z, &problem.b, &mut self.alpha);
        problem.weigh(&self.alpha, &mut self.beta);
        loss.total(&problem.p, &self.z, &problem.b)
    }

    /// Moves the unpenalised coefficients to where L is least; returns L. Newton's method, and where that does not help a
    /// step for the largest curvature that the loss can have.
    fn settle(&mut self, problem: &Problem) -> f64 {
        let columns = problem.unpenalised.columns();
        let bare = columns.iter().copied().zip(self.bare.iter().copied());
        problem.design.add_columns(bare, &mut self.z);
        let mut value = self.value(problem);
        if columns.is_empty() {
            return value;
        }
        let (size, loss, design) = (columns.len(), &problem.loss, &problem.design);
        let mut factor = Cholesky::new();
        let mut gradient = vec![0.0; size];
        for _ in 0..MAX_STEPS {
            design.dots(columns, &self.beta, &mut gradient);
            let length = kernels::norm(&self.beta);
            let is_small = |(g, j): (&f64, &usize)| g.abs() <= 1e-15 * problem.norms[*j] * length;
            if gradient.iter().zip(columns).all(is_small) {
                break;
            }
            loss.weighted_curvatures(&problem.p, &self.z, &problem.b, &mut self.curvature);
            let rows = factor.start(size);
            for (r, i) in columns.iter().enumerate() {
                design.weigh_column(*i, &self.curvature, &mut self.weighted);
                let out = &mut rows[r * size..r * size + r + 1];
                design.dots(&columns[..=r], &self.weighted, out);
            }
            let mut moved = false;
            for newton in [factor.factor(), false] {
                let mut step = gradient.clone();
                if newton {
                    factor.solve(&mut step);
                } else {
                    problem.unpenalised.solve(&mut step);
                    let smoothness = loss.smoothness();
                    step.iter_mut().for_each(|s| *s /= smoothness);
                }
                let back = columns.iter().copied().zip(step.iter().map(|s| -s));
                design.add_columns(back, &mut self.z);
                let next = self.value(problem);
                if next < value {
                    value = next;
                    self.bare.iter_mut().zip(&step).for_each(|(x, s)| *x -= s);
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

    fn column(&self, place: usize) -> usize {
        place
    }

    fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    fn smooth<'a>(
        &'a mut self,
        problem: &'a Problem,
        node: Subproblem<'a>,
    ) -> Box<dyn Smooth + 'a> {
        Box::new(RowsAt {
            rows: self,
            problem,
            node,
        })
    }

    fn children(&self, problem: &Problem, node: &Subproblem, _: &Blocks, _: &[f64]) -> Children {
        self.point.children(problem, node)
    }
}

/// The data at one node.
struct RowsAt<'a> {
    rows: &'a mut Rows,
    problem: &'a Problem,
    node: Subproblem<'a>,
}

impl Smooth for RowsAt<'_> {
    fn evaluate(&mut self, x: &[f64], node: &Blocks, u: &mut [f64]) -> (f64, f64) {
        let (problem, rows) = (self.problem, &mut *self.rows);
        let shape = Arc::clone(&rows.shape);
        problem.predict_into(&[], &mut rows.z);
        let support: Vec<usize> = node.columns().filter(|j| x[*j] != 0.0).collect();
        let scaled = support.iter().map(|j| (*j, x[*j] / shape.scale[*j]));
        problem.design.add_columns(scaled, &mut rows.z);
        let value = rows.settle(problem);
        for columns in [&node.inside, &node.free] {
            problem.design.dots_scattered(columns, &rows.beta, u);
            columns.iter().for_each(|j| u[*j] /= -shape.scale[*j]);
        }
        let pull: f64 = support.iter().map(|j| u[*j] * x[*j]).sum();
        (value, value + pull)
    }

    fn keep(&mut self, _x: &[f64], _u: &[f64], _node: &Blocks, _dual: f64) {
        self.rows.kept.copy_from_slice(&self.rows.alpha);
    }

    fn certify(&mut self, _node: &Blocks) -> Certified {
        let (problem, rows) = (self.problem, &mut *self.rows);
        rows.point.alpha.copy_from_slice(&rows.kept);
        rows.point.update(problem);
        rows.point.dots(problem, &self.node);
        let scratch = &mut rows.scratch;
        rows.point.bound(problem, &self.node, scratch)
    }
}
