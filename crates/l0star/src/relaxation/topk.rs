//! The prox of the conjugate of the squared top-m ℓ2 norm (Algorithm 4 of the paper).

use crate::linalg::select::largest_to_front;

/// The piece of the solution that [`Prox::run`] finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    /// Entries with |v| at or above this are shrunk only by the ridge.
    pub full: f64,
    /// Entries with |v| below this become zero; those in between are shortened by it.
    pub threshold: f64,
}

/// Scratch space of the prox.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prox {
    sorted: Vec<f64>,
}

impl Prox {
    /// Computes `prox_{σ Ω}(v)` with `Ω = ((1/2λ)‖·‖²_{m,2})*`, λ times half the squared m-support norm.
    ///
    /// By Moreau's identity it is `v - σ x̃` with `x̃ = prox_{(μ/2)‖·‖²_{m,2}}(v/σ)`, `μ = 1/(λσ)`, which Algorithm 4
    /// finds by trying the pairs (j_start, j_end). The same pair is the root of a monotone function. With the level
    /// `Ξ = σξ`, entry i takes the share `z_i = clamp((|v_i|/Ξ - 1)/μ, 0, 1)` of the budget, and `Σ z_i = m`.
    ///
    /// The code walks Ξ down from the largest entry, one event at a time, at O(1) per event. An entry starts to take a
    /// share at `|v_i|` and takes a whole one at `|v_i|/(1 + μ)`. Inside an interval
    /// `Ξ = Σ_E |v| / (μ(m - |J|) + |E|)`. Only as many of the largest entries are sorted as the walk reaches.
    pub(crate) fn run(
        &mut self,
        values: impl Iterator<Item = f64>,
        m: usize,
        lambda_sigma: f64,
    ) -> Piece {
        let nothing = Piece {
            full: f64::INFINITY,
            threshold: f64::INFINITY,
        };
        if m == 0 {
            return nothing;
        }
        self.sorted.clear();
        self.sorted.extend(values.map(f64::abs));
        let d = self.sorted.len();
        if m >= d {
            return Piece {
                full: 0.0,
                threshold: 0.0,
            };
        }
        let mu = 1.0 / lambda_sigma;
        let mut ready = 0;
        let (mut whole, mut entered, mut sum) = (0, 0, 0.0);
        loop {
            if entered == ready && ready < d {
                ready = self.sort_more(ready, (4 * m + 16).max(2 * ready));
            }
            let enter = self.sorted.get(entered).copied().unwrap_or(0.0);
            let fill = if whole < entered {
                self.sorted[whole] / (1.0 + mu)
            } else {
                0.0
            };
            if entered > whole {
                let level = sum / (mu * (m - whole) as f64 + (entered - whole) as f64);
                if level >= enter.max(fill) {
                    return Piece {
                        full: level * (1.0 + mu),
                        threshold: level,
                    };
                }
            } else if enter == 0.0 {
                // Fewer than m entries are non-zero: each of them is whole.
                return Piece {
                    full: 0.0,
                    threshold: 0.0,
                };
            }
            if enter > fill {
                sum += enter;
                entered += 1;
            } else {
                sum -= self.sorted[whole];
                whole += 1;
                if whole == m {
                    // All larger entries are whole, and nothing else takes a share.
                    let least = self.sorted[m - 1];
                    return Piece {
                        full: least,
                        threshold: least,
                    };
                }
            }
        }
    }

    /// Moves the `count` largest entries to the front, sorted; the first `ready` already are. Returns their number.
    fn sort_more(&mut self, ready: usize, count: usize) -> usize {
        let d = self.sorted.len();
        let count = count.min(d);
        let rest = &mut self.sorted[ready..];
        if count < d {
            rest.select_nth_unstable_by(count - ready - 1, |a, b| b.total_cmp(a));
        }
        rest[..count - ready].sort_unstable_by(|a, b| b.total_cmp(a));
        count
    }
}

impl Piece {
    /// Returns the prox of one entry.
    #[inline]
    pub(crate) fn apply(&self, v: f64, lambda_sigma: f64) -> f64 {
        let size = v.abs();
        if size >= self.full {
            v / (1.0 + lambda_sigma)
        } else if size > self.threshold {
            (size - self.threshold).copysign(v)
        } else {
            0.0
        }
    }
}

/// Returns `(Ω_m(v), |J|)` for the absolute values of the non-zero entries of v. Moves the m
/// largest to the front, sorted.
pub(crate) fn support_norm(sizes: &mut [f64], m: usize) -> (f64, usize) {
    if sizes.len() <= m {
        return (0.5 * sizes.iter().map(|v| v * v).sum::<f64>(), sizes.len());
    }
    if m == 0 {
        return (f64::INFINITY, 0);
    }
    // Only the m largest can be whole.
    largest_to_front(sizes, m);
    let mut rest: f64 = sizes.iter().sum();
    let mut whole = 0;
    let mut squares = 0.0;
    while whole + 1 < m && sizes[whole] * ((m - whole) as f64) > rest {
        squares += sizes[whole] * sizes[whole];
        rest -= sizes[whole];
        whole += 1;
    }
    (
        0.5 * squares + rest * rest / (2.0 * (m - whole) as f64),
        whole,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::select::top_sum;
    use proptest::prelude::*;

    /// Returns half the squared top-m norm.
    fn half_top(x: &[f64], m: usize) -> f64 {
        let squares: Vec<f64> = x.iter().map(|x| 0.5 * x * x).collect();
        top_sum(squares.into_iter(), m, &mut Vec::new())
    }

    /// Runs Algorithm 4 as printed, with all pairs (j_start, j_end), for
    /// `prox_{(μ/2)‖·‖²_{m,2}}` of a sorted non-negative u.
    fn algorithm_4(u: &[f64], m: usize, mu: f64) -> Vec<f64> {
        let d = u.len();
        let shrunk = |i: usize| u[i - 1] / (1.0 + mu);
        let at = |i: usize| if i > d { 0.0 } else { u[i - 1] };
        if shrunk(m) >= at(m + 1) {
            return (1..=d)
                .map(|i| if i <= m { shrunk(i) } else { at(i) })
                .collect();
        }
        let mut best = (f64::INFINITY, 0, 0, 0.0);
        for start in 1..=m {
            for end in m..=d {
                let sum: f64 = (start..=end).map(at).sum();
                let level = sum / (mu * (m - start + 1) as f64 + (end - start + 1) as f64);
                let upper = if start == 1 {
                    f64::INFINITY
                } else {
                    shrunk(start - 1)
                };
                if at(end + 1) > upper {
                    continue;
                }
                let level = level.max(at(end + 1)).min(upper);
                // g is compared between different (start, end), so the entries outside count at their own optimum.
                let x: Vec<f64> = (1..=d)
                    .map(|i| {
                        if i < start {
                            shrunk(i)
                        } else if i <= end {
                            level
                        } else {
                            at(i)
                        }
                    })
                    .collect();
                let distance: f64 = x.iter().zip(u).map(|(x, u)| (x - u) * (x - u)).sum();
                let value = mu * 2.0 * half_top(&x, m) + distance;
                if value < best.0 {
                    best = (value, start, end, level);
                }
            }
        }
        let (_, start, end, level) = best;
        (1..=d)
            .map(|i| {
                if i < start {
                    shrunk(i)
                } else if i <= end {
                    level
                } else {
                    at(i)
                }
            })
            .collect()
    }

    fn prox(v: &[f64], m: usize, lambda_sigma: f64) -> Vec<f64> {
        let piece = Prox::default().run(v.iter().copied(), m, lambda_sigma);
        v.iter().map(|v| piece.apply(*v, lambda_sigma)).collect()
    }

    fn vectors() -> impl Strategy<Value = Vec<f64>> {
        let entry = prop_oneof![
            4 => -3.0..3.0f64,
            1 => Just(0.0),
            1 => Just(1.0),
            1 => Just(-1.0),
            1 => -1e-6..1e-6f64,
        ];
        proptest::collection::vec(entry, 1..40)
    }

    proptest! {
        #[test]
        fn the_prox_agrees_with_algorithm_4(v in vectors(), m in 1usize..10, log in -3.0..3.0f64) {
            // Moreau with σ = 1: v = prox_Ω(v) + prox_{Ω*}(v), Ω* = (1/2λ)‖·‖²_m, μ = 1/λ.
            let m = m.min(v.len());
            let lambda = 10f64.powf(log);
            let mut order: Vec<usize> = (0..v.len()).collect();
            order.sort_by(|i, j| v[*j].abs().total_cmp(&v[*i].abs()));
            let u: Vec<f64> = order.iter().map(|i| v[*i].abs()).collect();
            let expected = algorithm_4(&u, m, 1.0 / lambda);
            let found = prox(&v, m, lambda);
            for (rank, i) in order.iter().enumerate() {
                let moreau = u[rank] - expected[rank];
                // The reference compares objective values, which are flat at the minimum, so only half the digits
                // agree.
                prop_assert!((found[*i].abs() - moreau).abs() <= 1e-6 * (1.0 + u[0]),
                    "entry {}: {} against {}", i, found[*i], moreau);
            }
        }

        /// Checks optimality by the definition: `(v - x)/σ` is a subgradient of Ω at x, that is Ω(x) + Ω*(g) = gᵀx.
        #[test]
        fn the_prox_satisfies_fenchel_young(v in vectors(), m in 1usize..10, log in -3.0..3.0f64) {
            let lambda = 10f64.powf(log);
            let x = prox(&v, m, lambda);
            let g: Vec<f64> = v.iter().zip(&x).map(|(v, x)| v - x).collect();
            let conjugate = half_top(&g, m) / lambda;
            let omega = lambda * half_support_norm(&x, m);
            let inner: f64 = g.iter().zip(&x).map(|(g, x)| g * x).sum();
            prop_assert!((omega + conjugate - inner).abs() <= 1e-9 * (1.0 + inner.abs()),
                "{} + {} against {}", omega, conjugate, inner);
        }
    }

    /// Returns `½ min {Σ x_i²/z_i : 0 ≤ z ≤ 1, Σz ≤ m}` directly from the definition, by bisection on the multiplier.
    fn half_support_norm(x: &[f64], m: usize) -> f64 {
        let (mut low, mut high) = (0.0, x.iter().map(|x| x.abs()).sum::<f64>() + 1.0);
        for _ in 0..200 {
            let theta = 0.5 * (low + high);
            let used: f64 = x.iter().map(|x| (x.abs() / theta).min(1.0)).sum();
            if used > m as f64 {
                low = theta;
            } else {
                high = theta;
            }
        }
        x.iter()
            .filter(|x| **x != 0.0)
            .map(|x| 0.5 * x * x / (x.abs() / high).min(1.0))
            .sum()
    }
}
