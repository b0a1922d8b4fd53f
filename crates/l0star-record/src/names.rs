//! Resolves a user's word to columns: a feature, a group, or a text column with all its levels.

use std::collections::HashMap;

use l0star_data::{DataError, no_such_column};

use crate::fields::Group;

/// The features that a request can refer to.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Their names.
    pub names: &'a [String],
    /// The text columns with the features that stand for their levels.
    pub texts: &'a [Group],
    /// The columns whose products are features; empty if there are none.
    pub factors: &'a [String],
}

impl<'a> Known<'a> {
    /// Features without text columns or products.
    pub fn plain(names: &'a [String]) -> Self {
        Self {
            names,
            texts: &[],
            factors: &[],
        }
    }
}

/// A feature as a face refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feature {
    /// The name of a feature, a group or a text column.
    Word(String),
    /// The position of a column.
    Column(usize),
}

/// The columns that each word stands for.
#[derive(Debug)]
pub(crate) struct Catalogue<'a> {
    names: &'a [String],
    columns: HashMap<&'a str, Vec<usize>>,
}

/// Maps each name to its position.
pub(crate) fn positions(names: &[String]) -> HashMap<&str, usize> {
    let places = names.iter().enumerate();
    places.map(|(j, name)| (name.as_str(), j)).collect()
}

impl<'a> Catalogue<'a> {
    /// Creates a catalogue of names and text columns.
    pub fn new(known: &Known<'a>) -> Result<Self, DataError> {
        let places = positions(known.names).into_iter();
        let mut catalogue = Self {
            names: known.names,
            columns: places.map(|(name, j)| (name, vec![j])).collect(),
        };
        for Group { name, columns } in known.texts {
            let mut found = Vec::new();
            for column in columns {
                found.extend_from_slice(catalogue.word(column)?);
            }
            catalogue.columns.insert(name, found);
        }
        Ok(catalogue)
    }

    /// Adds a word, and returns whether it was not taken.
    pub fn add(&mut self, word: &'a str, columns: Vec<usize>) -> bool {
        self.columns.insert(word, columns).is_none()
    }

    /// Returns the columns of a word.
    pub fn word(&self, word: &str) -> Result<&[usize], DataError> {
        let found = self.columns.get(word).map(Vec::as_slice);
        found.ok_or_else(|| {
            let mut groups: Vec<&str> = self.columns.keys().copied().collect();
            let features = positions(self.names);
            groups.retain(|known| !features.contains_key(known));
            groups.sort_unstable();
            let names = self.names.iter().cloned();
            let names: Vec<String> = names.chain(groups.into_iter().map(str::to_owned)).collect();
            no_such_column(word, &names)
        })
    }

    /// Returns the columns of a feature.
    pub fn columns(&self, feature: &Feature) -> Result<Vec<usize>, DataError> {
        match feature {
            Feature::Word(word) => Ok(self.word(word)?.to_vec()),
            Feature::Column(j) => Ok(vec![*j]),
        }
    }

    /// Returns the columns of several features, in their order.
    pub fn all_columns(&self, features: &[Feature]) -> Result<Vec<usize>, DataError> {
        let mut columns = Vec::new();
        for feature in features {
            columns.extend(self.columns(feature)?);
        }
        Ok(columns)
    }

    /// Returns the word for a feature.
    pub fn name(&self, feature: &Feature) -> String {
        match feature {
            Feature::Word(word) => word.clone(),
            Feature::Column(j) => self.names[*j].clone(),
        }
    }

    /// Returns the words for several features.
    pub fn all_names(&self, features: &[Feature]) -> Vec<String> {
        features.iter().map(|feature| self.name(feature)).collect()
    }
}
