//! The page that compares the paper's statements with the results, as Markdown and as HTML.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use l0star_data::write_atomically;

use super::draw::plain;
use super::figure::{Figure, Panel};
use crate::failure::Failure;

/// A statement of the paper, and the corresponding result.
#[derive(Debug)]
pub struct Statement {
    pub paper: String,
    pub found: String,
    /// The rule by which the statement counts as true here.
    pub rule: String,
    /// Whether it holds; `None` if that cannot be decided.
    pub holds: Option<bool>,
}

/// The part of the page about one experiment.
#[derive(Debug)]
pub struct Chapter {
    pub name: &'static str,
    pub title: &'static str,
    /// The instances and methods that were run.
    pub setting: String,
    pub statements: Vec<Statement>,
    pub figures: Vec<Figure>,
    /// The number of runs, those that were cut off, and what is missing.
    pub notes: Vec<String>,
}

/// Note on how to read the figures.
const BARS: &str = "Bars in the figures are standard deviations; one without a lower end goes down to zero or below, which a logarithmic axis does not have.";

/// A block of the page.
enum Block {
    Title(usize, String),
    Text(String),
    Table(Vec<Vec<String>>),
    Image {
        name: String,
        caption: String,
    },
    /// Tables in a section that can be unfolded.
    Fold(String, Vec<Block>),
}

/// Writes `reproduce.md` and `reproduce.html`.
pub fn save(chapters: &[Chapter], preface: &[String], folder: &Path) -> Result<(), Failure> {
    let blocks = blocks(chapters, preface);
    let markdown: String = blocks.iter().map(markdown).collect();
    write_atomically(folder.join("reproduce.md"), |out| {
        out.write_all((markdown.trim_end().to_owned() + "\n").as_bytes())
    })?;
    let body: String = blocks.iter().map(html).collect();
    write_atomically(folder.join("reproduce.html"), |out| {
        write!(out, "{HEAD}{body}</body>\n</html>\n")
    })?;
    Ok(())
}

fn blocks(chapters: &[Chapter], preface: &[String]) -> Vec<Block> {
    let mut blocks = vec![Block::Title(1, "The paper's experiments, run again".into())];
    blocks.extend(preface.iter().cloned().map(Block::Text));
    blocks.push(Block::Text(BARS.into()));
    for chapter in chapters {
        blocks.push(Block::Title(
            2,
            format!("{}: {}", chapter.name, chapter.title),
        ));
        blocks.push(Block::Text(chapter.setting.clone()));
        blocks.push(Block::Table(statements(&chapter.statements)));
        blocks.extend(chapter.notes.iter().cloned().map(Block::Text));
        for figure in &chapter.figures {
            blocks.push(Block::Image {
                name: figure.name.to_owned(),
                caption: figure.caption.to_owned(),
            });
            let tables = figure.panels.iter().flat_map(|panel| {
                [
                    Block::Text(format!("{}, {}", panel.title, panel.y.label)),
                    Block::Table(numbers(panel)),
                ]
            });
            let title = format!("The numbers of {}", figure.name);
            blocks.push(Block::Fold(title, tables.collect()));
        }
    }
    blocks
}

fn statements(statements: &[Statement]) -> Vec<Vec<String>> {
    let header = ["the paper", "here", "holds if", "holds"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(statements.iter().map(|statement| {
        let holds = match statement.holds {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "not run",
        };
        vec![
            statement.paper.clone(),
            statement.found.clone(),
            statement.rule.clone(),
            holds.to_owned(),
        ]
    }));
    rows
}

/// Returns a table of means and deviations: one row per place, one column per curve.
fn numbers(panel: &Panel) -> Vec<Vec<String>> {
    let mut header = vec![panel.x.to_owned()];
    header.extend(panel.series.iter().map(|series| series.name.clone()));
    let mut places: Vec<f64> = panel
        .series
        .iter()
        .flat_map(|series| series.marks.iter().map(|mark| mark.x))
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut rows = vec![header];
    for x in places {
        let mut row = vec![plain(x)];
        row.extend(panel.series.iter().map(|series| {
            let Some(mark) = series.marks.iter().find(|mark| mark.x == x) else {
                return String::new();
            };
            let mut cell = short(mark.mean);
            if mark.deviation > 0.0 {
                let _ = write!(cell, " ± {}", short(mark.deviation));
            }
            if mark.cut_off > 0 {
                let _ = write!(cell, " ({} cut off)", mark.cut_off);
            }
            cell
        }));
        rows.push(row);
    }
    rows
}

/// Formats a number to three significant digits.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs().log10().floor();
    if (-3.0..6.0).contains(&size) {
        let decimals = (2.0 - size).clamp(0.0, 5.0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    }
}

fn markdown(block: &Block) -> String {
    match block {
        Block::Title(level, text) => format!("{} {text}\n\n", "#".repeat(*level)),
        Block::Text(text) => format!("{text}\n\n"),
        Block::Table(rows) => {
            let mut text = String::new();
            for (place, row) in rows.iter().enumerate() {
                let _ = writeln!(text, "| {} |", row.join(" | "));
                if place == 0 {
                    let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
                }
            }
            text + "\n"
        }
        Block::Image { name, caption } => format!("![{caption}]({name}.svg)\n\n{caption}\n\n"),
        Block::Fold(title, inner) => {
            let inner: String = inner.iter().map(markdown).collect();
            format!("<details>\n<summary>{title}</summary>\n\n{inner}</details>\n\n")
        }
    }
}

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>The paper's experiments, run again</title>
<style>
body { font-family: sans-serif; line-height: 1.45; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid #ccc; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
</style>
</head>
<body>
";

fn html(block: &Block) -> String {
    match block {
        Block::Title(level, text) => format!("<h{level}>{}</h{level}>\n", escape(text)),
        Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Block::Table(rows) => {
            let mut text = String::from("<table>\n");
            for (place, row) in rows.iter().enumerate() {
                let tag = if place == 0 { "th" } else { "td" };
                let cells = row
                    .iter()
                    .map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
                let _ = writeln!(text, "<tr>{}</tr>", cells.collect::<String>());
            }
            text + "</table>\n"
        }
        Block::Image { name, caption } => format!(
            "<figure><img src=\"{name}.svg\" alt=\"{0}\"><figcaption>{0}</figcaption></figure>\n",
            escape(caption)
        ),
        Block::Fold(title, inner) => {
            let inner: String = inner.iter().map(html).collect();
            format!(
                "<details><summary>{}</summary>\n{inner}</details>\n",
                escape(title)
            )
        }
    }
}

/// Escapes text for HTML; `**bold**` is the only mark-up that the page uses.
fn escape(text: &str) -> String {
    let safe = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    let mut parts = safe.split("**");
    let mut html = parts.next().unwrap_or_default().to_owned();
    for (place, part) in parts.enumerate() {
        html += if place % 2 == 0 { "<b>" } else { "</b>" };
        html += part;
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (12.3456, "12.3"),
            (123_456.0, "123456"),
            (0.012_345, "0.0123"),
            (1.5e-5, "1.50e-5"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn html_is_escaped_and_bold() {
        assert_eq!(escape("a < b, **no** & c"), "a &lt; b, <b>no</b> &amp; c");
    }
}
