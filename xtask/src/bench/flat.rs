//! `cargo xtask bench flat`: instances with no more rows than features and small ridges, solved to proved optimality.

use std::fs;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use l0star::{Design, Problem, Settings, Status, solve};
use l0star_data::generate;

use super::measure::range;
use super::table::{header, row, text};

/// A family of AR data: `Σ_ij = ρ^|i-j|`.
struct Family {
    n: usize,
    d: usize,
    k: usize,
    rho: f64,
    snr: f64,
}

const fn family(n: usize, d: usize, k: usize, rho: f64, snr: f64) -> Family {
    Family { n, d, k, rho, snr }
}

/// The families that must be proved, then the hard ones.
const FAMILIES: &[Family] = &[
    family(100, 300, 5, 0.5, 5.0),
    family(200, 200, 10, 0.5, 5.0),
    family(200, 200, 5, 0.9, 5.0),
    family(200, 500, 5, 0.5, 5.0),
    family(200, 500, 5, 0.5, 1.0),
    family(500, 500, 10, 0.5, 5.0),
    family(500, 1000, 5, 0.5, 5.0),
    family(500, 1000, 10, 0.5, 5.0),
    family(500, 2000, 5, 0.5, 5.0),
    family(1000, 1000, 10, 0.5, 5.0),
    family(200, 200, 10, 0.9, 5.0),
    family(200, 500, 10, 0.5, 5.0),
    family(200, 5000, 5, 0.5, 5.0),
];

/// Ridge weights on the sum of squares.
const WEIGHTS: [f64; 2] = [0.1, 0.001];
/// Time limit of each instance.
const LIMIT: Duration = Duration::from_secs(60);
/// The default seeds.
const SEEDS: RangeInclusive<u64> = 1..=5;

impl Family {
    fn name(&self) -> String {
        let Self { n, d, k, rho, snr } = self;
        format!("{n} × {d} k={k} ρ={rho} SNR {snr}")
    }

    fn problem(&self, weight: f64, seed: u64) -> Result<Problem, String> {
        let Self { n, d, k, rho, snr } = *self;
        let instance = generate::ar(d, k, n, rho, snr, seed).map_err(text)?;
        let (design, response) = instance.table().split_last();
        let design = Design::dense(n, d, design.to_vec()).map_err(text)?;
        let builder = Problem::builder(design, response.to_vec())
            .standardize(false)
            .intercept(false);
        let built = builder.k(k).ridge(weight / n as f64).build();
        built.map_err(text)
    }
}

/// Clock of this thread's processor time, which other processes hardly affect; elapsed time if that is unknown.
struct Clock {
    began: Instant,
    spent: Option<Duration>,
}

impl Clock {
    fn start() -> Self {
        Self {
            began: Instant::now(),
            spent: Self::spent(),
        }
    }

    fn spent() -> Option<Duration> {
        let words = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        words
            .split(' ')
            .next()?
            .parse()
            .ok()
            .map(Duration::from_nanos)
    }

    fn seconds(&self) -> f64 {
        let spent = Self::spent().zip(self.spent);
        let spent = spent.map(|(now, then)| now.saturating_sub(then));
        spent.unwrap_or_else(|| self.began.elapsed()).as_secs_f64()
    }
}

/// `bench flat`: prints nodes and processor seconds of each seed, and the gap of those not proved.
pub fn flat(only: &str, seeds: Option<&str>) -> Result<(), String> {
    let seeds = seeds.map(range).transpose()?.unwrap_or(SEEDS);
    header(&["family", "weight", "proved", "nodes", "seconds", "gaps"]);
    for family in FAMILIES {
        if !family.name().contains(only) {
            continue;
        }
        for weight in WEIGHTS {
            let (mut nodes, mut seconds, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
            let mut proved = 0;
            for seed in seeds.clone() {
                let problem = family.problem(weight, seed)?;
                let settings = Settings {
                    time_limit: Some(LIMIT),
                    ..Settings::default()
                };
                let clock = Clock::start();
                let found = solve(&problem, &settings).map_err(text)?;
                seconds.push(format!("{:.1}", clock.seconds()));
                nodes.push(found.nodes.to_string());
                proved += u64::from(found.status == Status::Optimal);
                if found.status != Status::Optimal {
                    let gap = found.objective - found.lower_bound.unwrap_or(0.0);
                    gaps.push(format!("{:.0} %", 100.0 * gap / found.objective));
                }
            }
            row(&[
                family.name(),
                weight.to_string(),
                format!("{proved} of {}", nodes.len()),
                nodes.join(", "),
                seconds.join(", "),
                gaps.join(", "),
            ]);
        }
    }
    Ok(())
}
