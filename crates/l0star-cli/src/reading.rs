//! Columns read as another type than the detected one: `--as-number`, `--as-text`, `--dates`.

use clap::ValueEnum;
use l0star_data::reading::{DatesAs, Unsettled, Wish};
use l0star_data::{DateOrder, RawTable, Reading, Selection};
use l0star_report::text::clip;
use l0star_report::troubles;

use crate::failure::Failure;

/// The choice as typed.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ReadingArgs {
    /// Read these columns as numbers: currency signs, percent signs and separators of thousands are removed, and any other
    /// text counts as missing
    #[arg(long, value_name = "COLUMNS", value_parser = Selection::parse)]
    pub as_number: Option<Selection>,

    /// Treat these columns as categories, even if they hold numbers or dates
    #[arg(long, value_name = "COLUMNS", value_parser = Selection::parse)]
    pub as_text: Option<Selection>,

    /// Turn dates into days since 1970-01-01, or drop their columns
    #[arg(long, value_name = "HOW")]
    pub dates: Option<Dates>,

    /// Whether dates such as 1/2/2024 begin with the day or the month, where the column does not show it
    #[arg(long, value_name = "ORDER")]
    pub date_order: Option<Order>,
}

/// How dates are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dates {
    Days,
    Drop,
}

/// The order of day and month in dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    Dmy,
    Mdy,
}

/// How the columns of a file are read.
#[derive(Debug)]
pub struct Settled {
    pub reading: Reading,
    /// Notes for the user about the reading.
    pub notes: Vec<String>,
}

impl ReadingArgs {
    /// Reads the columns as asked, and removes dates from the features with `--dates drop`.
    pub fn settle(
        &self,
        raw: &mut RawTable,
        features: &mut Vec<String>,
        decimal_comma: bool,
    ) -> Result<Settled, Failure> {
        let wish = Wish {
            decimal_comma,
            numbers: self.names(&self.as_number, raw)?,
            texts: self.names(&self.as_text, raw)?,
            dates: self.dates.map(|dates| match dates {
                Dates::Days => DatesAs::Days,
                Dates::Drop => DatesAs::Dropped,
            }),
            order: self.date_order.map(|order| match order {
                Order::Dmy => DateOrder::Dmy,
                Order::Mdy => DateOrder::Mdy,
            }),
        };
        let settled = wish.settle(raw, features);
        let (reading, words) = settled.map_err(|why| match why {
            Unsettled::Data(error) => error.into(),
            Unsettled::Both(column) => Failure::Usage(format!(
                "column '{column}' is both in --as-number and in --as-text; take it out of one of them"
            )),
            Unsettled::Ambiguous(trouble) => Failure::Usage(format!(
                "dates in column '{}', such as '{}', may begin with the day or with the month; say which with --date-order dmy or --date-order mdy",
                clip(&trouble.column, 41),
                clip(&trouble.example, 41)
            )),
            Unsettled::NothingLeft => {
                Failure::Usage("--dates drop leaves no features; use --dates days".into())
            }
        })?;
        let mut notes = raw.notes().to_vec();
        notes.extend(words.iter().map(troubles::counted_as_missing));
        Ok(Settled { reading, notes })
    }

    /// Returns the names of the selected columns.
    fn names(&self, selection: &Option<Selection>, raw: &RawTable) -> Result<Vec<String>, Failure> {
        let Some(selection) = selection else {
            return Ok(Vec::new());
        };
        let mut chosen = vec![false; raw.names().len()];
        for matched in selection.resolve(raw)? {
            matched.columns.iter().for_each(|j| chosen[*j] = true);
        }
        let names = raw.names().iter().zip(chosen);
        Ok(names
            .filter(|(_, is)| *is)
            .map(|(name, _)| name.clone())
            .collect())
    }
}
