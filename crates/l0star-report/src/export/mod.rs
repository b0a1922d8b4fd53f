//! Exports a model as SQL or Python code that gives the same numbers.
//!
//! The sum has the order of [`Model::predict`], with one rounded product and one rounded addition per
//! feature. Every number has the fewest digits that read back to the same bits. So a database that computes
//! in doubles gives the same bits.

mod python;
mod sql;

use std::str::FromStr;

use l0star_data::indicators::{MISSING, OTHER};
use l0star_data::{DateOrder, Indicator};
use l0star_record::Model;

/// Target language of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A query in standard SQL, as PostgreSQL and DuckDB accept it.
    Sql,
    /// A query for SQLite, which has its own date functions.
    Sqlite,
    /// A Python module without dependencies.
    Python,
}

impl Target {
    /// The words that name the targets, as [`FromStr`] takes them.
    pub const WORDS: [&'static str; 3] = ["sql", "sqlite", "python"];
}

impl FromStr for Target {
    type Err = String;

    fn from_str(word: &str) -> Result<Target, String> {
        match word {
            "sql" => Ok(Target::Sql),
            "sqlite" => Ok(Target::Sqlite),
            "python" => Ok(Target::Python),
            _ => Err(format!("it must be one of {}", Target::WORDS.join(", "))),
        }
    }
}

/// Exports the model; `table` is the table that SQL reads from. An error says what cannot
/// be written, and what to do.
pub fn export(model: &Model, to: Target, table: &str) -> Result<String, String> {
    let names = model.columns();
    let labels = model.labels.iter().flatten();
    let labels = labels.chain(model.fitted.outputs()).map(String::as_str);
    let levels = model.indicators.iter().map(|own| own.level.as_str());
    let mut texts = names
        .iter()
        .copied()
        .chain(labels)
        .chain(levels)
        .chain([table]);
    if texts.any(|text| text.contains('\0')) {
        return Err("a name or a label contains a zero byte, which neither SQL nor Python code can hold; rename it".into());
    }
    Ok(match to {
        Target::Sql => sql::query(model, table, sql::Dialect::Standard),
        Target::Sqlite => sql::query(model, table, sql::Dialect::Sqlite),
        Target::Python => python::module(model),
    })
}

/// Returns the score alone as an SQL expression; `None` for other languages. An error says why there is none.
pub fn expression(model: &Model, to: Target) -> Result<Option<String>, String> {
    let dialect = match to {
        Target::Sql => sql::Dialect::Standard,
        Target::Sqlite => sql::Dialect::Sqlite,
        Target::Python => return Ok(None),
    };
    if !model.fitted.outputs().is_empty() {
        return Err("has a score for each response or class, and an expression is one; write the whole query".into());
    }
    Ok(Some(sql::score(model, 0, dialect)))
}

/// A number read from a column.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Number<'a> {
    column: &'a str,
    /// The value that replaces a missing one.
    imputed: Option<f64>,
    /// The order of dates that are converted to days.
    date: Option<DateOrder>,
}

/// A term of the score.
#[derive(Debug, PartialEq)]
enum Term<'a> {
    Column(f64, Number<'a>),
    Product(f64, [Number<'a>; 2]),
    Levels(Levels<'a>),
}

/// The contributions of the levels of one text column.
#[derive(Debug, PartialEq)]
struct Levels<'a> {
    column: &'a str,
    /// Contribution of a missing cell; `None` if the model refuses it.
    missing: Option<f64>,
    /// Texts with their contributions.
    known: Vec<(&'a str, f64)>,
    /// Contribution of any other text.
    others: f64,
}

/// Returns the terms of the score of a response or class, in order; the levels of one column form one term.
fn terms(model: &Model, output: usize) -> Vec<Term<'_>> {
    let number = |column| Number {
        column,
        imputed: model.imputed.get(column),
        date: model
            .reading
            .dates
            .iter()
            .find(|own| own.column == column)
            .map(|own| own.order),
    };
    let mut terms: Vec<Term> = Vec::new();
    for (name, numbers) in &model.fitted.coefficients.0 {
        let coefficient = &numbers.all()[output];
        let product = model.products.iter().find(|own| own.name == *name);
        let indicator = model.indicators.iter().find(|own| own.name == *name);
        match (product, indicator) {
            (Some(product), _) => {
                let factors = product.factors.each_ref().map(|factor| number(factor));
                terms.push(Term::Product(*coefficient, factors));
            }
            (None, None) => terms.push(Term::Column(*coefficient, number(name))),
            (None, Some(indicator)) => {
                let is_same = |term: &Term| matches!(term, Term::Levels(own) if own.column == indicator.column);
                if !terms.last().is_some_and(is_same) {
                    terms.push(Term::Levels(levels(model, output, &indicator.column)));
                }
            }
        }
    }
    terms
}

fn levels<'a>(model: &'a Model, output: usize, column: &'a str) -> Levels<'a> {
    let own = || model.indicators.iter().filter(|own| own.column == column);
    let adds = |level: &Indicator| {
        let numbers = model.fitted.coefficients.of(&level.name);
        numbers.map_or(0.0, |numbers| numbers.all()[output])
    };
    let of = |text: &str| own().find(|level| level.level == text).map(adds);
    let known = own().filter(|level| level.level != OTHER);
    Levels {
        column,
        missing: of(MISSING),
        known: known
            .map(|level| (level.level.as_str(), adds(level)))
            .collect(),
        others: of(OTHER).unwrap_or(0.0),
    }
}

/// Words that stand for a missing cell, in lower case.
const MISSING_WORDS: [&str; 7] = ["", "na", "n/a", "null", "nan", "+nan", "-nan"];

/// Formats a number so that it reads back to the same bits. It always has an exponent, so that SQL reads a
/// double and not a decimal.
fn literal(value: f64) -> String {
    format!("{value:e}")
}

/// Returns labels or classes as literals: numbers if all of them are numbers, otherwise texts.
fn literals(labels: &[String], text: impl Fn(&str) -> String) -> Vec<String> {
    let numbers = labels.iter().map(|label| label.parse::<f64>().ok());
    let numbers: Option<Vec<f64>> = numbers.collect();
    match numbers.filter(|all| all.iter().all(|number| number.is_finite())) {
        Some(numbers) => numbers.iter().map(f64::to_string).collect(),
        None => labels.iter().map(|label| text(label)).collect(),
    }
}
