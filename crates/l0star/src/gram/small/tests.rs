//! Checks enumerations against brute force: in exact arithmetic for small problems, in plain loops for a larger one.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use l0star_oracle::{Column, Dyadic, Exact, Loss, Row};

use super::*;
use crate::gram::root::Root;
use crate::tuning::enumeration::MOST;
use crate::{Design, Problem, Settings};

/// SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Returns a problem of one of several degenerate kinds, and its columns.
fn problem(seed: u64) -> (Problem, Vec<Vec<f64>>) {
    let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
    let (n, d) = (3 + random.below(6), 4 + random.below(4));
    let units = random.below(3);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let mut column: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let kind = if j == 0 { 9 } else { random.below(10) };
        match kind {
            0 => column.clone_from(&columns[j - 1]),
            1 => column = columns[j - 1].iter().map(|v| -2.0 * v).collect(),
            2 | 3 => {
                let noise = [1e-3, 1e-7][kind - 2];
                let close = columns[j - 1].iter().zip(&column);
                column = close.map(|(v, e)| v + noise * e).collect();
            }
            4 => column.iter_mut().for_each(|v| *v += 50.0),
            _ => {}
        }
        if units > 0 {
            let unit = 10f64.powi(random.below(9) as i32 - 4);
            column.iter_mut().for_each(|v| *v *= unit);
        }
        columns.push(column);
    }
    let mut response: Vec<f64> = (0..n)
        .map(|i| columns[0][i] - columns[2][i] + 0.5 * random.normal())
        .collect();
    if units == 2 {
        response.iter_mut().for_each(|b| *b *= 1e6);
    }
    let design = Design::dense(n, d, columns.concat()).unwrap();
    let ridge = 10f64.powf(1.0 - 13.0 * random.uniform());
    let mut builder = Problem::builder(design, response)
        .standardize(false)
        .ridge(ridge)
        .k(3)
        .intercept(random.below(2) == 0);
    if random.below(3) == 0 {
        builder = builder.weights((0..n).map(|_| 0.1 + random.uniform()).collect());
    }
    if random.below(3) == 0 {
        builder = builder.always_in(1, 0.1 * ridge);
    }
    (builder.build().unwrap(), columns)
}

/// Returns every set of exactly `m` of `d` places.
fn sets(d: usize, m: usize) -> Vec<Vec<usize>> {
    let places = |bits: &u32| (0..d).filter(|j| bits >> j & 1 == 1).collect::<Vec<_>>();
    let all = (0u32..1 << d).filter(|bits| bits.count_ones() as usize == m);
    all.map(|bits| places(&bits)).collect()
}

/// Returns the least objective over some columns of a problem.
fn exact(problem: &Problem, columns: &[Vec<f64>], set: &[usize]) -> Exact {
    let rows: Vec<Row> = (problem.p.iter().zip(&problem.b))
        .map(|(weight, response)| Row {
            weight: *weight,
            response: *response,
            offset: 0.0,
        })
        .collect();
    let column = |entries: &[f64], ridge: f64| Column {
        entries: entries.iter().map(|v| Dyadic::of(*v)).collect(),
        ridge,
        bounds: (f64::NEG_INFINITY, f64::INFINITY),
    };
    let used = set.iter().chain(&problem.penalised);
    let mut all: Vec<Column> = used
        .map(|j| column(&columns[*j], problem.ridge[*j]))
        .collect();
    if problem.has_intercept {
        all.push(column(&vec![1.0; problem.rows()], 0.0));
    }
    let whole: Vec<usize> = (0..all.len()).collect();
    let all = l0star_oracle::Problem::new(Loss::Quadratic, &rows, all);
    all.least(&whole).expect("a minimum").low
}

/// A problem with the exact values of its sets.
struct Known {
    problem: Problem,
    root: Root,
    sets: Vec<(Vec<usize>, Exact)>,
}

impl Known {
    fn new(seed: u64, m: usize) -> Option<Self> {
        let (problem, columns) = problem(seed);
        let selectable = problem.selectable.clone();
        // Columns far from their means have a view, whose entries are not the oracle's.
        if problem.design.has_view() {
            return None;
        }
        let limits = Limits::none();
        let root = Root::new(&problem, &selectable, &limits, 1, &mut ())?;
        let values = sets(selectable.len(), m).into_iter().map(|set| {
            let features: Vec<usize> = set.iter().map(|i| selectable[*i]).collect();
            let value = exact(&problem, &columns, &features);
            (set, value)
        });
        let sets: Vec<_> = values.collect();
        if sets.is_empty() {
            return None;
        }
        Some(Self {
            problem,
            root,
            sets,
        })
    }

    fn best(&self) -> f64 {
        let values = self.sets.iter().map(|(_, value)| value.value());
        values.fold(f64::INFINITY, f64::min)
    }

    /// Returns the verdict and the sets that were handed out. Every hit leaves the target where it is or, where it may
    /// fall, lowers it to a little below the best set so far.
    fn enumerate(&self, entries: &Entries, m: usize, target: f64, falls: bool) -> Outcome {
        let (selectable, size) = (self.root.selectable, self.root.size());
        let free: Vec<usize> = (0..selectable).collect();
        let inside: Vec<usize> = (selectable..size).collect();
        let (mut handed, mut present) = (Vec::new(), target);
        let space = Space {
            entries,
            inside: &inside,
            free: &free,
            m,
        };
        let verdict = enumerate(
            space,
            target,
            MOST,
            &Limits::none(),
            1,
            &mut |set: &[usize]| {
                let mut set = set.to_vec();
                set.sort_unstable();
                let value = self.sets.iter().find(|(known, _)| *known == set);
                handed.push(set);
                if let Some((_, value)) = value.filter(|_| falls) {
                    present = present.min(value.value() * (1.0 - 1e-9));
                }
                present
            },
        );
        Outcome { verdict, handed }
    }

    /// Checks that every set that was not handed out, nor is part of one, is at least as bad as what was proved.
    fn check(&self, outcome: &Outcome, words: &str) -> bool {
        let Verdict::Proved(proof) = &outcome.verdict else {
            return false;
        };
        let target = Exact::of(proof.target());
        for (set, value) in &self.sets {
            let is_handed = outcome.handed.contains(set);
            assert!(is_handed || target.at_most(value), "{words}: {set:?}");
        }
        true
    }
}

struct Outcome {
    verdict: Verdict,
    handed: Vec<Vec<usize>>,
}

#[test]
fn what_is_proved_is_true_in_exact_arithmetic() {
    let (mut proved, mut bare, mut total) = (0, 0, 0);
    for seed in 0..300 {
        for m in 1..=4 {
            let Some(known) = Known::new(seed, m) else {
                continue;
            };
            let columns = [&known.problem.selectable[..], &known.problem.penalised].concat();
            let wide = Entries::of_columns(&known.problem, &columns).unwrap();
            let best = known.best();
            for (name, entries) in [("root", Entries::of_root(&known.root)), ("columns", wide)] {
                for share in [0.5, 1.0 - 1e-4, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.001, 1.5] {
                    for falls in [false, true] {
                        let words = format!("seed {seed}, m {m}, {name}, {share}, {falls}");
                        let outcome = known.enumerate(&entries, m, share * best, falls);
                        let is_proved = known.check(&outcome, &words);
                        if share < 1.0 - 1e-5 {
                            total += 1;
                            proved += usize::from(is_proved);
                            bare += usize::from(is_proved && outcome.handed.is_empty());
                        }
                    }
                }
            }
        }
    }
    // For targets that no set comes near, all is proved at once, except where digits are lost on the way.
    assert!(
        total > 1000 && 10 * proved > 8 * total,
        "{proved} of {total}"
    );
    assert!(10 * bare > 8 * total, "{bare} of {total}");
}

/// A problem with many columns, so that blocks and pieces have ends; values by Cramer's rule.
struct Wide {
    problem: Problem,
    columns: Vec<usize>,
}

impl Wide {
    fn new(d: usize) -> Self {
        Self::with_rows(12, d)
    }

    fn with_rows(n: usize, d: usize) -> Self {
        let mut random = Random(7);
        let values: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
        let response = (0..n).map(|_| random.normal()).collect();
        let design = Design::dense(n, d, values).unwrap();
        let builder = Problem::builder(design, response).standardize(false);
        Self {
            problem: builder.k(3).ridge(0.2).intercept(false).build().unwrap(),
            columns: (0..d).collect(),
        }
    }

    /// Returns every set of `m` columns below a target: columns are eliminated one after the other.
    fn below(&self, m: usize, target: f64) -> Vec<Vec<usize>> {
        let (n, d) = (self.problem.rows(), self.columns.len());
        let values = self.problem.design.plain().unwrap();
        let column = |j: usize| &values[j * n..(j + 1) * n];
        let p = 1.0 / n as f64;
        let dot = |u: &[f64], v: &[f64]| p * u.iter().zip(v).map(|(u, v)| u * v).sum::<f64>();
        let b = &self.problem.b;
        let mut rest = Rest {
            h: vec![0.0; d * d],
            c: (0..d).map(|j| dot(column(j), b)).collect(),
            gain: dot(b, b) - 2.0 * target,
        };
        for i in 0..d {
            for j in 0..d {
                let ridge = if i == j { 0.2 } else { 0.0 };
                rest.h[i * d + j] = dot(column(i), column(j)) + ridge;
            }
        }
        let mut found = Vec::new();
        rest.sets(m, &mut Vec::new(), &mut found);
        found
    }

    fn enumerate(&self, m: usize, target: f64, threads: usize, limits: &Limits) -> Outcome {
        self.watched(m, target, threads, limits).0
    }

    /// Returns the outcome, with the number of reports of progress.
    fn watched(&self, m: usize, target: f64, threads: usize, limits: &Limits) -> (Outcome, usize) {
        let entries = Entries::of_columns(&self.problem, &self.columns).unwrap();
        let mut watch = Collector {
            target,
            handed: Vec::new(),
            reports: 0,
        };
        let space = Space {
            entries: &entries,
            inside: &[],
            free: &self.columns,
            m,
        };
        let verdict = enumerate(space, target, MOST, limits, threads, &mut watch);
        let Collector {
            mut handed,
            reports,
            ..
        } = watch;
        handed.sort();
        (Outcome { verdict, handed }, reports)
    }
}

/// Receiver that leaves the target where it is.
struct Collector {
    target: f64,
    handed: Vec<Vec<usize>>,
    reports: usize,
}

impl Watch for Collector {
    fn hit(&mut self, set: &[usize]) -> f64 {
        let mut set = set.to_vec();
        set.sort_unstable();
        self.handed.push(set);
        self.target
    }

    fn progress(&mut self, _: f64) {
        self.reports += 1;
    }
}

/// What is left of a quadratic when some columns have been eliminated, and the gain that is still missing.
struct Rest {
    h: Vec<f64>,
    c: Vec<f64>,
    gain: f64,
}

impl Rest {
    /// Lists the sets with `m > 1` more columns, after those in `set`, that reach the gain.
    fn sets(&self, m: usize, set: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        let d = self.c.len();
        for i in set.last().map_or(0, |last| last + 1)..d {
            let row = &self.h[i * d..(i + 1) * d];
            let (pivot, own) = (row[i], self.c[i]);
            let gain = self.gain - own * own / pivot;
            let c: Vec<f64> = self
                .c
                .iter()
                .zip(row)
                .map(|(c, h)| c - h * own / pivot)
                .collect();
            set.push(i);
            if m == 2 {
                let second = |l: usize| self.h[l * d + l] - row[l] * row[l] / pivot;
                let better = (i + 1..d).filter(|l| c[*l] * c[*l] / second(*l) > gain);
                found.extend(better.map(|l| [&set[..], &[l]].concat()));
            } else {
                let mut h = self.h.clone();
                for k in i + 1..d {
                    for l in i + 1..d {
                        h[k * d + l] -= row[k] * row[l] / pivot;
                    }
                }
                Self { h, c, gain }.sets(m - 1, set, found);
            }
            set.pop();
        }
    }
}

#[test]
fn the_better_triples_are_handed_out_whatever_the_number_of_threads() {
    let wide = Wide::new(530);
    let null = wide.problem.objective(&[]);
    let mut counts = Vec::new();
    for share in [0.26, 0.22, 0.18, 0.1] {
        let below = wide.below(3, share * null);
        for threads in [1, 2] {
            let outcome = wide.enumerate(3, share * null, threads, &Limits::none());
            let is_proved = matches!(outcome.verdict, Verdict::Proved(_));
            assert!(is_proved, "{share}: {} below", below.len());
            assert_eq!(outcome.handed, below, "{share}");
        }
        counts.push(below.len());
    }
    assert!(counts[0] > 1000 && counts[3] == 0, "{counts:?}");
}

#[test]
fn the_better_sets_of_four_are_handed_out_whatever_the_number_of_threads() {
    let wide = Wide::new(90);
    let null = wide.problem.objective(&[]);
    let mut counts = Vec::new();
    for share in [0.235, 0.2, 0.12] {
        let below = wide.below(4, share * null);
        for threads in [1, 2] {
            let outcome = wide.enumerate(4, share * null, threads, &Limits::none());
            let is_proved = matches!(outcome.verdict, Verdict::Proved(_));
            assert!(is_proved, "{share}: {} below", below.len());
            assert_eq!(outcome.handed, below, "{share}");
        }
        counts.push(below.len());
    }
    assert!(counts[0] > 100 && counts[2] == 0, "{counts:?}");
}

/// Progress is reported once per hub.
#[test]
fn sets_without_a_hub_are_proved_without_being_examined() {
    let wide = Wide::with_rows(60, 50);
    let null = wide.problem.objective(&[]);
    let targets = (1..100).map(|percent| 0.01 * f64::from(percent) * null);
    let unbeaten = targets.take_while(|target| wide.below(4, *target).is_empty());
    let target = unbeaten.last().unwrap();
    for (target, some) in [(target, false), (target + 0.01 * null, true)] {
        let below = wide.below(4, target);
        let (outcome, hubs) = wide.watched(4, target, 1, &Limits::none());
        assert!(matches!(outcome.verdict, Verdict::Proved(_)));
        assert_eq!(outcome.handed, below);
        assert_eq!(!below.is_empty(), some);
        assert!(hubs < 25, "{hubs} of 50");
    }
}

#[test]
fn limits_stop_it() {
    let wide = Wide::new(40);
    let settings = Settings {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        ..Settings::default()
    };
    for m in [3, 4] {
        let outcome = wide.enumerate(m, 1e-3, 1, &Limits::new(&settings));
        assert!(matches!(outcome.verdict, Verdict::Stopped));
        assert!(outcome.handed.is_empty());
    }
}

#[test]
fn it_does_not_apply_where_the_target_says_nothing() {
    let wide = Wide::new(40);
    let null = wide.problem.objective(&[]);
    for target in [null, 2.0 * null, f64::NAN, f64::INFINITY, -1.0] {
        for m in [3, 4] {
            let outcome = wide.enumerate(m, target, 1, &Limits::none());
            assert!(matches!(outcome.verdict, Verdict::Open), "{target}");
        }
    }
}
