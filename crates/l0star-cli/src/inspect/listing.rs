//! The table of columns as text.

use std::fmt::Write;

use l0star_data::summary::{ColumnSummary, Kind, Scale};
use l0star_data::{Format, counted};
use l0star_report::text::{printable, significant};
use l0star_report::width::{padded, width};

use super::{View, advice};
use crate::screen::Screen;

/// Number of columns above which only notable ones are listed.
const LISTED: usize = 100;
/// Most notable columns that are listed.
const NOTABLE: usize = 40;

impl View<'_> {
    pub(super) fn render(&self, screen: &Screen) -> String {
        let mut text = self.head(screen);
        text.push('\n');
        let (listed, left_out) = self.listed();
        if !listed.is_empty() {
            text += &self.listing(&listed, screen);
        }
        if left_out > 0 {
            let _ = writeln!(text, "  … {left_out} more columns; --all lists every one");
        }
        if let Some(j) = self.target {
            text += &self.labels(j, screen);
        }
        let warnings = self.warnings();
        if !warnings.is_empty() {
            text.push('\n');
            for warning in warnings {
                let first = format!("{} ", screen.loud("warning:"));
                text += &screen.wrapped(&first, "         ", &warning);
            }
        }
        // On one line, so that it can be copied.
        let _ = writeln!(
            text,
            "\n{} {}",
            screen.bold("to fit:"),
            printable(&self.fit())
        );
        text
    }

    /// Describes the file, and counts its columns of each kind.
    fn head(&self, screen: &Screen) -> String {
        let kinds = [Kind::Number, Kind::Integer, Kind::Boolean, Kind::Text];
        let kinds: Vec<String> = kinds
            .iter()
            .filter_map(|kind| {
                let of_kind = |column: &&ColumnSummary| column.kind == *kind;
                match self.summary.columns.iter().filter(of_kind).count() {
                    0 => None,
                    count => Some(format!("{count} {}", kind.as_str())),
                }
            })
            .collect();
        let name = self.table.file().display().to_string();
        let name = printable(&name);
        format!(
            "{}: {}, {}, {} ({}), {} in memory\n",
            screen.bold(&name),
            format_name(self.table.format()),
            counted(self.table.rows(), "row"),
            counted(self.summary.columns.len(), "column"),
            kinds.join(", "),
            bytes(self.table.bytes())
        )
    }

    /// Returns the columns to list, and how many are left out.
    fn listed(&self) -> (Vec<usize>, usize) {
        let count = self.summary.columns.len();
        if self.all || count <= LISTED {
            return ((0..count).collect(), 0);
        }
        let is_notable = |j: &usize| {
            let column = &self.summary.columns[*j];
            Some(*j) == self.target
                || column.kind == Kind::Text
                || self.looks_like(self.name(*j)).is_some()
                || column.missing + column.infinite > 0
                || column.is_constant
                || column.duplicate_of.is_some()
        };
        let notable: Vec<usize> = (0..count).filter(is_notable).take(NOTABLE).collect();
        let left_out = count - notable.len();
        (notable, left_out)
    }

    fn listing(&self, listed: &[usize], screen: &Screen) -> String {
        const HEAD: [&str; 8] = ["#", "column", "type", "missing", "min", "mean", "max", "sd"];
        let longest = (screen.width / 4).clamp(12, 32);
        let rows: Vec<[String; 8]> = listed
            .iter()
            .map(|&j| {
                let column = &self.summary.columns[j];
                let number = |of: fn(&Scale) -> f64| {
                    let value = column.scale.map(|scale| of(&scale));
                    value.map_or(String::new(), short)
                };
                [
                    (j + 1).to_string(),
                    screen.clip(self.name(j), longest),
                    column.kind.as_str().to_owned(),
                    column.missing.to_string(),
                    number(|scale| scale.min),
                    number(|scale| scale.mean),
                    number(|scale| scale.max),
                    number(|scale| scale.sd),
                ]
            })
            .collect();
        let widest = |at: usize| {
            let cells = rows.iter().map(|row| width(&row[at]));
            cells.fold(HEAD[at].len(), usize::max)
        };
        let widths: Vec<usize> = (0..HEAD.len()).map(widest).collect();
        let line = |cells: &[String]| {
            let mut text = String::new();
            for (at, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                // Words are left-aligned, numbers right-aligned.
                let _ = match at {
                    1 | 2 => write!(text, "  {}", padded(cell, width)),
                    _ => write!(text, "  {cell:>width$}"),
                };
            }
            text
        };
        let head = line(&HEAD.map(str::to_owned));
        let room = screen.width.saturating_sub(width(&head) + 2);
        let mut text = screen.bold(head.trim_end()) + "\n";
        for (row, &j) in rows.iter().zip(listed) {
            let mut shown = line(row);
            let note = self.note(j);
            if !note.is_empty() && (room >= 8 || !screen.is_terminal) {
                let _ = write!(shown, "  {}", screen.loud(&screen.clip(&note, room)));
            }
            text += shown.trim_end();
            text.push('\n');
        }
        text
    }

    /// Returns what is notable about a column, most important first.
    fn note(&self, j: usize) -> String {
        let column = &self.summary.columns[j];
        let mut notes = Vec::new();
        if Some(j) == self.target {
            notes.push("target".to_owned());
        }
        if column.is_constant {
            notes.push("constant".to_owned());
        }
        if let Some(other) = column.duplicate_of {
            notes.push(format!("same as {}", self.name(other)));
        }
        if let Some(trouble) = self.looks_like(self.name(j)) {
            notes.push(advice::word(&trouble.problem).to_owned());
        }
        if column.infinite > 0 {
            notes.push(format!("{} infinite", column.infinite));
        }
        match (&column.labels, column.levels) {
            (Some(labels), _) if labels.len() == 2 && column.kind != Kind::Number => {
                let counts: Vec<String> = labels
                    .iter()
                    .map(|(label, count)| format!("{label}: {count}"))
                    .collect();
                notes.push(counts.join(", "));
            }
            (_, Some(levels)) if levels != 1 => notes.push(format!("{levels} levels")),
            _ => {}
        }
        notes.join("; ")
    }

    /// Formats the number of rows with each label of the target.
    fn labels(&self, j: usize, screen: &Screen) -> String {
        let name = screen.clip(self.name(j), 32);
        let Some(labels) = &self.summary.columns[j].labels else {
            return format!("\n  target '{name}' has many different values: a regression\n");
        };
        let mut text = format!("\n  labels of '{name}'\n");
        let shown: Vec<String> = labels
            .iter()
            .map(|(label, _)| screen.clip(label, 24))
            .collect();
        let widest = shown.iter().map(|label| width(label)).fold(0, usize::max);
        for (label, (_, count)) in shown.iter().zip(labels) {
            let share = 100.0 * *count as f64 / self.table.rows() as f64;
            let label = padded(label, widest);
            let _ = writeln!(text, "    {label}  {count:>8}  {share:5.1} %");
        }
        text
    }
}

/// Formats a number to four digits; whole numbers below 1e7 have no decimals.
fn short(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e7 {
        value.to_string()
    } else {
        significant(value, 4)
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Csv => "delimited text",
        Format::Libsvm => "LIBSVM",
        Format::Npy => "NumPy matrix",
        Format::Npz => "NumPy archive",
        Format::Parquet => "Parquet",
        Format::Arrow => "Arrow",
        Format::Store => "column store",
    }
}

/// Formats a size, such as `12.3 MB`.
fn bytes(count: usize) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut shown = count as f64;
    let mut unit = "bytes";
    for larger in UNITS {
        if shown < 1000.0 {
            break;
        }
        shown /= 1000.0;
        unit = larger;
    }
    match unit {
        "bytes" => counted(count, "byte"),
        _ => format!("{shown:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1500), "1.5 kB");
        assert_eq!(bytes(800_000_000), "800.0 MB");
    }

    #[test]
    fn whole_numbers_have_no_decimals() {
        assert_eq!(short(25.0), "25");
        assert_eq!(short(-0.5), "-0.5000");
        assert_eq!(short(2e6), "2000000");
        assert_eq!(short(2e7), "2.000e7");
    }
}
