//! `l0star generate`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use l0star_data::generate::{self, default_k, default_n};
use l0star_data::{Instance, RealData, Table, counted, real_instance, save};
use l0star_report::text::printable;

use crate::failure::{Failure, SOLVED};
use crate::numbers::count;
use crate::output;

pub const EXAMPLES: &str = "\
Examples:
  l0star generate huber -d 200 --seed 7 --out huber.csv
  l0star generate poisson -d 100 -k 10 -n 1000 --out counts.csv
  l0star generate cox -d 50 -k 5 -n 500 --out times.csv
  l0star generate responses -d 50 -k 5 -n 200 --responses 3 --out several.csv
  l0star generate classes -d 50 -k 5 -n 300 --classes 4 --out classes.csv
  l0star generate ar -d 1000 -k 10 -n 2000 --rho 0.9 --out ar.parquet
  l0star generate diabetes --out diabetes65.csv";

#[derive(Debug, clap::Args)]
pub struct GenerateArgs {
    /// Which instance
    pub family: Family,

    /// Number of features [default: 100]
    #[arg(short, value_name = "D", allow_hyphen_values = true, value_parser = count)]
    pub d: Option<usize>,

    /// Size of the true support [default: d/10]
    #[arg(short, value_name = "K", allow_hyphen_values = true, value_parser = count)]
    pub k: Option<usize>,

    /// Number of rows [default: 10 k ln d]
    #[arg(short, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub n: Option<usize>,

    /// responses: how many [default: 3]
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = count)]
    pub responses: Option<usize>,

    /// classes: how many [default: 3]
    #[arg(long, value_name = "C", allow_hyphen_values = true, value_parser = count)]
    pub classes: Option<usize>,

    /// ar, poisson, gamma, cox, responses, classes: correlation of neighbouring features [default: 0.5]
    #[arg(long, value_name = "RHO", allow_hyphen_values = true)]
    pub rho: Option<f64>,

    /// ar: signal-to-noise ratio [default: 5]
    #[arg(long, value_name = "SNR", allow_hyphen_values = true)]
    pub snr: Option<f64>,

    /// The same seed gives the same bytes
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        allow_hyphen_values = true
    )]
    pub seed: u64,

    /// File to write: .csv, .tsv (.gz, .zst), .npy, .npz, .parquet, .arrow or .libsvm
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,

    /// Print nothing
    #[arg(long)]
    pub quiet: bool,
}

/// The families of instances that `generate` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Regression with outliers, the paper's
    Huber,
    /// Labels from ill-conditioned features, the paper's
    Logistic,
    /// Regression on features whose neighbours correlate
    Ar,
    /// Counts on features whose neighbours correlate
    Poisson,
    /// Positive amounts on features whose neighbours correlate
    Gamma,
    /// Times until an event (b) and whether there was one (event), on features whose neighbours correlate
    Cox,
    /// Several responses (b1, b2, …) that share their features, whose neighbours correlate
    Responses,
    /// Several classes (b: 1, 2, …) on features whose neighbours correlate
    Classes,
    /// Diabetes data, expanded to 65 features
    Diabetes,
    /// Boston house prices, expanded to 103 features
    Boston,
}

/// Writes the instance and prints its summary.
pub fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    check_options(args)?;
    output::check_writable(&args.out)?;
    let (table, support) = match args.family {
        Family::Diabetes => (real_instance(RealData::Diabetes)?, None),
        Family::Boston => (real_instance(RealData::Boston)?, None),
        Family::Cox => {
            let (d, k, n) = sizes(args);
            let rho = args.rho.unwrap_or(0.5);
            let (instance, events) = generate::cox(d, k, n, rho, args.seed)?;
            let support = instance.support().to_vec();
            (with_events(&instance, &events)?, Some(support))
        }
        Family::Responses => {
            let (d, k, n) = sizes(args);
            let (rho, count) = (args.rho.unwrap_or(0.5), response_count(args));
            let (instance, others) = generate::responses(d, k, n, rho, count, args.seed)?;
            let support = instance.support().to_vec();
            (with_others(&instance, &others)?, Some(support))
        }
        Family::Huber
        | Family::Logistic
        | Family::Ar
        | Family::Poisson
        | Family::Gamma
        | Family::Classes => {
            let instance = synthetic(args)?;
            let support = instance.support().to_vec();
            (instance.into_table(), Some(support))
        }
    };
    save(&args.out, &table)?;
    if !args.quiet {
        let (others, target) = match args.family {
            Family::Cox => (2, "the times 'b' with 'event'".to_owned()),
            Family::Responses => {
                let count = response_count(args);
                (
                    count,
                    format!("the {} b1 to b{count}", counted(count, "target")),
                )
            }
            _ => (1, "the target 'b'".to_owned()),
        };
        let mut line = format!(
            "wrote {}: {}, {} and {target}",
            printable(&args.out.display().to_string()),
            counted(table.rows(), "row"),
            counted(table.columns() - others, "feature")
        );
        if let Some(support) = support {
            let names: Vec<&str> = support.iter().map(|j| table.names()[*j].as_str()).collect();
            line += &format!("; true support: {}", names.join(", "));
        }
        output::print(&(line + "\n"))?;
    }
    Ok(ExitCode::from(SOLVED))
}

/// Returns d, k and n as given, or by the paper's defaults.
fn sizes(args: &GenerateArgs) -> (usize, usize, usize) {
    let d = args.d.unwrap_or(100);
    let k = args.k.unwrap_or_else(|| default_k(d));
    (d, k, args.n.unwrap_or_else(|| default_n(d, k)))
}

/// Returns the table of an instance, with the events in a column before the times.
fn with_events(instance: &Instance, events: &[bool]) -> Result<Table, Failure> {
    let mut names = instance.table().names().to_vec();
    names.insert(names.len() - 1, "event".into());
    let mut values = instance.design().to_vec();
    values.extend(events.iter().map(|event| f64::from(*event)));
    values.extend_from_slice(instance.response());
    Ok(Table::new(names, events.len(), values)?)
}

/// Returns the number of responses.
fn response_count(args: &GenerateArgs) -> usize {
    args.responses.unwrap_or(3)
}

/// Returns the table of an instance with all its responses, b1 first.
fn with_others(instance: &Instance, others: &[Vec<f64>]) -> Result<Table, Failure> {
    let mut names = instance.table().names().to_vec();
    names.pop();
    names.extend((0..=others.len()).map(|r| format!("b{}", r + 1)));
    let mut values = instance.design().to_vec();
    values.extend_from_slice(instance.response());
    others
        .iter()
        .for_each(|other| values.extend_from_slice(other));
    Ok(Table::new(names, instance.response().len(), values)?)
}

fn synthetic(args: &GenerateArgs) -> Result<Instance, Failure> {
    let (d, k, n) = sizes(args);
    let rho = args.rho.unwrap_or(0.5);
    Ok(match args.family {
        Family::Poisson => generate::poisson(d, k, n, rho, args.seed)?,
        Family::Gamma => generate::gamma(d, k, n, rho, args.seed)?,
        Family::Classes => generate::classes(d, k, n, rho, args.classes.unwrap_or(3), args.seed)?,
        Family::Logistic => generate::logistic(d, k, n, args.seed)?,
        Family::Ar => generate::ar(d, k, n, rho, args.snr.unwrap_or(5.0), args.seed)?,
        _ => generate::huber(d, k, n, args.seed)?,
    })
}

/// Rejects options that the family does not have, instead of ignoring them silently.
fn check_options(args: &GenerateArgs) -> Result<(), Failure> {
    let is_real = matches!(args.family, Family::Diabetes | Family::Boston);
    let is_ar = args.family == Family::Ar;
    let has_rho = is_ar
        || matches!(
            args.family,
            Family::Poisson | Family::Gamma | Family::Cox | Family::Responses | Family::Classes
        );
    let options = [
        ("-d", args.d.is_some(), !is_real),
        ("-k", args.k.is_some(), !is_real),
        ("-n", args.n.is_some(), !is_real),
        (
            "--responses",
            args.responses.is_some(),
            args.family == Family::Responses,
        ),
        (
            "--classes",
            args.classes.is_some(),
            args.family == Family::Classes,
        ),
        ("--rho", args.rho.is_some(), has_rho),
        ("--snr", args.snr.is_some(), is_ar),
    ];
    match options.iter().find(|(_, given, known)| *given && !known) {
        None => Ok(()),
        Some((option, ..)) => Err(Failure::Usage(format!(
            "{option} means nothing to '{}'; drop it",
            format!("{:?}", args.family).to_lowercase()
        ))),
    }
}
