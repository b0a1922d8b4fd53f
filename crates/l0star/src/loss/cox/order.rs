//! Risk sets: the event times of each stratum, in order, and sums over the rows at risk.
//!
//! Event times are numbered stratum by stratum, in order of time. Row i is at risk at the times `first_i … last_i`:
//! those after its entry and up to its own time. Rows with an event at a time are summed separately from the others
//! there, since ties count them by shares. Where θ ≥ 0, all sums are of numbers ≥ 0 and no difference is taken:
//! nothing cancels.

use std::ops::Range;

use super::wide::{Part, Wide};

/// The rows with an event at one time of a stratum.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub stratum: u32,
    pub time: f64,
    /// Positions of these rows in [`Order::events`].
    pub events: Range<usize>,
    /// Terms of the likelihood: as many as events (Efron), or one (Breslow).
    pub terms: Range<usize>,
}

/// The rows in the order of their risk sets.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub moments: Vec<Moment>,
    /// Rows with an event, by moments.
    pub events: Vec<usize>,
    /// For each row, the moments at which it is at risk without having its event there.
    pub at_risk: Vec<Range<usize>>,
    /// For each row, the moment of its event.
    pub own: Vec<Option<usize>>,
    /// The moments of each stratum.
    strata: Vec<Range<usize>>,
    /// Whether every row is at risk from the first moment of its stratum on.
    is_nested: bool,
}

impl Order {
    /// Creates the order from times, event marks, strata and, where rows enter late, entry times. `terms` gives the
    /// number of terms of the likelihood for a number of tied events.
    pub(super) fn new(
        times: &[f64],
        is_event: &[bool],
        strata: &[u32],
        entry: &[f64],
        terms: impl Fn(usize) -> usize,
    ) -> Self {
        let rows = times.len();
        let stratum = |i: usize| strata.get(i).copied().unwrap_or(0);
        let mut events: Vec<usize> = (0..rows).filter(|i| is_event[*i]).collect();
        let key = |i: &usize| (stratum(*i), times[*i]);
        let order = |a: (u32, f64), b: (u32, f64)| a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1));
        events.sort_by(|i, j| order(key(i), key(j)));
        let mut moments: Vec<Moment> = Vec::new();
        let mut keys: Vec<(u32, f64)> = Vec::new();
        let mut own = vec![None; rows];
        let (mut start, mut term) = (0, 0);
        for tied in events.chunk_by(|i, j| key(i) == key(j)) {
            let count = terms(tied.len());
            for i in tied {
                own[*i] = Some(moments.len());
            }
            let (stratum, time) = key(&tied[0]);
            moments.push(Moment {
                stratum,
                time,
                events: start..start + tied.len(),
                terms: term..term + count,
            });
            keys.push((stratum, time));
            (start, term) = (start + tied.len(), term + count);
        }
        let mut by_stratum = Vec::new();
        let mut first = 0;
        for same in keys.chunk_by(|a, b| a.0 == b.0) {
            by_stratum.push(first..first + same.len());
            first += same.len();
        }
        let at_risk: Vec<Range<usize>> = (0..rows)
            .map(|i| {
                let own_stratum = stratum(i);
                let begin = keys.partition_point(|key| key.0 < own_stratum);
                let until = |time: f64| {
                    keys.partition_point(|key| {
                        key.0 < own_stratum || key.0 == own_stratum && key.1 <= time
                    })
                };
                let from = entry.get(i).map_or(begin, |entry| until(*entry));
                let end = until(times[i]) - usize::from(own[i].is_some());
                from..end.max(from)
            })
            .collect();
        Self {
            moments,
            events,
            is_nested: entry.is_empty(),
            at_risk,
            own,
            strata: by_stratum,
        }
    }

    /// Number of terms of the likelihood.
    pub(super) fn terms(&self) -> usize {
        self.moments.last().map_or(0, |moment| moment.terms.end)
    }

    /// Sums numbers of the rows at each moment: over those at risk without an event there, and over those with one.
    pub(super) fn gather<T: Part>(&self, rows: &[Wide<T>]) -> (Vec<Wide<T>>, Vec<Wide<T>>) {
        let tied = self.moments.iter().map(|moment| {
            let own = self.events[moment.events.clone()].iter();
            own.fold(Wide::default(), |sum, i| sum + rows[*i])
        });
        let tied = tied.collect();
        let mut others = vec![Wide::default(); self.moments.len()];
        if self.is_nested {
            for (range, row) in self.at_risk.iter().zip(rows) {
                if !range.is_empty() {
                    others[range.end - 1] = others[range.end - 1] + *row;
                }
            }
            for stratum in &self.strata {
                for m in stratum.clone().rev().skip(1) {
                    others[m] = others[m] + others[m + 1];
                }
            }
            return (others, tied);
        }
        // A tree of sums: node v covers the nodes 2v and 2v + 1, and the moments are its leaves.
        let leaves = self.moments.len();
        let mut tree = vec![Wide::default(); 2 * leaves];
        for (range, row) in self.at_risk.iter().zip(rows) {
            cover(range, leaves, |node| tree[node] = tree[node] + *row);
        }
        for node in 2..2 * leaves {
            tree[node] = tree[node] + tree[node / 2];
        }
        others.copy_from_slice(&tree[leaves..]);
        (others, tied)
    }

    /// Weights of the pairs of a row with an event and one that is at risk then without one: of the pairs that z
    /// orders correctly (ties half), and of all pairs.
    pub(super) fn pairs(&self, z: &[f64], weights: &[f64]) -> (f64, f64) {
        let mut sorted: Vec<f64> = z.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        let rank = |i: usize| sorted.partition_point(|v| v.total_cmp(&z[i]).is_lt());
        // The rows that enter and leave the risk set before each moment.
        let mut coming: Vec<Vec<usize>> = vec![Vec::new(); self.moments.len()];
        let mut leaving = coming.clone();
        for (i, range) in self
            .at_risk
            .iter()
            .enumerate()
            .filter(|(_, r)| !r.is_empty())
        {
            coming[range.start].push(i);
            if let Some(list) = leaving.get_mut(range.end) {
                list.push(i);
            }
        }
        let mut at_risk = Ranks::new(sorted.len());
        let (mut right, mut all) = (0.0, 0.0);
        for (m, moment) in self.moments.iter().enumerate() {
            leaving[m]
                .iter()
                .for_each(|i| at_risk.add(rank(*i), -weights[*i]));
            coming[m]
                .iter()
                .for_each(|i| at_risk.add(rank(*i), weights[*i]));
            for i in &self.events[moment.events.clone()] {
                let (below, same) = (at_risk.below(rank(*i)), at_risk.below(rank(*i) + 1));
                right += weights[*i] * 0.5 * (below + same);
                all += weights[*i] * at_risk.below(sorted.len());
            }
        }
        (right, all)
    }

    /// For each row, sums numbers of the moments at which it is at risk without an event there.
    pub(super) fn spread<T: Part>(&self, at_risk: &[Wide<T>], mut row: impl FnMut(usize, Wide<T>)) {
        if self.is_nested {
            let mut sums = at_risk.to_vec();
            for stratum in &self.strata {
                for m in stratum.clone().skip(1) {
                    sums[m] = sums[m] + sums[m - 1];
                }
            }
            for (i, range) in self.at_risk.iter().enumerate() {
                let sum = if range.is_empty() {
                    Wide::default()
                } else {
                    sums[range.end - 1]
                };
                row(i, sum);
            }
            return;
        }
        let leaves = self.moments.len();
        let mut tree = vec![Wide::default(); 2 * leaves];
        tree[leaves..].copy_from_slice(at_risk);
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node] + tree[2 * node + 1];
        }
        for (i, range) in self.at_risk.iter().enumerate() {
            let mut sum = Wide::default();
            cover(range, leaves, |node| sum = sum + tree[node]);
            row(i, sum);
        }
    }
}

/// Weights by rank, with sums over all ranks below one (a Fenwick tree).
struct Ranks {
    tree: Vec<f64>,
}

impl Ranks {
    fn new(count: usize) -> Self {
        Self {
            tree: vec![0.0; count + 1],
        }
    }

    fn add(&mut self, rank: usize, weight: f64) {
        let mut node = rank + 1;
        while node < self.tree.len() {
            self.tree[node] += weight;
            node += node & node.wrapping_neg();
        }
    }

    fn below(&self, rank: usize) -> f64 {
        let (mut node, mut sum) = (rank, 0.0);
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }
}

/// Visits the nodes of a tree with this many leaves that cover a range of them, each leaf once.
fn cover(range: &Range<usize>, leaves: usize, mut visit: impl FnMut(usize)) {
    let (mut low, mut high) = (range.start + leaves, range.end + leaves);
    while low < high {
        if low % 2 == 1 {
            visit(low);
            low += 1;
        }
        if high % 2 == 1 {
            high -= 1;
            visit(high);
        }
        (low, high) = (low / 2, high / 2);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    /// Sums over risk sets, one row after the other.
    #[test]
    fn sums_are_those_of_the_definition() {
        let value = |i: usize| 1.0 + (i * 37 % 11) as f64;
        for late in [false, true] {
            for rows in [1, 2, 3, 7, 40] {
                let times: Vec<f64> = (0..rows).map(|i| (i * 7 % 5 + 2) as f64).collect();
                let is_event: Vec<bool> = (0..rows).map(|i| i % 3 != 1).collect();
                let strata: Vec<u32> = (0..rows).map(|i| [9, 2, 4][i / 2 % 3]).collect();
                let entry = |i: usize| times[i] - 1.0 - (i % 4) as f64;
                let entry: Vec<f64> = (0..rows).filter(|_| late).map(entry).collect();
                let order = Order::new(&times, &is_event, &strata, &entry, |count| count);
                let terms = is_event.iter().filter(|is| **is).count();
                assert_eq!(order.terms(), terms);
                let theta: Vec<Wide<f64>> = (0..rows).map(|i| Wide::from(value(i))).collect();
                let (others, tied) = order.gather(&theta);
                let is_at = |j: usize, e: usize| {
                    let has_entered = entry.get(j).is_none_or(|entry| *entry < times[e]);
                    strata[j] == strata[e] && times[j] >= times[e] && has_entered
                };
                let is_tied = |j: usize, e: usize| {
                    strata[j] == strata[e] && times[j] == times[e] && is_event[j]
                };
                let mut back = vec![0.0; rows];
                for (m, moment) in order.moments.iter().enumerate() {
                    let e = order.events[moment.events.start];
                    let all = (0..rows).filter(|j| is_at(*j, e) && !is_tied(*j, e));
                    let sum: f64 = all.clone().map(value).sum();
                    assert_eq!(others[m].value(), sum);
                    all.for_each(|j| back[j] += 1.0 + m as f64);
                    let own = (0..rows).filter(|j| is_tied(*j, e));
                    assert_eq!(tied[m].value(), own.clone().map(value).sum::<f64>());
                    own.for_each(|j| assert_eq!(order.own[j], Some(m)));
                }
                let z: Vec<f64> = (0..rows).map(|i| (i * 29 % 7) as f64).collect();
                let weights: Vec<f64> = (0..rows).map(|i| 1.0 + (i % 2) as f64).collect();
                let (mut right, mut all) = (0.0, 0.0);
                for e in (0..rows).filter(|e| is_event[*e]) {
                    for j in (0..rows).filter(|j| is_at(*j, e) && !is_tied(*j, e)) {
                        let in_order = match z[e].total_cmp(&z[j]) {
                            Ordering::Greater => 1.0,
                            Ordering::Equal => 0.5,
                            Ordering::Less => 0.0,
                        };
                        right += weights[e] * weights[j] * in_order;
                        all += weights[e] * weights[j];
                    }
                }
                assert_eq!(order.pairs(&z, &weights), (right, all));
                let moments = 0..order.moments.len();
                let each: Vec<Wide<f64>> = moments.map(|m| Wide::from(1.0 + m as f64)).collect();
                let mut seen = 0;
                order.spread(&each, |i, sum| {
                    assert_eq!(sum.value(), back[i]);
                    seen += 1;
                });
                assert_eq!(seen, rows);
            }
        }
    }
}
