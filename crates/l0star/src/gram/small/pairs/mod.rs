//! One or two features under any loss: every pair is looked at, and nearly all are proved from products that many pairs share.
//!
//! A *base* is the model of one feature and what is always in. For a pair it is completed by a feature whose own model is no
//! better, and one step from the base makes a dual point of the pair ([`bound`]): a few operations for each pair where the step is
//! within the reach of the parabolas. The other pairs are fitted, by a few Newton steps, until their bound is above the target
//! ([`point`]). What is not proved then is handed out. Margins are derived in section 15 of `docs/numerics.md`.

mod bound;
mod data;
mod point;
#[cfg(test)]
mod tests;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use self::bound::{MOST, Products, solve};
use self::data::Data;
use self::point::{Judged, Point};
use super::scan::{Failure, Hits, Shared, share_out};
use super::settle::{is_about_the_best, target as present_target};
use super::{Proof, Watch};
use crate::bound::Certified;
use crate::heuristic;
use crate::limits::Limits;
use crate::primal;
use crate::problem::Problem;
use crate::search::{Context, Phase};

/// Bases whose products are made together, and columns of them at a time.
const BASES: usize = 16;
const BLOCK: usize = 512;
/// With more sets than these left all is given up.
const MOST_LEFT: usize = 20_000;

/// With larger ridges, as shares of the curvatures, the search is over sooner …
const LARGE_RIDGE: f64 = 5e-3;
/// … and with more features than these, already with smaller ones.
const MANY: usize = 3000;
const LARGE_RIDGE_OF_MANY: f64 = 5e-4;

/// Whether pairs are thought to be enumerated sooner than they are searched.
fn is_worthwhile(problem: &Problem) -> bool {
    let large = match problem.selectable.len() > MANY {
        true => LARGE_RIDGE_OF_MANY,
        false => LARGE_RIDGE,
    };
    primal::is_hard(problem) && problem.ridge_share() < large
}

/// Enumerates all models of one or two features of a problem with another loss than the quadratic one whose bounds will not get
/// far; true when nothing is left to be searched, and all evidence is in the context.
pub(crate) fn settle_pairs(context: &mut Context) -> bool {
    let problem = context.problem;
    let m = problem.support_size();
    if problem.loss.is_quadratic()
        || !is_about_the_best(context)
        || !(1..=2).contains(&m)
        || !is_worthwhile(problem)
    {
        return false;
    }
    let Some(mut data) = Data::new(problem) else {
        return false;
    };
    if context.limits.is_too_much(16 * data.values.len() as u64) {
        return false;
    }
    if context.incumbent().is_none() {
        heuristic::first_incumbent(context);
    }
    primal::first(context);
    context.enter(Phase::Root);
    let (limits, threads, target) = (
        context.limits.clone(),
        context.threads,
        present_target(context),
    );
    // The box of the intercept holds for models that are no worse than none.
    if target.is_nan() || target > problem.null_value {
        return false;
    }
    let Some(starts) = singles(&mut data, &limits) else {
        return false;
    };
    context.counters.calls += 1;
    let sets = match m {
        1 => (0..starts.len()).map(|i| vec![i]).collect(),
        _ => {
            let mut progress = Progress { context };
            match pass(&data, &starts, target, &limits, threads, &mut progress) {
                Ok(Hits {
                    sets,
                    is_complete: true,
                }) => sets,
                _ => return false,
            }
        }
    };
    fit_the_rest(&data, &starts, sets, target, context)
}

/// Proves, or fits and certifies, the sets that a pass has left; true when that is done, and all evidence is in the context.
fn fit_the_rest(
    data: &Data,
    starts: &[[f64; MOST]],
    sets: Vec<Vec<usize>>,
    target: f64,
    context: &mut Context,
) -> bool {
    let mark = context.mark();
    let mut point = Point::new(data);
    for set in sets {
        if context.limits.stop() {
            context.rewind(mark);
            return false;
        }
        let start = &starts[set[0]][..data.fixed.len() + 1];
        point.start(&[&data.fixed[..], &set].concat(), start);
        if point.judge(present_target(context)) == Judged::Proved {
            continue;
        }
        let mut support: Vec<usize> = set.iter().map(|i| data.features[*i]).collect();
        support.sort_unstable();
        context.counters.calls += 1;
        context.try_support(&support);
        let evidence = context.certify_last().or(Certified::TRIVIAL);
        context.discard(evidence);
    }
    let proof = Proof {
        target: present_target(context).min(target),
    };
    context.discard(Certified::enumerated(&proof));
    context.counters.nodes += 1;
    true
}

/// Tells of the progress of a pass.
struct Progress<'c, 'p> {
    context: &'c mut Context<'p>,
}

impl Watch for Progress<'_, '_> {
    fn hit(&mut self, _: &[usize]) -> f64 {
        f64::NAN
    }

    fn progress(&mut self, share: f64) {
        self.context.announce_enumeration(share);
    }
}

/// Fits the models of one feature, and puts the columns in the order of their values, best first; their coefficients. `None` at
/// a limit.
fn singles(data: &mut Data, limits: &Limits) -> Option<Vec<[f64; MOST]>> {
    let d = data.features.len();
    let mut fits: Vec<(f64, usize, [f64; MOST])> = Vec::with_capacity(d);
    let mut point = Point::new(data);
    point.start(&data.fixed, &[]);
    point.fit();
    let empty = point.products.x;
    for i in 0..d {
        if limits.stop() {
            return None;
        }
        let set: Vec<usize> = data.fixed.iter().copied().chain([i]).collect();
        point.start(&set, &empty[..data.fixed.len()]);
        fits.push((point.fit(), i, point.products.x));
    }
    fits.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let order: Vec<usize> = fits.iter().map(|(_, i, _)| *i).collect();
    data.reorder(&order);
    Some(fits.into_iter().map(|(_, _, x)| x).collect())
}

/// All pairs: those that are not proved, by places in order.
fn pass(
    data: &Data,
    starts: &[[f64; MOST]],
    target: f64,
    limits: &Limits,
    threads: usize,
    watch: &mut dyn Watch,
) -> Result<Hits, Failure> {
    let shared = Shared::new(MOST_LEFT, limits);
    let bands = (0..starts.len()).step_by(BASES).collect();
    share_out(bands, threads, watch, |first| {
        band(data, starts, first, target, &shared);
    });
    shared.finish()
}

/// A base, and what its pairs need beside the products.
struct Base {
    products: Products,
    /// `(K + Λ)⁻¹` of its columns.
    inverse: [[f64; MOST]; MOST],
    parabolas: Vec<[f64; 3]>,
    /// How far every row reaches.
    reach: f64,
}

/// The pairs of some bases with the features after them.
fn band(data: &Data, starts: &[[f64; MOST]], first: usize, target: f64, shared: &Shared) {
    let (n, d, q) = (data.rows(), starts.len(), data.fixed.len() + 1);
    let last = (first + BASES).min(d);
    let (mut point, mut other) = (Point::new(data), Point::new(data));
    let (mut sides, mut weights) = (Vec::new(), Vec::new());
    let mut bases = Vec::with_capacity(BASES);
    for (i, x) in (first..last).zip(&starts[first..]) {
        let set: Vec<usize> = data.fixed.iter().copied().chain([i]).collect();
        point.start(&set, &x[..q]);
        point.evaluate();
        sides.extend_from_slice(&point.beta);
        for j in &set {
            let column = data.column(*j).iter().zip(&point.parabolas);
            sides.extend(column.map(|(a, [pw, ..])| a * pw));
        }
        weights.extend(point.parabolas.iter().map(|[pw, ..]| pw));
        bases.push(Base::new(&point));
    }
    let (mut products, mut squares) = (Vec::new(), Vec::new());
    for start in (first + 1..d).step_by(BLOCK) {
        let end = (start + BLOCK).min(d);
        multiply(&data.values[start * n..end * n], &sides, n, &mut products);
        multiply(&data.squares[start * n..end * n], &weights, n, &mut squares);
        for (at, base) in bases.iter_mut().enumerate() {
            if shared.is_over() {
                return;
            }
            let i = first + at;
            let own = &products[at * (q + 1) * (end - start)..][..(q + 1) * (end - start)];
            let (slopes, rest) = own.split_at(end - start);
            let squares = &squares[at * (end - start)..];
            for j in start.max(i + 1)..end {
                let k = j - start;
                let p = &mut base.products;
                p.columns[q] = data.columns[j];
                p.v[q] = slopes[k];
                p.k[q][q] = squares[k];
                for b in 0..q {
                    let product = rest[b * (end - start) + k];
                    p.k[q][b] = product;
                    p.k[b][q] = product;
                }
                let Some(step) = base.step() else {
                    shared.add(&[i, j]);
                    continue;
                };
                if base.reaches(&step, data, i, j)
                    && base.products.bound(&step, data.omega) >= target
                {
                    continue;
                }
                other.start(&[&data.fixed[..], &[i, j]].concat(), &starts[i][..q]);
                other.advance(&step);
                if other.judge(target) == Judged::Open {
                    shared.add(&[i, j]);
                }
            }
        }
    }
}

/// `columnsᵀ sides`, the products of one side after those of another.
fn multiply(columns: &[f64], sides: &[f64], n: usize, out: &mut Vec<f64>) {
    let (d, m) = (columns.len() / n, sides.len() / n);
    out.resize(d * m, 0.0);
    matmul(
        MatMut::from_column_major_slice_mut(out, d, m),
        Accum::Replace,
        MatRef::from_row_major_slice(columns, d, n),
        MatRef::from_column_major_slice(sides, n, m),
        1.0,
        Par::Seq,
    );
}

impl Base {
    fn new(point: &Point) -> Self {
        let mut products = point.products;
        let q = products.q;
        let ridges = products.columns.map(|column| column.ridge);
        let mut inverse = [[0.0; MOST]; MOST];
        for (a, row) in inverse.iter_mut().enumerate().take(q) {
            let mut unit = [0.0; MOST];
            unit[a] = 1.0;
            *row = solve(&products.k, &ridges, &unit, q).unwrap_or([f64::NAN; MOST]);
        }
        products.q += 1;
        let rows = point.parabolas.iter().filter(|[pw, ..]| *pw > 0.0);
        let reach = rows.fold(f64::INFINITY, |least, [_, low, high]| {
            least.min(-low).min(*high)
        });
        Self {
            products,
            inverse,
            parabolas: point.parabolas.clone(),
            reach,
        }
    }

    /// The step to a pair, its new column the last one. `None` where there is none.
    #[inline]
    fn step(&self) -> Option<[f64; MOST]> {
        let p = &self.products;
        let last = p.q - 1;
        let mut step = [0.0; MOST];
        let mut left = p.k[last][last] + p.columns[last].ridge;
        for (a, step) in step.iter_mut().enumerate().take(last) {
            let share: f64 = (0..last).map(|b| self.inverse[a][b] * p.k[last][b]).sum();
            *step = -share;
            left -= share * p.k[last][a];
        }
        let size = -p.v[last] / left;
        if !(left > 0.0 && size.is_finite()) {
            return None;
        }
        step[last] = 1.0;
        Some(step.map(|d| size * d))
    }

    /// Whether a step is within the reach of all rows, its rounding included.
    #[inline]
    fn reaches(&self, step: &[f64; MOST], data: &Data, i: usize, j: usize) -> bool {
        let p = &self.products;
        let sizes = p.columns.iter().zip(step);
        let size: f64 = sizes.map(|(column, d)| column.largest * d.abs()).sum();
        // Written so that a NaN is refused.
        if size * (1.0 + 1e-12) <= self.reach {
            return true;
        }
        let last = p.q - 1;
        let error = 1e-14 * size;
        let (own, new) = (data.column(i), data.column(j));
        let mut fine = size.is_finite();
        if let [ones] = data.fixed[..]
            && data.columns[ones].ridge == 0.0
        {
            // The most common case: the intercept alone.
            let rows = own.iter().zip(new).zip(&self.parabolas);
            for ((own, new), [_, low, high]) in rows {
                let t = step[0] + step[1] * own + step[2] * new;
                fine &= (t - error >= *low) & (t + error <= *high);
            }
            return fine;
        }
        for (r, [_, low, high]) in self.parabolas.iter().enumerate() {
            let fixed = data.fixed.iter().zip(step);
            let mut t: f64 = fixed.map(|(a, d)| d * data.column(*a)[r]).sum();
            t += step[last - 1] * own[r] + step[last] * new[r];
            fine &= (t - error >= *low) & (t + error <= *high);
        }
        fine
    }
}
