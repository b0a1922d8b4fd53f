//! A first incumbent: greedy forward selection, then the best swap until none improves ([`Local`]).

use super::form::Form;
use super::local::{Local, Pinned};
use super::quadratic::Quadratic;
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;

/// A swap has to gain this share of P to be made.
const WORTHWHILE: f64 = 1e-12;

/// Greedy forward selection of `k` selectable indices from those of `start` on: each step adds the feature with the
/// largest gain. Fewer at a limit. `watch` sees what is chosen after every step that goes beyond `start`.
pub(crate) fn greedy(
    form: Form,
    start: &[usize],
    k: usize,
    pinned: Pinned,
    limits: &Limits,
    watch: &mut dyn FnMut(&[usize]),
) -> Vec<usize> {
    let mut quadratic = Quadratic::of_form(form);
    let mut local = begin(&mut quadratic, start, k, pinned);
    while local.size() < k && !limits.stop() {
        let gains = (0..form.selectable).filter_map(|i| Some((local.gain_of(i, &quadratic)?, i)));
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
        let Some((_, best)) = gains.max_by(order) else {
            break;
        };
        local.add(best, &mut quadratic);
        watch(local.chosen());
    }
    local.chosen().to_vec()
}

/// Makes the best swap until none improves P, `most` were made, or a limit is reached. `watch` sees what is chosen after
/// every one.
pub(crate) fn improve(
    form: Form,
    chosen: &mut [usize],
    most: usize,
    pinned: Pinned,
    limits: &Limits,
    watch: &mut dyn FnMut(&[usize]),
) {
    let mut quadratic = Quadratic::of_form(form);
    let mut local = begin(&mut quadratic, chosen, chosen.len(), pinned);
    if local.size() == chosen.len() {
        for _ in 0..most {
            let value = form.c0 - 0.5 * local.gain;
            let swap = local.best_swap(&quadratic, 2.0 * WORTHWHILE * value.abs());
            let Some((p, i)) = swap.filter(|_| !limits.stop()) else {
                break;
            };
            local.remove(p);
            local.add(i, &mut quadratic);
            chosen.copy_from_slice(local.chosen());
            watch(chosen);
        }
    }
    chosen.sort_unstable();
}

/// The always-in columns, what is pinned, and of `start` as many as fit into k.
fn begin(quadratic: &mut Quadratic, start: &[usize], k: usize, pinned: Pinned) -> Local {
    let mut local = Local::pinned(quadratic, pinned.filter(|_| k > 0));
    for i in start {
        if local.size() < k {
            local.add(*i, quadratic);
        }
    }
    local
}

/// The model of a support, always-in columns included, and its P, from H alone; +∞ when H_TT cannot be factorised.
pub(crate) fn fit(
    form: Form,
    chosen: &[usize],
    factor: &mut Cholesky,
) -> (impl Iterator<Item = (usize, f64)>, f64) {
    let set = with_always(form, chosen);
    let mut x: Vec<f64> = set.iter().map(|i| form.c[*i]).collect();
    let mut value = f64::INFINITY;
    match factor_set(form, &set, factor) {
        true => {
            factor.solve(&mut x);
            let products = set.iter().zip(&x).map(|(i, x)| form.c[*i] * x);
            value = form.c0 - 0.5 * products.sum::<f64>();
        }
        false => x.fill(0.0),
    }
    (set.into_iter().zip(x), value)
}

/// `P` of a support, from H alone; +∞ when H_TT cannot be factorised.
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
