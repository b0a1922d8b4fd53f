//! [`Table`]: finite numbers in named columns.

use std::collections::HashMap;
use std::path::Path;

use crate::error::DataError;
use crate::place::{Place, Position};
use crate::suggest::no_such_column;

/// A dense column-major table that is valid by construction: at least one row and one column,
/// unique non-empty names without surrounding blanks, every value finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    names: Vec<String>,
    rows: usize,
    values: Vec<f64>,
}

impl Table {
    /// Creates a table of `names.len()` columns of `rows` values each, one column after the other. Blanks
    /// around a name are removed, as they are when a file is read.
    pub fn new(names: Vec<String>, rows: usize, values: Vec<f64>) -> Result<Table, DataError> {
        let names: Vec<String> = names.iter().map(|name| name.trim().to_string()).collect();
        check_names(None, &names)?;
        if rows == 0 || names.is_empty() || rows.checked_mul(names.len()) != Some(values.len()) {
            return Err(DataError::Shape {
                what: format!(
                    "{} values do not fill a table of {rows} x {}",
                    values.len(),
                    names.len()
                ),
            });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(DataError::NotFinite {
                place: Place {
                    file: None,
                    column: names[at / rows].clone(),
                    position: Position::Row(at % rows + 1),
                },
                value: values[at].to_string(),
            });
        }
        Ok(Table {
            names,
            rows,
            values,
        })
    }

    /// Returns the names of the columns, left to right.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.names.len()
    }

    /// Returns column `j`, counted from 0.
    ///
    /// # Panics
    /// If `j` is not below [`Table::columns`], like any slice.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// Returns all values, one column after the other.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the position of the column called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// Returns names, number of rows and values.
    pub fn into_parts(self) -> (Vec<String>, usize, Vec<f64>) {
        (self.names, self.rows, self.values)
    }

    /// Separates the column called `name`, usually the target, from the others.
    pub fn take_column(mut self, name: &str) -> Result<(Table, Vec<f64>), DataError> {
        let j = self
            .find(name)
            .ok_or_else(|| no_such_column(name, &self.names))?;
        if self.columns() == 1 {
            return Err(DataError::Shape {
                what: format!("'{name}' is the only column, so that no feature is left"),
            });
        }
        let taken = self
            .values
            .drain(j * self.rows..(j + 1) * self.rows)
            .collect();
        self.names.remove(j);
        Ok((self, taken))
    }

    /// Returns the design (all columns but the last, column-major) and the response (the last column).
    pub fn split_last(&self) -> (&[f64], &[f64]) {
        self.values.split_at((self.columns() - 1) * self.rows)
    }
}

/// Refuses empty and repeated names.
pub(crate) fn check_names(file: Option<&Path>, names: &[String]) -> Result<(), DataError> {
    let file = || file.map(Path::to_path_buf);
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (j, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(DataError::EmptyName {
                file: file(),
                position: j + 1,
            });
        }
        if let Some(first) = seen.insert(name, j) {
            return Err(DataError::DuplicateName {
                file: file(),
                name: name.clone(),
                first: first + 1,
                second: j + 1,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    fn message(names_: &[&str], rows: usize, values: Vec<f64>) -> String {
        Table::new(names(names_), rows, values)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn columns_are_contiguous() {
        let table = Table::new(names(&["a", " b "]), 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((table.rows(), table.columns()), (2, 2));
        assert_eq!(table.names(), ["a", "b"]);
        assert_eq!(table.column(1), [3.0, 4.0]);
        assert_eq!(table.find("b"), Some(1));
        assert_eq!(table.find("c"), None);
        assert_eq!(table.split_last(), (&[1.0, 2.0][..], &[3.0, 4.0][..]));
        assert_eq!(
            table.into_parts(),
            (names(&["a", "b"]), 2, vec![1.0, 2.0, 3.0, 4.0])
        );
    }

    #[test]
    fn shapes_must_agree() {
        assert!(message(&["a"], 2, vec![1.0]).contains("1 values do not fill a table of 2 x 1"));
        assert!(message(&["a"], 0, vec![]).contains("at least one row"));
        assert!(message(&[], 3, vec![]).contains("one column"));
        assert!(message(&["a", "b"], usize::MAX, vec![]).contains("0 values"));
    }

    #[test]
    fn names_must_be_unique_and_there() {
        assert!(message(&["a", " "], 1, vec![1.0, 2.0]).contains("column 2 has no name"));
        let twice = message(&["a", "b", "a"], 1, vec![1.0, 2.0, 3.0]);
        assert!(
            twice.contains("columns 1 and 3 are both named 'a'"),
            "{twice}"
        );
    }

    #[test]
    fn values_must_be_finite() {
        let nan = message(&["a", "b"], 2, vec![1.0, 2.0, 3.0, f64::NAN]);
        assert!(
            nan.starts_with("column 'b', row 2: 'NaN' is not finite"),
            "{nan}"
        );
        assert!(message(&["a"], 1, vec![f64::INFINITY]).contains("'inf' is not finite"));
    }

    #[test]
    fn the_target_is_split_off() {
        let table = Table::new(names(&["a", "y", "b"]), 1, vec![1.0, 2.0, 3.0]).unwrap();
        let wrong = table.clone().take_column("Y").unwrap_err().to_string();
        assert!(
            wrong.contains("no column 'Y' (did you mean 'y'?)"),
            "{wrong}"
        );
        assert!(wrong.contains("the columns are a, y, b"), "{wrong}");
        let (features, y) = table.take_column("y").unwrap();
        assert_eq!(features.names(), ["a", "b"]);
        assert_eq!(features.values(), [1.0, 3.0]);
        assert_eq!(y, [2.0]);
    }

    #[test]
    fn the_only_column_cannot_be_the_target() {
        let table = Table::new(names(&["y"]), 1, vec![1.0]).unwrap();
        assert!(
            table
                .take_column("y")
                .unwrap_err()
                .to_string()
                .contains("no feature is left")
        );
    }
}
