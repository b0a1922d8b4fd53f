//! `l0star convert`: writes the columns of files as a column store, which fits map into memory.

use std::path::PathBuf;
use std::process::ExitCode;

use l0star_data::counted;
use l0star_data::store::Precision;
use serde::Serialize;

use crate::failure::Failure;
use crate::task::{self, MakingArgs};
use crate::{interrupt, output};

pub const EXAMPLES: &str = "\
Examples:
  l0star convert claims.parquet claims.l0d --f32
  l0star convert year-*.csv years.l0d --target died --impute mean
  l0star fit claims.l0d --target cost --loss gamma -k 10";

/// The arguments of `convert` as typed.
#[derive(Debug, clap::Args)]
pub struct ConvertArgs {
    /// Data files with the same columns
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// The column store to write (.l0d)
    out: PathBuf,

    /// Store numbers in single precision: half the size, seven digits
    #[arg(long)]
    f32: bool,

    /// Column to predict: it may have two labels, and fits need not name it
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    #[command(flatten)]
    making: MakingArgs,
}

/// The printed summary.
#[derive(Serialize)]
struct Shown<'a> {
    out: String,
    rows: usize,
    rows_dropped: usize,
    columns: &'a [String],
    target: Option<&'a str>,
    precision: &'static str,
    files: &'a [String],
}

pub fn run(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let ConvertArgs { data, out, .. } = args;
    if out.extension().is_none_or(|extension| extension != "l0d") {
        return Err(Failure::Usage(format!(
            "{}: the file to write comes last, and its name ends in .l0d",
            out.display()
        )));
    }
    for file in data {
        let is_pipe = file.as_os_str() == "-" || file.exists() && !file.is_file() && !file.is_dir();
        if is_pipe {
            return Err(Failure::Usage(format!(
                "{}: the rows are read twice, so they cannot come through a pipe; save them to a file",
                file.display()
            )));
        }
        output::check_files(&Some(out.clone()), &None, file)?;
    }
    let tell = |lines: &[String]| args.making.tell(lines);
    let precision = if args.f32 {
        Precision::Single
    } else {
        Precision::Double
    };
    let task = args.making.task(&data[0], args.target.as_deref());
    interrupt::end_at_once();
    let made = task::store(&task, data, out, precision, args.making.quiet, &tell)?;
    let dropped = made.about.rows_dropped;
    if args.making.json {
        output::print_json(&Shown {
            out: out.display().to_string(),
            rows: made.rows,
            rows_dropped: dropped,
            columns: &made.names,
            target: args.target.as_deref(),
            precision: if args.f32 { "f32" } else { "f64" },
            files: &made.about.files,
        })?;
    } else if !args.making.quiet {
        let dropped = output::dropped(dropped);
        output::print(&format!(
            "{} of {}{dropped}: {}\n",
            counted(made.names.len(), "column"),
            counted(made.rows, "row"),
            out.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
