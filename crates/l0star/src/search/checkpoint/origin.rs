//! [`Stamp`]: which problem and settings a checkpoint belongs to. A run with others is refused.

use serde::{Deserialize, Serialize};

use super::refuse;
use crate::error::{Error, Result};
use crate::problem::{Full, Problem, Stored};
use crate::settings::{Method, Settings};

const HASH: usize = blake3::OUT_LEN;
/// Count of numbers hashed at a time.
const HASHED: usize = 4096;

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
    /// Hash of everything that determines the objective.
    data: [u8; HASH],
}

/// The problem and the settings that a run belongs to. It is costly for large data, and so made once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stamp(Origin);

impl Stamp {
    /// Makes the stamp; refuses methods whose searches cannot be resumed.
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

    /// Checks that a state with this stamp belongs to the problem and the settings of `now`.
    pub(crate) fn check(&self, now: &Self) -> Result<()> {
        self.0.check(&now.0)
    }
}

impl Origin {
    fn check(&self, new: &Self) -> Result<()> {
        let old = self;
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
                "it belongs to other data (or another ridge, l0 penalty, weights or offset, or other columns to choose from)",
            );
        }
        Ok(())
    }
}

/// A hash of everything that determines the objective, and of which columns can be chosen.
fn fingerprint(problem: &Problem) -> [u8; HASH] {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::new();
    let mut all = |values: Full| {
        hasher.update(&(values.len() as u64).to_le_bytes());
        values.each(0..values.len(), |_, values| {
            for part in values.chunks(HASHED) {
                buffer.clear();
                buffer.extend(part.iter().flat_map(|value| value.to_le_bytes()));
                hasher.update(&buffer);
            }
        });
    };
    for j in 0..problem.design.columns() {
        let (centre, scale) = problem.design.view(j);
        match problem.design.stored(j) {
            Stored::Dense(values) => {
                all(Full::of(&[0.0, centre, scale]));
                all(values);
            }
            Stored::Sparse(rows, values) => {
                all(Full::of(&[1.0, centre, scale]));
                let rows: Vec<f64> = rows.iter().map(|i| f64::from(*i)).collect();
                all(Full::of(&rows));
                all(Full::of(values));
            }
        }
    }
    let mut numbers = |values: &[f64]| all(Full::of(values));
    // The same columns may come from a view that was given. Then the coefficients are those of the view.
    if let Some(scales) = problem.scales() {
        numbers(scales);
    }
    numbers(&problem.b);
    numbers(&problem.p);
    numbers(&problem.offset);
    numbers(&problem.ridge);
    // The domain shows the parameters of a loss.
    let (low, high) = problem.loss.domain(1.0);
    numbers(&[low, high, problem.loss.smoothness()]);
    if let Some(joint) = problem.joint() {
        numbers(&joint.fingerprint());
    }
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
        if structure.priced {
            numbers(&structure.costs);
        }
    }
    *hasher.finalize().as_bytes()
}
