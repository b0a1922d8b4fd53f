//! Newton's method with a line search over the columns of a set, some of which are held at a bound.

use std::cmp::Ordering;

use crate::linear::solve;
use crate::problem::{ExactColumn, ExactRow};
use crate::{Dyadic, Problem};

/// Binary digits of a coefficient during the iteration.
const DIGITS: u64 = 640;
/// Binary digits of a curvature, which only has to give a usable direction.
const CURVATURE_DIGITS: u64 = 160;
/// Exponent of the share of the rows' weight that replaces a missing curvature.
const LITTLE: i64 = 60;
/// Upper limit on the step lengths that are tried.
const SEARCH_STEPS: usize = 600;

/// Position of a coefficient relative to its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    Free,
    Low,
    High,
}

/// The models in which some coefficients are held at a bound.
#[derive(Debug)]
pub(crate) struct ActiveBounds<'p> {
    pub problem: &'p Problem,
    pub columns: Vec<&'p ExactColumn>,
    pub places: Vec<Position>,
}

impl<'p> ActiveBounds<'p> {
    /// Returns every choice of coefficients at their bounds, those with few of them first.
    pub fn all(problem: &'p Problem, columns: &[&'p ExactColumn]) -> Vec<Self> {
        let mut all = vec![Vec::new()];
        for column in columns {
            let bounds = [
                (Position::Low, column.low.is_some()),
                (
                    Position::High,
                    column.high.is_some() && column.high != column.low,
                ),
            ];
            let choices = [(
                Position::Free,
                column.low.is_none() || column.low != column.high,
            )];
            let places = choices.into_iter().chain(bounds);
            let places: Vec<Position> = places.filter(|(_, is)| *is).map(|(at, _)| at).collect();
            all = all
                .iter()
                .flat_map(|begun| {
                    let more = |place: &Position| [&begun[..], &[*place]].concat();
                    places.iter().map(more).collect::<Vec<_>>()
                })
                .collect();
        }
        all.sort_by_key(|places| places.iter().filter(|at| **at != Position::Free).count());
        let face = |places| Self {
            problem,
            columns: columns.to_vec(),
            places,
        };
        all.into_iter().map(face).collect()
    }

    pub fn rows(&self) -> &'p [ExactRow] {
        &self.problem.rows
    }

    /// Returns a start with the held coefficients at their bounds, and 0 for the others.
    pub fn start(&self) -> Vec<Dyadic> {
        let at = |(column, place): (&&ExactColumn, &Position)| match place {
            Position::Free => None,
            Position::Low => column.low.clone(),
            Position::High => column.high.clone(),
        };
        let places = self.columns.iter().zip(&self.places);
        places
            .map(|pair| at(pair).unwrap_or_else(Dyadic::zero))
            .collect()
    }

    /// Computes `Ax`, without the offset.
    pub fn product(&self, x: &[Dyadic]) -> Vec<Dyadic> {
        let row = |i: usize| {
            let terms = self.columns.iter().zip(x);
            terms.map(|(column, x)| &column.entries[i] * x).sum()
        };
        (0..self.rows().len()).map(row).collect()
    }

    /// Computes `Ax + o`.
    pub fn predictions(&self, x: &[Dyadic]) -> Vec<Dyadic> {
        let products = self.product(x);
        let pairs = products.iter().zip(self.rows());
        pairs.map(|(z, row)| z + &row.o).collect()
    }

    /// Computes `Σ p slope a_j + λ_j x_j` for every column.
    pub fn gradient(&self, slopes: &[Dyadic], x: &[Dyadic]) -> Vec<Dyadic> {
        let weighted: Vec<Dyadic> = slopes
            .iter()
            .zip(self.rows())
            .map(|(slope, row)| &row.p * slope)
            .collect();
        let columns = self.columns.iter().zip(x);
        let one = |(column, x): (&&ExactColumn, &Dyadic)| {
            let terms = column.entries.iter().zip(&weighted);
            let sum: Dyadic = terms.map(|(a, v)| a * v).sum();
            &sum + &(&column.ridge * x)
        };
        columns.map(one).collect()
    }

    /// Computes the Newton step of the free coefficients from a point with this gradient, exactly: numerators
    /// for all columns, over one denominator.
    ///
    /// An intercept without curvature gets a small one, which makes its step long; the line search then limits
    /// it. With `couplings`, `Σ w ππᵀ` is subtracted from the diagonal of curvatures.
    pub fn step(
        &self,
        curvatures: &[Dyadic],
        couplings: &[(Dyadic, Vec<(usize, Dyadic)>)],
        gradient: &[Dyadic],
    ) -> (Vec<Dyadic>, Dyadic) {
        let is_free = |j: &usize| self.places[*j] == Position::Free;
        let free: Vec<usize> = (0..self.columns.len()).filter(is_free).collect();
        let weights: Vec<Dyadic> = curvatures
            .iter()
            .zip(self.rows())
            .map(|(c, row)| match couplings {
                [] => &row.p * &c.rounded(CURVATURE_DIGITS),
                // The subtraction cancels digits, so more of them are kept.
                _ => c.rounded(DIGITS),
            })
            .collect();
        let means: Vec<Vec<Dyadic>> = (couplings.iter())
            .map(|(_, own)| {
                let mean = |column: &&ExactColumn| {
                    let terms = own.iter().map(|(i, pi)| &column.entries[*i] * pi);
                    terms.sum::<Dyadic>().rounded(DIGITS)
                };
                self.columns.iter().map(mean).collect()
            })
            .collect();
        let mut rows: Vec<Vec<Dyadic>> = Vec::new();
        for j in &free {
            let weighted: Vec<Dyadic> = (self.columns[*j].entries.iter().zip(&weights))
                .map(|(a, w)| a * w)
                .collect();
            let entry = |i: &usize| {
                let pairs = self.columns[*i].entries.iter().zip(&weighted);
                let sum: Dyadic = pairs.map(|(a, v)| a * v).sum();
                let coupled: Dyadic = (couplings.iter().zip(&means))
                    .map(|((w, _), mean)| &(w * &mean[*i]) * &mean[*j])
                    .sum();
                let sum = &sum - &coupled;
                if i == j {
                    &sum + &self.columns[*i].ridge
                } else {
                    sum
                }
            };
            let mut row: Vec<Dyadic> = free.iter().map(entry).collect();
            row.push(-&gradient[*j]);
            rows.push(row);
        }
        let (found, over) = solve(rows.clone()).unwrap_or_else(|| {
            let all: Dyadic = self.rows().iter().map(|row| row.p.clone()).sum();
            for (at, j) in free.iter().enumerate() {
                if self.columns[*j].ridge.is_zero() {
                    rows[at][at] = &rows[at][at] + &all.shifted(-LITTLE);
                }
            }
            solve(rows).expect("every coefficient has a ridge or a curvature")
        });
        let mut step = vec![Dyadic::zero(); self.columns.len()];
        for (j, found) in free.into_iter().zip(found) {
            step[j] = found;
        }
        (step, over)
    }

    /// Finds a point along the step at which the slope has fallen to at most half of its initial size and has
    /// hardly risen above 0, so P has decreased. `slopes`: those of the loss, at predictions.
    pub fn search(
        &self,
        x: &[Dyadic],
        step: &(Vec<Dyadic>, Dyadic),
        slopes: impl Fn(&[Dyadic]) -> Vec<Dyadic>,
    ) -> Vec<Dyadic> {
        let (numerators, over) = step;
        let way: Vec<Dyadic> = numerators.iter().map(|v| v.over(over, DIGITS)).collect();
        let (z, dz) = (self.predictions(x), self.product(&way));
        let moved = |from: &[Dyadic], by: &[Dyadic], t: &Dyadic| -> Vec<Dyadic> {
            let pairs = from.iter().zip(by);
            pairs.map(|(from, by)| from + &(t * by)).collect()
        };
        let slope = |t: &Dyadic| -> Dyadic {
            let gradient = self.gradient(&slopes(&moved(&z, &dz, t)), &moved(x, &way, t));
            let pairs = gradient.iter().zip(&way);
            pairs.map(|(g, d)| g * d).sum()
        };
        let before = slope(&Dyadic::zero()).abs();
        let (least, most) = (-&before.shifted(-1), before.shifted(-10));
        let (mut t, mut low, mut high) = (Dyadic::of(1.0), Dyadic::zero(), None);
        let mut jump = 1;
        for _ in 0..SEARCH_STEPS {
            let here = slope(&t);
            if (&least..=&most).contains(&&here) {
                break;
            }
            match here.sign() {
                Ordering::Greater => high = Some(t.clone()),
                _ => low = t.clone(),
            }
            // First find the order of magnitude in growing jumps, then bisect.
            t = match &high {
                None => t.shifted(jump),
                Some(_) if low.is_zero() => t.shifted(-jump),
                Some(high) => (&low + high).shifted(-1),
            };
            jump = (2 * jump).min(64);
        }
        let x = moved(x, &way, &t);
        x.iter().map(|x| x.rounded(DIGITS)).collect()
    }

    /// Whether `numerators / over` is within the bounds.
    pub fn has(&self, numerators: &[Dyadic], over: &Dyadic) -> bool {
        let inside = |(column, x): (&&ExactColumn, &Dyadic)| {
            let low = column.low.as_ref().is_none_or(|low| low * over <= *x);
            low && column.high.as_ref().is_none_or(|high| *x <= high * over)
        };
        self.columns.iter().zip(numerators).all(inside)
    }
}
