//! A first fit: the best model with three features, and the proof. The Python version is
//! `python/examples/first_fit.py`.

mod data;

use std::error::Error;
use std::io::Write;

use l0star::{Design, Problem, Settings, solve};

/// Writes the output of the example.
pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (table, target) = data::diabetes()?;
    let (names, rows, values) = table.into_parts();
    let design = Design::dense(rows, names.len(), values)?;
    let problem = Problem::builder(design, target)
        .names(names)
        .intercept(true)
        .k(3)
        .build()?;
    let solution = solve(&problem, &Settings::default())?;
    writeln!(out, "status       {}", solution.status)?;
    writeln!(out, "objective    {:.6}", solution.objective)?;
    writeln!(
        out,
        "lower bound  {:.6}",
        solution.lower_bound.unwrap_or(0.0)
    )?;
    for j in &solution.support {
        let name = &problem.names()[*j];
        writeln!(out, "{name:<11}  {:.4}", solution.coefficients[*j])?;
    }
    writeln!(out, "(intercept)  {:.4}", solution.intercept)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
