//! Labels and categories: a target with two labels as −1 and +1, and the values of a column as codes.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use crate::column::{BadCell, RawColumn};
use crate::error::DataError;
use crate::place::clip;
use crate::raw::RawTable;

impl RawTable {
    /// Returns a binary target as −1 and +1, with the labels that these stand for. Two numbers are ordered as
    /// numbers, other labels alphabetically; the larger is +1.
    pub fn labels(&self, column: &str) -> Result<(Vec<f64>, [String; 2]), DataError> {
        let j = self.position(column)?;
        if let Some((row, text)) = self.columns()[j].first_missing() {
            let advice = String::new;
            return Err(self.refuse(j, BadCell { row, text }, advice));
        }
        if let RawColumn::Text { levels, codes } = &self.columns()[j] {
            let mut sorted: Vec<&String> = levels.iter().collect();
            sorted.sort_unstable();
            let names = two_labels(
                self.file(),
                column,
                sorted.len(),
                &mut sorted.iter().copied().cloned(),
            )?;
            let positive = levels.iter().position(|level| *level == names[1]);
            let is_positive = |code: &u32| Some(*code as usize) == positive;
            let signs = codes.iter().map(|code| sign(is_positive(code))).collect();
            return Ok((signs, names));
        }
        let values = self.number(column)?;
        let distinct = distinct(&values);
        let mut shown = distinct.iter().map(|value| (value + 0.0).to_string());
        let names = two_labels(self.file(), column, distinct.len(), &mut shown)?;
        let signs = values.iter().map(|value| sign(*value == distinct[1]));
        Ok((signs.collect(), names))
    }

    /// Returns each row's category as a code, and the categories as text, in the order of their first rows.
    pub fn categories(&self, column: &str) -> Result<(Vec<u32>, Vec<String>), DataError> {
        let j = self.position(column)?;
        if let Some((row, text)) = self.columns()[j].first_missing() {
            return Err(self.refuse(j, BadCell { row, text }, String::new));
        }
        let texts: Vec<String> = if let RawColumn::Text { levels, codes } = &self.columns()[j] {
            let of = |code: &u32| levels[*code as usize].clone();
            codes.iter().map(of).collect()
        } else {
            // Zeros of either sign are one value.
            let values = self.number(column)?.into_iter();
            values.map(|value| (value + 0.0).to_string()).collect()
        };
        let (mut numbers, mut names) = (HashMap::new(), Vec::new());
        let code = |text: String| {
            *numbers.entry(text).or_insert_with_key(|text| {
                names.push(text.clone());
                names.len() as u32 - 1
            })
        };
        let codes = texts.into_iter().map(code).collect();
        Ok((codes, names))
    }

    /// Returns each row's class as a number, and the classes as text. Numbers are sorted by value,
    /// other texts alphabetically.
    pub fn classes(&self, column: &str) -> Result<(Vec<usize>, Vec<String>), DataError> {
        let (codes, names) = self.categories(column)?;
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        let mut order: Vec<usize> = (0..names.len()).collect();
        match numbers {
            Some(numbers) => order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b])),
            None => order.sort_by(|a, b| names[*a].cmp(&names[*b])),
        }
        let mut places = vec![0; names.len()];
        for (place, code) in order.iter().enumerate() {
            places[*code] = place;
        }
        let codes = codes.iter().map(|code| places[*code as usize]).collect();
        Ok((
            codes,
            order.iter().map(|code| names[*code].clone()).collect(),
        ))
    }

    /// Marks the rows with the second of two labels, as [`RawTable::labels`] named them;
    /// any other label is an error.
    pub fn labelled(&self, column: &str, labels: &[String; 2]) -> Result<Vec<bool>, DataError> {
        let j = self.position(column)?;
        let refuse = |row: usize, found: &str| DataError::OtherLabel {
            place: self.place(j, row),
            value: clip(found),
            labels: Box::new(labels.each_ref().map(|label| clip(label))),
        };
        let is = |row: usize, found: &str| match labels.iter().position(|label| label == found) {
            Some(at) => Ok(at == 1),
            None => Err(refuse(row, found)),
        };
        if let RawColumn::Text { levels, codes } = &self.columns()[j] {
            let codes = codes.iter().enumerate();
            return codes
                .map(|(row, code)| is(row, &levels[*code as usize]))
                .collect();
        }
        let values = self.number(column)?.into_iter().enumerate();
        // Zeros of either sign are one label.
        values
            .map(|(row, value)| is(row, &(value + 0.0).to_string()))
            .collect()
    }
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// Returns the distinct values in ascending order; zeros of either sign are one value.
fn distinct(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    sorted.dedup();
    sorted
}

fn two_labels(
    file: &Path,
    column: &str,
    count: usize,
    labels: &mut dyn Iterator<Item = String>,
) -> Result<[String; 2], DataError> {
    const SHOWN: usize = 5;
    let mut first: Vec<String> = labels.take(SHOWN).collect();
    match (count, first.as_mut_slice()) {
        (2, [negative, positive]) => Ok([std::mem::take(negative), std::mem::take(positive)]),
        (0 | 1, _) => Err(DataError::OneLabel {
            file: Some(file.to_path_buf()),
            column: clip(column),
            label: first.first().map_or(String::new(), |label| clip(label)),
        }),
        _ => {
            let mut shown: Vec<String> = first.iter().map(|label| clip(label)).collect();
            if count > SHOWN {
                shown.push("…".into());
            }
            Err(DataError::ManyLabels {
                file: Some(file.to_path_buf()),
                column: clip(column),
                count,
                first: shown.join(", "),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_of_either_sign_is_one_label() {
        assert_eq!(distinct(&[0.0, -0.0, 1.0]).len(), 2);
    }
}
