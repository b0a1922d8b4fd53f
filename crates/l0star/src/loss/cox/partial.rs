//! The partial likelihood of given rows: value, gradient, Hessian, and a certified dual value.
//!
//! Let `θ_i = v_i e^{z_i}`. At each event time, let C be the sum of θ over the rows at risk without an event there, B
//! the sum over the d rows with one, and ω the sum of the weights of the latter. Then
//!
//! ```text
//! L(z) = Σ over times ( ω/T Σ_l ln s_l - Σ_events p_i z_i ),   s_l = C + c_l B,   l < T
//! ```
//!
//! where Efron has `T = d`, `c_l = 1 - l/d`, and Breslow `T = 1`, `c_0 = 1`. Each term is the logarithm of a sum of
//! exponentials, so with the probabilities `π_l = (θ, c_l θ)/s_l`
//!
//! ```text
//! ∇L = Σ ω/T π_l - p events,      ∇²L = Σ ω/T (diag(π_l) - π_l π_lᵀ)
//! ```
//!
//! For the dual, `ln Σ v e^z ≥ Σ π (z + ln v - ln π)` for any probabilities π (Gibbs): any positive θ define a dual point.

use std::ops::Neg;

use super::order::{Moment, Order};
use super::wide::{Part, Wide};
use crate::linalg::double::Double;
use crate::linalg::rounding::{Doubled, U, two_sum};
use crate::loss::joint::{DualValue, HazardStep, Hessian, Joint};

/// Relative error of an operation in doubled precision: 2⁻¹⁰³, rounded up.
const DOUBLED: f64 = 1e-31;

/// The negative log partial likelihood of rows, divided by the sum of their weights.
#[derive(Debug, Clone)]
pub(super) struct PartialLikelihood {
    order: Order,
    /// Weights as shares.
    p: Vec<f64>,
    /// Weights in risk sets, in units of the smallest weight of an event, which keeps L from being negative.
    v: Vec<f64>,
    /// `ln v` of rows with an event.
    log_v: Vec<f64>,
    /// ω/T of each time.
    shares: Vec<Double>,
    given: Vec<f64>,
}

/// Sums over the risk sets at one point.
struct Sums<T> {
    others: Vec<Wide<T>>,
    tied: Vec<Wide<T>>,
}

impl PartialLikelihood {
    /// Creates the likelihood. `given` is everything that defines it apart from times and weights.
    pub(super) fn new(order: Order, p: &[f64], given: Vec<f64>) -> Self {
        let of_events = order.events.iter().map(|i| p[*i]);
        let unit = of_events.fold(f64::INFINITY, f64::min);
        let v: Vec<f64> = p.iter().map(|p| p / unit).collect();
        let share = |moment: &Moment| {
            let own = order.events[moment.events.clone()].iter();
            let sum = own.fold(Double::default(), |sum, i| sum + Double::from(p[*i]));
            sum / Double::from(moment.terms.len() as f64)
        };
        Self {
            shares: order.moments.iter().map(share).collect(),
            log_v: v.iter().map(|v| v.ln()).collect(),
            p: p.to_vec(),
            v,
            order,
            given,
        }
    }

    /// θ of each row.
    fn weights(&self, z: &[f64]) -> Vec<Wide<f64>> {
        let rows = z.iter().zip(&self.v);
        rows.map(|(z, v)| Wide::exp(*z, 0.0, *v)).collect()
    }

    fn sums<T: Part>(&self, theta: &[Wide<T>]) -> Sums<T> {
        let (others, tied) = self.order.gather(theta);
        Sums { others, tied }
    }

    /// `c_l` of a term.
    fn fraction<T: Part>(moment: &Moment, l: usize) -> T {
        let terms = moment.terms.len();
        T::from((terms - l) as f64) / T::from(terms as f64)
    }

    /// L from θ and its sums: at each time `ω/T Σ_l ln(c_l + C/B) + Σ_events p_i (ln(B/θ_i) + ln v_i)`, where nothing cancels
    /// unless events are tied.
    fn value<T: Part>(&self, theta: &[Wide<T>], sums: &Sums<T>) -> f64 {
        let mut total = Doubled::default();
        for (m, moment) in self.order.moments.iter().enumerate() {
            let ratio = sums.others[m] / sums.tied[m];
            let logs: f64 = (0..moment.terms.len())
                .map(|l| match l {
                    0 => log_of_one_more(ratio),
                    _ => {
                        (ratio + Wide::from(1.0).times(Self::fraction(moment, l)))
                            .ln()
                            .0
                    }
                })
                .sum();
            total.add_product(self.shares[m].high, logs);
            for i in &self.order.events[moment.events.clone()] {
                let above = if moment.events.len() == 1 {
                    0.0
                } else {
                    (sums.tied[m] / theta[*i]).ln().0
                };
                total.add_product(self.p[*i], above + self.log_v[*i]);
            }
        }
        total.value()
    }

    /// Computes the parts of the gradient and of h. For each row these are its part in the moments at which it is at
    /// risk without an event, its part in the moment of its event, and the latter less its weight. That difference
    /// does not cancel where no event is tied.
    fn parts<T: Part + Neg<Output = T>>(
        &self,
        theta: &[Wide<T>],
        sums: &Sums<T>,
        share: impl Fn(usize) -> T,
        mut row: impl FnMut(usize, T, Option<(T, T)>),
    ) {
        let moments = self.order.moments.iter().enumerate();
        // `Σ_l (ω/T)/s_l`, and the same with c_l.
        let (at_risk, own): (Vec<Wide<T>>, Vec<Wide<T>>) = moments
            .map(|(m, moment)| {
                let (mut all, mut tied) = (Wide::default(), Wide::default());
                for l in 0..moment.terms.len() {
                    let fraction = Self::fraction(moment, l);
                    let sum = sums.others[m] + sums.tied[m].times(fraction);
                    let weight = Wide::from(1.0).times(share(m)) / sum;
                    all = all + weight;
                    tied = tied + weight.times(fraction);
                }
                (all, tied)
            })
            .unzip();
        self.order.spread(&at_risk, |i, sum| {
            let event = self.order.own[i].map(|m| {
                let part = (theta[i] * own[m]).value();
                let rest = if self.order.moments[m].events.len() == 1 {
                    -(sums.others[m] * at_risk[m]).value()
                } else {
                    part + T::from(-self.p[i])
                };
                (part, rest)
            });
            row(i, (theta[i] * sum).value(), event);
        });
    }
}

/// `ln(1 + ratio)`, `ratio ≥ 0`, within 8u.
fn log_of_one_more<T: Part>(ratio: Wide<T>) -> f64 {
    let plain = ratio.value().near();
    if plain < 1e300 {
        plain.ln_1p()
    } else {
        ratio.ln().0
    }
}

impl Joint for PartialLikelihood {
    fn total(&self, z: &[f64]) -> f64 {
        let theta = self.weights(z);
        self.value(&theta, &self.sums(&theta))
    }

    fn total_near(&self, high: &[f64], low: &[f64]) -> f64 {
        let rows = high.iter().zip(low).zip(&self.v);
        let theta: Vec<Wide<Double>> = rows
            .map(|((high, low), v)| Wide::exp(*high, *low, *v).widened())
            .collect();
        self.value(&theta, &self.sums(&theta))
    }

    fn gradient(&self, z: &[f64], beta: &mut [f64]) {
        let theta = self.weights(z);
        let sums = self.sums(&theta);
        let share = |m: usize| self.shares[m].high;
        self.parts(&theta, &sums, share, |i, at_risk, event| {
            beta[i] = at_risk + event.map_or(0.0, |(_, rest)| rest);
        });
    }

    /// `diag(π) - ππᵀ ⪯ diag(π)`.
    fn curvatures(&self, z: &[f64], h: &mut [f64]) {
        let theta = self.weights(z);
        let sums = self.sums(&theta);
        let share = |m: usize| self.shares[m].high;
        self.parts(&theta, &sums, share, |i, at_risk, event| {
            h[i] = at_risk + event.map_or(0.0, |(part, _)| part);
        });
    }

    fn hessian(&self, z: &[f64]) -> Box<dyn Hessian> {
        let theta = self.weights(z);
        let sums = self.sums(&theta);
        let mut roots = Vec::with_capacity(self.order.terms());
        for (m, moment) in self.order.moments.iter().enumerate() {
            let root = Wide::from(self.shares[m].high.sqrt());
            for l in 0..moment.terms.len() {
                let sum = sums.others[m] + sums.tied[m].times(Self::fraction(moment, l));
                roots.push(root / sum);
            }
        }
        Box::new(RiskSets {
            order: self.order.clone(),
            theta,
            roots,
        })
    }

    /// `docs/numerics.md`, section 20.
    fn dual(&self, z: &[f64], offset: &[f64], beta: &mut [f64]) -> DualValue {
        let rounding = (8 * z.len() + 64) as f64 * DOUBLED;
        let shift = |i: usize| offset.get(i).copied().unwrap_or(0.0);
        let y: Vec<Double> = (0..z.len()).map(|i| Double::new(z[i], -shift(i))).collect();
        let most = y.iter().fold(0.0, |most: f64, y| most.max(y.high.abs()));
        let weights = self.weights(z);
        let theta: Vec<Wide<Double>> = weights.iter().map(|theta| theta.widened()).collect();
        let sums = self.sums(&theta);
        let moved: Vec<Wide<Double>> = theta.iter().zip(&y).map(|(t, y)| t.times(*y)).collect();
        let moved = self.sums(&moved);
        let (mut total, mut slack) = (Doubled::default(), 0.0);
        for (m, moment) in self.order.moments.iter().enumerate() {
            let events = &self.order.events[moment.events.clone()];
            let (r, share) = (events[0], self.shares[m]);
            let mut add = |number: f64, roundings: f64| {
                total.add_product(share.high, number);
                total.add_product(share.low, number);
                slack += share.high * roundings;
            };
            let apart = |sum: Wide<Double>, of: Wide<Double>| sum + of.times(-y[r]);
            let others = apart(moved.others[m], sums.others[m]);
            let tied = apart(moved.tied[m], sums.tied[m]);
            for l in 0..moment.terms.len() {
                let fraction = Self::fraction(moment, l);
                let sum = sums.others[m] + sums.tied[m].times(fraction);
                if events.len() == 1 {
                    let log = log_of_one_more(sums.others[m] / theta[r]);
                    add(log, 8.0 * U * log);
                } else {
                    let (log, size) = (sum / theta[r]).ln();
                    add(log, 8.0 * U * size + 2.0 * U);
                }
                add(self.log_v[r], 8.0 * U * self.log_v[r]);
                // The share of the term that is due to other rows, whose predictions are off by 8u and sums by their
                // own rounding.
                let away = if events.len() == 1 {
                    (sums.others[m] / sum).value().high
                } else {
                    1.0
                };
                let away = away * (20.0 * U + 8.0 * rounding * most);
                let mean = ((others + tied.times(fraction)) / sum).value().high;
                add(-mean, 2.0 * U * mean.abs() + away);
            }
            for i in events {
                let (high, low) = two_sum(shift(r), -shift(*i));
                total.add_product(self.p[*i], high);
                total.add_product(self.p[*i], low);
            }
        }
        let (mut squares, mut sizes) = (0.0, 0.0);
        let share = |m: usize| self.shares[m];
        self.parts(&theta, &sums, share, |i, at_risk, event| {
            let rest = event.map_or_else(Double::default, |(_, rest)| rest);
            beta[i] = (at_risk + rest).high;
            squares += beta[i] * beta[i];
            let own = event.map_or(0.0, |_| self.p[i]);
            sizes += (at_risk.high + own) * (at_risk.high + own);
        });
        DualValue {
            value: total.value(),
            slack: total.error() + slack * (1.0 + 1e-6),
            distance: 2.0 * U * squares.sqrt() + rounding * sizes.sqrt(),
        }
    }

    /// The share of the weights of rows with an event.
    fn usual_curvature(&self) -> f64 {
        self.order.events.iter().map(|i| self.p[*i]).sum()
    }

    /// A term whose events are not tied is `ln(1 + r)`, and r grows by a factor of at most `e^{2 step}`. Terms with
    /// ties grow by at most `2 step` of their weight, and are at least `ln(d!)/d ≥ ln(2)/2` of it.
    fn growth(&self, step: f64) -> f64 {
        6.0 * step * (2.0 * step).exp()
    }

    fn observations(&self) -> Option<f64> {
        Some(self.order.events.len() as f64)
    }

    fn concordance(&self, z: &[f64]) -> Option<f64> {
        let (right, all) = self.order.pairs(z, &self.v);
        (all > 0.0).then(|| right / all)
    }

    /// Breslow's estimator, or Efron's: each term of a time adds its weight divided by its sum.
    fn baseline(&self, z: &[f64]) -> Vec<HazardStep> {
        let theta = self.weights(z);
        let sums = self.sums(&theta);
        let mut steps: Vec<HazardStep> = Vec::new();
        for (m, moment) in self.order.moments.iter().enumerate() {
            let events = self.order.events[moment.events.clone()].iter();
            let weight = events.map(|i| self.v[*i]).sum::<f64>() / moment.terms.len() as f64;
            let mut hazard = steps
                .last()
                .filter(|step| step.stratum == moment.stratum)
                .map_or(0.0, |step| step.hazard);
            for l in 0..moment.terms.len() {
                let sum = sums.others[m] + sums.tied[m].times(Self::fraction(moment, l));
                hazard += (Wide::from(weight) / sum).value();
            }
            let Moment { stratum, time, .. } = *moment;
            steps.push(HazardStep {
                stratum,
                time,
                hazard,
            });
        }
        steps
    }

    fn fingerprint(&self) -> Vec<f64> {
        self.given.clone()
    }
}

/// The Hessian at one point: B has a row `√(ω/T) π_l` for each term.
struct RiskSets {
    order: Order,
    theta: Vec<Wide<f64>>,
    /// `√(ω/T)/s_l` of each term.
    roots: Vec<Wide<f64>>,
}

impl Hessian for RiskSets {
    fn rank(&self) -> usize {
        self.roots.len()
    }

    fn project(&self, t: &[f64], out: &mut [f64]) {
        let rows = self.theta.iter().zip(t);
        let rows: Vec<Wide<f64>> = rows.map(|(theta, t)| theta.times(*t)).collect();
        let (others, tied) = self.order.gather(&rows);
        for (m, moment) in self.order.moments.iter().enumerate() {
            for (l, term) in moment.terms.clone().enumerate() {
                let fraction = PartialLikelihood::fraction(moment, l);
                let sum = others[m] + tied[m].times(fraction);
                out[term] = (self.roots[term] * sum).value();
            }
        }
    }

    fn subtract(&self, y: &[f64], t: &mut [f64]) {
        let moments = self.order.moments.iter();
        let (at_risk, own): (Vec<Wide<f64>>, Vec<Wide<f64>>) = moments
            .map(|moment| {
                let (mut all, mut tied) = (Wide::default(), Wide::default());
                for (l, term) in moment.terms.clone().enumerate() {
                    let weight = self.roots[term].times(y[term]);
                    all = all + weight;
                    tied = tied + weight.times(PartialLikelihood::fraction(moment, l));
                }
                (all, tied)
            })
            .unzip();
        self.order.spread(&at_risk, |i, sum| {
            let event = self.order.own[i].map_or_else(Wide::default, |m| own[m]);
            t[i] -= (self.theta[i] * (sum + event)).value();
        });
    }
}
