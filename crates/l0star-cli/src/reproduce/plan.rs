//! Instances, and the methods that solve them.

use l0star::{Method, Problem, RelaxationKind, Settings, loss};
use l0star_data::generate::{self, default_n};
use l0star_data::{Instance, RealData, Table, real_instance};
use serde::Serialize;

use crate::design;
use crate::failure::Failure;

/// A way to solve a problem, and its name in figures and tables.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Entrant {
    pub name: &'static str,
    pub method: Method,
    relaxation: RelaxationKind,
    warm_start: bool,
    pruning: bool,
    gap: f64,
}

/// The paper's search in the paper's configuration.
pub const BFS: Entrant = Entrant::new("BFS (paper)", Method::Paper);
/// The default method of `l0star fit`.
pub const ENGINE: Entrant = Entrant::new("l0star", Method::BestFirst);
/// The paper's inexact methods.
pub const BASELINES: [Entrant; 3] = [
    Entrant::new("OMP", Method::Omp),
    Entrant::new("HTP", Method::Htp),
    Entrant::new("DIHT", Method::Diht),
];

/// Name of the mixed-integer competitor in figures and tables.
pub const MIP: &str = "MIP (Gurobi)";

impl Entrant {
    /// Creates an entrant of a method with default settings.
    pub const fn new(name: &'static str, method: Method) -> Self {
        Self {
            name,
            method,
            relaxation: RelaxationKind::Pdal,
            warm_start: true,
            pruning: true,
            gap: 0.0,
        }
    }

    /// Gives the entrant another name.
    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Allows the entrant an error of `gap`.
    pub const fn allowing(self, gap: f64) -> Self {
        Self { gap, ..self }
    }

    /// Gives the entrant another relaxation.
    pub const fn by(self, relaxation: RelaxationKind) -> Self {
        Self { relaxation, ..self }
    }

    /// Gives the entrant only these accelerations.
    pub const fn with(self, pruning: bool, warm_start: bool) -> Self {
        Self {
            pruning,
            warm_start,
            ..self
        }
    }

    /// Returns the settings of the engine; one thread, as in the paper.
    pub fn settings(&self) -> Settings {
        Settings {
            relaxation: self.relaxation,
            warm_start: self.warm_start,
            pruning: self.pruning,
            gap: self.gap,
            ..Settings::new(self.method)
        }
    }
}

/// The source of an instance; losses and data are the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum Source {
    Huber {
        d: usize,
        k: usize,
        n: usize,
        ridge: f64,
    },
    Logistic {
        d: usize,
        k: usize,
        n: usize,
        ridge: f64,
    },
    Diabetes,
    Boston,
}

/// The ridge of the paper's Huber instances and real data.
pub const RIDGE: f64 = 1e-3;
/// The ridge of the paper's logistic instances.
pub const LOGISTIC_RIDGE: f64 = 2e-4;
/// The number of features asked for on the real data.
pub const REAL_K: usize = 10;

impl Source {
    /// Returns the paper's Huber instance with `n = ⌊10 k ln d⌋` rows.
    pub fn huber(d: usize, k: usize) -> Self {
        Self::Huber {
            d,
            k,
            n: default_n(d, k),
            ridge: RIDGE,
        }
    }

    /// Returns the paper's logistic instance with `n = ⌊10 k ln d⌋` rows.
    pub fn logistic(d: usize, k: usize) -> Self {
        Self::Logistic {
            d,
            k,
            n: default_n(d, k),
            ridge: LOGISTIC_RIDGE,
        }
    }

    /// Returns the table of features with the response as its last column.
    pub fn table(self) -> Result<Table, Failure> {
        Ok(match self {
            Self::Diabetes => real_instance(RealData::Diabetes)?,
            Self::Boston => real_instance(RealData::Boston)?,
            Self::Huber { .. } | Self::Logistic { .. } => self.draw(1)?.into_table(),
        })
    }

    fn draw(self, seed: u64) -> Result<Instance, Failure> {
        Ok(match self {
            Self::Huber { d, k, n, .. } => generate::huber(d, k, n, seed)?,
            Self::Logistic { d, k, n, .. } => generate::logistic(d, k, n, seed)?,
            Self::Diabetes | Self::Boston => unreachable!("real data are not drawn"),
        })
    }

    /// Returns the problem, and the true support if it is known.
    pub fn problem(self, seed: u64) -> Result<(Problem, Option<Vec<usize>>), Failure> {
        let (loss, ridge, k) = match self {
            Self::Huber { k, ridge, .. } => ("huber", ridge, k),
            Self::Logistic { k, ridge, .. } => ("logistic", ridge, k),
            Self::Diabetes | Self::Boston => ("quadratic", RIDGE, REAL_K),
        };
        let (table, truth) = match self {
            Self::Diabetes | Self::Boston => (self.table()?, None),
            Self::Huber { .. } | Self::Logistic { .. } => {
                let instance = self.draw(seed)?;
                let truth = instance.support().to_vec();
                (instance.into_table(), Some(truth))
            }
        };
        let (features, response) = table.take_column("b")?;
        let (names, design) = design::of_table(features)?;
        let problem = Problem::builder(design, response)
            .names(names)
            .loss(loss::by_name(loss, 1.0)?)
            .standardize(false)
            .ridge(ridge)
            .k(k)
            .build()?;
        Ok((problem, truth))
    }
}

/// A place on the horizontal axis of a group of figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The group of figures: the family or the data set.
    pub panel: &'static str,
    pub x: f64,
    pub source: Source,
    pub entrants: Vec<Entrant>,
}

impl Point {
    /// Whether instances are random; real data are one instance, however many are asked for.
    pub fn is_drawn(&self) -> bool {
        matches!(self.source, Source::Huber { .. } | Source::Logistic { .. })
    }
}
