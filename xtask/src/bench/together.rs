//! Searches of one problem that share their work, compared with separate runs: all sizes of a path, all prices.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use l0star::{PathRun, Problem, Settings, Solution, solve};

use super::instances::FAMILIES;
use super::measure::median;
use super::table::{header, row, text};

/// Families whose paths and prices are measured.
const MEASURED: &[&str] = &["Boston", "Diabetes", "Huber 100", "logistic 50"];

/// The largest size of the benchmark's paths.
const LONGEST: usize = 20;

/// Time for which one thread searches alone, as in the command.
const SOLO: Duration = Duration::from_millis(100);

/// `bench path`: compares one path of all sizes up to 20 with a separate run per size.
pub fn path(only: &str) -> Result<(), String> {
    let names = [
        "family",
        "threads",
        "sizes",
        "separate ms",
        "path ms",
        "ratio",
    ];
    header(&names);
    let families = FAMILIES.iter().filter(|family| family.name.contains(only));
    let families = families.filter(|family| MEASURED.contains(&family.name));
    for (family, threads) in families.flat_map(|family| [(family, 1), (family, 2)]) {
        let settings = Settings {
            threads: NonZeroUsize::new(threads),
            solo: SOLO,
            ..Settings::default()
        };
        let whole = family.source.problem(1)?;
        let sizes = (0..=LONGEST).map(|k| whole.with_k(k).map_err(text));
        let sizes: Vec<Problem> = sizes.collect::<Result<_, _>>()?;
        let (mut separate, mut together) = (Vec::new(), Vec::new());
        for _ in 0..family.source.repeats() {
            let start = Instant::now();
            let mut alone = Vec::new();
            for problem in &sizes {
                alone.push(solve(problem, &settings).map_err(text)?.objective);
            }
            separate.push(1e3 * start.elapsed().as_secs_f64());
            let start = Instant::now();
            let path = PathRun::new(&whole, &settings, 0..=LONGEST);
            let path = path.solve().map_err(text)?;
            together.push(1e3 * start.elapsed().as_secs_f64());
            for (point, alone) in path.iter().zip(&alone) {
                if (point.solution.objective - alone).abs() > 2e-9 * alone {
                    let (k, own) = (point.k, point.solution.objective);
                    return Err(format!("{}, k = {k}: {own:e} and {alone:e}", family.name));
                }
            }
        }
        row(&[
            family.name.to_owned(),
            threads.to_string(),
            sizes.len().to_string(),
            format!("{:.2}", median(&separate)),
            format!("{:.2}", median(&together)),
            format!("{:.2}", median(&together) / median(&separate)),
        ]);
    }
    Ok(())
}

/// `bench prices`: compares one run for all prices with separate runs that force each feature in or out.
pub fn prices(only: &str) -> Result<(), String> {
    header(&[
        "family",
        "prices",
        "separate nodes",
        "nodes",
        "separate calls",
        "calls",
        "separate ms",
        "ms",
        "ratio of ms",
    ]);
    let families = FAMILIES.iter().filter(|family| family.name.contains(only));
    for family in families.filter(|family| MEASURED.contains(&family.name)) {
        let settings = Settings::default();
        let (problem, data) = (family.source.problem(1)?, family.source.builder(1)?);
        let solution = solve(&problem, &settings).map_err(text)?;
        let others: Vec<Problem> = problem
            .selectable()
            .iter()
            .map(|j| {
                if solution.support.contains(j) {
                    data.clone().exclude(*j).build()
                } else {
                    data.clone().include(*j).build()
                }
            })
            .collect::<Result<_, _>>()
            .map_err(text)?;
        let (mut separate, mut together) = (Vec::new(), Vec::new());
        let mut counts = [0; 4];
        for _ in 0..family.source.repeats() {
            let start = Instant::now();
            let alone = others.iter().map(|other| solve(other, &settings));
            let alone: Vec<Solution> = alone.collect::<Result<_, _>>().map_err(text)?;
            separate.push(1e3 * start.elapsed().as_secs_f64());
            let start = Instant::now();
            let all = l0star::prices(&problem, &settings, &solution, None).map_err(text)?;
            together.push(1e3 * start.elapsed().as_secs_f64());
            for (price, alone) in all.iter().zip(&alone) {
                if (price.objective - alone.objective).abs() > 2e-9 * alone.objective {
                    let (name, own) = (family.name, price.objective);
                    let (j, alone) = (price.feature, alone.objective);
                    return Err(format!("{name}, column {j}: {own:e} and {alone:e}"));
                }
            }
            counts = [
                alone.iter().map(|found| found.nodes).sum(),
                all.iter().map(|price| price.nodes).sum(),
                alone.iter().map(|found| found.solver_calls).sum(),
                all.iter().map(|price| price.solver_calls).sum(),
            ];
        }
        let mut cells = vec![family.name.to_owned(), others.len().to_string()];
        cells.extend(counts.iter().map(u64::to_string));
        let (separate, together) = (median(&separate), median(&together));
        cells.push(format!("{separate:.2}"));
        cells.push(format!("{together:.2}"));
        cells.push(format!("{:.2}", together / separate));
        row(&cells);
    }
    Ok(())
}
