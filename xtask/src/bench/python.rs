//! `cargo xtask bench python`: what `fit` in Python costs over the same call in Rust.

use std::fs;
use std::process::Command;
use std::time::Instant;

use l0star::{Design, Problem, Settings, solve};
use l0star_data::{generate, save};

use super::{header, median, row};
use crate::python;
use crate::step::root;

/// Rows and columns.
const SHAPE: (usize, usize) = (1000, 100);
const SIZE: usize = 5;
const RUNS: usize = 50;

/// Both times, one after the other on the same data, and the difference.
pub fn overhead() -> Result<(), String> {
    let (n, d) = SHAPE;
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let instance = generate::ar(d, SIZE, n, 0.5, 5.0, 1).map_err(|error| text(&error))?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        // The engine takes its data: what is copied here is not measured.
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
    let rust = median(&times);

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
    header(&[&format!("{n} × {d}, k = {SIZE}"), "ms (median)"]);
    row(&["the call in Rust".to_owned(), format!("{rust:.2}")]);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (name, ms) = line.rsplit_once(' ').ok_or("a line without a number")?;
        let ms: f64 = ms.parse().map_err(|error| text(&error))?;
        row(&[format!("Python: {name}"), format!("{ms:.2}")]);
        if name == "fit" {
            row(&["the difference".to_owned(), format!("{:.2}", ms - rust)]);
        }
    }
    Ok(())
}
