//! [`MomentFile`]: the moments of a data set in an `.l0m` file, with everything that a model needs
//! to know about the columns.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use l0star::problem::Moments;
use l0star_data::{DataError, Indicator, Reading, write_atomically};
use serde::{Deserialize, Serialize};

use crate::fields::{ByName, Group};

/// Moments, with a description of their data.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentFile {
    /// The sums.
    pub moments: Moments,
    /// How their columns were made.
    pub about: About,
}

/// How features were made from the columns of files, for moments and for column stores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The predicted column; empty for a column store that leaves it open.
    pub target: String,
    /// The labels that 0 and 1 stand for in the target of a column store, if it has labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<[String; 2]>,
    /// The column of weights.
    pub weights: Option<String>,
    /// The files of the rows, as the user named them.
    pub files: Vec<String>,
    /// Number of rows dropped because a value was missing.
    pub rows_dropped: usize,
    /// The columns whose products are features; empty if there are none.
    pub factors: Vec<String>,
    /// The levels of the text columns among the features.
    pub indicators: Vec<Indicator>,
    /// The text columns with the features that stand for their levels.
    pub texts: Vec<Group>,
    /// The value that replaces missing ones, by column.
    pub imputed: ByName,
    /// How columns of the files were converted.
    pub reading: Reading,
}

impl About {
    /// Returns the text columns, with those of their features that are among `names`.
    pub fn texts_among(&self, names: &[String]) -> Vec<Group> {
        let own = |group: &Group| {
            let columns = group.columns.iter().filter(|name| names.contains(name));
            let columns: Vec<String> = columns.cloned().collect();
            let name = group.name.clone();
            (!columns.is_empty()).then_some(Group { name, columns })
        };
        self.texts.iter().filter_map(own).collect()
    }

    /// Returns the difference that keeps two sets of moments from being merged, if there is one.
    fn differs(&self, other: &Self) -> Option<&'static str> {
        let pairs = [
            (self.target != other.target, "the target"),
            (self.weights != other.weights, "the column of weights"),
            (self.reading != other.reading, "how columns are read"),
            (
                self.factors != other.factors,
                "the columns whose products are features",
            ),
            (
                self.indicators != other.indicators,
                "the categories of a text column",
            ),
            (
                self.imputed != other.imputed,
                "what missing values were filled in with",
            ),
        ];
        let found = pairs.iter().find(|(differs, _)| *differs);
        found.map(|(_, what)| *what)
    }
}

impl MomentFile {
    /// Whether a file begins like a moment file, or is a truncated file with the extension `.l0m`; false for a
    /// file that cannot be read.
    pub fn is_at(path: &Path) -> bool {
        let mut head = Vec::new();
        let read = |file: fs::File| file.take(8).read_to_end(&mut head).is_ok();
        let is_named = path.extension().is_some_and(|name| name == "l0m");
        path.is_file()
            && fs::File::open(path).is_ok_and(read)
            && (Moments::is_encoded(&head) || (is_named && Moments::is_stump(&head)))
    }

    /// Reads a file that [`MomentFile::save`] wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(DataError::IsFolder {
                path: path.to_path_buf(),
            });
        }
        let bytes = fs::read(path).map_err(|reason| DataError::reading(path, reason))?;
        Self::parse(&bytes).map_err(|reason| DataError::WrongFormat {
            path: path.to_path_buf(),
            what: format!("holds {reason}"),
        })
    }

    /// Decodes moments from bytes; an error says what the bytes are instead.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (moments, note) = Moments::decode(bytes).map_err(|error| error.to_string())?;
        let about = serde_json::from_str(&note);
        let about = about.map_err(|error| {
            format!("moments whose description is damaged ({error}); make them again")
        })?;
        Ok(Self { moments, about })
    }

    /// Returns the bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let note = serde_json::to_string(&self.about).unwrap_or_default();
        self.moments.encode(&note)
    }

    /// Writes the file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), DataError> {
        let bytes = self.encode();
        write_atomically(path, |file| file.write_all(&bytes))
    }

    /// Adds other moments of the same features, or returns what differs.
    pub fn merge(&mut self, other: &Self) -> Result<(), String> {
        if let Some(what) = self.about.differs(&other.about) {
            return Err(format!(
                "{what} is not the same; make the moments of all files in one run, or of both in the same way"
            ));
        }
        self.moments
            .merge(&other.moments)
            .map_err(|error| error.to_string())?;
        self.about.files.extend(other.about.files.iter().cloned());
        self.about.rows_dropped += other.about.rows_dropped;
        Ok(())
    }
}
