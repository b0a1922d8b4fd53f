//! Problems from moments: results and proofs hold for the rows themselves, by exact arithmetic.

use std::num::NonZeroUsize;

use crate::common::Random;
use l0star::problem::Moments;
use l0star::{
    Design, Error, Method, PathRun, Problem, Settings, Solution, Status, prices, solve,
    standard_errors,
};
use l0star_oracle::{Column, Dyadic, Exact, Loss, Problem as Oracle, Row};

/// Rows in plain numbers.
#[derive(Debug, Clone)]
struct Rows {
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    /// Multiples of ¼, so that their sum is exact.
    weights: Vec<f64>,
    ridge: f64,
    intercept: bool,
    standardize: bool,
    k: usize,
}

impl Rows {
    /// Draws copies, constants, far means, huge and tiny units, fewer rows than columns, or a response that fits
    /// exactly.
    fn draw(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x6D6F_6D65_6E74);
        let d = 1 + random.below(6);
        let most = if random.chance(0.3) { d } else { 24 };
        let n = 2 + random.below(most);
        let far = [0.0, 0.0, 1e3, 1e6, 1e9][random.below(5)];
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut units = Vec::new();
        for j in 0..d {
            let unit = [1.0, 1.0, 1e-30, 1e40, 1e6][random.below(5)];
            units.push(unit);
            let column = match random.below(9) {
                0 if j > 0 => columns[random.below(j)].clone(),
                1 => vec![unit * 0.1; n],
                2 => (0..n).map(|_| unit * random.below(3) as f64).collect(),
                3 if j > 0 => columns[0]
                    .iter()
                    .map(|v| v * (1.0 + 1e-13 * random.normal()))
                    .collect(),
                _ => (0..n)
                    .map(|_| unit * (random.normal() + far))
                    .collect::<Vec<f64>>(),
            };
            columns.push(column);
        }
        let noise = [1.0, 0.1, 1e-6, 0.0][random.below(4)];
        let shift = [0.0, 5.0, 1e6][random.below(3)];
        let b = (0..n).map(|i| {
            let signal: f64 = columns
                .iter()
                .zip(&units)
                .map(|(column, unit)| column[i] / unit - far)
                .sum();
            signal + noise * random.normal() + shift
        });
        let b = b.collect();
        let is_weighted = random.chance(0.4);
        let weights = (0..n).map(|i| {
            if is_weighted && i > 1 {
                0.25 * random.below(9) as f64
            } else {
                1.0
            }
        });
        Self {
            b,
            weights: weights.collect(),
            ridge: 10f64.powf(-4.0 * random.uniform()),
            intercept: random.chance(0.6),
            standardize: random.chance(0.7),
            k: 1 + random.below(d),
            columns,
        }
    }

    fn moments_of(&self, rows: &[usize]) -> Moments {
        let names = (1..=self.columns.len()).map(|j| format!("x{j}")).collect();
        let mut moments = Moments::new(names).unwrap();
        let of = |v: &[f64]| -> Vec<f64> { rows.iter().map(|i| v[*i]).collect() };
        if !rows.is_empty() {
            let values = self.columns.iter().flat_map(|column| of(column)).collect();
            let design = Design::dense(rows.len(), self.columns.len(), values).unwrap();
            let weights = of(&self.weights);
            moments.add(&design, &of(&self.b), Some(&weights)).unwrap();
        }
        moments
    }

    /// The moments of random batches, merged in random pairs.
    fn moments(&self, random: &mut Random) -> Moments {
        let mut order: Vec<usize> = (0..self.b.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let mut parts = Vec::new();
        let mut rest = &order[..];
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(1 + random.below(rest.len()));
            parts.push(self.moments_of(part));
            rest = behind;
        }
        parts.push(self.moments_of(&[]));
        while parts.len() > 1 {
            let one = parts.swap_remove(random.below(parts.len()));
            let at = random.below(parts.len());
            parts[at].merge(&one).unwrap();
        }
        parts.remove(0)
    }

    fn problem(&self, moments: Moments) -> Result<Problem, Error> {
        Problem::from_moments(moments)
            .ridge(self.ridge)
            .standardize(self.standardize)
            .intercept(self.intercept)
            .k(self.k)
            .build()
    }

    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The rows in exact numbers; the objective is multiplied by the sum of the weights. Ridges are rounded up by a
    /// few units in the last place, so that the least objective is no smaller than that of the problem.
    fn oracle(&self, problem: &Problem) -> Oracle {
        let row = |(b, w): (&f64, &f64)| Row {
            weight: *w,
            response: *b,
            offset: 0.0,
        };
        let rows: Vec<Row> = self.b.iter().zip(&self.weights).map(row).collect();
        let exact = |v: &Vec<f64>| v.iter().map(|v| Dyadic::of(*v)).collect();
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let mut columns: Vec<Column> = Vec::new();
        for (j, column) in self.columns.iter().enumerate() {
            let scale = problem.scales().map_or(1.0, |scales| scales[j]);
            columns.push(Column {
                entries: exact(column),
                ridge: self.weight() * self.ridge * scale * scale * (1.0 + 8.0 * f64::EPSILON),
                bounds: free,
            });
        }
        if self.intercept {
            columns.push(Column {
                entries: exact(&vec![1.0; self.b.len()]),
                ridge: 0.0,
                bounds: free,
            });
        }
        Oracle::new(Loss::Quadratic, &rows, columns)
    }

    /// The columns of a set, including the intercept's.
    fn set(&self, features: &[usize]) -> Vec<usize> {
        let mut set = features.to_vec();
        set.extend(self.intercept.then_some(self.columns.len()));
        set
    }

    /// All sets of at most k features.
    fn sets(&self) -> Vec<Vec<usize>> {
        let d = self.columns.len();
        let features =
            |bits: u32| -> Vec<usize> { (0..d).filter(|j| bits >> j & 1 == 1).collect() };
        let all = (0..1u32 << d).map(features);
        all.filter(|set| set.len() <= self.k).collect()
    }
}

/// Asserts that every bound holds for the rows, and that every objective is that of the rows up to the stated error.
fn check(rows: &Rows, problem: &Problem, found: &Solution, words: &str) {
    let oracle = rows.oracle(problem);
    let weight = Exact::of(rows.weight());
    let bound = Exact::of(found.lower_bound.unwrap()).times(&weight);
    let rest = found.rest_bound.map(|rest| Exact::of(rest).times(&weight));
    let listed: Vec<&Vec<usize>> = found.solutions.iter().map(|model| &model.support).collect();
    for set in rows.sets() {
        let Some(least) = oracle.least(&rows.set(&set)) else {
            continue;
        };
        assert!(
            bound.at_most(&least.low),
            "{words}: {set:?} is below the bound"
        );
        if let Some(rest) = &rest
            && !listed.contains(&&set)
        {
            assert!(
                rest.at_most(&least.low),
                "{words}: {set:?} is not in the list"
            );
        }
        if let Some(model) = found.solutions.iter().find(|model| model.support == set) {
            let least = least.low.value() / rows.weight();
            let room = problem.moment_error(model.objective)
                + 1e-9 * least
                + 1e-12 * found.empty_objective;
            assert!(
                (model.objective - least).abs() <= room,
                "{words}: {} is not {least}",
                model.objective
            );
        }
    }
}

#[test]
fn bounds_from_moments_hold_for_the_rows() {
    let (mut optimal, count) = (0, 300);
    for seed in 0..count {
        let rows = Rows::draw(seed);
        let mut random = Random::new(seed);
        let problem = match rows.problem(rows.moments(&mut random)) {
            Ok(problem) => problem,
            // The numbers leave the range of floats, or the response has no spread.
            Err(
                Error::TooSmall { .. }
                | Error::TooLarge { .. }
                | Error::SmallColumn { .. }
                | Error::Overflow { .. },
            ) => continue,
            Err(error) => panic!("{seed}: {error}\n{rows:?}"),
        };
        let settings = Settings {
            top: NonZeroUsize::new(1 + random.below(3)),
            ..Settings::default()
        };
        let found = solve(&problem, &settings).unwrap();
        optimal += u64::from(found.status == Status::Optimal);
        let words = format!("seed {seed}");
        check(&rows, &problem, &found, &words);
        let exhaustive = Settings {
            method: Method::Exhaustive,
            ..settings
        };
        check(
            &rows,
            &problem,
            &solve(&problem, &exhaustive).unwrap(),
            &words,
        );
    }
    assert!(optimal > count / 3, "only {optimal} of {count} are proved");
}

/// Prices from moments, with bounds on both sides, hold for the rows.
#[test]
fn prices_from_moments_hold_for_the_rows() {
    for seed in 0..60 {
        let rows = Rows::draw(seed);
        let Ok(problem) = rows.problem(rows.moments(&mut Random::new(seed))) else {
            continue;
        };
        let settings = Settings::default();
        let found = solve(&problem, &settings).unwrap();
        let oracle = rows.oracle(&problem);
        let least = |is_in: &dyn Fn(&[usize]) -> bool| {
            let sets = rows.sets().into_iter().filter(|set| is_in(set));
            let values = sets.filter_map(|set| oracle.least(&rows.set(&set)));
            values.map(|least| least.low).min()
        };
        let Some(best) = least(&|_| true) else {
            continue;
        };
        for price in prices(&problem, &settings, &found, None).unwrap() {
            let other = least(&|set| set.contains(&price.feature) != price.chosen);
            let Some(other) = other else { continue };
            let cost = other.minus(&best);
            let (low, high) = price.cost_bounds;
            let weight = Exact::of(rows.weight());
            assert!(
                Exact::of(low).times(&weight).at_most(&cost),
                "seed {seed}: {price:?}"
            );
            if high.is_finite() {
                // The oracle's ridges are slightly larger.
                let high = high + 1e-14 * found.empty_objective;
                assert!(
                    cost.at_most(&Exact::of(high).times(&weight)),
                    "seed {seed}: {price:?}"
                );
            }
        }
    }
}

/// Random rows far from zero.
fn far(n: usize, mean: f64) -> (Design, Vec<f64>) {
    let mut random = Random::new(7);
    let d = 8;
    let mut values = vec![0.0; n * d];
    let mut b = Vec::new();
    for i in 0..n {
        let common = random.normal();
        for j in 0..d {
            values[j * n + i] = mean + 0.5 * common + random.normal();
        }
        let signal = values[i] - 2.0 * values[3 * n + i] + 0.5 * values[6 * n + i];
        b.push(signal + random.normal());
    }
    (Design::dense(n, d, values).unwrap(), b)
}

/// Any batches and any order of merging give the same sets, and intervals of the optimum that overlap.
#[test]
fn the_order_of_merging_does_not_matter() {
    let (design, b) = far(6000, 1e6);
    let n = b.len();
    let names: Vec<String> = (1..=8).map(|j| format!("x{j}")).collect();
    let part = |rows: std::ops::Range<usize>| {
        let values = (0..8).flat_map(|j| {
            let mut column = vec![0.0; n];
            design.add_column(j, 1.0, &mut column);
            column[rows.clone()].to_vec()
        });
        let part = Design::dense(rows.len(), 8, values.collect()).unwrap();
        let mut moments = Moments::new(names.clone()).unwrap();
        moments.add(&part, &b[rows], None).unwrap();
        moments
    };
    let mut found: Vec<(Solution, f64)> = Vec::new();
    for cut in [1, 500, 1024, 3333, 5999] {
        for turned in [false, true] {
            let (mut one, mut other) = (part(0..cut), part(cut..n));
            if turned {
                std::mem::swap(&mut one, &mut other);
            }
            one.merge(&other).unwrap();
            assert_eq!(one.rows(), n as u64);
            let builder = Problem::from_moments(one).intercept(true).k(3);
            let problem = builder.build().unwrap();
            let solution = solve(&problem, &Settings::default()).unwrap();
            assert_eq!(solution.status, Status::Optimal);
            let error = problem.moment_error(solution.objective);
            found.push((solution, error));
        }
    }
    let builder = Problem::builder(design, b).intercept(true).k(3);
    let from_rows = solve(&builder.build().unwrap(), &Settings::default()).unwrap();
    for (solution, error) in &found {
        assert_eq!(solution.support, from_rows.support);
        assert!(solution.lower_bound.unwrap() <= from_rows.objective);
        assert!(from_rows.lower_bound.unwrap() <= solution.objective + error);
        // The response has numbers of about 1e6, and objectives are about ½.
        assert!((solution.objective - from_rows.objective).abs() <= 1e-12);
        for (one, other) in solution.coefficients.iter().zip(&from_rows.coefficients) {
            assert!((one - other).abs() <= 1e-9, "{one} {other}");
        }
        let room = 1e-9 * from_rows.intercept.abs();
        assert!((solution.intercept - from_rows.intercept).abs() <= room);
    }
}

/// Every result can be computed from moments, too, and is the same.
#[test]
fn moments_say_what_rows_say() {
    let (design, b) = far(3000, 10.0);
    let weights: Vec<f64> = (0..b.len()).map(|i| 0.5 + (i % 7) as f64).collect();
    let mut moments = Moments::new((1..=8).map(|j| format!("x{j}")).collect()).unwrap();
    moments.add(&design, &b, Some(&weights)).unwrap();
    for intercept in [true, false] {
        for standardize in [true, false] {
            let from_moments = Problem::from_moments(moments.clone());
            let from_rows = Problem::builder(design.clone(), b.clone()).weights(weights.clone());
            let [one, other] = [from_moments, from_rows].map(|builder| {
                let builder = builder.intercept(intercept).standardize(standardize);
                let builder = builder.groups(vec![vec![0, 1]]).nonnegative([6]);
                builder.requires(3, &[6]).include(4).k(4).build().unwrap()
            });
            assert!(one.is_from_moments() && !other.is_from_moments());
            assert_eq!(one.observations(), other.observations());
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs() + 1e-3);
            let (scales, others) = (one.scales(), other.scales());
            for (a, b) in scales
                .into_iter()
                .flatten()
                .zip(others.into_iter().flatten())
            {
                assert!(close(*a, *b));
            }
            let settings = Settings::default();
            let path = PathRun::new(&one, &settings, 1..=4).solve().unwrap();
            let paths = PathRun::new(&other, &settings, 1..=4).solve().unwrap();
            assert_eq!(path.len(), paths.len());
            for (a, b) in path.iter().zip(&paths) {
                assert_eq!(a.solution.support, b.solution.support);
                assert_eq!(a.solution.status, Status::Optimal);
                assert!(close(a.solution.objective, b.solution.objective));
                assert!(close(a.solution.intercept, b.solution.intercept));
                let (a, b) = (a.criteria.unwrap(), b.criteria.unwrap());
                assert!(close(a.bic, b.bic) && close(a.aic, b.aic) && close(a.ebic, b.ebic));
            }
            let found = &path.last().unwrap().solution;
            let errors = standard_errors(&one, found, true).unwrap();
            let others = standard_errors(&other, &paths.last().unwrap().solution, true).unwrap();
            assert_eq!(
                (&errors.columns, errors.freedom),
                (&others.columns, others.freedom)
            );
            let pairs = errors.errors.iter().zip(&others.errors);
            for (a, b) in pairs {
                assert_eq!(a.is_some(), b.is_some());
                assert!(close(a.unwrap_or(0.0), b.unwrap_or(0.0)), "{a:?} {b:?}");
            }
            assert_eq!(errors.intercepts.len(), others.intercepts.len());
            for (a, b) in errors.intercepts.iter().zip(&others.intercepts) {
                assert!(close(*a, *b), "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn bytes_that_are_not_whole_are_refused() {
    let rows = Rows::draw(3);
    let moments = rows.moments(&mut Random::new(3));
    let bytes = moments.encode("a note");
    assert!(Moments::is_encoded(&bytes));
    let (again, note) = Moments::decode(&bytes).unwrap();
    assert_eq!((again, note.as_str()), (moments, "a note"));
    for cut in 0..bytes.len() {
        assert!(matches!(
            Moments::decode(&bytes[..cut]),
            Err(Error::Moments { .. })
        ));
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(matches!(
            Moments::decode(&damaged),
            Err(Error::Moments { .. })
        ));
    }
}

#[test]
fn what_moments_do_not_have_is_refused() {
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let moments = Moments::new(names()).unwrap();
    let empty = Problem::from_moments(moments.clone()).build();
    assert!(matches!(empty, Err(Error::Empty { .. })));
    assert!(Moments::new(Vec::new()).is_err());
    let mut other = Moments::new(vec!["a".to_owned(), "c".to_owned()]).unwrap();
    let message = other.merge(&moments).unwrap_err().to_string();
    assert!(
        message.contains("'c'") && message.contains("'b'"),
        "{message}"
    );

    let design = |values: [f64; 4]| Design::dense(2, 2, values.to_vec()).unwrap();
    let mut full = moments;
    full.add(&design([1.0, 2.0, 3.0, 5.0]), &[1.0, 2.0], None)
        .unwrap();
    let before = full.clone();
    let bad = full.add(&design([1.0, f64::NAN, 3.0, 5.0]), &[1.0, 2.0], None);
    assert!(bad.unwrap_err().to_string().contains("row 2, column 'a'"));
    let bad = full.add(
        &design([1.0, 2.0, 3.0, 5.0]),
        &[1.0, 2.0],
        Some(&[1.0, -1.0]),
    );
    assert!(matches!(bad, Err(Error::NegativeWeight { row: 2, .. })));
    assert!(
        full.add(&design([1.0, 2.0, 3.0, 5.0]), &[1.0], None)
            .is_err()
    );
    assert_eq!(full, before);

    let builder = || Problem::from_moments(full.clone());
    let huber = l0star::loss::by_name("huber", 1.0).unwrap();
    for refused in [
        builder().loss(huber),
        builder().weights(vec![1.0, 1.0]),
        builder().offset(vec![0.0]),
    ] {
        assert!(matches!(refused.build(), Err(Error::Moments { .. })));
    }
    // A correlation of 2.
    let given =
        |products: &[f64]| Moments::given(vec!["a".to_owned()], 3, 3.0, &[0.0, 0.0], products, 0.0);
    let impossible = Problem::from_moments(given(&[1.0, 2.0, 2.0, 1.0]).unwrap()).build();
    assert!(
        impossible
            .unwrap_err()
            .to_string()
            .contains("positive semidefinite")
    );
    assert!(given(&[1.0, 2.0, 2.5, 9.0]).is_err());
    assert!(given(&[-1.0, 0.0, 0.0, 9.0]).is_err());
}

/// A stated error lowers the bound, which then holds for all data whose moments are that close.
#[test]
fn a_stated_error_enters_the_bound() {
    let products: [f64; 9] = [4.0, 1.0, 3.0, 1.0, 5.0, 1.0, 3.0, 1.0, 6.0];
    let bound = |error: f64, products: &[f64]| {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let moments = Moments::given(names, 9, 9.0, &[1.0, 2.0, 3.0], products, error).unwrap();
        let problem = Problem::from_moments(moments)
            .intercept(true)
            .standardize(false)
            .build();
        let found = solve(&problem.unwrap(), &Settings::default()).unwrap();
        (found.lower_bound.unwrap(), found.objective)
    };
    let (exact, _) = bound(0.0, &products);
    let (low, objective) = bound(1e-4, &products);
    assert!(low < exact && objective - low > 1e-4, "{low} {exact}");
    // Moments at the limit of the error, in every direction.
    for signs in 0..64 {
        let mut near = products;
        for (at, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
            .into_iter()
            .enumerate()
        {
            let sign = if signs >> at & 1 == 1 { 1.0 } else { -1.0 };
            let size = (products[i * 4] * products[j * 4]).sqrt();
            near[i * 3 + j] += 1e-4 * sign * size;
            near[j * 3 + i] = near[i * 3 + j];
        }
        let (_, objective) = bound(0.0, &near);
        assert!(low <= objective, "{signs}: {low} {objective}");
    }
}
