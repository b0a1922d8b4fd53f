//! `l0star export`: a model in another language.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use l0star_data::write_atomically;
use l0star_record::Model;
use l0star_report::export::{Target, export, expression};

use crate::failure::{Failure, SOLVED};
use crate::output;

pub const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5 --out model.json
  l0star export model.json --to sql --table patients
  l0star export model.json --to sql --expression
  l0star export model.json --to python --out model.py

sql is for PostgreSQL and DuckDB; sqlite differs from it where a model has dates.";

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Model that fit --out wrote
    pub model: PathBuf,

    /// Language to write
    #[arg(long, value_name = "LANGUAGE",
          value_parser = PossibleValuesParser::new(Target::WORDS).try_map(|word| word.parse::<Target>()))]
    pub to: Target,

    /// Table that the SQL query reads
    #[arg(long, value_name = "NAME", default_value = "data")]
    pub table: String,

    /// Write the score alone as an SQL expression, not a whole query
    #[arg(long)]
    pub expression: bool,

    /// Output file; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
}

/// Reads the model and writes it in the target language.
pub fn run(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let to_stdout = args.out == Path::new("-");
    if !to_stdout {
        output::check_writable(&args.out)?;
        output::check_distinct("--out", &args.out, "the model", &args.model)?;
    }
    let model = Model::load(&args.model)?;
    let refuse = |what: String| Failure::BadData(format!("{}: {what}", args.model.display()));
    let whole = export(&model, args.to, &args.table).map_err(refuse)?;
    let text = if args.expression {
        let Some(expression) = expression(&model, args.to).map_err(refuse)? else {
            return Err(Failure::Usage(
                "--expression is for SQL; drop it, or use --to sql".into(),
            ));
        };
        expression + "\n"
    } else {
        whole
    };
    if to_stdout {
        output::print(&text)?;
    } else {
        write_atomically(&args.out, |file| file.write_all(text.as_bytes()))?;
    }
    Ok(ExitCode::from(SOLVED))
}
