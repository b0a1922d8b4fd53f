//! `cargo xtask bench python`: the overhead of `fit` in Python compared with the same call in Rust.

use std::fs;
use std::process::Command;
use std::time::Instant;

use l0star::{Design, Problem, Settings, solve};
use l0star_data::{generate, save};

use super::measure::median;
use super::table::{header, row};
use xtask::python;
use xtask::step::root;

/// Number of rows and columns.
const SHAPE: (usize, usize) = (1000, 100);
const SIZE: usize = 5;
const RUNS: usize = 100;

/// Measures both on the same data, one after the other, and prints the times and their difference.
pub fn overhead() -> Result<(), String> {
    let (n, d) = SHAPE;
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let instance = generate::ar(d, SIZE, n, 0.5, 5.0, 1).map_err(|error| text(&error))?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        // The engine takes ownership of its data; this copy is not measured.
        let (values, response) = (instance.design().to_vec(), instance.response().to_vec());
        let start = Instant::now();
        let solution = Design::dense(n, d, values)
            .and_then(|design| {
                Problem::builder(design, response)
                    .k(SIZE)
                    .intercept(true)
                    .build()
            })
            .and_then(|problem| solve(&problem, &Settings::default()));
        times.push(1e3 * start.elapsed().as_secs_f64());
        solution.map_err(|error| text(&error))?;
    }
    let rust = [median(&times), least(&times)];

    let folder = root().join("target").join("bench");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join("overhead.npy");
    save(&file, instance.table()).map_err(|error| text(&error))?;
    let output = Command::new(python::installed()?)
        .arg(root().join("python").join("bench").join("overhead.py"))
        .arg(&file)
        .arg(SIZE.to_string())
        .output()
        .map_err(|error| text(&error))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    header(&[
        &format!("{n} × {d}, k = {SIZE}"),
        "ms (median)",
        "ms (least)",
    ]);
    let line = |name: &str, [median, least]: [f64; 2]| {
        row(&[
            name.to_owned(),
            format!("{median:.2}"),
            format!("{least:.2}"),
        ]);
    };
    line("the call in Rust", rust);
    for told in String::from_utf8_lossy(&output.stdout).lines() {
        let mut numbers = told.rsplitn(3, ' ');
        let mut next = || numbers.next().ok_or("a line without its numbers");
        let (least, median, name) = (next()?, next()?, next()?);
        let number = |word: &str| word.parse::<f64>().map_err(|error| text(&error));
        let ms = [number(median)?, number(least)?];
        line(&format!("Python: {name}"), ms);
        if name == "fit" {
            line("the difference", [ms[0] - rust[0], ms[1] - rust[1]]);
        }
    }
    Ok(())
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
