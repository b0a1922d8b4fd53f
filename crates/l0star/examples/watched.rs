//! A search that is observed and stopped after about eight nodes: the model and its bound are still valid. The Python
//! version is `python/examples/watched.py`.

mod data;

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use l0star::search::{Event, News};
use l0star::{Design, Problem, Run, Settings};

/// Writes the output of the example.
pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (table, target) = data::diabetes()?;
    let (mut names, rows, mut values) = table.into_parts();
    // Every product of two of the ten columns.
    for a in 0..10 {
        for b in a + 1..10 {
            names.push(format!("{}:{}", names[a], names[b]));
            for row in 0..rows {
                values.push(values[a * rows + row] * values[b * rows + row]);
            }
        }
    }
    let design = Design::dense(rows, names.len(), values)?;
    let problem = Problem::builder(design, target)
        .names(names)
        .ridge(1e-6)
        .intercept(true)
        .k(10)
        .build()?;
    let stop = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&stop)),
        ..Settings::default()
    };
    let mut models = 0;
    let observer = Box::new(|event: &Event| {
        if let News::Incumbent { .. } = event.news {
            models += 1;
        }
        stop.fetch_or(event.nodes >= 8, Ordering::Relaxed);
    });
    let solution = Run::new(&problem, &settings).observe(observer).solve()?;
    writeln!(out, "models seen  {models}")?;
    writeln!(out, "status       {}", solution.status)?;
    writeln!(out, "objective    {:.4}", solution.objective)?;
    writeln!(
        out,
        "lower bound  {:.1}",
        solution.lower_bound.unwrap_or(0.0)
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
