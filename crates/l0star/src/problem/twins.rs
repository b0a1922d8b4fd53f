//! Twins: columns that say the same, up to their sign, their size and, with an intercept, a constant.
//!
//! Members of a class are interchangeable, or one of them is at least as good as the others: the *leader*, the longest
//! column, of equally long ones the first. If `a_j = c a_i + e` (plus a constant where there is an intercept) with
//! `|c| ≤ 1` and the same ridge λ, then a model with j and without i can have `c x_j` on i instead: its ridge does not grow
//! and its predictions change by `e x_j`. A convex loss that is s-smooth and non-negative has `l'² ≤ 2 s l`, so with `|·|_p`
//! the norm weighted by the rows
//!
//! ```text
//! L(z + d) ≤ L(z) + √(2 s L(z)) |d|_p + s/2 |d|_p²
//! ```
//!
//! and since `λ x_j²/2 ≤ P`, the objective grows by at most `(2θ + θ²) P` with `θ = |e|_p √(s/λ)`. Copies have θ = 0;
//! what rounding leaves of a change of units has θ of about 1e-14.
//!
//! A loss with a log link, `m φ(r)`, is not smooth. There `φ(r + d) = φ(r) + (e^r - 1)d + e^r φ(d)`, `|e^r - 1| ≤ φ + √(2φ)`
//! and, for `|d| ≤ 1`, `φ(d) ≤ d²`; with `|d| ≤ δ = ε |x_j|`, ε the largest entry of e, M the mean of m, and `P ≤ P(0)`, the
//! objective grows by at most `(2θ + 4θ² + τ + 2τ²) P`, `θ = ε √(M/λ)`, `τ = ε √(2 P(0)/λ)`. Counts of 0, whose loss is `e^z`,
//! grow by at most `(δ + δ²)` of themselves.
//!
//! A loss that couples rows says by how much it can grow when no prediction moves by more than δ ([`Joint::growth`]), and
//! `δ ≤ ε √(2 P(0)/λ)`.
//!
//! Hence the best model without *followers* (the other
//! members) is within `k (2θ + θ²)` of the best model in which no class is used twice ([`Problem::leading`]).
//!
//! Of several responses or classes, where a feature has a coefficient for each, all this holds for the sums over them.
//!
//! A model that uses a class twice has at most k − 1 leaders, and on the leader the coefficient `t = x_i + Σ c_j x_j`, whose
//! ridge is at least `λ t²/2(1 + Σ c_j²)` by Cauchy and Schwarz: the optimum of the leaders alone with these smaller ridges
//! and k − 1 ([`Problem::doubling`]) is a lower bound of all such models.

use std::sync::Arc;

use super::{ColumnStats, Design, Problem};
use crate::error::Result;
use crate::linalg::rounding::U;

/// The largest `2θ + θ²` of a twin.
const CLOSE: f64 = 5e-12;
/// The largest loss of a bound, relative to the objective, that twins may cost: a small part of what the promise of an
/// optimal status leaves beyond the tolerance of the search.
const LEAST_LOSS: f64 = 5e-11;
/// Columns whose sizes differ by no more than this are equally long.
const SAME_SIZE: f64 = 1e-12;
/// Probes of twins differ by no more than this.
const SAME_PROBE: f64 = 1e-8;

/// The classes of twins of a problem, those with more than one member.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Twins {
    classes: Vec<Class>,
}

/// Columns that say the same.
#[derive(Debug, Clone, PartialEq)]
struct Class {
    leader: usize,
    followers: Vec<Follower>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Follower {
    column: usize,
    /// `c` in `a_j = c a_i + e`.
    ratio: f64,
    /// `2θ + θ²`.
    loss: f64,
    /// Whether it could stand for the leader in every model: a column of the same size with the same bounds.
    is_equal: bool,
}

/// The columns of the data in which twins are looked for: of several responses or classes those of the first.
struct Columns<'a> {
    problem: &'a Problem,
    design: &'a Design,
    /// Shares of the rows.
    p: &'a [f64],
    /// Whether a constant does not count.
    centred: bool,
}

impl Twins {
    /// The classes among the features. Groups, and features that need others or are needed, have none.
    fn find(columns: &Columns, features: &[usize]) -> Self {
        let Columns {
            design, p, centred, ..
        } = *columns;
        let moments = ColumnStats::of(design, Some(p));
        // The same pseudorandom numbers for every column, which add up to 0 where a constant does not count.
        let mut weights: Vec<f64> = (0..p.len() as u64).map(noise).collect();
        let shift: f64 = if centred {
            weights.iter().zip(p).map(|(w, p)| w * p).sum::<f64>() / p.iter().sum::<f64>()
        } else {
            0.0
        };
        weights
            .iter_mut()
            .zip(p)
            .for_each(|(w, p)| *w = (*w - shift) * p);
        let mut probes: Vec<(f64, usize)> = Vec::new();
        for j in features.iter().copied() {
            let (_, size) = moments[j].frame(centred);
            let probe = design.dot(j, &weights) / size;
            // An intercept leaves nothing of a constant.
            if probe.is_finite() && !(centred && moments[j].is_constant) {
                probes.push((probe.abs(), j));
            }
        }
        probes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut twins = Self::default();
        for near in probes.chunk_by(|a, b| b.0 - a.0 <= SAME_PROBE) {
            if near.len() > 1 {
                let sized = |j: usize| (j, moments[j].frame(centred).1);
                twins.classify(near.iter().map(|(_, j)| sized(*j)).collect(), columns);
            }
        }
        twins.classes.sort_unstable_by_key(|class| class.leader);
        twins
    }

    /// Splits columns, each with its size, into classes.
    fn classify(&mut self, mut members: Vec<(usize, f64)>, columns: &Columns) {
        members.sort_unstable_by_key(|(j, _)| *j);
        let column = |j: usize| {
            let mut values = vec![0.0; columns.p.len()];
            columns.design.column_into(j, &mut values);
            values
        };
        while members.len() > 1 {
            let longest = members.iter().map(|(_, size)| *size).fold(0.0, f64::max);
            let Some(at) = members
                .iter()
                .position(|(_, size)| *size >= longest * (1.0 - SAME_SIZE))
            else {
                return;
            };
            let (leader, length) = members.remove(at);
            let own = column(leader);
            let mut followers = Vec::new();
            members.retain(|(j, size)| {
                let found = columns.follower((leader, &own), (*j, &column(*j)), size / length);
                followers.extend(found);
                found.is_none()
            });
            if !followers.is_empty() {
                self.classes.push(Class { leader, followers });
            }
        }
    }

    fn followers(&self) -> impl Iterator<Item = &Follower> {
        self.classes.iter().flat_map(|class| &class.followers)
    }
}

impl Columns<'_> {
    /// Whether a column is a twin of a leader that is at least as long.
    fn follower(
        &self,
        (leader, own): (usize, &[f64]),
        (column, other): (usize, &[f64]),
        ratio: f64,
    ) -> Option<Follower> {
        let problem = self.problem;
        let ridge = problem.ridge[leader];
        if ridge != problem.ridge[column] {
            return None;
        }
        let centre = |v: &[f64]| {
            if self.centred {
                v.iter().zip(self.p).map(|(v, p)| v * p).sum::<f64>() / self.p.iter().sum::<f64>()
            } else {
                0.0
            }
        };
        let (a, b) = (centre(own), centre(other));
        let pairs = own.iter().zip(other).zip(self.p);
        let sign: f64 = pairs.map(|((v, w), p)| (v - a) * (w - b) * p).sum();
        let size = if (ratio - 1.0).abs() <= SAME_SIZE {
            1.0
        } else {
            ratio
        };
        let ratio = size.copysign(sign);
        let (lower, upper) = problem.range(column);
        let (least, most) = problem.range(leader);
        let ends = [ratio * lower, ratio * upper];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if low < least || high > most {
            return None;
        }
        // One stands for the other only at the same price.
        let price = |j: usize| {
            problem
                .structure
                .as_ref()
                .map(|structure| structure.costs[j])
        };
        if price(column) != price(leader) {
            return None;
        }
        let errors: Vec<f64> = own.iter().zip(other).map(|(a, b)| b - ratio * a).collect();
        let shift = centre(&errors);
        let square: f64 = errors
            .iter()
            .zip(self.p)
            .map(|(e, p)| p * (e - shift).powi(2))
            .sum();
        // Entries of a view round twice, products with c and differences once more.
        let rounding = 5.0 * U * (problem.norms[leader] + problem.norms[column]);
        let largest = self.p.iter().copied().fold(0.0, f64::max).sqrt();
        let error = square.sqrt() * (1.0 + 1e-6) + largest * rounding;
        let widest = || {
            let sizes = errors.iter().map(|e| (e - shift).abs());
            sizes.fold(0.0, f64::max) * (1.0 + 1e-6) + rounding
        };
        let loss = if let Some(joint) = problem.joint() {
            let most = (2.0 * 1.01 * problem.null_value / ridge).sqrt();
            joint.growth(widest() * most)
        } else if problem.loss.has_log_link() {
            self.steep_loss(widest(), ridge)
        } else {
            let theta = error * (problem.loss.smoothness() / ridge).sqrt();
            theta * (2.0 + theta)
        };
        // NaN is no twin.
        (loss <= CLOSE).then_some(Follower {
            column,
            ratio,
            loss,
            is_equal: size == 1.0 && (low, high) == (least, most),
        })
    }
}

impl Columns<'_> {
    /// How much a model can lose, relatively, when its predictions change by at most `error` per unit of a coefficient of this
    /// ridge, under a loss with a log link (`θ`, `τ` in the head of this file).
    fn steep_loss(&self, error: f64, ridge: f64) -> f64 {
        let weight: f64 = self.p.iter().sum();
        let mass = 1.01 * weight * self.problem.usual_curvature;
        let theta = error * (mass / ridge).sqrt();
        let tau = error * (2.0 * 1.01 * self.problem.null_value / ridge).sqrt();
        2.0 * theta + 4.0 * theta * theta + tau + 2.0 * tau * tau
    }
}

impl Problem {
    /// The classes of twins among the features. Groups, and features that need others or are needed, have none.
    pub(super) fn find_twins(&self) -> Twins {
        let mut features = self.selectable.clone();
        if let Some(structure) = &self.structure {
            let mut is_needed = vec![false; self.design.columns()];
            let needed = structure.ancestors.iter().flatten();
            needed.for_each(|j| is_needed[*j] = true);
            let is_free = |j: usize| structure.ancestors[j].is_empty() && !is_needed[j];
            let is_alone = |j: usize| structure.members[j].len() == self.outputs();
            features.retain(|j| is_alone(*j) && is_free(*j));
        }
        Twins::find(&self.data_to_compare(), &features)
    }

    fn data_to_compare(&self) -> Columns<'_> {
        let rows = self.p.len() / self.outputs();
        Columns {
            problem: self,
            design: self.scores().map_or(&self.design, |scores| &scores.base),
            p: &self.p[..rows],
            centred: self.has_intercept || self.loss.is_relative(),
        }
    }

    /// The columns that could stand for a column in every model, with the same objective: those that equal it up to their
    /// sign, once scaled and, with an intercept, centred, and have the same bounds.
    ///
    /// ```
    /// use l0star::{Design, Problem};
    ///
    /// let celsius = [21.0, 24.0, 19.0, 30.0];
    /// let fahrenheit = celsius.map(|c| 1.8 * c + 32.0);
    /// let wind = [3.0, 1.0, 4.0, 1.0];
    /// let design = Design::dense(4, 3, [celsius, wind, fahrenheit].concat())?;
    /// let problem = Problem::builder(design, vec![1.0, 2.0, 0.5, 4.0]).intercept(true).build()?;
    /// assert_eq!(problem.twins(0), [2]);
    /// assert_eq!(problem.twins(1), []);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn twins(&self, column: usize) -> Vec<usize> {
        let equal = |class: &Class| {
            let followers = class.followers.iter().filter(|twin| twin.is_equal);
            let mut members: Vec<usize> = followers.map(|twin| twin.column).collect();
            members.push(class.leader);
            members.sort_unstable();
            members
        };
        let mut classes = self.twins.classes.iter().map(equal);
        let mut members = classes
            .find(|class| class.contains(&column))
            .unwrap_or_default();
        members.retain(|j| *j != column);
        members
    }

    /// The classes of the problem without a column. Where it led one, the longest of the others leads.
    pub(super) fn twins_without(&self, column: usize) -> Twins {
        let mut left = Twins::default();
        for class in &self.twins.classes {
            if class.leader == column {
                let members: Vec<usize> = class.followers.iter().map(|twin| twin.column).collect();
                let columns = self.data_to_compare();
                let own = members.iter().copied();
                let moments = ColumnStats::of_columns(columns.design, own, Some(columns.p));
                let sizes = moments.iter().map(|own| own.frame(columns.centred).1);
                left.classify(members.iter().copied().zip(sizes).collect(), &columns);
                continue;
            }
            let mut class = class.clone();
            class.followers.retain(|twin| twin.column != column);
            if !class.followers.is_empty() {
                left.classes.push(class);
            }
        }
        left.classes.sort_unstable_by_key(|class| class.leader);
        left
    }

    /// The share of the objective that a bound of [`Problem::leading`] and [`Problem::doubling`] loses for the whole problem.
    pub(crate) fn twin_loss(&self) -> f64 {
        let largest = self
            .twins
            .followers()
            .map(|twin| twin.loss)
            .fold(0.0, f64::max);
        self.support_size() as f64 * largest
    }

    /// The column that a column follows, or itself.
    pub(crate) fn leader(&self, column: usize) -> usize {
        let follows = |class: &&Class| class.followers.iter().any(|twin| twin.column == column);
        let class = self.twins.classes.iter().find(follows);
        class.map_or(column, |class| class.leader)
    }

    /// The class of a leader, itself first; a column without followers is a class of its own.
    pub(crate) fn class(&self, leader: usize) -> Vec<usize> {
        let mut classes = self.twins.classes.iter();
        let class = classes.find(|class| class.leader == leader);
        let followers = class.map_or(&[][..], |class| &class.followers);
        let followers = followers.iter().map(|twin| twin.column);
        std::iter::once(leader).chain(followers).collect()
    }

    /// The problem without followers. `None` where there are none, where all leaders fit into a model, so that
    /// followers take the rest, where twins are not close enough for so many features, and where features have prices.
    pub(crate) fn leading(&self) -> Result<Option<Self>> {
        if self.is_priced() {
            return Ok(None);
        }
        let mut is_follower = vec![false; self.design.columns()];
        for twin in self.twins.followers() {
            is_follower[twin.column] = true;
        }
        let mut selectable = self.selectable.clone();
        selectable.retain(|j| !is_follower[*j]);
        let size = self.support_size();
        if selectable.len() == self.selectable.len()
            || selectable.len() <= size
            || self.twin_loss() > LEAST_LOSS
        {
            return Ok(None);
        }
        let twins = Arc::default();
        Ok(Some(
            Self {
                selectable,
                twins,
                ..self.clone()
            }
            .checked()?,
        ))
    }

    /// A problem of leaders with another member of a class in the place of its leader.
    pub(crate) fn led_by(&self, leader: usize, member: usize) -> Result<Self> {
        let mut problem = self.clone();
        problem.selectable.retain(|j| *j != leader);
        problem.selectable.push(member);
        problem.selectable.sort_unstable();
        problem.checked()
    }

    /// A problem whose optimum is a lower bound of every model that uses a class of twins twice. `None` where no model can.
    pub(crate) fn doubling(&self, leading: &Self) -> Result<Option<Self>> {
        if self.support_size() < 2 {
            return Ok(None);
        }
        let mut ridge = self.ridge.clone();
        let mut structure = self.structure.as_deref().cloned();
        for class in &self.twins.classes {
            let leader = class.leader;
            let squares: f64 = class.followers.iter().map(|twin| twin.ratio.powi(2)).sum();
            // The columns of each response or class.
            for shift in (0..self.outputs()).map(|output| output * self.features()) {
                let own = leader + shift;
                ridge[own] = ridge[own] / (1.0 + squares) * (1.0 - 1e-12);
                if let Some(structure) = &mut structure {
                    for twin in &class.followers {
                        let (lower, upper) = structure.bounds[twin.column + shift];
                        let (a, b) = (twin.ratio * lower, twin.ratio * upper);
                        let (least, most) = &mut structure.bounds[own];
                        (*least, *most) = (*least + a.min(b), *most + a.max(b));
                    }
                }
            }
        }
        let problem = Self {
            k: self.k - 1,
            ridge,
            structure: structure.map(Arc::new),
            ..leading.clone()
        };
        problem.checked().map(Some)
    }
}

/// A number between −1 and 1 for a row, the same in every run (SplitMix64).
fn noise(row: u64) -> f64 {
    let mut bits = row.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
