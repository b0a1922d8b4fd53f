//! `l0star generate`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use l0star_data::generate::{self, default_k, default_n};
use l0star_data::{Instance, RealData, counted, real_instance, save};
use l0star_report::text::printable;

use crate::failure::{Failure, SOLVED};
use crate::numbers::count;
use crate::output;

pub const EXAMPLES: &str = "\
Examples:
  l0star generate huber -d 200 --seed 7 --out huber.csv
  l0star generate poisson -d 100 -k 10 -n 1000 --out counts.csv
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

    /// ar, poisson, gamma: correlation of neighbouring features [default: 0.5]
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

/// What `generate` writes.
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
    /// Diabetes data, expanded to 65 features
    Diabetes,
    /// Boston house prices, expanded to 103 features
    Boston,
}

/// Writes the instance and says what it is.
pub fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    check_options(args)?;
    output::check_writable(&args.out)?;
    let (table, support) = match args.family {
        Family::Diabetes => (real_instance(RealData::Diabetes)?, None),
        Family::Boston => (real_instance(RealData::Boston)?, None),
        Family::Huber | Family::Logistic | Family::Ar | Family::Poisson | Family::Gamma => {
            let instance = synthetic(args)?;
            let support = instance.support().to_vec();
            (instance.into_table(), Some(support))
        }
    };
    save(&args.out, &table)?;
    if !args.quiet {
        let mut line = format!(
            "wrote {}: {}, {} and the target 'b'",
            printable(&args.out.display().to_string()),
            counted(table.rows(), "row"),
            counted(table.columns() - 1, "feature")
        );
        if let Some(support) = support {
            let names: Vec<&str> = support.iter().map(|j| table.names()[*j].as_str()).collect();
            line += &format!("; true support: {}", names.join(", "));
        }
        output::print(&(line + "\n"))?;
    }
    Ok(ExitCode::from(SOLVED))
}

fn synthetic(args: &GenerateArgs) -> Result<Instance, Failure> {
    let d = args.d.unwrap_or(100);
    let k = args.k.unwrap_or_else(|| default_k(d));
    let n = args.n.unwrap_or_else(|| default_n(d, k));
    let rho = args.rho.unwrap_or(0.5);
    Ok(match args.family {
        Family::Poisson => generate::poisson(d, k, n, rho, args.seed)?,
        Family::Gamma => generate::gamma(d, k, n, rho, args.seed)?,
        Family::Logistic => generate::logistic(d, k, n, args.seed)?,
        Family::Ar => generate::ar(d, k, n, rho, args.snr.unwrap_or(5.0), args.seed)?,
        _ => generate::huber(d, k, n, args.seed)?,
    })
}

/// An option that the family does not have would be ignored in silence.
fn check_options(args: &GenerateArgs) -> Result<(), Failure> {
    let is_real = matches!(args.family, Family::Diabetes | Family::Boston);
    let is_ar = args.family == Family::Ar;
    let has_rho = is_ar || matches!(args.family, Family::Poisson | Family::Gamma);
    let options = [
        ("-d", args.d.is_some(), !is_real),
        ("-k", args.k.is_some(), !is_real),
        ("-n", args.n.is_some(), !is_real),
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
