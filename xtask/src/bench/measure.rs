//! Timed runs of a problem, repeated if they are short; the time is the median.

use std::ops::RangeInclusive;
use std::time::Instant;

use l0star::{Method, Problem, Settings, Solution, solve};

use super::instances::Source;
use super::table::text;

/// A problem that was solved several times.
pub(super) struct Run {
    pub(super) solution: Solution,
    /// The median of the milliseconds.
    pub(super) ms: f64,
}

pub(super) fn measure_seeds(
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

pub(super) fn measure(
    problem: &Problem,
    settings: &Settings,
    repeats: usize,
) -> Result<Run, String> {
    let mut times = Vec::with_capacity(repeats);
    loop {
        let start = Instant::now();
        let solution = solve(problem, settings).map_err(text)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        // A long run needs no repetition, as noise is small compared with its time.
        if times.len() >= repeats || times[0] > 1000.0 {
            return Ok(Run {
                solution,
                ms: median(&times),
            });
        }
    }
}

pub(super) fn column(runs: &[Run], of: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(of).collect()
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the median: the middle value, or the mean of the two in the middle.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        0.5 * (sorted[half - 1] + sorted[half])
    }
}

/// Parses seeds written as `FIRST-LAST`.
pub(super) fn range(words: &str) -> Result<RangeInclusive<u64>, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
