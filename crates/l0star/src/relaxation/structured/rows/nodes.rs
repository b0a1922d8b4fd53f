//! The smooth part of one node, with a lift and without.

use std::sync::Arc;

use super::Rows;
use crate::bound::{Certified, Subproblem};
use crate::linalg::select::top_sum;
use crate::problem::Problem;
use crate::relaxation::model::{Model, Sets};
use crate::relaxation::rows::model::RowModel;
use crate::relaxation::structured::{ATOM, Blocks, Smooth};

/// The lifted problem at one node.
pub(super) struct LiftedAt<'a> {
    pub(super) model: RowModel<'a>,
}

impl LiftedAt<'_> {
    fn sets(node: &Blocks) -> Sets {
        Sets {
            unpenalised: Vec::new(),
            inside: node.inside.clone(),
            free: node.free.clone(),
            budget: node.most_columns() + ATOM,
            costs: Vec::new(),
        }
    }

    fn support(x: &[f64], node: &Blocks) -> Vec<usize> {
        node.columns().filter(|j| x[*j] != 0.0).collect()
    }
}

impl Smooth for LiftedAt<'_> {
    fn evaluate(&mut self, x: &[f64], node: &Blocks, u: &mut [f64]) -> (f64, f64) {
        let support = Self::support(x, node);
        self.model.evaluate(x, &support, &Self::sets(node), u)
    }

    /// Keeps the point evaluated last. The errors of D are those of plain atoms of as many
    /// columns as m features can have.
    fn keep(&mut self, x: &[f64], u: &[f64], node: &Blocks, dual: f64) {
        let sets = Self::sets(node);
        let squares = node.free.iter().map(|j| u[*j] * u[*j]);
        let top = top_sum(squares, sets.budget, &mut Vec::new());
        let support = Self::support(x, node);
        self.model.keep(x, &support, u, &sets, dual, top);
    }

    fn certify(&mut self, node: &Blocks) -> Certified {
        self.model.certify(&Self::sets(node))
    }
}

/// The data in matrix form at one node.
pub(super) struct RowsAt<'a> {
    pub(super) rows: &'a mut Rows,
    pub(super) problem: &'a Problem,
    pub(super) node: Subproblem<'a>,
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
        self.rows.kept_z.copy_from_slice(&self.rows.z);
    }

    fn certify(&mut self, _node: &Blocks) -> Certified {
        let (problem, rows) = (self.problem, &mut *self.rows);
        rows.point.return_to(problem, &rows.kept, &rows.kept_z);
        rows.point.dots(problem, &self.node);
        let scratch = &mut rows.scratch;
        rows.point.bound(problem, &self.node, scratch)
    }
}
