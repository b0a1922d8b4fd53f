//! The paper's method on the paper's instances, compared with a limit on what is possible.

use l0star::internals::{NewtonRows, OrderedTree};
use l0star::search::{Context, Search};
use l0star::{Method, Problem, Settings};

use super::instances::FAMILIES;
use super::measure::{column, mean, measure_seeds, median, range};
use super::table::{header, row};

/// `bench paper`: prints the table.
pub fn paper(only: &str, seeds: Option<&str>) -> Result<(), String> {
    let seeds = seeds.map(range).transpose()?;
    header(&[
        "family",
        "seeds",
        "calls (mean)",
        "calls (median)",
        "ms (mean)",
        "ms (median)",
        "reference calls",
        "reference ms",
        "calls ratio (mean)",
        "calls ratio (median)",
        "ms ratio (mean)",
        "ms ratio (median)",
        "calls with exact bounds (mean)",
    ]);
    for family in FAMILIES.iter().filter(|family| family.name.contains(only)) {
        let seeds = seeds.as_ref().unwrap_or(&family.seeds);
        let runs = measure_seeds(family.source, seeds, Method::Paper)?;
        let mut exact = Vec::new();
        for seed in seeds.clone() {
            exact.push(calls_with_exact_bounds(&family.source.problem(seed)?));
        }
        let calls = column(&runs, |run| run.solution.solver_calls as f64);
        let ms = column(&runs, |run| run.ms);
        row(&[
            family.name.to_owned(),
            runs.len().to_string(),
            format!("{:.0}", mean(&calls)),
            format!("{:.0}", median(&calls)),
            format!("{:.2}", mean(&ms)),
            format!("{:.2}", median(&ms)),
            family.paper.count.to_string(),
            family.paper.ms.to_string(),
            format!("{:.2}", mean(&calls) / family.paper.count),
            format!("{:.2}", median(&calls) / family.paper.count),
            format!("{:.2}", mean(&ms) / family.paper.ms),
            format!("{:.2}", median(&ms) / family.paper.ms),
            format!("{:.0}", mean(&exact)),
        ]);
    }
    Ok(())
}

/// Counts the calls of the paper's tree if Newton's method maximises its bounds to a hundredth of each node's gap.
///
/// No ascent can need far fewer calls, since every node whose bound is below the optimum has to be split.
fn calls_with_exact_bounds(problem: &Problem) -> f64 {
    let settings = Settings::new(Method::Paper);
    let relaxation = NewtonRows::new(problem, settings.mechanisms);
    let context = Context::new(problem, &settings);
    let mut search = Search::new(context, OrderedTree::new(relaxation, true, true));
    search.run(&settings);
    search.into_context().counters.calls as f64
}
