//! The best model of every size, and the size that the extended Bayesian criterion selects. The Python version is
//! `python/examples/path.py`.

mod data;

use std::error::Error;
use std::io::Write;

use l0star::{Design, PathRun, Problem, Settings};

/// Writes the output of the example.
pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (table, target) = data::diabetes()?;
    let (names, rows, values) = table.into_parts();
    let design = Design::dense(rows, names.len(), values)?;
    let problem = Problem::builder(design, target)
        .names(names)
        .intercept(true)
        .build()?;
    let path = PathRun::new(&problem, &Settings::default(), 0..=10).solve()?;
    let names = |support: &[usize]| -> String {
        let names = support.iter().map(|j| problem.names()[*j].as_str());
        names.collect::<Vec<_>>().join(" ")
    };
    let mut best = (f64::INFINITY, 0);
    for (at, point) in path.iter().enumerate() {
        let criteria = point.criteria.ok_or("the loss is no likelihood")?;
        if criteria.ebic < best.0 {
            best = (criteria.ebic, at);
        }
        let solution = &point.solution;
        let features = names(&solution.support);
        let line = format!(
            "{:>2}  {:.4}  {:.3}  {features}",
            point.k, solution.objective, criteria.ebic
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    let chosen = &path[best.1];
    writeln!(out, "chosen: {}", names(&chosen.solution.support))?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
