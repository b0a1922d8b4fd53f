//! One side of one feature: how large its coefficient can be in a model that is good enough.

use super::budget::Budget;
use super::certificate::{Certificate, Ends, Proved};
use super::point::DescentPoint;
use super::{ProvedBox, Quadratic, Side};
use crate::linalg::kernels;
use crate::tuning::boxes::SETTLED;

/// How much work goes into one side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Maximum number of rounds of descent and certification.
    pub rounds: usize,
    /// Passes over the coordinates in each round.
    pub passes: usize,
    /// Value at which the coefficient is held, as a share of its end.
    pub hold: f64,
    /// Number of rounds without progress after which the work ends.
    pub stalls: usize,
}

/// Starting point of a side, kept between visits.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    /// The weight of the budget; zero before the first visit.
    pub weight: f64,
    /// Non-zero coefficients of the point, without the feature itself.
    pub x: Vec<(u32, f64)>,
}

/// Result of a visit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shrunk {
    /// The end of the box.
    pub end: f64,
    /// Whether every model that is good enough has the feature.
    pub is_needed: bool,
}

/// Data of a node that all sides share.
pub(super) struct Sides<'a> {
    pub quadratic: &'a Quadratic<'a>,
    pub boxes: &'a [ProvedBox],
    pub ends: &'a [Ends],
    pub budget: &'a Budget,
}

/// Working memory of one thread.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    pub(super) point: DescentPoint,
    certificate: Certificate,
    pub(super) scratch: Vec<f64>,
    /// The coordinates that move, in the order in which they were found.
    active: Vec<u32>,
    is_active: Vec<bool>,
    part: Part,
}

impl Room {
    /// Starts at x = 0, with no coordinate listed.
    pub(super) fn begin(
        &mut self,
        quadratic: &Quadratic,
        reset: impl Fn(&mut DescentPoint, &Quadratic),
    ) {
        reset(&mut self.point, quadratic);
        self.active.clear();
        self.is_active.clear();
        self.is_active.resize(quadratic.size(), false);
        self.part.size = 0;
    }
}

/// The submatrix of H for the coordinates that move.
#[derive(Debug, Clone, Default)]
struct Part {
    /// Rows of `stride` entries, of which the first `size` are used.
    h: Vec<f64>,
    stride: usize,
    size: usize,
    x: Vec<f64>,
    v: Vec<f64>,
}

impl Part {
    /// Adds the coordinates that are new since the last call.
    fn gather(&mut self, quadratic: &Quadratic, active: &[u32]) {
        let size = active.len();
        if size > self.stride {
            self.stride = (size + size / 2).next_multiple_of(8);
            self.h.clear();
            self.h.resize(self.stride * self.stride, 0.0);
            self.size = 0;
        }
        for (at, i) in active.iter().enumerate().skip(self.size) {
            let row = quadratic.row(*i as usize);
            for (other, j) in active[..=at].iter().enumerate() {
                let entry = row[*j as usize];
                self.h[at * self.stride + other] = entry;
                self.h[other * self.stride + at] = entry;
            }
        }
        self.size = size;
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.h[at * self.stride..at * self.stride + self.size]
    }
}

impl Sides<'_> {
    /// Shrinks one side. Holds `x_j` near its end and minimises
    ///
    /// ```text
    /// ½ xᵀHx - cᵀx + μ Σ_{i≠j} x_i / (the end of the box that x_i points to)   within the boxes
    /// ```
    ///
    /// over the others by coordinate descent. Then it certifies the point and follows the end inwards. μ is adjusted
    /// until the sum is m - 1. The certificate that proved the end is kept.
    pub(super) fn shrink(
        &self,
        j: usize,
        side: Side,
        start: &mut Start,
        kept: &mut Certificate,
        effort: &Effort,
        room: &mut Room,
    ) -> Shrunk {
        let quadratic = self.quadratic;
        let sign = side.sign();
        let mut end = self.boxes[j].end(side);
        let mut held = effort.hold * end;
        let mut is_needed = false;
        room.begin(quadratic, DescentPoint::reset);
        for (i, x) in &start.x {
            let i = *i as usize;
            let (low, high) = self.boxes[i].bounds();
            room.point.go(quadratic, i, x.clamp(low, high));
        }
        room.point.go(quadratic, j, sign * held);
        let mut stalls = 0;
        // With prices, the number of features of the worst models depends on the point.
        let mut features = self.budget.most();
        for _ in 0..effort.rounds {
            if self.budget.most() > 1 {
                self.descend(j, start.weight, effort.passes, room);
            }
            let proved = self.certify(j, side, room);
            if let Some(proved) = proved {
                features = proved.features;
            }
            match proved {
                Some(proved) if proved.end < end => {
                    let is_little = proved.end >= 0.995 * end;
                    stalls = if is_little { stalls + 1 } else { 0 };
                    end = proved.end;
                    is_needed |= proved.is_needed;
                    std::mem::swap(kept, &mut room.certificate);
                }
                _ => stalls += 1,
            }
            if end == 0.0 || stalls >= effort.stalls {
                break;
            }
            if effort.hold * end < held {
                held = effort.hold * end;
                room.point.go(quadratic, j, sign * held);
            }
            let used = self.used(j, &room.point.x) / features.saturating_sub(1).max(1) as f64;
            start.weight *= used.clamp(0.4, 2.5).powf(0.7);
        }
        let x = room.point.x.iter().enumerate();
        let active = x.filter(|(i, x)| **x != 0.0 && *i != j);
        start.x.clear();
        start.x.extend(active.map(|(i, x)| (i as u32, *x)));
        Shrunk { end, is_needed }
    }

    /// Descends over the coordinates that are not zero or should not be.
    ///
    /// The passes use only the rows and columns of H for these; the slopes of all others are updated afterwards.
    pub(super) fn descend(&self, j: usize, weight: f64, passes: usize, room: &mut Room) {
        self.list(j, weight, room);
        let d = self.quadratic.size();
        if 2 * room.active.len() > d {
            self.descend_in_place(weight, passes, room);
            return;
        }
        let Room {
            point,
            active,
            part,
            ..
        } = room;
        part.gather(self.quadratic, active);
        part.x.clear();
        part.x.extend(active.iter().map(|i| point.x[*i as usize]));
        part.v.clear();
        part.v.extend(active.iter().map(|i| point.v[*i as usize]));
        for _ in 0..passes {
            let mut largest: f64 = 0.0;
            for (at, i) in active.iter().enumerate() {
                let (x, curvature) = (part.x[at], part.row(at)[at]);
                let best = self.least(*i as usize, part.v[at], x, curvature, weight);
                if best != x {
                    part.x[at] = best;
                    let row = &part.h[at * part.stride..][..part.size];
                    kernels::axpy(x - best, row, &mut part.v);
                    largest = largest.max((best - x).abs() * curvature.sqrt());
                }
            }
            if largest < SETTLED * self.budget.radius() {
                break;
            }
        }
        for (i, x) in active.iter().zip(&part.x) {
            point.go(self.quadratic, *i as usize, *x);
        }
    }

    /// Adds the coordinates other than j that are not zero or should not be to the list.
    fn list(&self, j: usize, weight: f64, room: &mut Room) {
        let all = room.point.x.iter().zip(&room.point.v).zip(self.boxes);
        for (i, ((x, v), known)) in all.enumerate() {
            // A coordinate at zero stays there if this holds.
            let stays = *x == 0.0 && v * known.high <= weight && v * known.low <= weight;
            if !stays && !room.is_active[i] && i != j {
                room.is_active[i] = true;
                room.active.push(i as u32);
            }
        }
    }

    fn descend_in_place(&self, weight: f64, passes: usize, room: &mut Room) {
        for _ in 0..passes {
            let mut largest: f64 = 0.0;
            for i in &room.active {
                let i = *i as usize;
                let curvature = self.quadratic.row(i)[i];
                let x = room.point.x[i];
                let best = self.least(i, room.point.v[i], x, curvature, weight);
                if best != x {
                    room.point.go(self.quadratic, i, best);
                    largest = largest.max((best - x).abs() * curvature.sqrt());
                }
            }
            if largest < SETTLED * self.budget.radius() {
                break;
            }
        }
    }

    /// Returns the best value of one coordinate.
    #[inline]
    fn least(&self, i: usize, v: f64, x: f64, curvature: f64, weight: f64) -> f64 {
        let slope = v + curvature * x;
        let (low, high) = self.boxes[i].bounds();
        if slope > 0.0 {
            if slope * high > weight {
                return ((slope - weight / high) / curvature).min(high);
            }
        } else if slope * low > weight {
            return ((slope - weight / low) / curvature).max(low);
        }
        0.0
    }

    /// Returns how much of the budget a point uses, apart from j.
    fn used(&self, j: usize, x: &[f64]) -> f64 {
        let share = |(i, x): (usize, &f64)| {
            let (low, high) = self.boxes[i].bounds();
            match *x {
                x if i == j || x == 0.0 => 0.0,
                x if x > 0.0 => x / high,
                x => x / low,
            }
        };
        x.iter().enumerate().map(share).sum()
    }

    /// Returns what the point proves.
    fn certify(&self, j: usize, side: Side, room: &mut Room) -> Option<Proved> {
        let Room {
            point,
            certificate,
            scratch,
            ..
        } = room;
        let is_proof = certificate.set(self.quadratic, (j, side), point);
        is_proof.then(|| certificate.end(j, self.ends, self.budget, scratch))?
    }
}
