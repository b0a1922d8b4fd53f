//! Checks every exchange against elimination from the rows of H.

use super::*;
use crate::{Design, Problem};

/// Returns a problem with fewer rows than columns, an intercept, a column that is always in,
/// and two columns that are copies.
fn problem() -> Problem {
    let (n, d) = (9, 14);
    let wave = |at: usize| ((at * at % 89) as f64 * 0.9).sin() + 0.2;
    let mut values: Vec<f64> = (0..n * d).map(wave).collect();
    values.copy_within(2 * n..3 * n, 7 * n);
    let response = (0..n).map(|i| wave(5 * i + 2) + wave(3 * n + i)).collect();
    let design = Design::dense(n, d, values).unwrap();
    let builder = Problem::builder(design, response).standardize(false).k(3);
    let builder = builder.ridge(1e-3).intercept(true).always_in(4, 0.1);
    builder.build().unwrap()
}

/// Returns twice the decrease of the quadratic with these indices and the always-in ones, by
/// elimination from the rows of H.
fn gain(quadratic: &mut Quadratic, chosen: &[usize]) -> f64 {
    let mut set: Vec<usize> = (quadratic.selectable..quadratic.size()).collect();
    set.extend_from_slice(chosen);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in &set {
        let mut row = vec![0.0; quadratic.size()];
        quadratic.row_into(*i, &mut row);
        let mut own: Vec<f64> = set.iter().map(|j| row[*j]).collect();
        own.push(quadratic.c[*i]);
        rows.push(own);
    }
    let mut gain = 0.0;
    for p in 0..set.len() {
        let pivot = rows[p].clone();
        gain += pivot[set.len()].powi(2) / pivot[p];
        for row in &mut rows[p + 1..] {
            let share = row[p] / pivot[p];
            row.iter_mut()
                .zip(&pivot)
                .for_each(|(a, b)| *a -= share * b);
        }
    }
    gain
}

#[test]
fn every_exchange_is_worth_what_is_said() {
    let problem = problem();
    let mut quadratic = Quadratic::of_problem(&problem);
    let mut local = Local::new(&mut quadratic);
    assert_eq!(local.size(), 0);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-8 * b.abs().max(1e-6);
    for j in [0, 3, 6] {
        let promised = local.gain + local.gain_of(j, &quadratic).unwrap();
        assert!(local.add(j, &mut quadratic));
        let chosen = local.chosen().to_vec();
        assert!(close(local.gain, gain(&mut quadratic, &chosen)));
        assert!(close(local.gain, promised));
    }
    for round in 0..40 {
        let chosen = local.chosen().to_vec();
        let now = gain(&mut quadratic, &chosen);
        assert!(close(local.gain, now), "{round}: {} {now}", local.gain);
        let mut best = (0.0, 0, 0);
        for out in &chosen {
            for j in (0..quadratic.selectable).filter(|j| !chosen.contains(j)) {
                let others = chosen.iter().copied().filter(|i| i != out);
                let next: Vec<usize> = others.chain([j]).collect();
                let more = gain(&mut quadratic, &next) - now;
                if more > best.0 {
                    best = (more, *out, j);
                }
            }
        }
        let least = 1e-9 * now;
        let swap = local.best_swap(&quadratic, least);
        assert_eq!(swap.is_some(), best.0 > least, "{round}: {best:?}");
        let (p, j) = match swap {
            Some((p, j)) => {
                let (more, _) = local.best_for(p, &quadratic, 0.0).unwrap();
                assert!(close(more, best.0), "{round}: {more} {best:?}");
                (p, j)
            }
            // Moves away from the optimum, to continue from elsewhere.
            None => {
                let p = local.fixed + round % 3;
                (
                    p,
                    (0..quadratic.selectable)
                        .find(|j| !local.closed[*j])
                        .unwrap(),
                )
            }
        };
        let cost = local.cost(p);
        let before = local.gain;
        local.remove(p);
        assert!(close(before - local.gain, cost));
        if !local.add(j, &mut quadratic) {
            let next = (0..quadratic.selectable).rev().find(|j| !local.closed[*j]);
            assert!(local.add(next.unwrap(), &mut quadratic));
        }
    }
}

/// Without the column of ones, which centring removes, the Gram matrix has the same numbers as the computed rows.
#[test]
fn rows_are_those_of_the_gram_matrix() {
    let problem = problem();
    let limits = crate::limits::Limits::none();
    let root = crate::gram::root::Root::new(&problem, &problem.selectable, &limits, 1, &mut ());
    let mut whole = Quadratic::whole(&std::sync::Arc::new(root.unwrap()));
    let mut made = Quadratic::of_problem(&problem);
    let (mut centred, mut plain) = (Local::new(&mut whole), Local::new(&mut made));
    let offset = whole.c0 - 0.5 * centred.gain - (made.c0 - 0.5 * plain.gain);
    assert!(offset.abs() <= 1e-12 * made.c0);
    for j in [1, 5, 8] {
        let gains = (centred.gain_of(j, &whole), plain.gain_of(j, &made));
        let (a, b) = (gains.0.unwrap(), gains.1.unwrap());
        assert!((a - b).abs() <= 1e-9 * b, "{a} {b}");
        assert!(centred.add(j, &mut whole) && plain.add(j, &mut made));
    }
}

#[test]
fn a_copy_of_a_member_without_a_ridge_adds_nothing() {
    let (n, d) = (6, 3);
    let wave = |at: usize| ((at * 7) as f64).sin();
    let mut values: Vec<f64> = (0..n * d).map(wave).collect();
    values.copy_within(0..n, 2 * n);
    let design = Design::dense(n, d, values).unwrap();
    let builder = Problem::builder(design, (0..n).map(wave).collect());
    let problem = builder.standardize(false).ridge(1e-14).build().unwrap();
    let mut quadratic = Quadratic::of_problem(&problem);
    let mut local = Local::new(&mut quadratic);
    assert!(local.add(0, &mut quadratic));
    assert_eq!(local.gain_of(2, &quadratic), None);
    assert!(!local.add(2, &mut quadratic));
    assert_eq!(local.chosen(), [0]);
}
