//! Missing values: refuse them with a count, drop their rows, or fill in the mean.

use crate::column::RawColumn;
use crate::error::{DataError, did_you_mean};
use crate::place::clip;
use crate::raw::RawTable;
use crate::suggest::close_names;

/// Upper limit on the columns that a message names.
const SHOWN: usize = 8;

impl RawTable {
    /// Returns those of `columns` that have missing cells, with their counts.
    pub fn missing_in<N: AsRef<str>>(
        &self,
        columns: &[N],
    ) -> Result<Vec<(String, usize)>, DataError> {
        let places = self.places(columns)?.into_iter();
        let counted = places.map(|j| (&self.names()[j], self.columns()[j].missing()));
        let found = counted.filter(|(_, count)| *count > 0);
        Ok(found.map(|(name, count)| (name.clone(), count)).collect())
    }

    /// Fails with a count of the missing cells of `columns`, if there are any.
    pub fn refuse_missing<N: AsRef<str>>(
        &self,
        columns: &[N],
        advice: &'static str,
    ) -> Result<(), DataError> {
        let found = self.missing_in(columns)?;
        let Some((first, _)) = found.first() else {
            return Ok(());
        };
        let j = self.position(first)?;
        let column = &self.columns()[j];
        let gaps = column.gaps().unwrap_or_default();
        let row = gaps.iter().position(|gap| *gap).unwrap_or(0);
        let value = match column {
            RawColumn::Gaps { first, shown, .. } if *first == row => clip(shown),
            RawColumn::Text { levels, codes } => clip(&levels[codes[row] as usize]),
            _ => "NaN".into(),
        };
        let shown = found.iter().take(SHOWN);
        let mut list: Vec<String> = shown
            .map(|(name, count)| format!("{} ({count})", clip(name)))
            .collect();
        if found.len() > SHOWN {
            list.push(format!("… ({} columns)", found.len()));
        }
        let count: usize = found.iter().map(|(_, count)| count).sum();
        Err(DataError::MissingValues {
            place: self.place(j, row),
            found: format!("('{value}'), {count} in all: {}", list.join(", ")),
            advice,
        })
    }

    /// Drops every row in which one of `columns` is missing, and returns their number; fails if no row remains.
    pub fn drop_missing<N: AsRef<str>>(&mut self, columns: &[N]) -> Result<usize, DataError> {
        let dropped = self.drop_rows_with_gaps(columns)?;
        if self.rows() == 0 {
            return Err(DataError::WrongFormat {
                path: self.file().to_path_buf(),
                what: "has a missing value in every row, so that none is left; drop the columns that miss the most".into(),
            });
        }
        Ok(dropped)
    }

    /// Drops every row in which one of `columns` is missing, even if none remains, and returns their number.
    pub fn drop_rows_with_gaps<N: AsRef<str>>(
        &mut self,
        columns: &[N],
    ) -> Result<usize, DataError> {
        let mut keep = vec![true; self.rows()];
        for j in self.places(columns)? {
            let gaps = self.columns()[j].gaps().unwrap_or_default();
            keep.iter_mut()
                .zip(gaps)
                .for_each(|(keep, gap)| *keep &= !gap);
        }
        let dropped = keep.iter().filter(|keep| !**keep).count();
        if dropped > 0 {
            self.keep_rows(&keep);
        }
        Ok(dropped)
    }

    /// Fills the missing cells of a column of numbers with the mean of the others, and returns the mean.
    /// Returns `None` if no cell is missing or the column is text.
    pub fn impute_mean(&mut self, column: &str) -> Result<Option<f64>, DataError> {
        if self.column(column)?.missing() == 0 {
            return Ok(None);
        }
        let mean = self.mean(column)?;
        if let Some(mean) = mean {
            self.fill(column, mean)?;
        }
        Ok(mean)
    }

    /// Returns the mean of the finite cells of a column; `None` if the column is text.
    pub fn mean(&self, column: &str) -> Result<Option<f64>, DataError> {
        let Some(values) = self.column(column)?.with_gaps() else {
            return Ok(None);
        };
        let finite = || values.iter().filter(|value| value.is_finite());
        let count = finite().count();
        if count == 0 {
            return Err(DataError::WrongFormat {
                path: self.file().to_path_buf(),
                what: format!(
                    "has no value in column '{}', so there is no mean; drop the column",
                    clip(column)
                ),
            });
        }
        let mut mean = finite().sum::<f64>() / count as f64;
        if !mean.is_finite() {
            // The sum of large numbers may overflow although their mean does not.
            mean = finite().map(|value| value / count as f64).sum();
        }
        Ok(Some(mean))
    }

    /// Fills the missing cells of a column of numbers with `value`.
    pub fn fill(&mut self, column: &str, value: f64) -> Result<(), DataError> {
        let j = self.position(column)?;
        if self.columns()[j].missing() == 0 {
            return Ok(());
        }
        if let Some(mut values) = self.columns()[j].with_gaps() {
            for cell in values.iter_mut().filter(|cell| cell.is_nan()) {
                *cell = value;
            }
            self.replace(j, RawColumn::from_numbers(values));
        }
        Ok(())
    }

    /// Creates the error for missing columns, out of `needed` that a model needs.
    pub fn lacks(&self, absent: &[&str], needed: usize) -> DataError {
        let shown = absent.iter().take(SHOWN);
        let mut list: Vec<String> = shown
            .map(|name| {
                let close = close_names(name, self.names());
                format!("'{}'{}", clip(name), did_you_mean(&close))
            })
            .collect();
        if absent.len() > SHOWN {
            list.push("…".into());
        }
        DataError::Lacks {
            path: self.file().to_path_buf(),
            absent: absent.len(),
            needed,
            columns: list.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::parse_csv;
    use crate::place::Position;
    use std::path::Path;

    fn table(text: &str) -> RawTable {
        parse_csv(Path::new("t.csv"), text.as_bytes()).unwrap()
    }

    const GAPS: &str = "a,b,t,y\n1,NA,true,u\n2,3,,v\n,5,false,u\n4,7,true,w\n";

    #[test]
    fn counts_name_the_first_cell_and_every_column() {
        let table = table(GAPS);
        let error = table.refuse_missing(&["b", "a", "t", "y"], "do it");
        let message = error.unwrap_err().to_string();
        assert_eq!(
            message,
            "t.csv: column 'b', line 2: missing value ('NA'), 3 in all: b (1), a (1), t (1); do it"
        );
        assert!(table.refuse_missing(&["y"], "").is_ok());
    }

    #[test]
    fn dropped_rows_are_gone_from_every_column() {
        let mut table = table(GAPS);
        assert_eq!(table.drop_missing(&["b", "a"]).unwrap(), 2);
        assert_eq!(table.rows(), 2);
        assert_eq!(table.number("a").unwrap(), [2.0, 4.0]);
        assert_eq!(table.place(0, 0).position, Position::Line(3));
        assert_eq!(table.place(0, 1).position, Position::Line(5));
        let RawColumn::Text { levels, .. } = table.column("y").unwrap() else {
            panic!("not text");
        };
        assert_eq!(levels, &["v", "w"], "no row has 'u' any more");
        assert_eq!(table.drop_missing(&["t"]).unwrap(), 1);
        assert_eq!(table.place(0, 0).position, Position::Line(5));
        assert_eq!(table.number("t").unwrap(), [1.0]);
    }

    #[test]
    fn sparse_columns_lose_their_rows_too() {
        let mut column = RawColumn::Sparse {
            rows: vec![0, 2, 3],
            values: vec![1.0, 2.0, 3.0],
        };
        column.keep_rows(&[false, true, true, true]);
        let expected = RawColumn::Sparse {
            rows: vec![1, 2],
            values: vec![2.0, 3.0],
        };
        assert_eq!(column, expected);
    }

    #[test]
    fn no_row_left_is_an_error() {
        let error = table("a,y\nNA,1\n,2\n").drop_missing(&["a"]).unwrap_err();
        assert!(error.to_string().contains("every row"), "{error}");
    }

    #[test]
    fn means_fill_numbers_and_truths() {
        let mut table = table(GAPS);
        assert_eq!(table.impute_mean("b").unwrap(), Some(5.0));
        assert_eq!(table.number("b").unwrap(), [5.0, 3.0, 5.0, 7.0]);
        let share = table.impute_mean("t").unwrap().unwrap();
        assert!((share - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(table.number("t").unwrap(), [1.0, share, 0.0, 1.0]);
        assert_eq!(table.impute_mean("y").unwrap(), None);
    }

    #[test]
    fn a_column_of_gaps_has_no_mean() {
        let error = table("a,y\nNA,1\n,2\n").impute_mean("a").unwrap_err();
        assert!(error.to_string().contains("no mean"), "{error}");
    }
}
