//! Warnings about what a fit would refuse or suffer from, and the command that handles all of it.

use l0star_data::summary::{ColumnSummary, Kind};
use l0star_data::{DataError, Format, Problem, RawTable, Trouble};
use l0star_report::Face;
use l0star_report::moments::named;
use l0star_report::troubles::{for_shell, options};

use super::View;

/// Number of rows that a category needs, as in `fit`.
const RARE: usize = 5;
/// Most features that the suggested command asks for.
const FEW: usize = 5;

/// Kinds of suspicious columns, and the advice on each.
struct Looks {
    word: &'static str,
    one: &'static str,
    many: &'static str,
    advice: &'static str,
}

const KINDS: [Looks; 7] = [
    Looks {
        word: "identifier",
        one: "looks like an identifier",
        many: "look like identifiers",
        advice: "leave it out with --drop",
    },
    Looks {
        word: "date",
        one: "holds dates",
        many: "hold dates",
        advice: "fit --dates days counts the days, --dates drop leaves them out",
    },
    Looks {
        word: "amount",
        one: "holds numbers with currency signs, percent signs or separators of thousands",
        many: "hold numbers with currency signs, percent signs or separators of thousands",
        advice: "fit --as-number removes them",
    },
    Looks {
        word: "decimal_comma",
        one: "has decimal commas",
        many: "have decimal commas",
        advice: "read the file with --decimal , (or the column with --as-number)",
    },
    Looks {
        word: "mixed",
        one: "holds numbers and some other text",
        many: "hold numbers and some other text",
        advice: "fit --as-number makes that text missing, --as-text makes categories of all",
    },
    Looks {
        word: "rare",
        one: "has no category of 5 rows or more",
        many: "have no category of 5 rows or more",
        advice: "leave it out with --drop, or fit with a lower --rare",
    },
    Looks {
        word: "many_levels",
        one: "has more categories than a feature may have",
        many: "have more categories than a feature may have",
        advice: "leave it out with --drop, or fit with a higher --rare",
    },
];

/// Whether the problem concerns the values themselves; the table has separate columns for gaps and constants.
pub(super) fn is_told(problem: &Problem) -> bool {
    !problem.is_gap() && *problem != Problem::Constant
}

/// Returns the word for a problem in the table.
pub(super) fn word(problem: &Problem) -> &'static str {
    match problem {
        Problem::Identifier { .. } | Problem::Numbering => "identifier?",
        Problem::Dates { .. } => "dates",
        Problem::Amounts => "amounts",
        Problem::DecimalComma { .. } => "decimal commas",
        Problem::Mixed { .. } => "numbers and other text",
        Problem::Rare { .. } => "rare categories",
        Problem::ManyLevels { .. } => "many categories",
        _ => "",
    }
}

/// Returns the troubles of the columns of a file, one of which may be the target.
pub(super) fn troubles(table: &RawTable, target: Option<usize>) -> Result<Vec<Trouble>, DataError> {
    let names = table.names();
    let features = (0..names.len()).filter(|j| Some(*j) != target);
    let features: Vec<&String> = features.map(|j| &names[j]).collect();
    let mut troubles = table.troubles(&features, RARE, &[])?;
    if let Some(j) = target {
        troubles.extend(table.troubles_as_numbers(&[&names[j]])?);
    }
    Ok(troubles)
}

impl View<'_> {
    /// Returns the command that fits a model to the file.
    pub(super) fn fit(&self) -> String {
        let file = for_shell(&self.table.file().display().to_string());
        let file = match self.table.file().to_str() {
            Some("standard input") => "-".to_owned(),
            _ => file,
        };
        let options = options(&self.troubles, Face::Command);
        let dropped = self
            .troubles
            .iter()
            .filter(|own| own.problem.as_str() == "identifier" || own.problem == Problem::Constant);
        let features = self.table.names().len().saturating_sub(1 + dropped.count());
        let mut words = vec!["l0star fit".to_owned(), file, "--target".into()];
        words.push(match self.target {
            Some(j) => for_shell(&self.table.names()[j]),
            None => "COLUMN".into(),
        });
        words.push(format!("-k {}", features.clamp(1, FEW)));
        let has_two_labels = self.target.is_some_and(|j| {
            let column = &self.summary.columns[j];
            let labels = column.labels.as_ref();
            column.kind != Kind::Number && labels.is_some_and(|labels| labels.len() == 2)
        });
        if has_two_labels {
            words.push("--loss logistic".into());
        }
        words.extend(options);
        words.join(" ")
    }

    /// Returns warnings about what a fit would refuse or suffer from, each with advice.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.table.notes().to_vec();
        if !self.table.has_names() && self.table.format() == Format::Csv {
            warnings.push(
                "the file has no header, so its columns are called c1, c2, …; if the first line names them, add --header".into(),
            );
        }
        let mut warn =
            |is: &dyn Fn(usize, &ColumnSummary) -> bool, one: &str, many: &str, advice: &str| {
                let found: Vec<usize> = self
                    .summary
                    .columns
                    .iter()
                    .enumerate()
                    .filter(|(j, column)| is(*j, column))
                    .map(|(j, _)| j)
                    .collect();
                if !found.is_empty() {
                    let verb = if found.len() == 1 { one } else { many };
                    warnings.push(format!(
                        "{} {verb}; {advice}",
                        named(&found, self.table.names())
                    ));
                }
            };
        warn(
            &|_, column| column.missing > 0,
            "has missing values",
            "have missing values",
            "fit --impute mean fills them in, --drop-missing drops the rows, --drop the columns",
        );
        warn(
            &|_, column| column.infinite > 0,
            "has infinite values",
            "have infinite values",
            "replace them, or drop the rows or the columns",
        );
        let looks = |j: usize| {
            self.looks_like(&self.table.names()[j])
                .map(|own| own.problem)
        };
        for kind in KINDS {
            warn(
                &|j, _| looks(j).is_some_and(|own| own.as_str() == kind.word),
                kind.one,
                kind.many,
                kind.advice,
            );
        }
        warn(
            &|j, column| column.kind == Kind::Text && Some(j) != self.target && looks(j).is_none(),
            "holds text",
            "hold text",
            "fit makes one feature of it, with an indicator column for each category; --drop leaves it out",
        );
        warn(
            &|_, column| column.is_constant,
            "is constant",
            "are constant",
            "a constant says nothing, so leave it out with --drop",
        );
        warn(
            &|_, column| column.duplicate_of.is_some(),
            "repeats another column",
            "repeat other columns",
            "leave the copies out with --drop",
        );
        warnings
    }
}
