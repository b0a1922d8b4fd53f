//! The instances of the benchmarks: seeded, and the same on every machine.

use std::ops::RangeInclusive;
use std::sync::Arc;

use l0star::problem::Builder;
use l0star::{Design, Problem, loss};
use l0star_data::generate::{self, default_k, default_n};
use l0star_data::{RealData, Table, real_instance};

use super::table::text;

/// Source of a problem. Ridge, k and n are the paper's unless they are given.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// A real data set with interactions and squares, k = 10; there is only one instance of each.
    Real(RealData),
    /// The paper's Huber family.
    Huber { d: usize, n: Option<usize> },
    /// The paper's logistic family.
    Logistic { d: usize },
    /// Quadratic loss, `Σ_ij = ρ^|i-j|`, k = 10, SNR 5, ridge weight 0.1 on the sum of squares.
    Ar { d: usize, n: usize, rho: f64 },
    /// The AR family with k = 5, and more features than rows.
    FlatAr { d: usize, n: usize },
    /// The AR data with Huber's loss, δ below the noise, so that many rows are beyond it; ridge 1e-3.
    HuberAr { d: usize, n: usize, rho: f64 },
    /// Many columns, k = 5: the AR family, ρ = 0.5, n = 500, ridge weight 25 on the sum of squares.
    WideAr { d: usize },
    /// Many columns, k = 5: the logistic family, n = 1000.
    WideLogistic { d: usize },
    /// Counts on the AR design, ρ = 0.5, k = 10, with an intercept; ridge 1e-3.
    Poisson { d: usize, n: usize },
    /// Positive amounts on the same design.
    Gamma { d: usize, n: usize },
    /// Times until an event on the same design, k = 5.
    Cox { d: usize, n: usize, ridge: f64 },
}

impl Source {
    pub fn problem(self, seed: u64) -> Result<Problem, String> {
        self.builder(seed)?.build().map_err(text)
    }

    /// Returns the builder of the problem, so that it can be changed.
    pub fn builder(self, seed: u64) -> Result<Builder, String> {
        match self {
            Self::Real(data) => {
                let table = real_instance(data).map_err(text)?;
                framed(&table, "quadratic", 1e-3, 10)
            }
            Self::Huber { d, n } => {
                let k = default_k(d);
                let n = n.unwrap_or_else(|| default_n(d, k));
                let instance = generate::huber(d, k, n, seed).map_err(text)?;
                framed(instance.table(), "huber", 1e-3, k)
            }
            Self::Logistic { d } => {
                let k = default_k(d);
                let instance = generate::logistic(d, k, default_n(d, k), seed).map_err(text)?;
                framed(instance.table(), "logistic", 2e-4, k)
            }
            Self::Ar { d, n, rho } => {
                let k = 10;
                let instance = generate::ar(d, k, n, rho, 5.0, seed).map_err(text)?;
                // Our P is ‖b - Ax‖²/2n + ridge/2 ‖x‖².
                framed(instance.table(), "quadratic", 0.1 / n as f64, k)
            }
            Self::FlatAr { d, n } => {
                let instance = generate::ar(d, 5, n, 0.5, 5.0, seed).map_err(text)?;
                framed(instance.table(), "quadratic", 0.1 / n as f64, 5)
            }
            Self::HuberAr { d, n, rho } => {
                let instance = generate::ar(d, 10, n, rho, 5.0, seed).map_err(text)?;
                framed(instance.table(), "huber", 1e-3, 10)
            }
            Self::WideAr { d } => {
                let instance = generate::ar(d, 5, 500, 0.5, 5.0, seed).map_err(text)?;
                framed(instance.table(), "quadratic", 25.0 / 500.0, 5)
            }
            Self::WideLogistic { d } => {
                let instance = generate::logistic(d, 5, 1000, seed).map_err(text)?;
                framed(instance.table(), "logistic", 2e-4, 5)
            }
            Self::Poisson { d, n } => {
                let instance = generate::poisson(d, 10, n, 0.5, seed).map_err(text)?;
                Ok(framed(instance.table(), "poisson", 1e-3, 10)?.intercept(true))
            }
            Self::Gamma { d, n } => {
                let instance = generate::gamma(d, 10, n, 0.5, seed).map_err(text)?;
                Ok(framed(instance.table(), "gamma", 1e-3, 10)?.intercept(true))
            }
            Self::Cox { d, n, ridge } => {
                let (instance, events) = generate::cox(d, 5, n, 0.5, seed).map_err(text)?;
                let builder = framed(instance.table(), "cox", ridge, 5)?;
                Ok(builder.loss(Arc::new(loss::Cox::new(events))))
            }
        }
    }

    /// Number of times a problem is timed; a family of one instance is timed more often.
    pub fn repeats(self) -> usize {
        match self {
            Self::Real(_) => 49,
            _ => 3,
        }
    }
}

/// Builds a problem whose response is the table's last column, without an intercept, as in the paper.
fn framed(table: &Table, loss: &str, ridge: f64, k: usize) -> Result<Builder, String> {
    let (design, response) = table.split_last();
    let design = Design::dense(table.rows(), table.columns() - 1, design.to_vec()).map_err(text)?;
    Ok(Problem::builder(design, response.to_vec())
        .loss(loss::by_name(loss, 1.0).map_err(text)?)
        .standardize(false)
        .ridge(ridge)
        .k(k))
}

/// Cost of an earlier prototype: calls or nodes, and milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    pub count: f64,
    pub ms: f64,
}

/// A family of instances, its seeds, and its references.
pub struct Family {
    pub name: &'static str,
    pub source: Source,
    pub seeds: RangeInclusive<u64>,
    /// The paper's search, with its solver calls.
    pub paper: Reference,
    /// The prototype's best engine, with its nodes.
    pub engine: Reference,
}

/// The paper's families.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "Boston",
        source: Source::Real(RealData::Boston),
        seeds: 1..=1,
        paper: seen(6366.0, 61.0),
        engine: seen(133.0, 6.0),
    },
    Family {
        name: "Diabetes",
        source: Source::Real(RealData::Diabetes),
        seeds: 1..=1,
        paper: seen(1209.0, 8.8),
        engine: seen(25.0, 1.5),
    },
    Family {
        name: "Huber 100",
        source: Source::Huber { d: 100, n: None },
        seeds: 1..=9,
        paper: seen(590.0, 3.7),
        engine: seen(1.1, 0.7),
    },
    Family {
        name: "Huber 200",
        source: Source::Huber { d: 200, n: None },
        seeds: 1..=9,
        paper: seen(3404.0, 67.0),
        engine: seen(2.3, 6.0),
    },
    Family {
        name: "Huber 300",
        source: Source::Huber { d: 300, n: None },
        seeds: 1..=9,
        paper: seen(19535.0, 894.0),
        engine: seen(2.7, 20.0),
    },
    Family {
        name: "logistic 50",
        source: Source::Logistic { d: 50 },
        seeds: 1..=9,
        paper: seen(2003.0, 123.0),
        engine: seen(19.0, 7.0),
    },
    Family {
        name: "logistic 100",
        source: Source::Logistic { d: 100 },
        // Difficulty varies five hundredfold within this family, so a few instances would say little.
        seeds: 1..=80,
        paper: seen(8118.0, 482.0),
        engine: seen(23.0, 30.0),
    },
];

const fn seen(count: f64, ms: f64) -> Reference {
    Reference { count, ms }
}

/// Instances harder than the paper's: (name, source, seeds).
pub const HARDER: &[(&str, Source, RangeInclusive<u64>)] = &[
    (
        "Huber d=100 k=10 n=100",
        Source::Huber {
            d: 100,
            n: Some(100),
        },
        1..=2,
    ),
    (
        "Huber d=200 k=20 n=200",
        Source::Huber {
            d: 200,
            n: Some(200),
        },
        1..=2,
    ),
    ("AR d=1000 n=2000 ρ=0.1", ar(1000, 2000, 0.1), 1..=1),
    ("AR d=1000 n=2000 ρ=0.5", ar(1000, 2000, 0.5), 1..=1),
    ("AR d=1000 n=2000 ρ=0.9", ar(1000, 2000, 0.9), 1..=1),
    ("AR d=300 n=600 ρ=0.9", ar(300, 600, 0.9), 1..=1),
    ("AR d=200 n=200 ρ=0.5", ar(200, 200, 0.5), 1..=1),
    ("AR d=500 n=500 ρ=0.5", ar(500, 500, 0.5), 1..=1),
    ("AR d=300 n=100 k=5", flat(300, 100), 1..=2),
    ("AR d=500 n=200 k=5", flat(500, 200), 1..=2),
    ("AR d=1000 n=500 k=5", flat(1000, 500), 1..=1),
    (
        "Huber AR d=200 n=2000 ρ=0.9",
        Source::HuberAr {
            d: 200,
            n: 2000,
            rho: 0.9,
        },
        1..=2,
    ),
    ("logistic d=300 k=30", Source::Logistic { d: 300 }, 1..=1),
    (
        "Poisson d=100 n=1000 k=10",
        Source::Poisson { d: 100, n: 1000 },
        1..=3,
    ),
    (
        "gamma d=100 n=1000 k=10",
        Source::Gamma { d: 100, n: 1000 },
        1..=3,
    ),
    (
        "Cox d=50 n=500 k=5",
        Source::Cox {
            d: 50,
            n: 500,
            ridge: 1e-2,
        },
        1..=3,
    ),
    ("wide AR d=20000", Source::WideAr { d: 20_000 }, 1..=1),
    ("wide AR d=100000", Source::WideAr { d: 100_000 }, 1..=1),
    (
        "wide logistic d=20000",
        Source::WideLogistic { d: 20_000 },
        1..=1,
    ),
    (
        "wide logistic d=100000",
        Source::WideLogistic { d: 100_000 },
        1..=1,
    ),
];

/// Instances with more than two seconds of search, most of it after the root: (name, source).
pub const LONG: &[(&str, Source)] = &[
    ("AR d=200 n=200 ρ=0.5", ar(200, 200, 0.5)),
    (
        "Huber d=200 k=20 n=180",
        Source::Huber {
            d: 200,
            n: Some(180),
        },
    ),
    ("logistic d=320 k=32", Source::Logistic { d: 320 }),
];

const fn flat(d: usize, n: usize) -> Source {
    Source::FlatAr { d, n }
}

const fn ar(d: usize, n: usize, rho: f64) -> Source {
    Source::Ar { d, n, rho }
}
