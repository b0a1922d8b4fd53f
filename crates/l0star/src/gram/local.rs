//! A support with all that exchanges of one feature need, kept up to date.
//!
//! For a support S let `K = H_SS⁻¹`, `x = K c_S`, `V = K H_S,:`, `u = c - H_:,S x` and `d_j = H_jj - H_jS K H_Sj`. Then
//!
//! ```text
//! add j:       the quadratic falls by u_j²/2d_j
//! remove p:    it grows by x_p²/2K_pp
//! swap p → j:  it falls by (u_j + x_p V_pj/K_pp)² / 2(d_j + V_pj²/K_pp) - x_p²/2K_pp
//! ```
//!
//! All |S| d exchanges therefore cost O(|S| d), and so does making one of them. With
//! `e = (H_j,: - Σ_r H_j,s_r V_r)/d_j` an addition is `V_r -= V_rj e`, `u -= u_j e`, `d -= d_j e²`, and a removal
//! `V_r -= (K_rp/K_pp) V_p`, `u += (x_p/K_pp) V_p`, `d += V_p²/K_pp`.

#[cfg(test)]
mod tests;

use std::ops::Range;

use pulp::Arch;

use super::quadratic::Quadratic;
use crate::linalg::kernels;

/// Share of its diagonal entry below which the remainder of a column is rounding: it lies in the span of others.
const SPANNED: f64 = 1e-10;
/// Number of columns that are examined together.
const CHUNK: usize = 64;

/// An index that must be in every support (true), or in none.
pub(crate) type Pinned = Option<(usize, bool)>;

/// A support that changes by additions and removals.
#[derive(Clone)]
pub(crate) struct Local {
    /// Indices that are in. The first `fixed` are always in and not chosen; those before `first` cannot be removed.
    members: Vec<usize>,
    fixed: usize,
    first: usize,
    /// K, x and V, in the order of the members.
    inverse: Vec<Vec<f64>>,
    x: Vec<f64>,
    v: Vec<Vec<f64>>,
    u: Vec<f64>,
    d: Vec<f64>,
    /// Indices that cannot be added.
    closed: Vec<bool>,
    /// Twice the distance of the quadratic below c0.
    pub gain: f64,
    /// Unused vectors, for reuse.
    spare: Vec<Vec<f64>>,
    /// Multiplications so far.
    pub work: u64,
}

impl Local {
    /// Creates the support of the always-in columns.
    pub(crate) fn new(quadratic: &mut Quadratic) -> Self {
        let size = quadratic.size();
        let mut local = Self {
            members: Vec::new(),
            fixed: 0,
            first: 0,
            inverse: Vec::new(),
            x: Vec::new(),
            v: Vec::new(),
            u: quadratic.c.clone(),
            d: quadratic.diagonal.clone(),
            closed: vec![false; size],
            gain: 0.0,
            spare: Vec::new(),
            work: 0,
        };
        for i in quadratic.selectable..size {
            local.add(i, quadratic);
            local.closed[i] = true;
        }
        (local.fixed, local.first) = (local.members.len(), local.members.len());
        local
    }

    /// Creates the support of the always-in columns; a pinned index is chosen first and stays, or stays out.
    pub(crate) fn pinned(quadratic: &mut Quadratic, pinned: Pinned) -> Self {
        let mut local = Self::new(quadratic);
        match pinned {
            Some((i, true)) if local.add(i, quadratic) => local.first = local.members.len(),
            Some((i, _)) => local.closed[i] = true,
            None => {}
        }
        local
    }

    /// Copies the state of another support.
    pub(crate) fn reset_to(&mut self, other: &Self) {
        let Self { v, spare, .. } = self;
        spare.append(v);
        for row in &other.v {
            let mut own = spare.pop().unwrap_or_default();
            own.clone_from(row);
            v.push(own);
        }
        self.members.clone_from(&other.members);
        (self.fixed, self.first) = (other.fixed, other.first);
        self.inverse.clone_from(&other.inverse);
        self.x.clone_from(&other.x);
        self.u.clone_from(&other.u);
        self.d.clone_from(&other.d);
        self.closed.clone_from(&other.closed);
        self.gain = other.gain;
        self.work += (3 + self.v.len() as u64) * self.u.len() as u64;
    }

    /// Returns the chosen indices, in the order of their addition.
    pub(crate) fn chosen(&self) -> &[usize] {
        &self.members[self.fixed..]
    }

    /// Returns the places of the members that can be removed.
    pub(crate) fn places(&self) -> Range<usize> {
        self.first..self.members.len()
    }

    /// Returns the member at a place.
    pub(crate) fn at(&self, place: usize) -> usize {
        self.members[place]
    }

    /// Returns the number of chosen indices.
    pub(crate) fn size(&self) -> usize {
        self.members.len() - self.fixed
    }

    /// Returns what adding an index would gain; `None` where it cannot be added.
    pub(crate) fn gain_of(&self, j: usize, quadratic: &Quadratic) -> Option<f64> {
        let is_open = !self.closed[j] && self.d[j] > SPANNED * quadratic.diagonal[j];
        is_open.then(|| self.u[j] * self.u[j] / self.d[j])
    }

    /// Adds an index; returns false when the members leave nothing of its column.
    pub(crate) fn add(&mut self, j: usize, quadratic: &mut Quadratic) -> bool {
        let room = self.d[j];
        if self.closed[j] || room <= SPANNED * quadratic.diagonal[j] {
            return false;
        }
        let (count, size) = (self.members.len(), self.u.len());
        let mut e = self.spare.pop().unwrap_or_default();
        e.resize(size, 0.0);
        quadratic.row_into(j, &mut e);
        let own: Vec<f64> = self.members.iter().map(|i| e[*i]).collect();
        for (own, v) in own.iter().zip(&self.v) {
            kernels::axpy(-own, v, &mut e);
        }
        let inverse = 1.0 / room;
        let pull = self.u[j];
        let at_j: Vec<f64> = self.v.iter().map(|v| v[j]).collect();
        let (u, d) = (&mut self.u, &mut self.d);
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for ((e, u), d) in e.iter_mut().zip(u).zip(d) {
                    *e *= inverse;
                    *u -= pull * *e;
                    *d -= room * *e * *e;
                }
            },
        );
        for (at, v) in at_j.iter().zip(&mut self.v) {
            kernels::axpy(-at, &e, v);
        }
        for (row, at) in self.inverse.iter_mut().zip(&at_j) {
            for (entry, other) in row.iter_mut().zip(&at_j) {
                *entry += at * other * inverse;
            }
            row.push(-at * inverse);
        }
        let mut last: Vec<f64> = at_j.iter().map(|at| -at * inverse).collect();
        last.push(inverse);
        self.inverse.push(last);
        let x = pull * inverse;
        for (own, at) in self.x.iter_mut().zip(&at_j) {
            *own -= at * x;
        }
        self.x.push(x);
        self.v.push(e);
        self.members.push(j);
        self.closed[j] = true;
        self.gain += pull * x;
        self.work += (2 * count as u64 + 4) * size as u64;
        true
    }

    /// Removes a member, by its place.
    pub(crate) fn remove(&mut self, p: usize) {
        let pivot = 1.0 / self.inverse[p][p];
        let x = self.x.remove(p);
        let gone = self.v.remove(p);
        let mut column: Vec<f64> = self.inverse.iter().map(|row| row[p]).collect();
        column.remove(p);
        self.inverse.remove(p);
        let j = self.members.remove(p);
        self.closed[j] = false;
        for (r, share) in column.iter().enumerate() {
            let share = share * pivot;
            kernels::axpy(-share, &gone, &mut self.v[r]);
            self.inverse[r].remove(p);
            for (entry, other) in self.inverse[r].iter_mut().zip(&column) {
                *entry -= share * other;
            }
            self.x[r] -= share * x;
        }
        let back = x * pivot;
        let (u, d) = (&mut self.u, &mut self.d);
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for ((v, u), d) in gone.iter().zip(u).zip(d) {
                    *u += back * v;
                    *d += pivot * v * v;
                }
            },
        );
        self.gain -= x * back;
        self.work += (column.len() as u64 + 4) * gone.len() as u64;
        self.spare.push(gone);
    }

    /// Returns what removing a member costs, by its place.
    pub(crate) fn cost(&self, p: usize) -> f64 {
        self.x[p] * self.x[p] / self.inverse[p][p]
    }

    /// Returns the exchange that gains most, if it gains more than `least`: the place of the member,
    /// and the index that replaces it.
    pub(crate) fn best_swap(
        &mut self,
        quadratic: &Quadratic,
        least: f64,
    ) -> Option<(usize, usize)> {
        let mut best = (least, None);
        for p in self.places() {
            if let Some((gain, j)) = self.best_for(p, quadratic, best.0) {
                best = (gain, Some((p, j)));
            }
        }
        best.1
    }

    /// Returns the best exchange of a member, given by its place, if it gains more than `least`: the gain, and the
    /// index that replaces the member.
    pub(crate) fn best_for(
        &mut self,
        p: usize,
        quadratic: &Quadratic,
        least: f64,
    ) -> Option<(f64, usize)> {
        let selectable = quadratic.selectable;
        self.work += 3 * selectable as u64;
        let pivot = 1.0 / self.inverse[p][p];
        let back = self.x[p] * pivot;
        let cost = self.x[p] * back;
        let mut to_beat = cost + least;
        let (v, u, d) = (&self.v[p], &self.u, &self.d);
        let mut best = None;
        let mut first = 0;
        while let Some(at) = next_above(
            &u[..selectable],
            &d[..selectable],
            &v[..selectable],
            (back, pivot, to_beat),
            first,
        ) {
            for j in at..(at + CHUNK).min(selectable) {
                let pull = u[j] + back * v[j];
                let room = d[j] + pivot * v[j] * v[j];
                if pull * pull > to_beat * room
                    && !self.closed[j]
                    && room > SPANNED * quadratic.diagonal[j]
                {
                    to_beat = pull * pull / room;
                    best = Some((to_beat - cost, j));
                }
            }
            first = at + CHUNK;
        }
        best
    }
}

/// Returns the start of the first chunk from `first` on in which `(u + back v)² > to_beat (d + pivot v²)` somewhere.
fn next_above(
    u: &[f64],
    d: &[f64],
    v: &[f64],
    (back, pivot, to_beat): (f64, f64, f64),
    first: usize,
) -> Option<usize> {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let chunks = u[first.min(u.len())..].chunks(CHUNK);
            let chunks = chunks.zip(d[first.min(d.len())..].chunks(CHUNK));
            let mut chunks = chunks.zip(v[first.min(v.len())..].chunks(CHUNK));
            let found = chunks.position(
                #[inline(always)]
                |((u, d), v)| {
                    let mut most = [0.0_f64; 8];
                    let (u8, u1) = u.as_chunks::<8>();
                    let (d8, d1) = d.as_chunks::<8>();
                    let (v8, v1) = v.as_chunks::<8>();
                    for ((u, d), v) in u8.iter().zip(d8).zip(v8) {
                        for l in 0..8 {
                            let pull = u[l] + back * v[l];
                            let room = d[l] + pivot * v[l] * v[l];
                            let above = pull * pull - to_beat * room;
                            most[l] = if above > most[l] { above } else { most[l] };
                        }
                    }
                    let rest = u1.iter().zip(d1).zip(v1).any(|((u, d), v)| {
                        let pull = u + back * v;
                        pull * pull > to_beat * (d + pivot * v * v)
                    });
                    rest || most.iter().any(|above| *above > 0.0)
                },
            );
            found.map(|at| first + at * CHUNK)
        },
    )
}
