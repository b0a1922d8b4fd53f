//! Repeated rounds over the features of a node, as long as boxes shrink.

use std::ops::Range;

use super::budget::{Budget, Choice};
use super::certificate::{Certificate, Ends};
use super::crew::Crew;
use super::first::Direction;
use super::side::{Effort, Room, Shrunk, Sides, Start};
use super::{ProvedBox, Quadratic, SIDES, Side, mean_share};
use crate::limits::Limits;
use crate::tuning::boxes::{LITTLE, MOST_KEPT, MOST_REPEATS, STALLED, WEIGHT, WORTH_REPEATING};

const USUAL: Effort = Effort {
    rounds: 2,
    passes: 4,
    hold: 0.95,
    stalls: 2,
};
/// Effort where the usual one achieves next to nothing.
const RAISED: Effort = Effort {
    rounds: 40,
    passes: 6,
    hold: 0.98,
    stalls: 12,
};

/// The boxes of a node, and the state of the work on them.
#[derive(Debug, Clone)]
pub(crate) struct Boxes {
    boxes: Vec<ProvedBox>,
    /// Ends of the boxes in units of the columns.
    ends: Vec<Ends>,
    /// The boxes hold for models whose P plus the prices of their features is at most this.
    ceiling: f64,
    needed: Vec<bool>,
    sides: Vec<[Visits; 2]>,
    /// Certificates that proved the ends in this node; empty where they are not kept.
    certificates: Vec<[Certificate; 2]>,
    /// Number of rounds made in this node.
    rounds: usize,
    is_raised: bool,
}

/// State of one side between visits.
#[derive(Debug, Clone, Default)]
struct Visits {
    start: Start,
    /// Number of rounds still to skip, and how many the last visit set.
    rest: (u32, u32),
}

/// State of a column while it is visited.
#[derive(Debug)]
struct Column {
    j: usize,
    sides: [Visits; 2],
    certificates: [Certificate; 2],
    shrunk: [Option<Shrunk>; 2],
}

/// Outcome of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Round {
    /// The mean share that is left of the boxes that were not zero.
    Done(f64),
    /// A limit was reached; what had been proved still holds.
    Stopped,
}

impl Boxes {
    /// Returns the boxes that the ridges prove for models whose P plus prices is at most `ceiling`.
    pub(crate) fn new(quadratic: &Quadratic, choice: Choice, ceiling: f64) -> Self {
        let most = Budget::new(choice, ceiling).ceiling_of_one();
        let by_ridge = |ridge: &f64| ProvedBox::by_ridge(*ridge, most);
        Self {
            boxes: quadratic.ridge.iter().map(by_ridge).collect(),
            ends: Vec::new(),
            ceiling,
            needed: vec![false; quadratic.size()],
            sides: vec![Default::default(); quadratic.size()],
            certificates: Vec::new(),
            rounds: 0,
            is_raised: false,
        }
    }

    /// Restricts the boxes to the given bounds on the columns, which every model of the problem satisfies.
    pub(crate) fn within(mut self, given: impl Iterator<Item = (f64, f64)>) -> Self {
        for (known, given) in self.boxes.iter_mut().zip(given) {
            *known = known.within(given);
        }
        self
    }

    /// Returns the boxes of some of the columns, possibly in another order, for a node below. `place` maps a column of
    /// this node to its place in that node, if it is there.
    pub(crate) fn restricted(&self, kept: &[usize], place: impl Fn(u32) -> Option<u32>) -> Self {
        let mut sides = Vec::with_capacity(kept.len());
        for i in kept {
            let mut side = self.sides[*i].clone();
            for visits in &mut side {
                visits.rest = (0, 0);
                visits.start.x.retain_mut(|(i, _)| match place(*i) {
                    Some(at) => {
                        *i = at;
                        true
                    }
                    None => false,
                });
            }
            sides.push(side);
        }
        Self {
            boxes: kept.iter().map(|i| self.boxes[*i]).collect(),
            ends: Vec::new(),
            ceiling: self.ceiling,
            needed: kept.iter().map(|i| self.needed[*i]).collect(),
            sides,
            certificates: Vec::new(),
            rounds: 0,
            is_raised: false,
        }
    }

    /// Keeps some of the columns of the node; the others are zero. What was proved with all of them remains true.
    pub(crate) fn keep(&mut self, kept: &[usize]) {
        let mut places = vec![None; self.boxes.len()];
        for (at, i) in kept.iter().enumerate() {
            places[*i] = Some(at as u32);
        }
        let mut smaller = self.restricted(kept, |i| places[i as usize]);
        if !self.certificates.is_empty() {
            let certificates = kept.iter().map(|i| {
                let [up, down] = &self.certificates[*i];
                [up.restricted(kept), down.restricted(kept)]
            });
            smaller.certificates = certificates.collect();
        }
        for (own, i) in smaller.sides.iter_mut().zip(kept) {
            for (visits, before) in own.iter_mut().zip(&self.sides[*i]) {
                visits.rest = before.rest;
            }
        }
        smaller.rounds = self.rounds;
        smaller.is_raised = self.is_raised;
        *self = smaller;
    }

    /// Returns a copy for the nodes below, without the state that concerns this node alone.
    pub(crate) fn for_children(&self) -> Self {
        Self {
            boxes: self.boxes.clone(),
            ends: Vec::new(),
            ceiling: self.ceiling,
            needed: self.needed.clone(),
            sides: self.sides.clone(),
            certificates: Vec::new(),
            rounds: 0,
            is_raised: false,
        }
    }

    pub(crate) fn boxes(&self) -> &[ProvedBox] {
        &self.boxes
    }

    /// Returns the ceiling: the boxes hold for models whose P plus prices is at most this.
    pub(crate) fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// Whether every model up to the ceiling has the feature.
    pub(crate) fn is_needed(&self, i: usize) -> bool {
        self.needed[i]
    }

    /// Whether the first round achieved so little that more effort goes into the next.
    pub(crate) fn is_trying_harder(&self) -> bool {
        self.is_raised && self.rounds == 1
    }

    /// Lowers the ceiling: only models up to the new one matter from here on.
    pub(crate) fn lower(&mut self, ceiling: f64) {
        if ceiling < self.ceiling {
            self.ceiling = ceiling;
        }
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let starts = self.sides.iter().flatten();
        let points: usize = starts.map(|side| side.start.x.capacity() * 16).sum();
        points + self.boxes.len() * (size_of::<ProvedBox>() + 2 * size_of::<Visits>() + 1)
    }

    /// Returns the number of bytes of the certificates, which are kept while the node is worked on.
    pub(crate) fn certificate_bytes(&self) -> usize {
        let sides = self.certificates.iter().flatten();
        sides.map(Certificate::bytes).sum()
    }

    /// Shrinks the boxes of the ridges by one direction per feature; returns false at a limit.
    pub(crate) fn begin(
        &mut self,
        quadratic: &Quadratic,
        choice: Choice,
        crew: &mut Crew,
        limits: &Limits,
    ) -> bool {
        let budget = &Budget::new(choice, self.ceiling);
        self.measure(quadratic);
        let mut directions = Vec::with_capacity(quadratic.size());
        for batch in self.batches(crew) {
            if limits.stop() {
                return false;
            }
            let sides = Sides {
                quadratic,
                boxes: &self.boxes,
                ends: &self.ends,
                budget,
            };
            let mut begun: Vec<_> = batch.map(|j| (j, None)).collect();
            crew.each(&mut begun, |(j, found), room| {
                let (direction, weight) = Direction::new(&sides, *j, room);
                let x = room.point.x.iter().enumerate();
                let x: Vec<_> = x.filter(|(i, x)| **x != 0.0 && i != j).collect();
                let x = x.into_iter().map(|(i, x)| (i as u32, *x)).collect();
                *found = Some((direction, weight, x));
            });
            for (j, found) in begun {
                let Some((direction, weight, x)) = found else {
                    return false;
                };
                let x: Vec<(u32, f64)> = x;
                let end = self.boxes[j].reach();
                for (at, side) in SIDES.into_iter().enumerate() {
                    let start = &mut self.sides[j][at].start;
                    // For now, shares of the reach of the box; they are multiplied by its end below.
                    let shares = x.iter().map(|(i, x)| (*i, side.sign() * x / end));
                    start.x = shares.collect();
                    start.weight = weight / (end * end);
                }
                directions.push(direction);
            }
        }
        let mut scratch = Vec::new();
        loop {
            let mut shares = 0.0;
            for (j, direction) in directions.iter().enumerate() {
                let before = self.boxes[j].reach();
                for side in SIDES {
                    let (boxes, at) = (&self.boxes, (j, side));
                    let found = direction.end(quadratic, boxes, at, budget, &mut scratch);
                    if let Some(end) = found {
                        self.boxes[j].shrink(side, end);
                    }
                }
                let is_zero = before == 0.0;
                shares += if is_zero {
                    1.0
                } else {
                    self.boxes[j].reach() / before
                };
            }
            if limits.stop() {
                return false;
            }
            if shares > LITTLE * directions.len() as f64 {
                break;
            }
        }
        for (sides, known) in self.sides.iter_mut().zip(&self.boxes) {
            for (visits, side) in sides.iter_mut().zip(SIDES) {
                let (end, start) = (known.end(side), &mut visits.start);
                start.x.iter_mut().for_each(|(_, x)| *x *= end);
                start.weight *= end * end;
            }
        }
        true
    }

    /// Updates the ends in units of the columns.
    fn measure(&mut self, quadratic: &Quadratic) {
        let ends = self.boxes.iter().zip(&quadratic.sizes);
        self.ends.clear();
        self.ends
            .extend(ends.map(|(known, size)| Ends::new(*known, *size)));
    }

    fn shrink(&mut self, quadratic: &Quadratic, (j, side): (usize, Side), end: f64) {
        self.boxes[j].shrink(side, end);
        self.ends[j] = Ends::new(self.boxes[j], quadratic.sizes[j]);
    }

    /// Visits every side that is worthwhile, each with what was proved before. Several threads visit a batch of columns
    /// at a time.
    pub(crate) fn round(
        &mut self,
        quadratic: &Quadratic,
        choice: Choice,
        crew: &mut Crew,
        limits: &Limits,
    ) -> Round {
        let budget = &Budget::new(choice, self.ceiling);
        let d = quadratic.size();
        self.measure(quadratic);
        let bytes = 8 * (d as u64).pow(2);
        if d <= MOST_KEPT && !limits.is_short(bytes) {
            self.certificates.resize(d, Default::default());
        }
        let before: Vec<f64> = self.boxes.iter().map(|known| known.reach()).collect();
        for batch in self.batches(crew) {
            let mut columns: Vec<Column> = batch.map(|j| self.take(j)).collect();
            let is_stopped = limits.stop();
            if !is_stopped {
                let known = &*self;
                crew.each(&mut columns, |column, room| {
                    known.visit(quadratic, budget, column, room);
                });
            }
            for column in columns {
                self.put(quadratic, column);
            }
            if is_stopped {
                return Round::Stopped;
            }
        }
        self.apply_again(quadratic, budget, crew.own(), limits);
        let share = self.share_of(&before);
        self.rounds += 1;
        if share > LITTLE && self.rounds == 1 {
            self.is_raised = true;
            let visits = self.sides.iter_mut().flatten();
            visits.for_each(|visits| visits.rest = (0, 0));
        }
        Round::Done(share)
    }

    /// Returns the mean share that is left of boxes whose reaches were `before`.
    fn share_of(&self, before: &[f64]) -> f64 {
        mean_share(before, self.boxes.iter().map(|known| known.reach()))
    }

    /// Returns the columns in batches that a crew visits together.
    fn batches(&self, crew: &Crew) -> impl Iterator<Item = Range<usize>> + use<> {
        let (size, batch) = (self.boxes.len(), crew.batch());
        let first = (0..size).step_by(batch);
        first.map(move |first| first..(first + batch).min(size))
    }

    /// Takes out the state that a visit to a column changes.
    fn take(&mut self, j: usize) -> Column {
        Column {
            j,
            sides: std::mem::take(&mut self.sides[j]),
            certificates: self
                .certificates
                .get_mut(j)
                .map(std::mem::take)
                .unwrap_or_default(),
            shrunk: [None; 2],
        }
    }

    /// Puts the state of a column back, with what the visit proved.
    fn put(&mut self, quadratic: &Quadratic, column: Column) {
        let j = column.j;
        self.sides[j] = column.sides;
        if let Some(certificates) = self.certificates.get_mut(j) {
            *certificates = column.certificates;
        }
        for (shrunk, side) in column.shrunk.into_iter().zip(SIDES) {
            if let Some(shrunk) = shrunk {
                self.shrink(quadratic, (j, side), shrunk.end);
                self.needed[j] |= shrunk.is_needed;
            }
        }
    }

    /// Shrinks the sides of a column by points of their own, except for sides that skip this round.
    fn visit(&self, quadratic: &Quadratic, budget: &Budget, column: &mut Column, room: &mut Room) {
        let sides = Sides {
            quadratic,
            boxes: &self.boxes,
            ends: &self.ends,
            budget,
        };
        let effort = if self.is_raised { &RAISED } else { &USUAL };
        let j = column.j;
        for (at, side) in SIDES.into_iter().enumerate() {
            let visits = &mut column.sides[at];
            let end = self.boxes[j].end(side);
            if end == 0.0 {
                continue;
            }
            if visits.rest.0 > 0 {
                visits.rest.0 -= 1;
                continue;
            }
            if visits.start.weight == 0.0 {
                visits.start.weight = WEIGHT * quadratic.row(j)[j] * end * end;
            }
            let certificate = &mut column.certificates[at];
            let shrunk = sides.shrink(j, side, &mut visits.start, certificate, effort, room);
            let is_stalled = shrunk.end > STALLED * end;
            let rest = if is_stalled { visits.rest.1 + 1 } else { 0 };
            visits.rest = (rest, rest);
            column.shrunk[at] = Some(shrunk);
        }
    }

    /// Applies the known certificates to the current boxes again, as long as that shrinks them.
    fn apply_again(
        &mut self,
        quadratic: &Quadratic,
        budget: &Budget,
        room: &mut Room,
        limits: &Limits,
    ) {
        let mut certificates = std::mem::take(&mut self.certificates);
        for _ in 0..MOST_REPEATS {
            let before: Vec<f64> = self.boxes.iter().map(|known| known.reach()).collect();
            for (j, own) in certificates.iter_mut().enumerate() {
                for (certificate, side) in own.iter_mut().zip(SIDES) {
                    let end = self.boxes[j].end(side);
                    if end == 0.0 || !certificate.is_known() {
                        continue;
                    }
                    let proved = certificate.end(j, &self.ends, budget, &mut room.scratch);
                    if let Some(proved) = proved.filter(|proved| proved.end < end) {
                        self.shrink(quadratic, (j, side), proved.end);
                        self.needed[j] |= proved.is_needed;
                    }
                }
            }
            if self.share_of(&before) > WORTH_REPEATING || limits.stop() {
                break;
            }
        }
        self.certificates = certificates;
    }
}
