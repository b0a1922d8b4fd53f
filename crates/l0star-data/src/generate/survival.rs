//! Times until an event whose log hazard is linear in features with correlated neighbours.

use crate::error::DataError;
use crate::generate::ar::{correlated, middle};
use crate::generate::log_link::{SPREAD, gap};
use crate::generate::rng::Stream;
use crate::generate::{Instance, empty_design, times_indicator};

/// Mean of the censoring time, after which a row is no longer observed.
const CENSORED: f64 = 2.0;

/// Generates times, and whether each is the time of an event. A time is an exponential of hazard `exp(0.8/√k
/// Σ_S a_ij)`, or one of mean 2 if that is smaller (a censored time).
///
/// The design is that of [`ar`](crate::generate::ar), and the response is the times.
///
/// Order of draws from [`Stream::new(seed)`](Stream::new): the design as in
/// [`ar`](crate::generate::ar); then, for each row, two uniforms u. Their `-ln(1 - u)`, in their units,
/// are the times of the event and of the censoring.
pub fn cox(
    d: usize,
    k: usize,
    n: usize,
    rho: f64,
    seed: u64,
) -> Result<(Instance, Vec<bool>), DataError> {
    let mut design = empty_design(d, k, n)?;
    let mut stream = Stream::new(seed);
    correlated(&mut design, d, n, rho, &mut stream)?;
    let support: Vec<usize> = (0..k).map(|i| middle(d, k, i)).collect();
    let scores = times_indicator(&design, n, &support, SPREAD / (k as f64).sqrt());
    let (mut times, mut events) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for score in &scores {
        let event = gap(&mut stream) / libm::exp(*score);
        let censored = CENSORED * gap(&mut stream);
        times.push(event.min(censored));
        events.push(event <= censored);
    }
    Ok((Instance::new(design, times, support)?, events))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_positive_and_a_third_or_so_censored() {
        let (instance, events) = cox(6, 2, 2000, 0.5, 1).unwrap();
        assert_eq!(instance.support(), [1, 4]);
        assert!(instance.response().iter().all(|time| *time > 0.0));
        let share = events.iter().filter(|event| **event).count() as f64 / 2000.0;
        assert!((0.5..0.8).contains(&share), "{share}");
        assert_eq!(events.len(), 2000);
        assert!(cox(6, 2, 50, 1.0, 1).is_err());
    }
}
