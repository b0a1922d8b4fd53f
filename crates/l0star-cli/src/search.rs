//! Search options, shared by `fit` and `cv`.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use l0star::{Method, RelaxationKind, Settings};

use crate::failure::Failure;
use crate::numbers::{node_count, non_negative, one_or_more, share};
use crate::units;

/// Time one thread searches before the others join. Most runs are over by then, and so are repeatable.
const SOLO: Duration = Duration::from_millis(100);

/// The search options as typed.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// best-first, paper and exhaustive prove their answer; omp, iht, htp and diht do not
    #[arg(long, value_name = "METHOD", default_value = Method::BestFirst.as_str(),
          value_parser = PossibleValuesParser::new(Method::WORDS).try_map(|word| word.parse::<Method>()))]
    pub method: Method,

    /// How method paper bounds a node
    #[arg(long, value_name = "RELAXATION", default_value = RelaxationKind::Pdal.as_str(),
          value_parser = PossibleValuesParser::new(RelaxationKind::WORDS)
              .try_map(|word| word.parse::<RelaxationKind>()))]
    pub relaxation: RelaxationKind,

    /// Method paper: start the bound of every node from scratch
    #[arg(long)]
    pub no_warm_start: bool,

    /// Method paper: keep nodes that cannot improve the best model
    #[arg(long)]
    pub no_pruning: bool,

    /// Absolute error allowed in the objective; 0 asks for the optimum
    #[arg(long, value_name = "G", default_value_t = 0.0, allow_hyphen_values = true,
          value_parser = non_negative)]
    pub gap: f64,

    /// Error allowed as a share of the objective; the larger of the two gaps counts
    #[arg(long, value_name = "R", default_value_t = 0.0, allow_hyphen_values = true,
          value_parser = share)]
    pub relative_gap: f64,

    /// Stop the whole run after this time: 500ms, 30s, 2m, 1h; reading the data is not counted
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = units::duration)]
    pub time_limit: Option<Duration>,

    /// Stop each search after this time, where a run has several: sizes of a path, folds and sizes of cv, prices
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = units::duration)]
    pub search_time_limit: Option<Duration>,

    /// Stop each search after this many nodes
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = node_count)]
    pub node_limit: Option<u64>,

    /// Stop a search when its open nodes take this much memory: 500MB, 4GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = units::size)]
    pub memory_limit: Option<u64>,

    /// Threads that search, at most four per core [default: one per core]; with 1 a run is repeatable bit for bit
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = one_or_more)]
    pub threads: Option<NonZeroUsize>,
}

impl SearchArgs {
    /// Returns the number of threads that search.
    pub fn thread_count(&self) -> Option<NonZeroUsize> {
        let most = Settings::most_threads();
        self.threads.map(|asked| asked.min(most)).or_else(cores)
    }

    /// Returns warnings about options that are not followed as given.
    pub fn warnings(&self) -> Vec<String> {
        let most = Settings::most_threads();
        let asked = self.threads.filter(|asked| *asked > most);
        let text = |asked| {
            format!("--threads {asked} is more than four per core; {most} threads are started")
        };
        asked.map(text).into_iter().collect()
    }

    /// Returns the settings, or an error if options conflict.
    pub fn settings(&self) -> Result<Settings, Failure> {
        if self.method != Method::Paper {
            let switches = [
                (self.relaxation != RelaxationKind::Pdal, "--relaxation sga"),
                (self.no_warm_start, "--no-warm-start"),
                (self.no_pruning, "--no-pruning"),
            ];
            if let Some((_, switch)) = switches.iter().find(|(given, _)| *given) {
                return Err(Failure::Usage(format!(
                    "{switch} belongs to --method paper, and the method is '{}'; add --method paper or drop {switch}",
                    self.method
                )));
            }
        }
        Ok(Settings {
            threads: self.thread_count(),
            solo: SOLO,
            gap: self.gap,
            relative_gap: self.relative_gap,
            relaxation: self.relaxation,
            warm_start: !self.no_warm_start,
            pruning: !self.no_pruning,
            time_limit: self.time_limit,
            search_time_limit: self.search_time_limit,
            node_limit: self.node_limit,
            memory_limit: self.memory_limit,
            ..Settings::new(self.method)
        })
    }
}

/// Returns the number of cores, for one thread per core.
fn cores() -> Option<NonZeroUsize> {
    std::thread::available_parallelism().ok()
}
