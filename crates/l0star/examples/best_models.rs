//! The five best models in order, and the cost of the other decision about each feature. The Python version is
//! `python/examples/best_models.py`.

mod data;

use std::error::Error;
use std::io::Write;
use std::num::NonZeroUsize;

use l0star::{Design, Problem, Settings, prices, solve};

/// Writes the output of the example.
pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (table, target) = data::diabetes()?;
    let (names, rows, values) = table.into_parts();
    let design = Design::dense(rows, names.len(), values)?;
    let problem = Problem::builder(design, target)
        .names(names)
        .intercept(true)
        .k(4)
        .build()?;
    let settings = Settings {
        top: NonZeroUsize::new(5),
        ..Settings::default()
    };
    let solution = solve(&problem, &settings)?;
    for model in &solution.solutions {
        let names = model.support.iter().map(|j| problem.names()[*j].as_str());
        let names: Vec<&str> = names.collect();
        writeln!(out, "{:.4}  {}", model.objective, names.join(" "))?;
    }
    if let Some(bound) = solution.rest_bound {
        writeln!(out, "no other model is below {bound:.3}")?;
    }
    for price in prices(&problem, &settings, &solution, None)? {
        let verb = if price.chosen { "without" } else { "with" };
        let name = &problem.names()[price.feature];
        writeln!(out, "{verb:<7}  {name:<3}  {:.4}", price.cost)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
