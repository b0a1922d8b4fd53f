//! Expresses a solution of the engine in terms of the user's columns.

use l0star::{Price, Problem, Settings, Solution};

use crate::fields::{
    Asked, Assumption, ByName, Coefficients, Fitted, List, Listed, Numbers, OfMoments, Priced,
};
use crate::inference::Inference;
use crate::metrics::{Metrics, Quality};
use crate::rules::Rules;

/// The context of a solution.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// The problem; its own k is ignored.
    pub problem: &'a Problem,
    /// Constraints on the features.
    pub rules: &'a Rules,
    /// Upper limit on the number of features.
    pub k: usize,
    /// Weight of the ridge.
    pub ridge: f64,
    /// Whether a list of models was requested.
    pub lists: bool,
    /// Whether supports include the free features, as those of the Python package do.
    pub free_in_support: bool,
    /// Whether coefficients are those of a refit without the ridge.
    pub is_refit: bool,
    /// The predicted columns, if there are several.
    pub responses: &'a [String],
    /// The classes, for a loss with several.
    pub classes: &'a [String],
    /// The label that counts as positive, for a loss on labels.
    pub positive_label: Option<&'a str>,
    /// Warnings about the data or the options.
    pub warnings: &'a [String],
}

impl Outcome<'_> {
    fn name(&self, j: usize) -> String {
        self.problem.names()[j].clone()
    }

    /// Returns the fields of a solution.
    pub fn fitted(&self, solution: &Solution) -> Fitted {
        let Outcome { problem, rules, .. } = self;
        let columns = rules.columns(&solution.support);
        let effects = columns.iter().zip(problem.deviations(&columns));
        let per_sd = effects.map(|(j, sd)| {
            let own = self.numbers(*j, &solution.coefficients);
            (self.name(*j), Numbers::new(own.map(|x| x * sd).collect()))
        });
        let twins = twins(problem, &columns).into_iter().map(|(j, others)| {
            let others = others.into_iter().map(|i| self.name(i));
            (self.name(j), others.collect())
        });
        let list = self.lists.then(|| List {
            solutions: solution
                .solutions
                .iter()
                .map(|model| Listed {
                    objective: model.objective,
                    intercept: Numbers::new(model.intercepts().collect()),
                    support: self.names(&model.support),
                    coefficients: self.coefficients(&model.support, &model.coefficients),
                })
                .collect(),
            rest_bound: solution.rest_bound,
            truncated: solution.truncated,
        });
        let coefficients = self.coefficients(&solution.support, &solution.coefficients);
        Fitted {
            status: solution.status.to_string(),
            objective: solution.objective,
            lower_bound: solution.lower_bound,
            gap: solution.gap(),
            relative_gap: solution.relative_gap(),
            k: self.k,
            loss: problem.loss().name().to_owned(),
            huber_delta: problem.loss().huber_delta(),
            ridge: self.ridge,
            l0_penalty: rules.l0_penalty(),
            objective_without_penalty: (rules.l0_penalty() > 0.0)
                .then(|| solution.objective - problem.l0_cost(&solution.support)),
            assumption: problem
                .assumed_max_coefficient()
                .map(|max_coefficient| Assumption {
                    max_coefficient,
                    standardized: problem.scales().is_some(),
                }),
            moments: problem.is_from_moments().then(|| OfMoments {
                rows: problem.observations(),
                bound_lowered_by: problem.moment_error(solution.objective),
            }),
            responses: self.responses.to_vec(),
            classes: self.classes.to_vec(),
            intercept: Numbers::new(solution.intercepts().collect()),
            support: self.names(&solution.support),
            per_sd: Coefficients(per_sd.collect()),
            odds_ratios: self.ratios(self.problem.loss().has_log_odds(), &coefficients),
            rate_ratios: self.ratios(self.problem.loss().has_log_link(), &coefficients),
            hazard_ratios: self.ratios(self.problem.loss().has_hazards(), &coefficients),
            refit: self.is_refit,
            inference: None,
            twins: twins.collect(),
            coefficients,
            metrics: Some(Quality {
                training: Metrics::of_solution(problem, solution, self.responses),
                holdout: None,
            }),
            stability: None,
            solver_calls: solution.solver_calls,
            nodes: solution.nodes,
            peak_open_nodes: solution.peak_open_nodes,
            seconds: solution.seconds,
            found_by: None,
            found_after: None,
            method: solution.method.to_string(),
            positive_label: self.positive_label.map(str::to_owned),
            warnings: self
                .warnings
                .iter()
                .cloned()
                .chain(self.at_limit(solution))
                .collect(),
            constraints: rules.asked().cloned(),
            prices: None,
            list,
        }
    }

    /// Warns if a coefficient is as large as was assumed, because the assumption then shapes the model.
    fn at_limit(&self, solution: &Solution) -> Option<String> {
        let most = self.problem.assumed_max_coefficient()?;
        let scales = self.problem.scales();
        let is_there = |j: &&usize| {
            let scale = scales.map_or(1.0, |scales| scales[**j]);
            let mut own = self.numbers(**j, &solution.coefficients);
            own.any(|x| x.abs() * scale >= most * (1.0 - 1e-9))
        };
        let names: Vec<String> = solution
            .support
            .iter()
            .filter(is_there)
            .map(|j| self.name(*j))
            .collect();
        (!names.is_empty()).then(|| {
            let names = names.join("', '");
            format!("coefficients are at the assumed limit of {most} ('{names}'): the assumption shapes the model, try a larger one")
        })
    }

    /// Returns the names of a support, with or without the free features.
    fn names(&self, support: &[usize]) -> Vec<String> {
        let mut columns = self.rules.columns(support);
        if !self.free_in_support {
            columns.retain(|j| !self.rules.free().contains(j));
        }
        columns.into_iter().map(|j| self.name(j)).collect()
    }

    /// Returns the coefficients of a support and of the free features, by name.
    fn coefficients(&self, support: &[usize], coefficients: &[f64]) -> Coefficients {
        let columns = self.rules.columns(support).into_iter();
        let own = |j: usize| Numbers::new(self.numbers(j, coefficients).collect());
        Coefficients(columns.map(|j| (self.name(j), own(j))).collect())
    }

    /// Returns the coefficients of a feature, one for each response.
    fn numbers<'c>(&self, j: usize, coefficients: &'c [f64]) -> impl Iterator<Item = f64> + 'c {
        let features = self.problem.features();
        coefficients.iter().skip(j).step_by(features).copied()
    }

    /// Returns the factor of the odds, the expectation or the hazard per unit of each column, if the loss has
    /// these (`has`) and the factor is finite.
    fn ratios(&self, has: bool, coefficients: &Coefficients) -> ByName {
        if !has {
            return ByName::default();
        }
        let ratios = coefficients.0.iter();
        let ratios = ratios.map(|(name, value)| (name.clone(), libm::exp(value.first())));
        ByName(ratios.filter(|(_, ratio)| ratio.is_finite()).collect())
    }

    /// Adds standard errors and intervals of the coefficients, for the given features.
    pub fn with_inference(&self, fitted: Fitted, solution: &Solution) -> Fitted {
        Fitted {
            inference: Some(Inference::of(
                self.problem,
                solution,
                fitted.outputs(),
                self.is_refit,
            )),
            ..fitted
        }
    }

    /// Returns prices by the names of the features.
    pub fn prices(&self, prices: &[Price]) -> Vec<Priced> {
        prices.iter().map(|price| self.priced(price)).collect()
    }

    fn priced(&self, price: &Price) -> Priced {
        // JSON has no infinity.
        let finite = |value: f64| value.is_finite().then_some(value);
        Priced {
            feature: self.rules.name(price.feature).to_owned(),
            chosen: price.chosen,
            cost: finite(price.cost),
            cost_lower: finite(price.cost_bounds.0),
            cost_upper: finite(price.cost_bounds.1),
            objective: finite(price.objective),
            lower_bound: finite(price.lower_bound),
            status: price.status.to_string(),
            support: price.support.iter().map(|j| self.name(*j)).collect(),
        }
    }
}

/// Returns the columns of a model that others could replace, with these others.
pub fn twins(problem: &Problem, columns: &[usize]) -> Vec<(usize, Vec<usize>)> {
    let twins = columns.iter().map(|j| {
        let mut others = problem.twins(*j);
        others.retain(|i| !columns.contains(i));
        (*j, others)
    });
    twins.filter(|(_, others)| !others.is_empty()).collect()
}

/// Records the settings of a request.
pub fn asked(settings: &Settings) -> Asked {
    Asked {
        gap: settings.gap,
        relative_gap: settings.relative_gap,
        top: settings.top.map(Into::into),
        within: settings.within,
        time_limit: settings.time_limit.map(|limit| limit.as_secs_f64()),
        search_time_limit: settings.search_time_limit.map(|limit| limit.as_secs_f64()),
        node_limit: settings.node_limit,
        memory_limit: settings.memory_limit,
        threads: settings.thread_count(),
    }
}
