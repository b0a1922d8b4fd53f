//! [`Trouble`]: columns that a fit cannot use as they are, all reported at once.

use crate::amounts;
use crate::column::{Cell, RawColumn, has_decimal_comma};
use crate::dates::{self, DateOrder, Dates};
use crate::error::DataError;
use crate::indicators::MOST_LEVELS;
use crate::place::Position;
use crate::raw::RawTable;

/// Minimum number of rows for the search for whole numbers that identify rows.
const FEW_ROWS: usize = 10;

/// A column, and the reason why a fit cannot or should not use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// The column.
    pub column: String,
    /// The reason.
    pub problem: Problem,
    /// A cell that shows it.
    pub example: String,
    /// Location of that cell.
    pub position: Position,
    /// Whether the column is to be a feature, instead of a target, a weight or an offset.
    pub is_feature: bool,
}

/// The reason why a fit cannot or should not use a column as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Almost every row has a different text.
    Identifier {
        /// Number of distinct texts.
        distinct: usize,
    },
    /// Whole numbers that identify the rows: a fit can use them, but should not.
    Numbering,
    /// No text has enough rows to be a category.
    Rare {
        /// Number of rows that a category needs.
        rare: usize,
    },
    /// More categories than a feature may have.
    ManyLevels {
        /// Number of categories.
        levels: usize,
    },
    /// Dates; without an order, it is unknown whether the day or the month comes first.
    Dates {
        /// The order of year, month and day.
        order: Option<DateOrder>,
    },
    /// Numbers with currencies, percent signs or thousands separators.
    Amounts,
    /// Numbers with a decimal comma.
    DecimalComma {
        /// Whether the file can be read with decimal commas; it cannot if commas separate cells.
        is_free: bool,
    },
    /// Numbers with a few words among them.
    Mixed {
        /// Number of rows with words.
        rows: usize,
    },
    /// Text in a column that is to have products, which need numbers.
    Words,
    /// The same value in every row: a fit can use it, but gains nothing.
    Constant,
    /// Missing cells.
    Missing {
        /// Number of missing cells.
        cells: usize,
    },
    /// No cell has a value.
    Empty,
}

impl Problem {
    /// Returns the word for the problem, as scripts read it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Problem::Identifier { .. } | Problem::Numbering => "identifier",
            Problem::Rare { .. } => "rare",
            Problem::ManyLevels { .. } => "many_levels",
            Problem::Dates { .. } => "date",
            Problem::Amounts => "amount",
            Problem::DecimalComma { .. } => "decimal_comma",
            Problem::Mixed { .. } => "mixed",
            Problem::Words => "text",
            Problem::Constant => "constant",
            Problem::Missing { .. } => "missing",
            Problem::Empty => "empty",
        }
    }

    /// Whether values are missing, which `impute` and similar options settle.
    pub fn is_gap(&self) -> bool {
        matches!(self, Problem::Missing { .. } | Problem::Empty)
    }

    /// Whether a fit continues despite the problem.
    pub fn is_harmless(&self) -> bool {
        matches!(self, Problem::Constant | Problem::Numbering)
    }
}

impl RawTable {
    /// Returns the problems of columns that are to be features, in their order; a category needs `rare` rows.
    /// The columns of `texts` are categories, whatever their texts look like.
    pub fn troubles<N: AsRef<str>>(
        &self,
        columns: &[N],
        rare: usize,
        texts: &[String],
    ) -> Result<Vec<Trouble>, DataError> {
        let mut troubles = Vec::new();
        for j in self.places(columns)? {
            let is_text = texts.contains(&self.names()[j]);
            troubles.extend(self.trouble(j, rare, is_text));
            troubles.extend(self.constant(j));
            troubles.extend(self.gaps(j));
        }
        Ok(troubles)
    }

    /// Returns the problems of columns that must hold numbers: a target, weights, an offset.
    pub fn troubles_as_numbers(&self, columns: &[&str]) -> Result<Vec<Trouble>, DataError> {
        let mut troubles = Vec::new();
        for j in self.places(columns)? {
            let own = self.trouble(j, 0, false);
            let is_number = |own: &Trouble| {
                let problem = own.problem;
                matches!(
                    problem,
                    Problem::Amounts | Problem::DecimalComma { .. } | Problem::Mixed { .. }
                )
            };
            troubles.extend(own.filter(is_number));
            troubles.extend(self.gaps(j));
        }
        for trouble in &mut troubles {
            trouble.is_feature = false;
        }
        Ok(troubles)
    }

    /// Returns the text columns among those that are to have products, which need numbers.
    pub fn troubles_of_products(&self, columns: &[String]) -> Result<Vec<Trouble>, DataError> {
        let is_text = |j: &usize| {
            let column = &self.columns()[*j];
            matches!(column, RawColumn::Text { .. }) && !column.is_boolean()
        };
        let places = self.places(columns)?.into_iter().filter(is_text);
        Ok(places
            .map(|j| match &self.columns()[j] {
                RawColumn::Text { levels, codes } => {
                    self.told(j, Problem::Words, 0, &levels[codes[0] as usize])
                }
                _ => self.told(j, Problem::Words, 0, ""),
            })
            .collect())
    }

    /// Returns the missing cells of column `j` as a problem.
    fn gaps(&self, j: usize) -> Option<Trouble> {
        let column = &self.columns()[j];
        let gaps = column.gaps()?;
        let row = gaps.iter().position(|gap| *gap)?;
        let problem = match column.missing() {
            all if all == self.rows() => Problem::Empty,
            cells => Problem::Missing { cells },
        };
        Some(self.told(j, problem, row, ""))
    }

    /// Returns a problem if column `j` has only one value.
    fn constant(&self, j: usize) -> Option<Trouble> {
        let shown = match &self.columns()[j] {
            RawColumn::Number(values) | RawColumn::Gaps { values, .. } => {
                let mut known = values.iter().filter(|value| !value.is_nan());
                let first = *known.next()?;
                known
                    .all(|value| *value == first)
                    .then(|| first.to_string())?
            }
            RawColumn::Sparse { values, .. } if values.is_empty() => "0".into(),
            RawColumn::Sparse { .. } => return None,
            RawColumn::Text { levels, .. } => {
                let mut known = levels
                    .iter()
                    .filter(|level| Cell::of(level) != Cell::Missing);
                let first = known.next()?;
                known.next().is_none().then(|| first.clone())?
            }
        };
        Some(self.told(j, Problem::Constant, 0, &shown))
    }

    /// Returns the problem with the values of column `j`, ignoring missing cells.
    fn trouble(&self, j: usize, rare: usize, is_text: bool) -> Option<Trouble> {
        let column = &self.columns()[j];
        let RawColumn::Text { levels, codes } = column else {
            let names_rows = self.rows() >= FEW_ROWS && self.numbers_rows(j, column);
            return names_rows.then(|| self.told(j, Problem::Numbering, 0, ""));
        };
        if column.is_boolean() {
            return None;
        }
        let is_known = |level: &&String| Cell::of(level) != Cell::Missing;
        let known = levels.iter().filter(is_known).map(String::as_str);
        let first = |is: &dyn Fn(&str) -> bool| {
            let row = codes.iter().position(|code| {
                let level = &levels[*code as usize];
                is_known(&level) && is(level)
            });
            row.unwrap_or(0)
        };
        let tell = |problem, row: usize| {
            let example = &levels[codes[row] as usize];
            Some(self.told(j, problem, row, example))
        };
        let distinct = known.clone().count();
        match dates::of_texts(known.clone()) {
            _ if is_text => {}
            Dates::None => {}
            Dates::Ordered(order) => {
                return tell(Problem::Dates { order: Some(order) }, first(&|_| true));
            }
            Dates::Ambiguous => return tell(Problem::Dates { order: None }, first(&|_| true)),
        }
        let amounts = amounts::of_texts(known.clone(), false);
        let is_plain = |text: &str| matches!(Cell::of(text), Cell::Number(_) | Cell::NotFinite(_));
        let is_amount =
            |text: &str| is_plain(text) || amounts::amount(text, amounts.decimal_comma).is_some();
        if !is_text && amounts.others == 0 && amounts.marked > 0 {
            let odd = first(&|text| !is_plain(text));
            let have_commas = known
                .clone()
                .all(|text| is_plain(text) || has_decimal_comma(text));
            let problem = if have_commas && amounts.decimal_comma {
                Problem::DecimalComma {
                    is_free: self.comma_is_free(),
                }
            } else {
                Problem::Amounts
            };
            return tell(problem, odd);
        }
        if !is_text && 2 * (distinct - amounts.others) > distinct {
            let words: Vec<bool> = levels
                .iter()
                .map(|level| is_known(&level) && !is_amount(level))
                .collect();
            let rows = codes.iter().filter(|code| words[**code as usize]).count();
            return tell(Problem::Mixed { rows }, first(&|text| !is_amount(text)));
        }
        let mut counts = vec![0usize; levels.len()];
        codes.iter().for_each(|code| counts[*code as usize] += 1);
        let counted = levels
            .iter()
            .zip(&counts)
            .filter(|(level, _)| is_known(level));
        let (kept, rows) = counted.fold((0, 0), |(kept, rows), (_, count)| {
            (kept + usize::from(*count >= rare), rows + count)
        });
        let problem = if kept == 0 && distinct > 0 && 10 * distinct > 9 * rows {
            Problem::Identifier { distinct }
        } else if kept == 0 && distinct > 0 {
            Problem::Rare { rare }
        } else if kept > MOST_LEVELS {
            if 10 * distinct > 9 * rows {
                Problem::Identifier { distinct }
            } else {
                Problem::ManyLevels { levels: kept }
            }
        } else {
            return None;
        };
        tell(problem, first(&|_| true))
    }

    /// Whether numbers identify rows. They are all whole, and either distinct in a column named like an
    /// identifier, or they count the rows in the first column.
    fn numbers_rows(&self, j: usize, column: &RawColumn) -> bool {
        let RawColumn::Number(values) = column else {
            return false;
        };
        if values.iter().any(|value| *value != value.trunc()) {
            return false;
        }
        let counts_from = |start: f64| {
            (0..)
                .zip(values)
                .all(|(row, value)| *value == start + row as f64)
        };
        if j == 0 && (counts_from(0.0) || counts_from(1.0)) {
            return true;
        }
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        is_called_identifier(&self.names()[j]) && sorted.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn told(&self, j: usize, problem: Problem, row: usize, example: &str) -> Trouble {
        let place = self.place(j, row);
        Trouble {
            column: place.column,
            problem,
            example: example.to_owned(),
            position: place.position,
            is_feature: true,
        }
    }
}

/// Whether a name is that of an identifier: `id`, `patient_id`, `customerId`, `row index`.
fn is_called_identifier(name: &str) -> bool {
    const WORDS: [&str; 6] = ["id", "uuid", "guid", "index", "idx", "rowid"];
    let last = name.rsplit(|letter: char| !letter.is_alphanumeric()).next();
    let is_word = last.is_some_and(|word| WORDS.contains(&word.to_lowercase().as_str()));
    is_word || name.ends_with("Id") || name.ends_with("ID")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::csv::parse_csv;

    fn found(text: &str, rare: usize) -> Vec<(String, Problem, String)> {
        let table = parse_csv(Path::new("t.csv"), text.as_bytes()).unwrap();
        let troubles = table.troubles(table.names(), rare, &[]).unwrap();
        let told = troubles.into_iter();
        told.map(|own| (own.column, own.problem, own.example))
            .collect()
    }

    #[test]
    fn every_column_in_trouble_is_named() {
        let mut text = "id;day;price;height;dose;site;gap;age;city;flag\n".to_owned();
        for i in 0..20 {
            let (day, dose) = (
                i % 28 + 1,
                if i == 7 { "low".into() } else { i.to_string() },
            );
            let gap = if i == 3 { "" } else { "1.5" };
            text += &format!(
                "P{i};2024-01-{day:02};$1,{i:03};1,{i};{dose};A;{gap}{i};{i};{};{}\n",
                ["Rome", "Oslo"][i % 2],
                i % 3 == 0
            );
        }
        let text = text.replace(";3;3;Oslo", ";;3;Oslo");
        let problems = found(&text, 5);
        let expected = [
            ("id", Problem::Identifier { distinct: 20 }, "P0"),
            (
                "day",
                Problem::Dates {
                    order: Some(DateOrder::Ymd),
                },
                "2024-01-01",
            ),
            ("price", Problem::Amounts, "$1,000"),
            ("height", Problem::DecimalComma { is_free: true }, "1,0"),
            ("dose", Problem::Mixed { rows: 1 }, "low"),
            ("site", Problem::Constant, "A"),
            ("gap", Problem::Missing { cells: 1 }, ""),
        ];
        let expected =
            expected.map(|(name, problem, example)| (name.to_owned(), problem, example.to_owned()));
        assert_eq!(problems, expected);
    }

    #[test]
    fn numbers_that_name_rows_are_seen() {
        let rows = |names: &str| {
            let lines = (0..12).map(|i| format!("{i},{},{}\n", 100 - 7 * i, i * i));
            found(&(names.to_owned() + "\n" + &lines.collect::<String>()), 1)
        };
        let columns =
            |names: &str| -> Vec<String> { rows(names).into_iter().map(|own| own.0).collect() };
        assert_eq!(columns("a,b,c"), ["a"]);
        assert_eq!(columns("a,patient_id,c"), ["a", "patient_id"]);
        assert_eq!(columns("a,grid,paid"), ["a"]);
        assert!(rows("n,b,c").iter().all(|own| own.1.is_harmless()));
    }

    #[test]
    fn categories_are_no_trouble() {
        assert_eq!(found("city,y\nRome,1.5\nOslo,2\nRome,3\nOslo,4\n", 2), []);
        let many: String = (0..303)
            .map(|i| format!("n{},{}\n", i % 101, i * i))
            .collect();
        let troubles = found(&format!("name,y\n{many}"), 3);
        assert_eq!(troubles[0].1, Problem::ManyLevels { levels: 101 });
        let rare = found(&format!("name,y\n{many}"), 4);
        assert_eq!(rare[0].1, Problem::Rare { rare: 4 });
    }
}
