//! Nodes per second with one thread and with two.

use std::num::NonZeroUsize;
use std::time::Duration;

use l0star::{Method, Settings};

use super::instances::LONG;
use super::measure::measure;
use super::table::{header, row};

/// Time limit of a long instance.
const LONG_LIMIT: Duration = Duration::from_secs(20);

/// `bench threads`: prints the table.
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
