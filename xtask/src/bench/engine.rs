//! The default method against the paper's in the same run; then harder instances with the default alone.

use std::time::Duration;

use l0star::{Method, Settings};

use super::instances::{FAMILIES, HARDER};
use super::measure::{Run, column, mean, measure, measure_seeds, median};
use super::table::{header, row};

/// Time limit of a harder instance.
const HARD_LIMIT: Duration = Duration::from_secs(60);

/// `bench engine`: prints both tables.
pub fn engine(only: &str) -> Result<(), String> {
    header(&[
        "family",
        "seeds",
        "nodes (mean)",
        "nodes (median)",
        "calls (median)",
        "best-first ms",
        "paper ms",
        "ratio",
        "ratio of means",
        "most over paper, ms",
        "reference nodes",
        "reference ms",
    ]);
    for family in FAMILIES.iter().filter(|family| family.name.contains(only)) {
        let seeds = &family.seeds;
        let own = measure_seeds(family.source, seeds, Method::BestFirst)?;
        let paper = measure_seeds(family.source, seeds, Method::Paper)?;
        let nodes = column(&own, |run| run.solution.nodes as f64);
        let calls = column(&own, |run| run.solution.solver_calls as f64);
        let ratios: Vec<f64> = own
            .iter()
            .zip(&paper)
            .map(|(own, paper)| paper.ms / own.ms)
            .collect();
        row(&[
            family.name.to_owned(),
            own.len().to_string(),
            format!("{:.1}", mean(&nodes)),
            format!("{:.0}", median(&nodes)),
            format!("{:.0}", median(&calls)),
            format!("{:.2}", median(&column(&own, |run| run.ms))),
            format!("{:.2}", median(&column(&paper, |run| run.ms))),
            format!("{:.1}", median(&ratios)),
            format!(
                "{:.1}",
                mean(&column(&paper, |run| run.ms)) / mean(&column(&own, |run| run.ms))
            ),
            format!("{:.2}", most_over(&own, &paper)),
            family.engine.count.to_string(),
            family.engine.ms.to_string(),
        ]);
    }
    println!();
    header(&["instance", "seed", "status", "nodes", "ms", "relative gap"]);
    for (name, source, seeds) in HARDER.iter().filter(|(name, ..)| name.contains(only)) {
        for seed in seeds.clone() {
            let settings = Settings {
                time_limit: Some(HARD_LIMIT),
                ..Settings::new(Method::BestFirst)
            };
            let run = measure(&source.problem(seed)?, &settings, 1)?;
            row(&[
                (*name).to_owned(),
                seed.to_string(),
                run.solution.status.to_string(),
                run.solution.nodes.to_string(),
                format!("{:.0}", run.ms),
                format!(
                    "{:.1e}",
                    run.solution.relative_gap().unwrap_or(f64::INFINITY)
                ),
            ]);
        }
    }
    Ok(())
}

/// Returns the most milliseconds by which the default was slower than the paper's method; negative if it never was.
fn most_over(own: &[Run], paper: &[Run]) -> f64 {
    let excess = own.iter().zip(paper).map(|(own, paper)| own.ms - paper.ms);
    excess.fold(f64::NEG_INFINITY, f64::max)
}
