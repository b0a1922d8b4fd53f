//! A first incumbent: greedy forward selection, then the best swap until none improves ([`Local`]).

use super::form::Form;
use super::local::{Local, Pinned};
use super::quadratic::Quadratic;
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;

/// Share of P that a swap has to gain to be made.
const WORTHWHILE: f64 = 1e-12;

/// A support that is improved: features are added, then exchanged.
pub(crate) struct Climb<'f> {
    quadratic: Quadratic<'f>,
    local: Local,
    k: usize,
}

impl<'f> Climb<'f> {
    /// Creates the support with those of `start` that fit into `k`.
    pub(crate) fn new(form: Form<'f>, start: &[usize], k: usize, pinned: Pinned) -> Self {
        let mut quadratic = Quadratic::of_form(form);
        let local = begin(&mut quadratic, start, k, pinned);
        Self {
            quadratic,
            local,
            k,
        }
    }

    /// Returns the selectable indices that are in.
    pub(crate) fn chosen(&self) -> &[usize] {
        self.local.chosen()
    }

    /// Whether `k` indices are in.
    pub(crate) fn is_full(&self) -> bool {
        self.local.size() >= self.k
    }

    /// Adds the index with the largest gain; false when `k` are in, or none can be added.
    pub(crate) fn grow(&mut self) -> bool {
        let Self {
            quadratic, local, ..
        } = self;
        if local.size() >= self.k {
            return false;
        }
        let gains =
            (0..quadratic.selectable).filter_map(|i| Some((local.gain_of(i, quadratic)?, i)));
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
        let Some((_, best)) = gains.max_by(order) else {
            return false;
        };
        local.add(best, quadratic);
        true
    }

    /// Makes the best swap; false when none improves P.
    pub(crate) fn swap(&mut self) -> bool {
        let Self {
            quadratic, local, ..
        } = self;
        let value = quadratic.c0 - 0.5 * local.gain;
        let Some((p, i)) = local.best_swap(quadratic, 2.0 * WORTHWHILE * value.abs()) else {
            return false;
        };
        local.remove(p);
        local.add(i, quadratic);
        true
    }
}

/// Selects `k` selectable indices by greedy forward selection, starting from `start`: each step adds the feature with
/// the largest gain. Returns fewer at a limit.
pub(crate) fn greedy(
    form: Form,
    start: &[usize],
    k: usize,
    pinned: Pinned,
    limits: &Limits,
) -> Vec<usize> {
    let mut climb = Climb::new(form, start, k, pinned);
    while !limits.stop() && climb.grow() {}
    climb.chosen().to_vec()
}

/// Makes the best swap until none improves P, `most` were made, or a limit is reached.
pub(crate) fn improve(
    form: Form,
    chosen: &mut [usize],
    most: usize,
    pinned: Pinned,
    limits: &Limits,
) {
    let mut climb = Climb::new(form, chosen, chosen.len(), pinned);
    if climb.is_full() {
        let mut left = most;
        while left > 0 && !limits.stop() && climb.swap() {
            left -= 1;
        }
        chosen.copy_from_slice(climb.chosen());
    }
    chosen.sort_unstable();
}

/// Returns the support of the always-in columns, the pinned index, and as many of `start` as fit into k.
fn begin(quadratic: &mut Quadratic, start: &[usize], k: usize, pinned: Pinned) -> Local {
    let mut local = Local::pinned(quadratic, pinned.filter(|_| k > 0));
    for i in start {
        if local.size() < k {
            local.add(*i, quadratic);
        }
    }
    local
}

/// Returns the model of a support, always-in columns included, and its P, from H alone; +∞ when H_TT cannot be
/// factorised.
pub(crate) fn fit(
    form: Form,
    chosen: &[usize],
    factor: &mut Cholesky,
) -> (impl Iterator<Item = (usize, f64)>, f64) {
    let set = with_always(form, chosen);
    let mut x: Vec<f64> = set.iter().map(|i| form.c[*i]).collect();
    let mut value = f64::INFINITY;
    if factor_set(form, &set, factor) {
        factor.solve(&mut x);
        let products = set.iter().zip(&x).map(|(i, x)| form.c[*i] * x);
        value = form.c0 - 0.5 * products.sum::<f64>();
    } else {
        x.fill(0.0)
    }
    (set.into_iter().zip(x), value)
}

/// Returns `P` of a support, from H alone; +∞ when H_TT cannot be factorised.
pub(crate) fn value(form: Form, chosen: &[usize], factor: &mut Cholesky) -> f64 {
    let set = with_always(form, chosen);
    if !factor_set(form, &set, factor) {
        return f64::INFINITY;
    }
    let mut v: Vec<f64> = set.iter().map(|i| form.c[*i]).collect();
    factor.solve_lower(&mut v);
    form.c0 - 0.5 * v.iter().map(|v| v * v).sum::<f64>()
}

fn with_always(form: Form, chosen: &[usize]) -> Vec<usize> {
    let mut set = chosen.to_vec();
    set.extend(form.selectable..form.size());
    set
}

fn factor_set(form: Form, set: &[usize], factor: &mut Cholesky) -> bool {
    let size = set.len();
    let rows = factor.start(size);
    for (r, i) in set.iter().enumerate() {
        let row = form.row(*i);
        for (c, j) in set[..=r].iter().enumerate() {
            rows[r * size + c] = row[*j];
        }
    }
    factor.factor()
}
