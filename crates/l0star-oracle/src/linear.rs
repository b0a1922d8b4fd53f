//! Solves linear equations without rounding, by Bareiss's elimination, in which every division is exact.

use std::mem::swap;

use crate::Dyadic;

/// Solves `rows · x = last column`. Returns numerators over one denominator, the
/// determinant; `None` if that is 0.
pub(crate) fn solve(mut rows: Vec<Vec<Dyadic>>) -> Option<(Vec<Dyadic>, Dyadic)> {
    let count = rows.len();
    let mut previous = Dyadic::of(1.0);
    for at in 0..count {
        let pivot = (at..count).find(|r| !rows[*r][at].is_zero())?;
        if pivot != at {
            let (above, below) = rows.split_at_mut(pivot);
            swap(&mut above[at], &mut below[0]);
            // An exchange of rows changes the sign of the determinant.
            rows[at].iter_mut().for_each(|v| *v = -&*v);
        }
        let own = rows[at].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != at) {
            let factor = row[at].clone();
            for (value, pivot) in row.iter_mut().zip(&own) {
                let cross = &(&own[at] * value) - &(&factor * pivot);
                *value = cross.exactly_over(&previous);
            }
        }
        previous = own[at].clone();
    }
    let solution = rows.iter().map(|row| row[count].clone());
    Some((solution.collect(), previous))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[&[f64]]) -> Vec<Vec<Dyadic>> {
        let row = |row: &&[f64]| row.iter().map(|v| Dyadic::of(*v)).collect();
        values.iter().map(row).collect()
    }

    #[test]
    fn solutions_satisfy_their_equations() {
        let equations = rows(&[
            &[0.0, 2.0, -1.5, 0.3],
            &[0.1, 1e-20, 7.0, -1.0],
            &[3.0, 1e10, 0.7, 1e30],
        ]);
        let (x, over) = solve(equations.clone()).unwrap();
        for row in &equations {
            let sum: Dyadic = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert_eq!(sum, &row[3] * &over);
        }
        assert_eq!(solve(Vec::new()).unwrap().1, Dyadic::of(1.0));
    }

    #[test]
    fn the_denominator_is_the_determinant() {
        let (_, over) = solve(rows(&[&[0.0, 2.0, 1.0], &[3.0, 4.0, 1.0]])).unwrap();
        assert_eq!(over, Dyadic::of(-6.0));
        assert!(solve(rows(&[&[1.0, 2.0, 1.0], &[2.0, 4.0, 1.0]])).is_none());
    }
}
