//! `l0star generate`.

use std::process::ExitCode;

use l0star_data::generate::{self, default_k, default_n};
use l0star_data::{Instance, RealData, counted, real_instance, save};
use l0star_report::text::printable;

use crate::args::{Family, GenerateArgs};
use crate::failure::{Failure, SOLVED};
use crate::output;

/// Writes the instance and says what it is.
pub fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    check_options(args)?;
    output::check_writable(&args.out)?;
    let (table, support) = match args.family {
        Family::Diabetes => (real_instance(RealData::Diabetes)?, None),
        Family::Boston => (real_instance(RealData::Boston)?, None),
        Family::Huber | Family::Logistic | Family::Ar => {
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
    Ok(match args.family {
        Family::Logistic => generate::logistic(d, k, n, args.seed)?,
        Family::Ar => {
            let (rho, snr) = (args.rho.unwrap_or(0.5), args.snr.unwrap_or(5.0));
            generate::ar(d, k, n, rho, snr, args.seed)?
        }
        _ => generate::huber(d, k, n, args.seed)?,
    })
}

/// An option that the family does not have would be ignored in silence.
fn check_options(args: &GenerateArgs) -> Result<(), Failure> {
    let is_real = matches!(args.family, Family::Diabetes | Family::Boston);
    let is_ar = args.family == Family::Ar;
    let options = [
        ("-d", args.d.is_some(), !is_real),
        ("-k", args.k.is_some(), !is_real),
        ("-n", args.n.is_some(), !is_real),
        ("--rho", args.rho.is_some(), is_ar),
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
