//! A search as bytes: what is open, what was discarded, the best model; to be written somewhere and taken up again.
//!
//! ```text
//! magic (8) · version (u32) · length of the payload (u64) · payload · BLAKE3 of all that (32), little-endian
//! ```
//!
//! The payload says which problem and settings it belongs to. Nodes are in the problem's own columns, so that any tree
//! can take them up: nothing of a frame or of a Gram matrix is kept but which columns it had. A node's bound holds for
//! models no worse than the incumbents of its time, and so for those no worse than the incumbent that is kept.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Incumbent;
use super::context::Counters;
use super::pool::{Entry, Pool};
use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::problem::{Problem, Stored};
use crate::restricted::Fit;
use crate::settings::{Method, Settings};

const MAGIC: [u8; 8] = *b"L0*SRCH\n";
const VERSION: u32 = 2;
const HEADER: usize = MAGIC.len() + 4 + 8;
const HASH: usize = blake3::OUT_LEN;

/// The state of a search between two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    origin: Origin,
    pub(crate) state: State,
}

/// Which problem and which settings a search belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Origin {
    rows: u64,
    columns: u64,
    loss: String,
    k: u64,
    gap: f64,
    relative_gap: f64,
    top: u64,
    within: Option<f64>,
    /// Of everything that makes the objective.
    data: [u8; HASH],
}

/// What has to be known to go on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub seconds: f64,
    pub calls: u64,
    pub nodes: u64,
    pub peak_open: u64,
    pub features_left: u64,
    /// Whether there were nodes yet. If not, the search starts anew, with the incumbent.
    pub started: bool,
    pub base: f64,
    pub floor: Option<f64>,
    /// The best models, best first.
    models: Vec<SavedModel>,
    evicted: Option<f64>,
    pub frames: Vec<SavedFrame>,
    warm_starts: Vec<Vec<(u32, f32)>>,
    pub open: Vec<SavedNode>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedModel {
    support: Vec<u32>,
    x: Vec<(u32, f64)>,
    objective: f64,
    evidence: Option<f64>,
}

/// A set of columns that nodes have in common: those that are in, and those that their bits are about. All others are
/// out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedFrame {
    pub inside: Vec<u32>,
    pub columns: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedNode {
    pub low: f64,
    pub depth: u32,
    pub frame: u32,
    pub warm: Option<u32>,
    /// One bit a column of the frame, in words of eight.
    pub inside: Vec<u8>,
    pub outside: Vec<u8>,
}

impl SavedNode {
    pub(crate) fn is_inside(&self, i: usize) -> bool {
        bit(&self.inside, i)
    }

    pub(crate) fn is_outside(&self, i: usize) -> bool {
        bit(&self.outside, i)
    }

    pub(crate) fn low(&self) -> Certified {
        Certified::restored(self.low)
    }
}

fn bit(bits: &[u8], i: usize) -> bool {
    bits[i / 8] >> (i % 8) & 1 == 1
}

/// Bits of a function of the columns of a frame.
pub(crate) fn bits(count: usize, set: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut bits = vec![0; count.div_ceil(8)];
    for i in (0..count).filter(|i| set(*i)) {
        bits[i / 8] |= 1 << (i % 8);
    }
    bits
}

/// A node that is given by the selectable columns that are in and free, all others being out.
#[derive(Debug)]
pub(crate) struct ListedNode {
    pub low: Certified,
    pub depth: usize,
    pub inside: Vec<u32>,
    pub free: Vec<u32>,
    pub warm: Option<u32>,
}

/// Nodes on their way into a checkpoint: what they share is written once.
#[derive(Debug, Default)]
pub struct Draft {
    pub(crate) state: State,
    listed: Vec<ListedNode>,
    frames: HashMap<usize, u32>,
    warm_starts: HashMap<usize, u32>,
}

impl Draft {
    /// Nodes to come.
    pub(crate) fn new(state: State) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    /// The number of a frame; `key` is its address, `frame` makes it when it is new.
    pub(crate) fn frame(&mut self, key: usize, frame: impl FnOnce() -> SavedFrame) -> u32 {
        let frames = &mut self.state.frames;
        *self.frames.entry(key).or_insert_with(|| {
            frames.push(frame());
            frames.len() as u32 - 1
        })
    }

    /// The number of a warm start: (column, coefficient).
    pub(crate) fn warm(&mut self, key: usize, warm: impl FnOnce() -> Vec<(usize, f64)>) -> u32 {
        let starts = &mut self.state.warm_starts;
        *self.warm_starts.entry(key).or_insert_with(|| {
            let warm = warm().into_iter();
            // Whatever single precision does not hold is no good start.
            let narrow = warm.map(|(j, x)| (j as u32, x as f32));
            starts.push(narrow.filter(|(_, x)| x.is_finite()).collect());
            starts.len() as u32 - 1
        })
    }

    /// A node that is given by the selectable columns that are in and free.
    pub(crate) fn add(&mut self, node: ListedNode) {
        self.listed.push(node);
    }

    /// The state with all nodes. Those given by lists share one frame: every column that one of them has left.
    pub(crate) fn finish(self) -> State {
        let mut state = self.state;
        if self.listed.is_empty() {
            return state;
        }
        let alive = |node: &ListedNode| [&node.inside[..], &node.free].concat();
        let mut columns: Vec<u32> = self.listed.iter().flat_map(alive).collect();
        columns.sort_unstable();
        columns.dedup();
        let count = columns.len();
        let frame = state.frames.len() as u32;
        for node in self.listed {
            let at = |set: &[u32]| -> Vec<usize> {
                let found = set.iter().map(|j| columns.partition_point(|c| c < j));
                found.collect()
            };
            let mut outside = vec![true; count];
            let mut inside = vec![false; count];
            at(&node.free).iter().for_each(|i| outside[*i] = false);
            at(&node.inside).iter().for_each(|i| {
                outside[*i] = false;
                inside[*i] = true;
            });
            state.open.push(SavedNode {
                low: node.low.value(),
                depth: node.depth as u32,
                frame,
                warm: node.warm,
                inside: bits(count, |i| inside[i]),
                outside: bits(count, |i| outside[i]),
            });
        }
        let inside = Vec::new();
        state.frames.push(SavedFrame { inside, columns });
        state
    }
}

impl State {
    pub(crate) fn set_counters(&mut self, counters: &Counters) {
        self.calls = counters.calls;
        self.nodes = counters.nodes;
        self.peak_open = counters.peak_open;
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            calls: self.calls,
            nodes: self.nodes,
            peak_open: self.peak_open,
        }
    }

    pub(crate) fn set_models(&mut self, pool: &Pool) {
        let entries = pool.entries.iter();
        let saved = entries.map(|Entry { model, evidence }| SavedModel {
            support: model.support.iter().map(|j| *j as u32).collect(),
            x: model.fit.x.iter().map(|(j, x)| (*j as u32, *x)).collect(),
            objective: model.fit.objective,
            evidence: evidence.map(Certified::value),
        });
        self.models = saved.collect();
        self.evicted = pool.evicted.map(Certified::value);
    }

    pub(crate) fn models(&self) -> impl Iterator<Item = Entry> + '_ {
        self.models.iter().map(|saved| Entry {
            model: Incumbent {
                support: saved.support.iter().map(|j| *j as usize).collect(),
                fit: Fit {
                    x: saved.x.iter().map(|(j, x)| (*j as usize, *x)).collect(),
                    objective: saved.objective,
                },
            },
            evidence: saved.evidence.map(Certified::restored),
        })
    }

    /// The evidence of models that lost their place in the list.
    pub(crate) fn evicted(&self) -> Option<Certified> {
        self.evicted.map(Certified::restored)
    }

    /// The warm starts: (column, coefficient).
    pub(crate) fn warm_starts(&self) -> impl Iterator<Item = Vec<(usize, f64)>> + '_ {
        let wide = |(j, x): &(u32, f32)| (*j as usize, f64::from(*x));
        let starts = self.warm_starts.iter();
        starts.map(move |start| start.iter().map(wide).collect())
    }

    /// The selectable columns that are in and free in a node, the free ones in order.
    pub(crate) fn sets(&self, node: &SavedNode) -> (Vec<usize>, Vec<usize>) {
        let frame = &self.frames[node.frame as usize];
        let mut inside: Vec<usize> = frame.inside.iter().map(|j| *j as usize).collect();
        let mut free = Vec::new();
        for (i, j) in frame.columns.iter().enumerate() {
            if node.is_inside(i) {
                inside.push(*j as usize);
            } else if !node.is_outside(i) {
                free.push(*j as usize);
            }
        }
        free.sort_unstable();
        (inside, free)
    }

    /// The evidence of what was discarded.
    pub(crate) fn floor(&self) -> Option<Certified> {
        self.floor.map(Certified::restored)
    }

    /// The bound of the whole problem.
    pub(crate) fn lower_bound(&self) -> Certified {
        let lows = self.open.iter().map(SavedNode::low).chain(self.floor());
        let bound = lows.chain(self.evicted()).reduce(Certified::and);
        let bound = bound.filter(|_| self.started);
        bound
            .unwrap_or(Certified::TRIVIAL)
            .or(Certified::restored(self.base))
    }

    /// Nothing of what is open can be better: its bounds are evidence.
    pub(crate) fn close(&mut self) {
        let lows = self.open.iter().map(SavedNode::low).chain(self.floor());
        self.floor = lows.reduce(Certified::and).map(Certified::value);
        self.open.clear();
        self.frames.clear();
        self.warm_starts.clear();
    }

    /// Every column that is not out in all open nodes, in order.
    pub(crate) fn alive(&self) -> Vec<usize> {
        let frames = self.frames.iter();
        let columns = frames.flat_map(|frame| frame.inside.iter().chain(&frame.columns));
        let mut columns: Vec<usize> = columns.map(|j| *j as usize).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Checkpoint {
    pub(crate) fn new(origin: &Stamp, state: State) -> Self {
        Self {
            origin: origin.0.clone(),
            state,
        }
    }

    /// The bytes, checksum included.
    pub fn encode(&self) -> Vec<u8> {
        let payload = postcard::to_allocvec(self).expect("memory takes any bytes");
        let mut bytes = Vec::with_capacity(HEADER + payload.len() + HASH);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&payload);
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        bytes
    }

    /// Refuses whatever [`Checkpoint::encode`] has not written, whole and unchanged.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let Some((start, rest)) = bytes.split_first_chunk::<8>() else {
            return refuse("it is no checkpoint: it is too short to be one");
        };
        if *start != MAGIC {
            return refuse("it is no checkpoint: it begins with something else");
        }
        let Some((version, rest)) = rest.split_first_chunk::<4>() else {
            return refuse("it is cut off");
        };
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return refuse(&format!(
                "its version is {version}, and this program reads version {VERSION}"
            ));
        }
        let Some((length, rest)) = rest.split_first_chunk::<8>() else {
            return refuse("it is cut off");
        };
        let length = u64::from_le_bytes(*length);
        let Some((payload, hash)) = rest.split_last_chunk::<HASH>() else {
            return refuse("it is cut off");
        };
        if payload.len() as u64 != length {
            return refuse("it is cut off, or something is behind its end");
        }
        if blake3::hash(&bytes[..bytes.len() - HASH]) != *hash {
            return refuse("its checksum is wrong: it was changed or damaged");
        }
        match postcard::take_from_bytes(payload) {
            Ok((checkpoint, [])) => Ok(checkpoint),
            _ => refuse("it cannot be read"),
        }
    }

    /// Whether it belongs to this problem and these settings, and is consistent with them.
    pub(crate) fn check(&self, stamp: &Stamp, problem: &Problem) -> Result<()> {
        let (old, new) = (&self.origin, &stamp.0);
        let differ =
            |what, saved: String, now: String| Err(Error::OtherSearch { what, saved, now });
        let counts = [
            ("rows", old.rows, new.rows),
            ("columns", old.columns, new.columns),
            ("k", old.k, new.k),
            ("top", old.top, new.top),
        ];
        for (what, saved, now) in counts {
            if saved != now {
                return differ(what, saved.to_string(), now.to_string());
            }
        }
        if old.loss != new.loss {
            return differ("loss", old.loss.clone(), new.loss.clone());
        }
        let gaps = [
            ("gap", old.gap, new.gap),
            ("relative_gap", old.relative_gap, new.relative_gap),
        ];
        for (what, saved, now) in gaps {
            if saved != now {
                return differ(what, saved.to_string(), now.to_string());
            }
        }
        if old.within != new.within {
            let word = |within: Option<f64>| within.map_or("none".to_owned(), |w| w.to_string());
            return differ("within", word(old.within), word(new.within));
        }
        if old.data != new.data {
            return refuse(
                "it belongs to other data (or another ridge, weights or offset, or other columns to choose from)",
            );
        }
        match self.state.find_fault(problem) {
            None => Ok(()),
            Some(fault) => refuse(&format!("it does not fit its own problem: {fault}")),
        }
    }
}

fn refuse<T>(reason: &str) -> Result<T> {
    Err(Error::Checkpoint {
        reason: reason.to_owned(),
    })
}

impl State {
    /// What no search could have left behind. A checksum keeps accidents out; this keeps out whatever would make us panic,
    /// and most of what would make us lie.
    fn find_fault(&self, problem: &Problem) -> Option<&'static str> {
        let evidence = [self.floor, self.evicted].map(|v| v.unwrap_or(0.0));
        let numbers = [self.seconds, self.base, evidence[0], evidence[1]];
        if numbers.iter().any(|v| !v.is_finite()) || !(0.0..1e15).contains(&self.seconds) {
            return Some("a number");
        }
        let mut selectable = vec![false; problem.design.columns()];
        problem
            .selectable
            .iter()
            .for_each(|j| selectable[*j] = true);
        let is_selectable = |j: &u32| selectable.get(*j as usize).copied().unwrap_or(false);
        let mut leader: Vec<u32> = (0..problem.design.columns() as u32).collect();
        for j in &problem.selectable {
            let members = problem.members(*j);
            members.iter().for_each(|i| leader[*i] = *j as u32);
        }
        let allowed = |model: &SavedModel| {
            problem.structure.as_ref().is_none_or(|structure| {
                let set: Vec<usize> = model.support.iter().map(|j| *j as usize).collect();
                let within = model.x.iter().all(|(j, x)| {
                    let (low, high) = structure.bounds[*j as usize];
                    low <= *x && *x <= high
                });
                within && structure.is_closed(&set)
            })
        };
        for model in &self.models {
            let rising = model.support.is_sorted_by(|a, b| a < b);
            let known = model.x.iter().all(|(j, x)| {
                let Some(j) = leader.get(*j as usize) else {
                    return false;
                };
                let in_model = !is_selectable(j) || model.support.binary_search(j).is_ok();
                in_model && x.is_finite()
            });
            if !rising
                || !known
                || !model.support.iter().all(is_selectable)
                || model.support.len() > problem.support_size()
                || !allowed(model)
            {
                return Some("the model");
            }
            let x: Vec<(usize, f64)> = model.x.iter().map(|(j, x)| (*j as usize, *x)).collect();
            let (saved, now) = (model.objective, problem.objective(&x));
            let close = 1e-6 * saved.abs() + 1e-9 * problem.null_value;
            let proved = model.evidence.unwrap_or(0.0);
            if !saved.is_finite() || (saved - now).abs() > close || !proved.is_finite() {
                return Some("the objective of the model");
            }
        }
        let mut seen = vec![usize::MAX; selectable.len()];
        for (at, frame) in self.frames.iter().enumerate() {
            let new =
                |j: &u32| is_selectable(j) && std::mem::replace(&mut seen[*j as usize], at) != at;
            if !frame.inside.iter().chain(&frame.columns).all(new) {
                return Some("a set of columns");
            }
        }
        for (j, x) in self.warm_starts.iter().flatten() {
            if *j as usize >= problem.design.columns() || !x.is_finite() {
                return Some("a starting point");
            }
        }
        let bad = |node: &SavedNode| {
            let Some(frame) = self.frames.get(node.frame as usize) else {
                return true;
            };
            let count = frame.columns.len();
            let words = count.div_ceil(8);
            if node.inside.len() != words || node.outside.len() != words {
                return true;
            }
            let inside = (0..8 * words).filter(|i| node.is_inside(*i)).count();
            let beyond = (count..8 * words).any(|i| node.is_inside(i) || node.is_outside(i));
            let both = (0..count).any(|i| node.is_inside(i) && node.is_outside(i));
            let warm = node
                .warm
                .is_some_and(|at| at as usize >= self.warm_starts.len());
            let too_many = frame.inside.len() + inside > problem.support_size();
            beyond || both || warm || too_many || !node.low.is_finite()
        };
        self.open.iter().any(bad).then_some("a node")
    }
}

/// Which problem and which settings a run is about: costly for large data, so made once.
#[derive(Debug, Clone)]
pub(crate) struct Stamp(Origin);

impl Stamp {
    /// Only for the method whose searches can be taken up again.
    pub(crate) fn new(problem: &Problem, settings: &Settings) -> Result<Self> {
        if settings.method != Method::BestFirst {
            return Err(Error::Setting {
                name: "method",
                value: settings.method.to_string(),
                range: "only a search with method best-first can be written to a checkpoint and resumed",
            });
        }
        Ok(Self(Origin {
            rows: problem.rows() as u64,
            columns: problem.columns() as u64,
            loss: problem.loss.name().to_owned(),
            k: problem.k as u64,
            gap: settings.gap,
            relative_gap: settings.relative_gap,
            top: settings.list_length() as u64,
            within: settings.within,
            data: fingerprint(problem),
        }))
    }
}

/// A hash of everything that makes the objective, and of which columns can be chosen.
fn fingerprint(problem: &Problem) -> [u8; HASH] {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::new();
    let mut numbers = |values: &[f64]| {
        buffer.clear();
        buffer.extend_from_slice(&(values.len() as u64).to_le_bytes());
        for value in values {
            buffer.extend_from_slice(&value.to_le_bytes());
        }
        hasher.update(&buffer);
    };
    for j in 0..problem.design.columns() {
        let (centre, scale) = problem.design.view(j);
        match problem.design.stored(j) {
            Stored::Dense(values) => {
                numbers(&[0.0, centre, scale]);
                numbers(values);
            }
            Stored::Sparse(rows, values) => {
                numbers(&[1.0, centre, scale]);
                let rows: Vec<f64> = rows.iter().map(|i| f64::from(*i)).collect();
                numbers(&rows);
                numbers(values);
            }
        }
    }
    numbers(&problem.b);
    numbers(&problem.p);
    numbers(&problem.offset);
    numbers(&problem.ridge);
    // The parameters of a loss show in its domain.
    let (low, high) = problem.loss.domain(1.0);
    numbers(&[low, high, problem.loss.smoothness()]);
    let roles = [
        &problem.selectable,
        &problem.penalised,
        problem.unpenalised.columns(),
    ];
    for columns in roles {
        let columns: Vec<f64> = columns.iter().map(|j| *j as f64).collect();
        numbers(&columns);
    }
    if let Some(structure) = &problem.structure {
        let lists = structure.members.iter().map(|members| &**members);
        let lists = lists.chain(structure.ancestors.iter().map(|needed| &**needed));
        for columns in lists {
            let columns: Vec<f64> = columns.iter().map(|j| *j as f64).collect();
            numbers(&columns);
        }
        let (low, high): (Vec<f64>, Vec<f64>) = structure.bounds.iter().copied().unzip();
        numbers(&low);
        numbers(&high);
    }
    *hasher.finalize().as_bytes()
}
