//! Enumeration of one to three features under any loss: every set is examined, and nearly all
//! are proved from shared products.
//!
//! A *base* is the model of all features of a set but the last, and of the always-in columns. One step from the base
//! makes a dual point of the set ([`bound`]), at a few operations for each set where the step is within the reach of
//! the parabolas. Where it is not, the parabolas of some rows are narrowed. The sets that then remain are fitted by a
//! few Newton steps, until their bound is above the target ([`point`]). Sets that are still not proved are handed out.
//! Features are taken in the order of their own models, best first, so that bases are good models. Margins are derived
//! in section 15 of `docs/numerics.md`.

mod bound;
mod data;
mod point;
#[cfg(test)]
mod tests;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use self::bound::{MOST, Products, solve};
pub(crate) use self::data::Data;
use self::point::{Judged, RowPoint};
use super::scan::{Failure, Hits, ScanState, share_out};
use super::{Proof, Verdict};
use crate::limits::Limits;
use crate::relaxation::Watch;
use crate::tuning::enumeration::MOST_LEFT;

/// Number of bases whose products are computed together, and of their columns at a time.
const BASES: usize = 16;
const BLOCK: usize = 512;

/// Proves that every set of at most `m` features, one to three, has `P ≥ target`, except the sets that are handed out.
///
/// [`Watch::hit`] receives the features of a set, in order. All other sets are proved for the last target that it
/// returns.
pub(crate) fn enumerate_curved(
    data: &mut Data,
    m: usize,
    target: f64,
    limits: &Limits,
    threads: usize,
    watch: &mut dyn Watch,
) -> Verdict {
    let Some(starts) = singles(data, limits) else {
        return Verdict::Stopped;
    };
    let m = m.min(starts.len());
    let found = match m {
        0 => return Verdict::Open,
        1 => Ok(Hits {
            sets: (0..starts.len()).map(|i| vec![i]).collect(),
            is_complete: true,
        }),
        _ => pass(data, &starts, m, target, limits, threads, watch),
    };
    let sets = match found {
        Ok(Hits {
            sets,
            is_complete: true,
        }) => sets,
        Ok(_) | Err(Failure::Void) => return Verdict::Open,
        Err(Failure::Stopped) => return Verdict::Stopped,
    };
    let mut point = RowPoint::new(data);
    let mut target = target;
    for set in sets {
        if limits.stop() {
            return Verdict::Stopped;
        }
        let start = &starts[set[0]][..data.fixed.len() + 1];
        point.start(&[&data.fixed[..], &set].concat(), start);
        if point.judge(target) == Judged::Proved {
            continue;
        }
        let mut support: Vec<usize> = set.iter().map(|i| data.features[*i]).collect();
        support.sort_unstable();
        // Not `f64::min`, which would drop a NaN.
        let next = watch.hit(&support);
        if next.is_nan() {
            return Verdict::Open;
        }
        target = target.min(next);
    }
    Verdict::Proved(Proof { target })
}

/// Fits the models of one feature, puts the columns in the order of their values, best first, and returns the
/// coefficients; `None` at a limit.
fn singles(data: &mut Data, limits: &Limits) -> Option<Vec<[f64; MOST]>> {
    let d = data.features.len();
    let mut fits: Vec<(f64, usize, [f64; MOST])> = Vec::with_capacity(d);
    let mut point = RowPoint::new(data);
    let mut first = vec![0.0; data.fixed.len()];
    if let Some(x) = first.last_mut() {
        // The intercept, where there is one.
        *x = data.problem.first_intercept;
    }
    point.start(&data.fixed, &first);
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

/// Examines all sets of m features, two or three, and returns those that are not proved, by places in order.
fn pass(
    data: &Data,
    starts: &[[f64; MOST]],
    m: usize,
    target: f64,
    limits: &Limits,
    threads: usize,
    watch: &mut dyn Watch,
) -> Result<Hits, Failure> {
    let shared = ScanState::new(MOST_LEFT, limits);
    let d = starts.len();
    let after = |from: usize| (from..d).step_by(BASES);
    let bands: Vec<(Option<usize>, usize)> = match m {
        2 => after(0).map(|first| (None, first)).collect(),
        _ => (0..d)
            .flat_map(|i| after(i + 1).map(move |first| (Some(i), first)))
            .collect(),
    };
    share_out(bands, threads, watch, |(front, first)| {
        band(data, starts, front, first, target, &shared);
    });
    shared.finish()
}

/// Examines the sets of some bases with the features after them. The bases have one feature each from `first` on, and
/// `front` before it if there is one.
fn band(
    data: &Data,
    starts: &[[f64; MOST]],
    front: Option<usize>,
    first: usize,
    target: f64,
    shared: &ScanState,
) {
    let (n, d) = (data.rows(), starts.len());
    let last = (first + BASES).min(d);
    if shared.is_over() {
        return;
    }
    let mut other = RowPoint::new(data);
    let (mut sides, mut weights) = (Vec::new(), Vec::new());
    let mut bases = Vec::with_capacity(BASES);
    for i in first..last {
        let base = Base::new(data, starts, front, i);
        sides.extend_from_slice(&base.point.beta);
        for j in &base.set[..base.set.len() - 1] {
            let column = data.column(*j).iter().zip(&base.point.parabolas);
            sides.extend(column.map(|(a, [pw, ..])| a * pw));
        }
        weights.extend(base.point.parabolas.iter().map(|[pw, ..]| pw));
        bases.push(base);
    }
    let q = data.fixed.len() + 1 + usize::from(front.is_some());
    let (mut products, mut squares, mut step_of) = (Vec::new(), Vec::new(), vec![0.0; n]);
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
                *base.set.last_mut().unwrap_or(&mut 0) = j;
                if !base.proves(target, &mut other, &mut step_of) {
                    let found = [front, Some(i), Some(j)].into_iter().flatten();
                    shared.add(&found.collect::<Vec<usize>>());
                }
            }
        }
    }
}

/// Computes `columnsᵀ sides`, the products of one side after those of another.
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

/// The model of all features of a set but the last, and what its sets need in addition to the products.
struct Base<'d> {
    point: RowPoint<'d>,
    /// Places of the columns of the base, and of the new one.
    set: Vec<usize>,
    products: Products,
    /// `(K + Λ)⁻¹` of the columns of the base.
    inverse: [[f64; MOST]; MOST],
    /// Smallest reach of a row.
    reach: f64,
}

impl<'d> Base<'d> {
    /// Creates the base of a feature, with another before it if there is one.
    fn new(data: &'d Data, starts: &[[f64; MOST]], front: Option<usize>, i: usize) -> Self {
        let mut point = RowPoint::new(data);
        let mut set = data.fixed.clone();
        set.extend(front);
        set.push(i);
        match front {
            None => {
                point.start(&set, &starts[i][..set.len()]);
                point.evaluate();
            }
            Some(front) => {
                point.start(&set, &starts[front][..set.len() - 1]);
                point.fit();
            }
        }
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
        // The place of the new column.
        set.push(i);
        Self {
            point,
            set,
            products,
            inverse,
            reach,
        }
    }

    /// Whether the set with the new column is proved to be no better than the target.
    fn proves(&self, target: f64, other: &mut RowPoint, change: &mut [f64]) -> bool {
        let Some(step) = self.step() else {
            return false;
        };
        let omega = self.point.data.omega;
        if self.reaches(&step, change) && self.products.bound(&step, omega) >= target {
            return true;
        }
        if other.proves_from(&self.point, &self.set, &self.products, target) {
            return true;
        }
        other.start(&self.set, &self.products.x[..self.products.q - 1]);
        other.advance(&step);
        other.judge(target) == Judged::Proved
    }

    /// Returns the step to a set whose new column is the last one; `None` where there is none.
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

    /// Whether a step is within the reach of all rows, its rounding included. `change` is scratch space.
    #[inline]
    fn reaches(&self, step: &[f64; MOST], change: &mut [f64]) -> bool {
        let sizes = self.products.columns.iter().zip(step);
        let size: f64 = sizes.map(|(column, d)| column.largest * d.abs()).sum();
        // Written so that a NaN is rejected.
        if size * (1.0 + 1e-12) <= self.reach {
            return true;
        }
        let error = 1e-14 * size;
        change.fill(0.0);
        for (j, d) in self.set.iter().zip(step) {
            let column = self.point.data.column(*j);
            change.iter_mut().zip(column).for_each(|(t, a)| *t += d * a);
        }
        let rows = change.iter().zip(&self.point.parabolas);
        rows.fold(size.is_finite(), |fine, (t, [_, low, high])| {
            fine & (t - error >= *low) & (t + error <= *high)
        })
    }
}
