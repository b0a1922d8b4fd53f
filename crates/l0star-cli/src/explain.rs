//! `l0star explain`: says what was proved of a model, and how, for users who have to defend it.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use l0star_record::Model;
use l0star_report::effects::{self, Table};
use l0star_report::text::printable;
use l0star_report::width::{padded, width};
use l0star_report::{Face, explain};

use crate::failure::{Failure, SOLVED};
use crate::output;
use crate::screen::Screen;
use crate::table;

pub const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5 --out model.json
  l0star explain model.json
  l0star explain model.json --table";

#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Model that fit --out wrote
    pub model: PathBuf,

    /// Print the coefficients alone, with all that is known of them: effects, standard errors and intervals given the chosen
    /// features, prices
    #[arg(long)]
    pub table: bool,
}

/// Reads the model and prints the explanation.
pub fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let model = Model::load(&args.model)?;
    let screen = Screen::of_stdout();
    output::print(&if args.table {
        tabled(&model, &screen)
    } else {
        render(&model, &screen)
    })?;
    Ok(ExitCode::from(SOLVED))
}

/// Formats the table of coefficients with their effects, standard errors, intervals and prices.
fn tabled(model: &Model, screen: &Screen) -> String {
    let Table {
        titles,
        rows,
        notes,
    } = effects::table(model, Face::Command);
    let names: Vec<String> = rows.iter().map(|(name, _)| screen.clip(name, 32)).collect();
    let wide = names.iter().map(|name| width(name)).fold(7, usize::max);
    let mut lines = vec![format!("  {}", padded("feature", wide))];
    lines.extend(names.iter().map(|name| format!("  {}", padded(name, wide))));
    for (at, title) in titles.iter().enumerate() {
        let cells: Vec<&str> = rows.iter().map(|(_, cells)| cells[at].as_str()).collect();
        let wide = cells
            .iter()
            .map(|cell| width(cell))
            .fold(width(title), usize::max);
        let column = [title.as_str()].into_iter().chain(cells);
        for (line, cell) in lines.iter_mut().zip(column) {
            let _ = write!(line, "  {cell:>wide$}");
        }
    }
    let mut text = screen.bold(&lines[0]) + "\n";
    for line in &lines[1..] {
        text += line.trim_end();
        text.push('\n');
    }
    for note in notes {
        text.push('\n');
        text += &screen.wrapped("  ", "  ", &printable(&note));
    }
    text
}

fn render(model: &Model, screen: &Screen) -> String {
    let mut text = String::new();
    for (at, section) in explain::sections(model, Face::Command).iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", screen.bold(section.title));
        for paragraph in &section.paragraphs {
            text += &screen.wrapped("  ", "  ", &printable(paragraph));
        }
        if at == 0 {
            let _ = writeln!(text, "\n{}", screen.bold("What was found"));
            text += &table::coefficients(&model.fitted, model.fit_intercept, screen);
        }
    }
    text
}
