//! `l0star explain`: what was proved of a model, and how, for whoever has to defend it.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use l0star_record::Model;
use l0star_report::text::printable;
use l0star_report::{Face, explain};

use crate::failure::{Failure, SOLVED};
use crate::output;
use crate::screen::Screen;
use crate::table;

pub const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5 --out model.json
  l0star explain model.json";

#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Model that fit --out wrote
    pub model: PathBuf,
}

/// Reads the model and says what it stands for.
pub fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let model = Model::load(&args.model)?;
    output::print(&render(&model, &Screen::of_stdout()))?;
    Ok(ExitCode::from(SOLVED))
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
