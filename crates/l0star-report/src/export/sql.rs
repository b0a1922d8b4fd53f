//! Exports a model as an SQL query.

use std::fmt::Write;

use l0star_data::text::printable;
use l0star_record::Model;

use super::{Levels, MISSING_WORDS, Number, Term, literal, literals, terms};

/// The SQL dialect, which decides the date functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Standard,
    Sqlite,
}

/// Returns the score of a row, for one response or class.
pub(super) fn score(model: &Model, output: usize, dialect: Dialect) -> String {
    let mut text = literal(model.fitted.intercept.all()[output]);
    let times = |coefficient: f64, value: String| {
        let sign = if coefficient.is_sign_negative() {
            '-'
        } else {
            '+'
        };
        format!("\n  {sign} {} * {value}", literal(coefficient.abs()))
    };
    for term in terms(model, output) {
        text += &match term {
            Term::Column(coefficient, column) => times(coefficient, number(&column, dialect)),
            Term::Product(coefficient, [one, two]) => {
                let product = format!("({} * {})", number(&one, dialect), number(&two, dialect));
                times(coefficient, product)
            }
            Term::Levels(levels) => format!("\n  + {}", case(&levels)),
        };
    }
    if let Some(offset) = model.offset_of(output) {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n  + CAST({} AS DOUBLE PRECISION)",
            identifier(offset)
        );
    }
    text
}

/// Returns a query for all columns of a table with the predictions of the model.
pub(super) fn query(model: &Model, table: &str, dialect: Dialect) -> String {
    let mut text = head(model);
    let from = identifier(table);
    let taken = model.columns();
    let free = |name: &str| {
        let is_taken = |name: &str| taken.contains(&name) || model.targets().contains(&name);
        if is_taken(name) {
            format!("l0star_{name}")
        } else {
            name.to_owned()
        }
    };
    if !model.fitted.responses.is_empty() {
        let names = model.fitted.responses.iter().enumerate();
        let columns = names.map(|(output, name)| {
            let prediction = identifier(&free(&format!("{name}_prediction")));
            format!("  {} AS {prediction}", score(model, output, dialect))
        });
        let columns: Vec<String> = columns.collect();
        let _ = write!(text, "SELECT *,\n{}\nFROM {from};\n", columns.join(",\n"));
        return text;
    }
    let prediction = identifier(&free("prediction"));
    if !model.fitted.classes.is_empty() {
        return text + &classes(model, &from, &prediction, &free, dialect);
    }
    let score = score(model, 0, dialect);
    let Some(labels) = &model.labels else {
        let value = if model.has_log_link() {
            format!("exp({score})")
        } else {
            score
        };
        let _ = write!(text, "SELECT *,\n  {value} AS {prediction}\nFROM {from};\n");
        return text;
    };
    let own = identifier(&free("score"));
    let shown = literals(labels, string);
    let (negative, positive) = (&shown[0], &shown[1]);
    let _ = write!(
        text,
        "SELECT *,\n  CASE WHEN {own} > 0 THEN {positive} WHEN {own} IS NOT NULL THEN {negative} END AS {prediction}"
    );
    if model.has_log_odds() {
        let probability = identifier(&free("probability"));
        // In two cases, so that no exponential overflows.
        let _ = write!(
            text,
            ",\n  CASE WHEN {own} >= 0 THEN 1e0 / (1e0 + exp(-{own})) ELSE exp({own}) / (1e0 + exp({own})) END AS {probability}"
        );
    }
    let _ = write!(
        text,
        "\nFROM (\n  SELECT *,\n    {} AS {own}\n  FROM {from}\n) AS scored;\n",
        score
    );
    text
}

/// Adds the class of the highest score (the first of several) and the probability of each class.
fn classes(
    model: &Model,
    from: &str,
    prediction: &str,
    free: &dyn Fn(&str) -> String,
    dialect: Dialect,
) -> String {
    let names = &model.fitted.classes;
    let own = |word: &str| -> Vec<String> {
        let name = |class: &String| identifier(&free(&format!("{word}_{class}")));
        names.iter().map(name).collect()
    };
    let (scores, probabilities) = (own("score"), own("probability"));
    let highest = match dialect {
        Dialect::Standard => format!("GREATEST({})", scores.join(", ")),
        Dialect::Sqlite => format!("max({})", scores.join(", ")),
    };
    let mut text = String::from("SELECT *,\n  CASE\n");
    for (score, class) in scores.iter().zip(literals(names, string)) {
        let _ = writeln!(text, "    WHEN {score} = {highest} THEN {class}");
    }
    let _ = write!(text, "  END AS {prediction}");
    // No exponential overflows here.
    let shares = scores
        .iter()
        .map(|score| format!("exp({score} - {highest})"));
    let shares: Vec<String> = shares.collect();
    let sum = shares.join("\n    + ");
    for (share, probability) in shares.iter().zip(&probabilities) {
        let _ = write!(text, ",\n  {share}\n    / ({sum}) AS {probability}");
    }
    text += "\nFROM (\n  SELECT *";
    for (output, name) in scores.iter().enumerate() {
        let _ = write!(text, ",\n    {} AS {name}", score(model, output, dialect));
    }
    let _ = write!(text, "\n  FROM {from}\n) AS scored;\n");
    text
}

fn head(model: &Model) -> String {
    let mut text = format!(
        "-- {} by l0star {}: {} model with at most {} features.\n",
        comment(&model.target),
        comment(&model.l0star),
        comment(&model.fitted.loss),
        model.fitted.k
    );
    if !model.reading.dates.is_empty() {
        text += "-- Dates must be of a date or time type (in SQLite: ISO text); they count as days since 1970-01-01.\n";
    }
    if !model.reading.numbers.is_empty() {
        text += "-- Amounts must be numbers: no currency signs, no separators.\n";
    }
    text
}

/// Returns a name that cannot end a comment.
fn comment(name: &str) -> String {
    printable(name).into_owned()
}

fn number(own: &Number, dialect: Dialect) -> String {
    let column = identifier(own.column);
    let value = match (own.date, dialect) {
        (None, _) => format!("CAST({column} AS DOUBLE PRECISION)"),
        (Some(_), Dialect::Sqlite) => format!("(julianday({column}) - 2440587.5e0)"),
        (Some(_), Dialect::Standard) => {
            format!(
                "(CAST(EXTRACT(EPOCH FROM CAST({column} AS TIMESTAMP)) AS DOUBLE PRECISION) / 86400e0)"
            )
        }
    };
    match own.imputed {
        Some(mean) => format!("COALESCE({value}, {})", literal(mean)),
        None => value,
    }
}

fn case(levels: &Levels) -> String {
    let column = identifier(levels.column);
    let cell = format!("trim(CAST({column} AS TEXT))");
    let words: Vec<String> = MISSING_WORDS.iter().map(|word| string(word)).collect();
    let missing = match levels.missing {
        Some(adds) => literal(adds),
        None => "NULL".into(),
    };
    let mut text = format!(
        "CASE\n      WHEN {column} IS NULL OR lower({cell}) IN ({}) THEN {missing}\n",
        words.join(", ")
    );
    for (level, adds) in &levels.known {
        let _ = writeln!(
            text,
            "      WHEN {cell} = {} THEN {}",
            string(level),
            literal(*adds)
        );
    }
    let _ = write!(text, "      ELSE {} END", literal(levels.others));
    text
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
