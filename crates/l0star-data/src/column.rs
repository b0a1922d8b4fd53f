//! [`RawColumn`]: one column of a file, as numbers if possible, and the meaning of a text cell.

use std::borrow::Cow;

/// One column of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum RawColumn {
    /// Every cell is a finite number.
    Number(Vec<f64>),
    /// Numbers, but some cells are missing or infinite.
    Gaps {
        /// `NaN` where a cell is missing.
        values: Vec<f64>,
        /// The row of the first missing or infinite cell, counted from 0.
        first: usize,
        /// The text of that cell in the file.
        shown: String,
    },
    /// At least one cell is text: every cell is stored as its text, without surrounding blanks.
    Text {
        /// The distinct texts, in the order of their first row.
        levels: Vec<String>,
        /// The position in `levels` of each row's text.
        codes: Vec<u32>,
    },
    /// Finite numbers, most of them zero.
    Sparse {
        /// The rows of the non-zero cells, ascending, counted from 0.
        rows: Vec<u32>,
        /// The values in these rows.
        values: Vec<f64>,
    },
}

/// A column's first cell that is not a number, which keeps the column from being used as numbers.
pub(crate) struct BadCell<'a> {
    pub(crate) row: usize,
    pub(crate) text: &'a str,
}

impl RawColumn {
    /// Creates a text column from its cells, each without surrounding blanks.
    pub(crate) fn from_texts<'a>(cells: impl Iterator<Item = &'a str>) -> RawColumn {
        let mut dictionary = Dictionary::default();
        let codes = cells.map(|cell| dictionary.code(cell)).collect();
        RawColumn::Text {
            levels: dictionary.levels,
            codes,
        }
    }

    /// Creates a column of numbers; `NaN` stands for a missing cell.
    pub(crate) fn from_numbers(values: Vec<f64>) -> RawColumn {
        match values.iter().position(|value| !value.is_finite()) {
            None => RawColumn::Number(values),
            Some(first) => {
                let shown = values[first].to_string();
                RawColumn::Gaps {
                    values,
                    first,
                    shown,
                }
            }
        }
    }

    /// Returns the column's `rows` cells as finite numbers; `true` and `false` become 1 and 0.
    pub(crate) fn numbers(&self, rows: usize) -> Result<Cow<'_, [f64]>, BadCell<'_>> {
        match self {
            RawColumn::Number(values) => Ok(values.into()),
            RawColumn::Gaps { first, shown, .. } => Err(BadCell {
                row: *first,
                text: shown,
            }),
            RawColumn::Sparse {
                rows: places,
                values,
            } => {
                let mut dense = vec![0.0; rows];
                for (row, value) in places.iter().zip(values) {
                    dense[*row as usize] = *value;
                }
                Ok(dense.into())
            }
            RawColumn::Text { levels, codes } => {
                let truths: Option<Vec<f64>> = levels.iter().map(|level| truth(level)).collect();
                match truths {
                    Some(truths) => Ok(codes.iter().map(|code| truths[*code as usize]).collect()),
                    None => Err(first_bad(levels, codes)),
                }
            }
        }
    }

    /// Whether every cell that is not missing is `true` or `false`, in either letter case.
    pub fn is_boolean(&self) -> bool {
        let RawColumn::Text { levels, .. } = self else {
            return false;
        };
        let is_truth = |level: &String| truth(level).is_some();
        let is_missing = |level: &String| Cell::of(level) == Cell::Missing;
        levels.iter().any(is_truth)
            && levels
                .iter()
                .all(|level| is_truth(level) || is_missing(level))
    }

    /// Number of missing cells.
    pub fn missing(&self) -> usize {
        match self {
            RawColumn::Number(_) | RawColumn::Sparse { .. } => 0,
            RawColumn::Gaps { values, .. } => values.iter().filter(|value| value.is_nan()).count(),
            RawColumn::Text { levels, codes } => {
                let missing = missing_levels(levels);
                codes.iter().filter(|code| missing[**code as usize]).count()
            }
        }
    }

    /// Returns the row of the first missing cell, and its text.
    pub(crate) fn first_missing(&self) -> Option<(usize, &str)> {
        match self {
            RawColumn::Number(_) | RawColumn::Sparse { .. } => None,
            RawColumn::Gaps { first, shown, .. } => Some((*first, shown)),
            RawColumn::Text { levels, codes } => {
                first_of(levels, codes, |level| Cell::of(level) == Cell::Missing)
            }
        }
    }

    /// Returns numbers and booleans as numbers, `NaN` for a missing cell; `None` for text.
    pub fn with_gaps(&self) -> Option<Vec<f64>> {
        match self {
            RawColumn::Number(values) | RawColumn::Gaps { values, .. } => Some(values.clone()),
            RawColumn::Text { levels, codes } if self.is_boolean() => {
                let values: Vec<f64> = levels
                    .iter()
                    .map(|level| truth(level).unwrap_or(f64::NAN))
                    .collect();
                Some(codes.iter().map(|code| values[*code as usize]).collect())
            }
            RawColumn::Text { .. } | RawColumn::Sparse { .. } => None,
        }
    }

    /// Marks the rows with a missing cell; `None` if there are none.
    pub(crate) fn gaps(&self) -> Option<Vec<bool>> {
        if self.missing() == 0 {
            return None;
        }
        match self {
            RawColumn::Number(_) | RawColumn::Sparse { .. } => None,
            RawColumn::Gaps { values, .. } => Some(values.iter().map(|v| v.is_nan()).collect()),
            RawColumn::Text { levels, codes } => {
                let missing = missing_levels(levels);
                Some(codes.iter().map(|code| missing[*code as usize]).collect())
            }
        }
    }

    /// Keeps the rows that `keep` marks.
    pub(crate) fn keep_rows(&mut self, keep: &[bool]) {
        fn marked<T: Copy>(cells: &[T], keep: &[bool]) -> Vec<T> {
            let cells = cells.iter().zip(keep);
            cells
                .filter_map(|(cell, keep)| keep.then_some(*cell))
                .collect()
        }
        *self = match self {
            RawColumn::Number(values) => RawColumn::Number(marked(values, keep)),
            RawColumn::Gaps { values, .. } => RawColumn::from_numbers(marked(values, keep)),
            // Levels that no longer occur are dropped.
            RawColumn::Text { levels, codes } => {
                let codes = marked(codes, keep);
                RawColumn::from_texts(codes.iter().map(|code| levels[*code as usize].as_str()))
            }
            RawColumn::Sparse { rows, values } => {
                let mut next = 0;
                let places: Vec<u32> = keep
                    .iter()
                    .map(|keep| {
                        next += u32::from(*keep);
                        next.wrapping_sub(1)
                    })
                    .collect();
                let entries = rows.iter().zip(values.iter());
                let (rows, values) = entries
                    .filter(|(row, _)| keep[**row as usize])
                    .map(|(row, value)| (places[*row as usize], *value))
                    .unzip();
                RawColumn::Sparse { rows, values }
            }
        };
    }

    /// Number of bytes that the column takes.
    pub fn bytes(&self) -> usize {
        match self {
            RawColumn::Number(values) | RawColumn::Gaps { values, .. } => 8 * values.len(),
            RawColumn::Sparse { values, .. } => 12 * values.len(),
            RawColumn::Text { levels, codes } => {
                let texts: usize = levels
                    .iter()
                    .map(|level| level.len() + size_of::<String>())
                    .sum();
                4 * codes.len() + texts
            }
        }
    }
}

/// Marks the texts that stand for a missing cell.
fn missing_levels(levels: &[String]) -> Vec<bool> {
    let is_missing = |level: &String| Cell::of(level) == Cell::Missing;
    levels.iter().map(is_missing).collect()
}

/// Returns the cell to report. Text says more about a column than an earlier gap does; in a column of
/// booleans, the gap is reported.
fn first_bad<'a>(levels: &'a [String], codes: &[u32]) -> BadCell<'a> {
    let is_text = |level: &str| Cell::of(level) == Cell::Text;
    let has_truths_alone = levels
        .iter()
        .all(|level| !is_text(level) || truth(level).is_some());
    let text = first_of(levels, codes, |level| is_text(level) && !has_truths_alone);
    let other = || first_of(levels, codes, |level| truth(level).is_none());
    let (row, text) = text.or_else(other).unwrap_or((0, ""));
    BadCell { row, text }
}

/// Returns the first row whose text satisfies `is`, with that text.
fn first_of<'a>(
    levels: &'a [String],
    codes: &[u32],
    is: impl Fn(&str) -> bool,
) -> Option<(usize, &'a str)> {
    let wanted: Vec<bool> = levels.iter().map(|level| is(level)).collect();
    let row = codes.iter().position(|code| wanted[*code as usize])?;
    Some((row, &levels[codes[row] as usize]))
}

fn truth(level: &str) -> Option<f64> {
    if level.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if level.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}

/// Distinct texts, numbered in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    pub(crate) levels: Vec<String>,
    codes: std::collections::HashMap<String, u32>,
}

impl Dictionary {
    pub(crate) fn code(&mut self, text: &str) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        let code = self.levels.len() as u32;
        self.levels.push(text.to_string());
        self.codes.insert(text.to_string(), code);
        code
    }
}

/// The kind of content of a trimmed cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Missing,
    NotFinite(f64),
    Text,
}

impl Cell {
    /// Classifies a cell. Many programs write a missing value as `NaN`; `inf` or `1e999` is a value, but
    /// not one that can be used.
    pub(crate) fn of(value: &str) -> Cell {
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Cell::Number(number),
            Ok(number) if number.is_nan() => Cell::Missing,
            Ok(number) => Cell::NotFinite(number),
            Err(_) => {
                let missing = ["", "na", "n/a", "null"];
                if missing.iter().any(|word| value.eq_ignore_ascii_case(word)) {
                    Cell::Missing
                } else {
                    Cell::Text
                }
            }
        }
    }
}

/// Whether the text becomes a number when its comma is replaced by a point.
pub(crate) fn has_decimal_comma(value: &str) -> bool {
    value.contains(',') && matches!(Cell::of(&value.replace(',', ".")), Cell::Number(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_told_apart() {
        assert_eq!(Cell::of("1.5e3"), Cell::Number(1500.0));
        for missing in ["", "NA", "n/a", "NaN", "-nan", "null"] {
            assert_eq!(Cell::of(missing), Cell::Missing, "{missing}");
        }
        for infinite in ["inf", "-Infinity", "1e999"] {
            assert!(
                matches!(Cell::of(infinite), Cell::NotFinite(_)),
                "{infinite}"
            );
        }
        for text in ["none", "Paris", "1,5", "1 2", "0x10"] {
            assert_eq!(Cell::of(text), Cell::Text, "{text}");
        }
    }

    #[test]
    fn booleans_are_numbers_when_asked_for() {
        let column = RawColumn::from_texts(["True", "false", "TRUE"].into_iter());
        assert!(column.is_boolean());
        let numbers = column.numbers(3).unwrap_or_else(|_| panic!("booleans"));
        assert_eq!(*numbers, [1.0, 0.0, 1.0]);
        let column = RawColumn::from_texts(["true", "", "maybe"].into_iter());
        assert!(!column.is_boolean());
        let bad = column.numbers(3).err().map(|bad| (bad.row, bad.text));
        assert_eq!(bad, Some((0, "true")));
        let gap = RawColumn::from_texts(["true", "NA"].into_iter());
        assert!(gap.is_boolean());
        let bad = gap.numbers(2).err().map(|bad| (bad.row, bad.text));
        assert_eq!(bad, Some((1, "NA")));
        assert_eq!(column.missing(), 1);
        assert_eq!(column.first_missing(), Some((1, "")));
    }
}
