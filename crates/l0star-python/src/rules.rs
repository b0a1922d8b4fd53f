//! Constraints on the features: the class `Rules`.

use l0star_record::fields::Group;
use l0star_record::names::{Feature, Known};
use l0star_record::rules::{
    Bounds, L0Factor, Nonnegative, Request, Requires, RidgeFactor, RuleError, Rules as Resolved,
    Together,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Constraints on the features of one data set; the engine checks whether they are compatible.
#[pyclass(frozen, module = "l0star._core")]
pub struct Rules {
    pub rules: Resolved,
    pub names: Vec<String>,
}

fn features(columns: Vec<usize>) -> Vec<Feature> {
    columns.into_iter().map(Feature::Column).collect()
}

#[pymethods]
impl Rules {
    #[new]
    #[pyo3(signature = (names, *, texts, include, include_free, exclude, all_nonnegative, nonnegative, bounds, groups,
                        ridge_factors, requires, l0_penalty, l0_factors, assume_max_coefficient))]
    #[expect(clippy::too_many_arguments)]
    fn new(
        names: Vec<String>,
        texts: Vec<(String, Vec<usize>)>,
        include: Vec<usize>,
        include_free: Vec<usize>,
        exclude: Vec<usize>,
        all_nonnegative: bool,
        nonnegative: Vec<usize>,
        bounds: Vec<(usize, f64, f64)>,
        groups: Vec<Vec<usize>>,
        ridge_factors: Vec<(usize, f64)>,
        requires: Vec<(usize, Vec<usize>)>,
        l0_penalty: f64,
        l0_factors: Vec<(usize, f64)>,
        assume_max_coefficient: Option<f64>,
    ) -> PyResult<Self> {
        let bounds = bounds.into_iter().map(|(column, lower, upper)| Bounds {
            feature: Feature::Column(column),
            lower: (lower != f64::NEG_INFINITY).then_some(lower),
            upper: (upper != f64::INFINITY).then_some(upper),
        });
        let groups = groups.into_iter().map(|columns| Together {
            name: None,
            columns: features(columns),
        });
        let factors = ridge_factors
            .into_iter()
            .map(|(column, factor)| RidgeFactor {
                feature: Feature::Column(column),
                factor,
            });
        let prices = l0_factors.into_iter().map(|(column, factor)| L0Factor {
            feature: Feature::Column(column),
            factor,
        });
        let requires = requires.into_iter().map(|(column, needs)| Requires {
            feature: Feature::Column(column),
            needs: features(needs),
        });
        let request = Request {
            include: features(include),
            include_free: features(include_free),
            exclude: features(exclude),
            nonnegative: if all_nonnegative {
                Nonnegative::All
            } else {
                Nonnegative::These(features(nonnegative))
            },
            bounds: bounds.collect(),
            groups: groups.collect(),
            ridge_factors: factors.collect(),
            l0_penalty,
            l0_factors: prices.collect(),
            assume_max_coefficient,
            heredity: false,
            requires: requires.collect(),
        };
        let group = |(name, columns): (String, Vec<usize>)| Group {
            name,
            columns: columns.into_iter().map(|j| names[j].clone()).collect(),
        };
        let texts: Vec<Group> = texts.into_iter().map(group).collect();
        let known = Known {
            texts: &texts,
            ..Known::plain(&names)
        };
        let rules = Resolved::new(&request, &known);
        let rules = rules.map_err(|error| {
            PyValueError::new_err(match error {
                RuleError::Unknown(error) => error.to_string(),
                RuleError::TakenName(name) => format!("there are two groups {name:?}"),
                RuleError::NoProducts => "there are no products of features".to_owned(),
            })
        })?;
        Ok(Self { rules, names })
    }

    /// Returns the columns that are in no model.
    #[getter]
    fn excluded(&self) -> Vec<usize> {
        self.rules.excluded().to_vec()
    }

    /// Returns the columns that are in every model and that k does not count.
    #[getter]
    fn free(&self) -> Vec<usize> {
        self.rules.free().to_vec()
    }

    /// Returns the number of features that are in every model and counted in k.
    #[getter]
    fn n_included(&self) -> usize {
        self.rules.included_count()
    }

    /// Returns the largest number of features that k can count: columns, or groups of them.
    #[getter]
    fn n_features(&self) -> usize {
        self.rules.feature_count()
    }
}
