//! The best models of the resamples so far, and the file from which a run resumes.

use l0star::{Error, Solution};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "l0star-stability";
const VERSION: u64 = 1;

/// The best model of a resample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// Number of the resample.
    pub at: usize,
    /// The coefficients of its columns, in order. With several responses or classes, those of each follow one
    /// another: column j of response r, of d columns, is `r d + j`.
    pub coefficients: Vec<(usize, f64)>,
    /// Whether it is proved to be the best model.
    pub proved: bool,
    /// Number of search nodes.
    pub nodes: u64,
}

impl Drawn {
    /// Creates an entry from the solution of a resample; `columns` are those of the
    /// model, including the free ones.
    pub fn new(at: usize, solution: &Solution, columns: &[usize]) -> Self {
        let outputs = solution.intercepts().count();
        let features = solution.coefficients.len() / outputs;
        let places = (0..outputs).flat_map(|r| columns.iter().map(move |j| r * features + j));
        let coefficients = places.map(|at| (at, solution.coefficients[at]));
        Self {
            at,
            coefficients: coefficients.collect(),
            proved: solution.lower_bound.is_some() && !solution.status.falls_short(),
            nodes: solution.nodes,
        }
    }
}

/// The models of a run, with a key that identifies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnFile {
    format: String,
    version: u64,
    /// A description of the data, the problem and the resampling.
    pub key: String,
    /// Total seconds of all runs so far.
    pub seconds: f64,
    /// The models, ordered by the numbers of their resamples.
    pub drawn: Vec<Drawn>,
}

impl DrawnFile {
    /// Creates a file without models.
    pub fn new(key: String) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            key,
            seconds: 0.0,
            drawn: Vec::new(),
        }
    }

    /// Encodes the file.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("models have no keys but strings")
    }

    /// Decodes a file.
    pub fn decode(bytes: &[u8]) -> l0star::Result<Self> {
        let refuse = |reason: String| Error::Checkpoint { reason };
        let file: Self = serde_json::from_slice(bytes)
            .map_err(|error| refuse(format!("it is no file of resamples, or damaged ({error})")))?;
        if file.format != FORMAT || file.version > VERSION {
            return Err(refuse("it is of another kind or of a later version".into()));
        }
        let finite = |drawn: &Drawn| drawn.coefficients.iter().all(|(_, x)| x.is_finite());
        if !file.drawn.iter().all(finite) {
            return Err(refuse("it has coefficients that are not finite".into()));
        }
        Ok(file)
    }

    /// Fails for models of other data, another problem or other resamples.
    pub fn check(&self, key: &str, columns: usize) -> l0star::Result<()> {
        let known = |drawn: &Drawn| drawn.coefficients.iter().all(|(j, _)| *j < columns);
        if self.key == key && self.drawn.iter().all(known) {
            return Ok(());
        }
        Err(Error::Checkpoint {
            reason: "it belongs to other data, options or resamples".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_damaged_is_refused() {
        let mut file = DrawnFile::new("data k=3".into());
        file.drawn.push(Drawn {
            at: 4,
            coefficients: vec![(1, 0.1 + 0.2)],
            proved: true,
            nodes: 7,
        });
        let bytes = file.encode();
        assert_eq!(DrawnFile::decode(&bytes).unwrap(), file);
        assert!(file.check("data k=3", 2).is_ok());
        assert!(file.check("data k=3", 1).is_err());
        assert!(file.check("data k=4", 2).is_err());
        for bytes in [&bytes[..bytes.len() / 2], b"{}", b""] {
            assert!(DrawnFile::decode(bytes).is_err());
        }
    }
}
