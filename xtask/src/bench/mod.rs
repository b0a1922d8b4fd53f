//! `cargo xtask bench paper`, `engine`, `ablation`, `path`, `flat` and `threads`: Markdown tables. All but the last are of a single
//! thread.

pub mod flat;
mod instances;
pub mod python;
pub mod read;
pub mod stability;

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use instances::{FAMILIES, HARDER, LONG, Source};
use l0star::internals::NewtonRows;
use l0star::internals::OrderedTree;
use l0star::search::{Context, Search};
use l0star::{Mechanisms, Method, PathRun, Problem, Settings, Solution, Use, solve};

/// A harder instance is left after this.
const HARD_LIMIT: Duration = Duration::from_secs(60);

/// In the ablation an instance is left after this.
const ABLATION_LIMIT: Duration = Duration::from_secs(5);
/// So many instances of a family are in it.
const ABLATION_SEEDS: usize = 3;
/// Harder instances that are in the ablation.
const ABLATED: &[&str] = &["Huber d=100 k=10 n=100", "AR d=300 n=600 ρ=0.9"];

/// Families whose paths are measured.
const PATHS: &[&str] = &["Boston", "Diabetes", "Huber 100", "logistic 50"];

/// The paper's method on the paper's instances, against what is known to be possible.
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

/// Seeds written as `FIRST-LAST`.
fn range(words: &str) -> Result<RangeInclusive<u64>, String> {
    let ends = words.split_once('-').and_then(|(first, last)| {
        let ends = (first.parse().ok()?, last.parse().ok()?);
        (ends.0 <= ends.1).then_some(ends)
    });
    match ends {
        Some((first, last)) => Ok(first..=last),
        None => Err(format!(
            "seeds are FIRST-LAST, such as 81-280, not {words:?}"
        )),
    }
}

/// What the paper's tree takes with its bounds maximised by Newton's method to a hundredth of each node's gap: no ascent
/// can do with much less, since every node whose bound is below the optimum has to be split.
fn calls_with_exact_bounds(problem: &Problem) -> f64 {
    let settings = Settings::new(Method::Paper);
    let relaxation = NewtonRows::new(problem, settings.mechanisms);
    let context = Context::new(problem, &settings);
    let mut search = Search::new(context, OrderedTree::new(relaxation, true, true));
    search.run(&settings);
    search.into_context().counters.calls as f64
}

/// The default method against the paper's in the same run; then harder instances on its own.
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

/// By how many milliseconds the default was slower than the paper's method where it did worst; negative when it never was.
fn most_over(own: &[Run], paper: &[Run]) -> f64 {
    let excess = own.iter().zip(paper).map(|(own, paper)| own.ms - paper.ms);
    excess.fold(f64::NEG_INFINITY, f64::max)
}

/// A mechanism: its name, and the mechanisms without it.
type Mechanism = (&'static str, fn(&mut Mechanisms));

/// Every mechanism that can be switched off.
const MECHANISMS: &[Mechanism] = &[
    ("all on", |_| {}),
    ("no Gram form", |mechanisms| mechanisms.gram = false),
    ("no screening before the Gram matrix", |mechanisms| {
        mechanisms.screen_from = u64::MAX
    }),
    ("no enumeration", |mechanisms| {
        mechanisms.enumeration = false
    }),
    ("no lift", |mechanisms| mechanisms.lifting = false),
    ("lifts spread evenly", |mechanisms| {
        mechanisms.spreading = false
    }),
    ("no re-framing", |mechanisms| mechanisms.reframing = false),
    ("no proved boxes", |mechanisms| {
        mechanisms.boxes = Use::Never
    }),
    ("no slack of ridges", |mechanisms| mechanisms.slack = false),
    ("no fixing", |mechanisms| mechanisms.fixing = false),
    ("splitting on the largest coefficient", |mechanisms| {
        mechanisms.gains = false
    }),
    ("no swaps", |mechanisms| mechanisms.swaps = false),
    ("no search for models of its own", |mechanisms| {
        mechanisms.primal = false
    }),
];

/// The default method with one mechanism after the other switched off: mean nodes and mean milliseconds.
pub fn ablation(only: &str) -> Result<(), String> {
    let real = FAMILIES.iter().map(|f| (f.name, f.source, f.seeds.clone()));
    let hard = HARDER.iter().filter(|(name, ..)| ABLATED.contains(name));
    let instances: Vec<_> = real
        .chain(hard.cloned())
        .filter(|(name, ..)| name.contains(only))
        .collect();
    let mut names = vec!["nodes / ms"];
    names.extend(instances.iter().map(|(name, ..)| *name));
    header(&names);
    for (mechanism, switch) in MECHANISMS {
        let mut settings = Settings {
            time_limit: Some(ABLATION_LIMIT),
            ..Settings::new(Method::BestFirst)
        };
        switch(&mut settings.mechanisms);
        let mut cells = vec![(*mechanism).to_owned()];
        for (_, source, seeds) in &instances {
            let mut runs = Vec::new();
            for seed in seeds.clone().take(ABLATION_SEEDS) {
                runs.push(measure(
                    &source.problem(seed)?,
                    &settings,
                    source.repeats(),
                )?);
            }
            let stopped = runs.iter().filter(|run| run.solution.status.falls_short());
            let unsolved = match stopped.count() {
                0 => String::new(),
                count => format!(" ({count} not solved)"),
            };
            cells.push(format!(
                "{:.0} / {:.1}{unsolved}",
                mean(&column(&runs, |run| run.solution.nodes as f64)),
                mean(&column(&runs, |run| run.ms)),
            ));
        }
        row(&cells);
    }
    println!();
    stopped_ablation(only)
}

/// Nodes after which a long instance is left in the ablation.
const STOPPED_NODES: u64 = 300;

/// The same for searches that are stopped early: the gap that is left, and how much worse the best model is than that of the
/// whole engine.
fn stopped_ablation(only: &str) -> Result<(), String> {
    let instances: Vec<_> = LONG
        .iter()
        .filter(|(name, _)| name.contains(only))
        .collect();
    let title = format!("gap after {STOPPED_NODES} nodes");
    let mut names = vec![title.as_str()];
    names.extend(instances.iter().map(|(name, _)| *name));
    header(&names);
    let mut usual = vec![f64::NAN; instances.len()];
    for (number, (mechanism, switch)) in MECHANISMS.iter().enumerate() {
        let mut settings = Settings {
            node_limit: Some(STOPPED_NODES),
            time_limit: Some(ABLATION_LIMIT),
            ..Settings::new(Method::BestFirst)
        };
        switch(&mut settings.mechanisms);
        let mut cells = vec![(*mechanism).to_owned()];
        for ((_, source), usual) in instances.iter().zip(&mut usual) {
            let found = solve(&source.problem(1)?, &settings).map_err(text)?;
            if number == 0 {
                *usual = found.objective;
            }
            let gap = found.relative_gap().unwrap_or(f64::NAN);
            let worse = found.objective / *usual - 1.0;
            let mut cell = format!("{:.3} %", 1e2 * gap);
            if worse > 1e-9 {
                cell += &format!(" (model {:.3} % worse)", 1e2 * worse);
            }
            if found.nodes < STOPPED_NODES && found.status.stopped_early() {
                cell += &format!(" ({} nodes in time)", found.nodes);
            }
            cells.push(cell);
        }
        row(&cells);
    }
    Ok(())
}

/// A long instance is left after this.
const LONG_LIMIT: Duration = Duration::from_secs(20);

/// Nodes a second with one thread and with two.
pub fn threads(only: &str) -> Result<(), String> {
    header(&[
        "instance",
        "seconds, 1 thread",
        "nodes, 1 thread",
        "nodes/s, 1 thread",
        "seconds, 2 threads",
        "nodes, 2 threads",
        "nodes/s, 2 threads",
        "ratio of nodes/s",
    ]);
    for (name, source) in LONG.iter().filter(|(name, _)| name.contains(only)) {
        let problem = source.problem(1)?;
        let mut cells = vec![(*name).to_owned()];
        let mut rates = Vec::new();
        for threads in 1..=2 {
            let settings = Settings {
                time_limit: Some(LONG_LIMIT),
                threads: NonZeroUsize::new(threads),
                ..Settings::new(Method::BestFirst)
            };
            let run = measure(&problem, &settings, 1)?;
            let (seconds, nodes) = (1e-3 * run.ms, run.solution.nodes);
            rates.push(nodes as f64 / seconds);
            cells.push(format!("{seconds:.2}"));
            cells.push(nodes.to_string());
            cells.push(format!("{:.0}", nodes as f64 / seconds));
        }
        cells.push(format!("{:.2}", rates[1] / rates[0]));
        row(&cells);
    }
    Ok(())
}

/// The largest size of the benchmark's paths.
const LONGEST: usize = 20;

/// One thread searches alone for so long, as in the command.
const SOLO: Duration = Duration::from_millis(100);

/// All sizes up to 20 in one path, against as many separate runs.
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
    let families = families.filter(|family| PATHS.contains(&family.name));
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

/// All prices in one run, against as many separate runs with that one feature in or out.
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
    for family in families.filter(|family| PATHS.contains(&family.name)) {
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

/// One problem, solved several times.
struct Run {
    solution: Solution,
    /// The median.
    ms: f64,
}

fn measure_seeds(
    source: Source,
    seeds: &RangeInclusive<u64>,
    method: Method,
) -> Result<Vec<Run>, String> {
    let settings = Settings::new(method);
    seeds
        .clone()
        .map(|seed| measure(&source.problem(seed)?, &settings, source.repeats()))
        .collect()
}

fn measure(problem: &Problem, settings: &Settings, repeats: usize) -> Result<Run, String> {
    let mut times = Vec::with_capacity(repeats);
    loop {
        let start = Instant::now();
        let solution = solve(problem, settings).map_err(text)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        // A long run needs no repetition: noise is small beside it.
        if times.len() >= repeats || times[0] > 1000.0 {
            return Ok(Run {
                solution,
                ms: median(&times),
            });
        }
    }
}

fn column(runs: &[Run], of: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(of).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle one, or the mean of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        0.5 * (sorted[half - 1] + sorted[half])
    }
}

fn header(names: &[&str]) {
    println!("| {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(names.len() - 1));
}

fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

fn text(error: impl Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
