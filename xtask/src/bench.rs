//! `cargo xtask bench paper`: the paper's method on the paper's instances, as a Markdown table.

use std::time::Instant;

use l0star::{Design, Method, Problem, Settings, loss, solve};
use l0star_data::generate::{self, default_k, default_n};
use l0star_data::{RealData, Table, real_instance};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// A row of the table: a family of instances, and what is known to be possible on it.
struct Family {
    name: &'static str,
    instances: Instances,
    reference_calls: f64,
    reference_ms: f64,
}

enum Instances {
    Real(RealData),
    Huber(usize),
    Logistic(usize),
}

const FAMILIES: &[Family] = &[
    family("Boston", Instances::Real(RealData::Boston), 6366.0, 61.0),
    family("Diabetes", Instances::Real(RealData::Diabetes), 1209.0, 8.8),
    family("Huber 100", Instances::Huber(100), 590.0, 3.7),
    family("Huber 200", Instances::Huber(200), 3404.0, 67.0),
    family("Huber 300", Instances::Huber(300), 19535.0, 894.0),
    family("logistic 50", Instances::Logistic(50), 2003.0, 123.0),
    family("logistic 100", Instances::Logistic(100), 8118.0, 482.0),
];

const fn family(
    name: &'static str,
    instances: Instances,
    reference_calls: f64,
    reference_ms: f64,
) -> Family {
    Family {
        name,
        instances,
        reference_calls,
        reference_ms,
    }
}

impl Instances {
    fn problems(&self) -> Result<Vec<Problem>, String> {
        match *self {
            Self::Real(data) => {
                let table = real_instance(data).map_err(text)?;
                Ok(vec![problem(&table, "quadratic", 1e-3, 10)?])
            }
            Self::Huber(d) => SEEDS
                .map(|seed| {
                    let k = default_k(d);
                    let instance = generate::huber(d, k, default_n(d, k), seed).map_err(text)?;
                    problem(instance.table(), "huber", 1e-3, k)
                })
                .collect(),
            Self::Logistic(d) => SEEDS
                .map(|seed| {
                    let k = default_k(d);
                    let instance = generate::logistic(d, k, default_n(d, k), seed).map_err(text)?;
                    problem(instance.table(), "logistic", 2e-4, k)
                })
                .collect(),
        }
    }

    /// A single instance is measured more often.
    fn repeats(&self) -> usize {
        match self {
            Self::Real(_) => 9,
            _ => 3,
        }
    }
}

/// The table's last column is the response; no intercept, as in the paper.
fn problem(table: &Table, loss: &str, ridge: f64, k: usize) -> Result<Problem, String> {
    let (design, response) = table.split_last();
    let design = Design::dense(table.rows(), table.columns() - 1, design.to_vec()).map_err(text)?;
    Problem::builder(design, response.to_vec())
        .loss(loss::by_name(loss, 1.0).map_err(text)?)
        .ridge(ridge)
        .k(k)
        .build()
        .map_err(text)
}

/// Prints the table: means over the instances of a family, each timed by its median.
pub fn paper() -> Result<(), String> {
    println!("| family | calls | ms | reference calls | reference ms | calls ratio | ms ratio |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for family in FAMILIES {
        let problems = family.instances.problems()?;
        let (mut calls, mut ms) = (0.0, 0.0);
        for problem in &problems {
            let (own_calls, own_ms) = measure(problem, family.instances.repeats())?;
            calls += own_calls / problems.len() as f64;
            ms += own_ms / problems.len() as f64;
        }
        println!(
            "| {} | {calls:.0} | {ms:.2} | {} | {} | {:.2} | {:.2} |",
            family.name,
            family.reference_calls,
            family.reference_ms,
            calls / family.reference_calls,
            ms / family.reference_ms,
        );
    }
    Ok(())
}

/// Solver calls and the median of the milliseconds.
fn measure(problem: &Problem, repeats: usize) -> Result<(f64, f64), String> {
    let settings = Settings::new(Method::Paper);
    let mut calls = 0;
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        let start = Instant::now();
        calls = solve(problem, &settings).map_err(text)?.solver_calls;
        times.push(1e3 * start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok((calls as f64, times[repeats / 2]))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
