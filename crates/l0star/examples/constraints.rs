//! A model with constraints: blood values are in or out together, weight and pressure have no negative coefficient,
//! and no product is in without its factors. The Python version is `python/examples/constraints.py`.

mod data;

use std::error::Error;
use std::io::Write;

use l0star::{Design, Problem, Settings, solve};

/// The columns have length 1; times this, their values are about 1.
const SCALE: f64 = 21.0;

/// Writes the output of the example.
pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (table, target) = data::diabetes()?;
    let (mut names, rows, mut values) = table.into_parts();
    values.iter_mut().for_each(|value| *value *= SCALE);
    let find = |name: &str, names: &[String]| names.iter().position(|own| own == name);
    let (age, sex) = (find("age", &names), find("sex", &names));
    let (age, sex) = (age.ok_or("no age")?, sex.ok_or("no sex")?);
    for row in 0..rows {
        values.push(values[age * rows + row] * values[sex * rows + row]);
    }
    names.push("age:sex".to_owned());
    let columns = |wanted: &[&str]| -> Vec<usize> {
        wanted
            .iter()
            .filter_map(|name| find(name, &names))
            .collect()
    };
    let design = Design::dense(rows, names.len(), values)?;
    let problem = Problem::builder(design, target)
        .groups(vec![columns(&["s1", "s2", "s3"])])
        .nonnegative(columns(&["bmi", "bp", "s6"]))
        .requires(names.len() - 1, &[age, sex])
        .include(names.len() - 1)
        .names(names)
        .intercept(true)
        .k(6)
        .build()?;
    let solution = solve(&problem, &Settings::default())?;
    writeln!(out, "status     {}", solution.status)?;
    writeln!(out, "objective  {:.4}", solution.objective)?;
    for j in &solution.support {
        let name = &problem.names()[*j];
        writeln!(out, "{name:<9}  {:.4}", solution.coefficients[*j])?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
