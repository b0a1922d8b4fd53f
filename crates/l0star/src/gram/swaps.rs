//! A first incumbent: greedy forward selection, then the best swap until none improves. Exact and cheap in Gram form.
//!
//! For a support T, `K = H_TT⁻¹`, `B = K H_T,:`, `u = c - Hx`, `s_i = H_ii - H_iT B_:i`:
//!
//! ```text
//! add i:  -u_i²/2s_i,      swap j → i:  x_j²/2K_jj - (u_i + B_ji x_j/K_jj)² / 2(s_i + B_ji²/K_jj)
//! ```

use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;

/// A swap has to gain this share of P to be made.
const WORTHWHILE: f64 = 1e-12;

/// `c0 - cᵀx + ½ xᵀHx` over columns of which the first `selectable` can be chosen and the others are always in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    /// Row-major, symmetric.
    pub h: &'a [f64],
    pub c: &'a [f64],
    pub c0: f64,
    pub selectable: usize,
}

impl<'a> Form<'a> {
    fn size(&self) -> usize {
        self.c.len()
    }

    fn row(&self, i: usize) -> &'a [f64] {
        let d = self.size();
        &self.h[i * d..(i + 1) * d]
    }
}

/// An index that is in every support (true), or in none.
pub(crate) type Pinned = Option<(usize, bool)>;

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
    let d = form.size();
    let mut u = form.c.to_vec();
    let mut s: Vec<f64> = (0..d).map(|i| form.row(i)[i]).collect();
    let whole = s.clone();
    let mut pivots: Vec<Vec<f64>> = Vec::new();
    let mut taken = vec![false; d];
    let mut chosen = Vec::new();
    let mut start = start.to_vec();
    match pinned {
        Some((i, true)) if !start.contains(&i) => start.insert(0, i),
        Some((i, false)) => {
            start.retain(|j| *j != i);
            taken[i] = true;
        }
        _ => {}
    }
    start.truncate(k);
    let given_count = start.len();
    let mut given = start.into_iter().chain(form.selectable..d).peekable();
    while chosen.len() < k || given.peek().is_some() {
        let best = match given.next() {
            Some(i) => i,
            None => {
                let gain = |i: usize| {
                    // What is left of a column inside the span of the others is rounding.
                    if taken[i] || s[i] <= 1e-14 * whole[i] {
                        -1.0
                    } else {
                        u[i] * u[i] / s[i]
                    }
                };
                let order = |i: &usize, j: &usize| gain(*i).total_cmp(&gain(*j)).then(j.cmp(i));
                match (0..form.selectable).max_by(order) {
                    Some(i) if gain(i) >= 0.0 => i,
                    _ => return chosen,
                }
            }
        };
        if limits.stop() {
            return chosen;
        }
        taken[best] = true;
        if best < form.selectable {
            chosen.push(best);
            if chosen.len() > given_count {
                watch(&chosen);
            }
        }
        if s[best] <= 0.0 {
            continue;
        }
        // One more column of the Cholesky factor of H in the order chosen.
        let mut w = form.row(best).to_vec();
        for pivot in &pivots {
            kernels::axpy(-pivot[best], pivot, &mut w);
        }
        let scale = 1.0 / s[best].sqrt();
        w.iter_mut().for_each(|w| *w *= scale);
        let pull = u[best] * scale;
        kernels::axpy(-pull, &w, &mut u);
        for (s, w) in s.iter_mut().zip(&w) {
            *s -= w * w;
        }
        pivots.push(w);
    }
    chosen
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
    for _ in 0..most {
        if !best_swap(form, chosen, pinned, limits) {
            break;
        }
        watch(chosen);
    }
    chosen.sort_unstable();
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

fn best_swap(form: Form, chosen: &mut [usize], pinned: Pinned, limits: &Limits) -> bool {
    let d = form.size();
    let set = with_always(form, chosen);
    let size = set.len();
    let mut factor = Cholesky::new();
    if chosen.is_empty() || chosen.len() == form.selectable || !factor_set(form, &set, &mut factor)
    {
        return false;
    }
    let mut x: Vec<f64> = set.iter().map(|i| form.c[*i]).collect();
    factor.solve(&mut x);
    let mut u = form.c.to_vec();
    for (i, x) in set.iter().zip(&x) {
        kernels::axpy(-x, form.row(*i), &mut u);
    }
    let value = form.c0 - 0.5 * set.iter().zip(&x).map(|(i, x)| form.c[*i] * x).sum::<f64>();
    let mut b = vec![0.0; size * d];
    let mut diagonal = vec![0.0; size];
    let mut unit = vec![0.0; size];
    for (r, b) in b.chunks_exact_mut(d).enumerate() {
        if limits.stop() {
            return false;
        }
        unit.fill(0.0);
        unit[r] = 1.0;
        factor.solve(&mut unit);
        diagonal[r] = unit[r];
        for (k, i) in unit.iter().zip(&set) {
            kernels::axpy(*k, form.row(*i), b);
        }
    }
    let mut s: Vec<f64> = (0..d).map(|i| form.row(i)[i]).collect();
    for (i, b) in set.iter().zip(b.chunks_exact(d)) {
        for ((s, h), b) in s.iter_mut().zip(form.row(*i)).zip(b) {
            *s -= h * b;
        }
    }
    let mut taken = vec![false; d];
    set.iter().for_each(|i| taken[*i] = true);
    if let Some((i, _)) = pinned {
        taken[i] = true;
    }
    let mut best = (-WORTHWHILE * value.abs(), 0, 0);
    for (r, b) in b.chunks_exact(d).enumerate().take(chosen.len()) {
        if pinned == Some((set[r], true)) {
            continue;
        }
        let drop = x[r] * x[r] / (2.0 * diagonal[r]);
        let (ratio, inverse) = (x[r] / diagonal[r], 1.0 / diagonal[r]);
        for i in 0..form.selectable {
            let pull = u[i] + b[i] * ratio;
            let room = s[i] + b[i] * b[i] * inverse;
            let change = drop - pull * pull / (2.0 * room);
            if change < best.0 && !taken[i] && room > 1e-14 * form.row(i)[i] {
                best = (change, r, i);
            }
        }
    }
    let (change, r, i) = best;
    if change >= -WORTHWHILE * value.abs() {
        return false;
    }
    chosen[r] = i;
    true
}
