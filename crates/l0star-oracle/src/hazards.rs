//! Cox's partial likelihood at given predictions, with a proved error.
//!
//! The weights are `v_i = p_i/min p over events`, rounded to a float. For a time in a stratum, ω is the weight
//! of its d events. C is the sum of `v e^z` over the rows at risk without an event there, and B is the sum
//! over those with one. Then
//!
//! ```text
//! L(z) = Σ over times ω/T Σ_l ln(C + c_l B) - Σ over events p_i z_i
//! ```
//!
//! where Efron has `T = d` terms with `c_l = 1 - l/d`, and Breslow one with `c_0 = 1`. The sums of a term are
//! multiplied by d so that their weights are dyadic, and `ln d` is subtracted again. Exponentials are taken of
//! differences from the term's largest prediction.

use crate::series::Slope;
use crate::{Dyadic, series};

/// Binary digits of quotients.
const DIGITS: u64 = 640;
/// Exponent of the bound `2^-QUOTIENT` on the relative error of such quotients.
const QUOTIENT: i64 = 630;

/// Facts about times; the responses of the rows are the times.
#[derive(Debug, Clone)]
pub struct Times {
    /// Whether a row has an event at its time.
    pub events: Vec<bool>,
    /// Strata of the rows, which are compared only within a stratum; empty if there is only one.
    pub strata: Vec<u32>,
    /// Times after which rows are at risk; empty if all are at risk from the beginning.
    pub entry: Vec<f64>,
    /// Whether ties are handled by Efron's method; otherwise by Breslow's.
    pub efron: bool,
}

/// The term `ω/T ln(Σ w e^z / d)`.
#[derive(Debug)]
struct Term {
    share: Dyadic,
    rows: Vec<(usize, Dyadic)>,
    log_d: Dyadic,
}

/// The partial likelihood of some rows.
#[derive(Debug)]
pub(crate) struct Hazards {
    terms: Vec<Term>,
    /// Rows with an event, and their weights.
    events: Vec<(usize, Dyadic)>,
}

/// A term at given predictions.
struct Probabilities {
    /// Probabilities of the rows, each with the error `error`.
    all: Vec<(usize, Dyadic)>,
    error: Dyadic,
    /// The value `ln(Σ w e^z / d)`, with its error.
    log: Dyadic,
    log_error: Dyadic,
}

impl Hazards {
    /// Builds the likelihood from the weights of the rows as shares, and their times. Rows
    /// without weight are omitted.
    pub(crate) fn new(known: &Times, p: &[f64], times: &[f64]) -> Self {
        let rows: Vec<usize> = (0..p.len()).filter(|i| p[*i] > 0.0).collect();
        let has_event = |i: &usize| known.events[*i];
        let stratum = |i: usize| known.strata.get(i).copied().unwrap_or(0);
        let entry = |i: usize| known.entry.get(i).copied().unwrap_or(f64::NEG_INFINITY);
        let events: Vec<usize> = rows.iter().copied().filter(has_event).collect();
        let unit = events.iter().map(|i| p[*i]).fold(f64::INFINITY, f64::min);
        let v = |i: usize| Dyadic::of(p[i] / unit);
        let mut terms = Vec::new();
        for (at, first) in events.iter().enumerate() {
            let (time, own) = (times[*first], stratum(*first));
            let is_tied = |i: usize| times[i] == time && stratum(i) == own && known.events[i];
            if events[..at].iter().any(|i| is_tied(*i)) {
                continue;
            }
            let tied: Vec<usize> = events.iter().copied().filter(|i| is_tied(*i)).collect();
            let weight: Dyadic = tied.iter().map(|i| Dyadic::of(p[*i])).sum();
            let count = if known.efron { tied.len() } else { 1 };
            let whole = Dyadic::of(count as f64);
            let at_risk = |i: usize| stratum(i) == own && entry(i) < time && time <= times[i];
            for l in 0..count {
                let left = Dyadic::of((count - l) as f64);
                let row = |i: &usize| {
                    let times = if is_tied(*i) { &left } else { &whole };
                    (*i, times * &v(*i))
                };
                terms.push(Term {
                    share: weight.over(&whole, DIGITS),
                    rows: rows.iter().filter(|i| at_risk(**i)).map(row).collect(),
                    log_d: series::log(&whole),
                });
            }
        }
        let events = events.into_iter().map(|i| (i, Dyadic::of(p[i])));
        Self {
            terms,
            events: events.collect(),
        }
    }

    /// Computes the likelihood, and a bound on its error.
    pub(crate) fn total(&self, z: &[Dyadic]) -> (Dyadic, Dyadic) {
        let (mut total, mut error) = (Dyadic::zero(), Dyadic::zero());
        for term in &self.terms {
            let own = term.at(z);
            total = &total + &(&term.share * &own.log);
            // The share is a quotient, and so has an error.
            let log = &own.log.abs().shifted(-QUOTIENT) + &own.log_error;
            error = &error + &(&term.share * &log);
        }
        let events: Dyadic = self.events.iter().map(|(i, p)| p * &z[*i]).sum();
        (&total - &events, error)
    }

    /// Computes slopes, and curvatures from which [`Hazards::couplings`] must be subtracted.
    pub(crate) fn slopes(&self, z: &[Dyadic]) -> Vec<Slope> {
        let none = || Slope {
            slope: Dyadic::zero(),
            curvature: Dyadic::zero(),
            error: Dyadic::zero(),
        };
        let mut slopes: Vec<Slope> = z.iter().map(|_| none()).collect();
        for term in &self.terms {
            let own = term.at(z);
            let error = &term.share * &(&own.error + &Dyadic::of(1.0).shifted(-QUOTIENT));
            for (i, probability) in &own.all {
                let (slope, part) = (&mut slopes[*i], &term.share * probability);
                slope.slope = &slope.slope + &part;
                slope.curvature = &slope.curvature + &part;
                slope.error = &slope.error + &error;
            }
        }
        for (i, p) in &self.events {
            slopes[*i].slope = &slopes[*i].slope - p;
        }
        slopes
    }

    /// Returns weights w and vectors π: the Hessian is that of the curvatures minus `Σ w ππᵀ`.
    pub(crate) fn couplings(&self, z: &[Dyadic]) -> Vec<(Dyadic, Vec<(usize, Dyadic)>)> {
        let terms = self.terms.iter();
        terms
            .map(|term| (term.share.clone(), term.at(z).all))
            .collect()
    }
}

impl Term {
    /// Evaluates the term with error bounds.
    ///
    /// Each exponential has an argument of at most 0 and an error below ε ([`series::error`]); the largest one
    /// has the argument 0. So the sum S of `w e^z` has an error of at most `Σ w ε`, which is at most r times S,
    /// with `r = Σ w ε / w_top`. A logarithm of S has an error of 2r and ε. A quotient has an error of r from
    /// its numerator, 2r from its denominator, and that of its digits.
    fn at(&self, z: &[Dyadic]) -> Probabilities {
        let first = self.rows.first().expect("an event is at risk");
        let top = self.rows.iter().fold(
            first,
            |top, row| {
                if z[row.0] > z[top.0] { row } else { top }
            },
        );
        let most = &z[top.0];
        let numerators: Vec<(usize, Dyadic)> = (self.rows.iter())
            .map(|(i, w)| (*i, w * &series::exp(&(&z[*i] - most)).0))
            .collect();
        let sum: Dyadic = numerators.iter().map(|(_, own)| own.clone()).sum();
        let weights: Dyadic = self.rows.iter().map(|(_, w)| w.clone()).sum();
        // The quotient is rounded down, by less than half of its value.
        let share = weights.over(&top.1, 64).shifted(1);
        let share = &share * &series::error();
        let all = numerators.into_iter();
        let all = all.map(|(i, own)| (i, own.over(&sum, DIGITS)));
        let digits = Dyadic::of(1.0).shifted(-QUOTIENT);
        Probabilities {
            all: all.collect(),
            error: &share.shifted(2) + &digits,
            log: &(&series::log(&sum) + most) - &self.log_d,
            // The error of ln d is the third part, after 2r and ε.
            log_error: &share.shifted(1) + &series::error().shifted(1),
        }
    }
}
