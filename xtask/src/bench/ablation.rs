//! The default method with each mechanism switched off in turn.

use std::time::Duration;

use l0star::{Mechanisms, Method, Settings, Use, solve};

use super::instances::{FAMILIES, HARDER, LONG};
use super::measure::{column, mean, measure};
use super::table::{header, row, text};

/// Time limit of an instance.
const LIMIT: Duration = Duration::from_secs(5);
/// Instances of each family.
const SEEDS: usize = 3;
/// Names of the harder instances that are included.
const ABLATED: &[&str] = &["Huber d=100 k=10 n=100", "AR d=300 n=600 ρ=0.9"];

/// A mechanism: its name, and a function that switches it off.
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

/// `bench ablation`: prints mean nodes and mean milliseconds.
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
            time_limit: Some(LIMIT),
            ..Settings::new(Method::BestFirst)
        };
        switch(&mut settings.mechanisms);
        let mut cells = vec![(*mechanism).to_owned()];
        for (_, source, seeds) in &instances {
            let mut runs = Vec::new();
            for seed in seeds.clone().take(SEEDS) {
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

/// Nodes after which a long instance is stopped in the ablation.
const STOPPED_NODES: u64 = 300;

/// Runs the ablation with searches that are stopped early. It prints the remaining gap, and how much worse the best
/// model is than that of the whole engine.
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
            time_limit: Some(LIMIT),
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
