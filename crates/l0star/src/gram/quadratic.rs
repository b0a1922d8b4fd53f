//! The quadratic in which supports are compared, one row of H at a time.

use std::collections::HashMap;
use std::sync::Arc;

use super::form::Form;
use super::root::Root;
use crate::problem::Problem;
use crate::restricted::Fit;

/// Maximum number of floats in the rows that are kept.
const KEPT: usize = 1 << 24;

/// `c0 - cᵀx + ½ xᵀHx` over columns of which the first `selectable` can be chosen and the others are always in.
pub(crate) struct Quadratic<'p> {
    /// Column of the data at each index.
    pub columns: Vec<usize>,
    pub selectable: usize,
    pub c: Vec<f64>,
    /// `H_ii`.
    pub diagonal: Vec<f64>,
    pub c0: f64,
    rows: Rows<'p>,
    /// Multiplications so far.
    pub work: u64,
}

/// The source of the rows of H.
enum Rows<'p> {
    /// All rows are in memory.
    Whole(Arc<Root>),
    Form(&'p [f64]),
    /// Rows are computed when they are needed, and kept while there is room: `H = Aᵀ diag(w) A + diag(λ)`.
    Made {
        problem: &'p Problem,
        weights: Vec<f64>,
        kept: HashMap<usize, Vec<f64>>,
        weighted: Vec<f64>,
    },
}

impl<'p> Quadratic<'p> {
    /// Returns the quadratic of a Gram matrix.
    pub(crate) fn whole(root: &Arc<Root>) -> Self {
        Self {
            columns: root.columns.clone(),
            selectable: root.selectable,
            c: root.c.clone(),
            diagonal: (0..root.size()).map(|i| root.row(i)[i]).collect(),
            c0: root.c0,
            rows: Rows::Whole(Arc::clone(root)),
            work: 0,
        }
    }

    /// Returns the quadratic of a form.
    pub(crate) fn of_form(form: Form<'p>) -> Self {
        let size = form.c.len();
        Self {
            columns: (0..size).collect(),
            selectable: form.selectable,
            c: form.c.to_vec(),
            diagonal: (0..size).map(|i| form.h[i * size + i]).collect(),
            c0: form.c0,
            rows: Rows::Form(form.h),
            work: 0,
        }
    }

    /// Returns the quadratic of a problem with the quadratic loss, without a Gram matrix.
    pub(crate) fn of_problem(problem: &'p Problem) -> Self {
        let mut r: Vec<f64> = problem
            .p
            .iter()
            .zip(&problem.b)
            .map(|(p, b)| p * b)
            .collect();
        for ((r, p), o) in r.iter_mut().zip(&problem.p).zip(&problem.offset) {
            *r -= p * o;
        }
        let halves = r.iter().zip(&problem.p).map(|(r, p)| 0.5 * r * r / p);
        let c0 = halves.sum();
        Self::of_rows(problem, problem.p.clone(), &r, c0)
    }

    /// Returns the quadratic model of P at a minimiser over its support.
    ///
    /// Up to a constant and third order in `y - x`, P is `½ yᵀHy - cᵀy` with the curvatures w of the rows
    /// (those of a diagonal above the Hessian, where rows are coupled) and `c = Hx - ∇P(x)`. `beta` is the
    /// weighted slopes of the loss at x.
    pub(crate) fn model_at(problem: &'p Problem, fit: &Fit, beta: &[f64]) -> Self {
        let mut z = vec![0.0; problem.rows()];
        problem.predict_into(&fit.x, &mut z);
        let mut weights = vec![0.0; problem.rows()];
        problem.curvatures_of(&z, &mut weights);
        for (z, o) in z.iter_mut().zip(&problem.offset) {
            *z -= o;
        }
        let terms = z.iter().zip(&weights).zip(beta);
        let r: Vec<f64> = terms.map(|((z, w), beta)| w * z - beta).collect();
        Self::of_rows(problem, weights, &r, fit.objective)
    }

    /// Returns the quadratic with `H = Aᵀ diag(w) A + diag(λ)` and `c = Aᵀr`, over all columns of a problem that are
    /// not excluded. The intercept is one of the always-in columns.
    fn of_rows(problem: &'p Problem, weights: Vec<f64>, r: &[f64], c0: f64) -> Self {
        let selectable = problem.selectable.len();
        let mut columns = problem.selectable.clone();
        columns.extend_from_slice(&problem.penalised);
        columns.extend_from_slice(problem.unpenalised.columns());
        let mut c = vec![0.0; columns.len()];
        problem.design.dots(&columns, r, &mut c);
        let mut weighted = vec![0.0; problem.rows()];
        let diagonal = columns.iter().map(|j| {
            problem.design.weigh_column(*j, &weights, &mut weighted);
            problem.design.dot(*j, &weighted) + problem.ridge[*j]
        });
        let diagonal = diagonal.collect();
        Self {
            work: 3 * (problem.rows() * columns.len()) as u64,
            columns,
            selectable,
            c,
            diagonal,
            c0,
            rows: Rows::Made {
                problem,
                weights,
                kept: HashMap::new(),
                weighted,
            },
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.columns.len()
    }

    /// Returns the entries of H among a few indices, row by row.
    pub(crate) fn square(&mut self, places: &[usize]) -> Vec<f64> {
        let (size, count) = (self.size(), places.len());
        let mut out = vec![0.0; count * count];
        let columns: Vec<usize> = places.iter().map(|i| self.columns[*i]).collect();
        for (at, (i, out)) in places.iter().zip(out.chunks_exact_mut(count)).enumerate() {
            let row = match &mut self.rows {
                Rows::Whole(root) => root.row(*i),
                Rows::Form(h) => &h[i * size..][..size],
                Rows::Made {
                    problem,
                    weights,
                    kept,
                    weighted,
                } => match kept.get(i) {
                    Some(row) => row,
                    None => {
                        problem.design.weigh_column(columns[at], weights, weighted);
                        problem.design.dots(&columns, weighted, out);
                        out[at] = self.diagonal[*i];
                        self.work += (problem.rows() * count) as u64;
                        continue;
                    }
                },
            };
            out.iter_mut()
                .zip(places)
                .for_each(|(out, j)| *out = row[*j]);
        }
        out
    }

    /// Writes row `i` of H to `out`.
    pub(crate) fn row_into(&mut self, i: usize, out: &mut [f64]) {
        let size = self.size();
        match &mut self.rows {
            Rows::Whole(root) => out.copy_from_slice(root.row(i)),
            Rows::Form(h) => out.copy_from_slice(&h[i * size..][..size]),
            Rows::Made {
                problem,
                weights,
                kept,
                weighted,
            } => {
                if let Some(row) = kept.get(&i) {
                    out.copy_from_slice(row);
                    return;
                }
                let j = self.columns[i];
                problem.design.weigh_column(j, weights, weighted);
                problem.design.dots(&self.columns, weighted, out);
                out[i] = self.diagonal[i];
                self.work += (problem.rows() * size) as u64;
                if kept.len() >= (KEPT / size).max(64) {
                    kept.clear();
                }
                kept.insert(i, out.to_vec());
            }
        }
    }
}
