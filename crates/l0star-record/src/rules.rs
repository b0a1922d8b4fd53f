//! Constraints on a model beyond "at most k": translates a face's request for the engine.

mod request;
#[cfg(test)]
mod tests;

pub use request::{
    Bounds, Clash, L0Factor, Nonnegative, Request, Requires, RidgeFactor, RuleError, Together,
};

use std::collections::BTreeSet;

use l0star::problem::Builder;
use l0star_data::factors;

use crate::fields::{Bounded, ByName, Constraints, Group, Requirement};
use crate::names::{Catalogue, Known, positions};

/// The bounds of one column.
#[derive(Debug, Clone, Copy)]
struct Interval {
    column: usize,
    lower: f64,
    upper: f64,
}

/// Constraints on the features, by position.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    names: Vec<String>,
    asked: Constraints,
    included: Vec<usize>,
    free: Vec<usize>,
    /// Columns that were excluded on request, and products whose factors are not
    /// features, which heredity excludes.
    excluded: Vec<usize>,
    bounds: Vec<Interval>,
    /// Groups of columns; the requested ones come first.
    groups: Vec<Vec<usize>>,
    requested_groups: usize,
    factors: Vec<(usize, f64)>,
    requires: Vec<(usize, Vec<usize>)>,
    l0_penalty: f64,
    l0_factors: Vec<(usize, f64)>,
    assumed: Option<f64>,
}

impl Rules {
    /// Resolves the names of features; an unknown name is an error.
    pub fn new(request: &Request, known: &Known) -> Result<Self, RuleError> {
        let mut catalogue = Catalogue::new(known)?;
        let mut groups = Vec::new();
        for group in &request.groups {
            let columns = catalogue.all_columns(&group.columns)?;
            if let Some(name) = &group.name
                && !catalogue.add(name, columns.clone())
            {
                return Err(RuleError::TakenName(name.clone()));
            }
            groups.push(columns);
        }
        let mut rules = Self {
            names: known.names.to_vec(),
            asked: words(request, &catalogue),
            included: catalogue.all_columns(&request.include)?,
            free: catalogue.all_columns(&request.include_free)?,
            excluded: catalogue.all_columns(&request.exclude)?,
            requested_groups: groups.len(),
            l0_penalty: request.l0_penalty,
            assumed: request.assume_max_coefficient,
            ..Self::default()
        };
        rules.free.sort_unstable();
        rules.free.dedup();
        rules.bound(request, &catalogue)?;
        for RidgeFactor { feature, factor } in &request.ridge_factors {
            let columns = catalogue.columns(feature)?.into_iter();
            rules.factors.extend(columns.map(|j| (j, *factor)));
        }
        for L0Factor { feature, factor } in &request.l0_factors {
            let columns = catalogue.columns(feature)?.into_iter();
            rules.l0_factors.extend(columns.map(|j| (j, *factor)));
        }
        for Requires { feature, needs } in &request.requires {
            let needs = catalogue.all_columns(needs)?;
            for j in catalogue.columns(feature)? {
                rules.requires.push((j, needs.clone()));
            }
        }
        for (group, columns) in request.groups.iter().zip(groups) {
            rules.add_group(group.name.as_deref(), columns);
        }
        rules.group_texts(&catalogue, known)?;
        if request.heredity {
            rules.inherit(known)?;
        }
        Ok(rules)
    }

    fn bound(&mut self, request: &Request, catalogue: &Catalogue) -> Result<(), RuleError> {
        let nonnegative = match &request.nonnegative {
            Nonnegative::All => (0..self.names.len()).collect(),
            Nonnegative::These(features) => catalogue.all_columns(features)?,
        };
        let at_least_zero = |column| Interval {
            column,
            lower: 0.0,
            upper: f64::INFINITY,
        };
        self.bounds
            .extend(nonnegative.into_iter().map(at_least_zero));
        for bounds in &request.bounds {
            let interval = |column| Interval {
                column,
                lower: bounds.lower.unwrap_or(f64::NEG_INFINITY),
                upper: bounds.upper.unwrap_or(f64::INFINITY),
            };
            let columns = catalogue.columns(&bounds.feature)?;
            self.bounds.extend(columns.into_iter().map(interval));
        }
        Ok(())
    }

    /// Makes the levels of each text column one feature, unless they are grouped otherwise or free.
    fn group_texts(&mut self, catalogue: &Catalogue, known: &Known) -> Result<(), RuleError> {
        for text in known.texts {
            let columns = catalogue.word(&text.name)?.to_vec();
            let has_all = |group: &Vec<usize>| columns.iter().all(|j| group.contains(j));
            let is_regrouped = self.groups[..self.requested_groups].iter().any(has_all);
            let is_free = columns.iter().all(|j| self.free.contains(j));
            if columns.len() > 1 && !is_regrouped && !is_free {
                self.add_group(Some(&text.name), columns);
            }
        }
        Ok(())
    }

    fn add_group(&mut self, name: Option<&str>, columns: Vec<usize>) {
        let kept = columns.iter().filter(|j| !self.excluded.contains(j));
        let kept: Vec<String> = kept.map(|j| self.names[*j].clone()).collect();
        if let Some(first) = kept.first() {
            self.asked.groups.push(Group {
                name: name.unwrap_or(first).to_owned(),
                columns: kept,
            });
        }
        self.groups.push(columns);
    }

    /// Adds the requirement that every product has its factors.
    fn inherit(&mut self, known: &Known) -> Result<(), RuleError> {
        if known.factors.is_empty() {
            return Err(RuleError::NoProducts);
        }
        let positions = positions(known.names);
        for (j, name) in known.names.iter().enumerate() {
            let Some(parents) = factors(known.factors, name) else {
                continue;
            };
            match parents.map(|parent| positions.get(parent.as_str()).copied()) {
                [Some(first), Some(second)] => self.requires.push((j, vec![first, second])),
                _ => self.excluded.push(j),
            }
        }
        Ok(())
    }

    /// Returns the first contradiction in the request.
    pub fn clash(&self) -> Option<Clash<'_>> {
        let name = |j: &usize| self.names[*j].as_str();
        if let Some(j) = self.included.iter().find(|j| self.free.contains(j)) {
            return Some(Clash::CountedAndFree(name(j)));
        }
        let mut seen = BTreeSet::new();
        let mut factors = self.factors.iter();
        if let Some((j, _)) = factors.find(|(j, _)| !seen.insert(*j)) {
            return Some(Clash::TwoFactors(name(j)));
        }
        let leaders = self.leaders();
        let mut prices = vec![None; self.names.len()];
        for (j, factor) in &self.l0_factors {
            let before = prices[leaders[*j]].replace(factor);
            if before.is_some_and(|before| before != factor) {
                return Some(Clash::TwoL0Factors(name(j)));
            }
        }
        let mut group_of = vec![None; self.names.len()];
        for (at, group) in self.groups[..self.requested_groups].iter().enumerate() {
            for j in group {
                if let Some(first) = group_of[*j].replace(at) {
                    let group = |at: usize| self.asked.groups[at].name.as_str();
                    return Some(Clash::TwoGroups {
                        column: name(j),
                        first: group(first),
                        second: group(at),
                    });
                }
            }
        }
        None
    }

    /// Returns the constraints, if there are any.
    pub fn asked(&self) -> Option<&Constraints> {
        (self.asked != Constraints::default()).then_some(&self.asked)
    }

    /// Returns the price of a feature whose factor is 1.
    pub fn l0_penalty(&self) -> f64 {
        self.l0_penalty
    }

    /// Returns these rules with another price.
    pub fn with_l0_penalty(&self, l0_penalty: f64) -> Self {
        Self {
            l0_penalty,
            ..self.clone()
        }
    }

    /// Returns the columns that are in every model but not in its support.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// Returns the columns that are in no model.
    pub fn excluded(&self) -> &[usize] {
        &self.excluded
    }

    /// Returns the columns of a model that have coefficients: its support and the free columns.
    pub fn columns(&self, support: &[usize]) -> Vec<usize> {
        let mut columns = [support, &self.free].concat();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Returns the name of the feature that a column leads.
    pub fn name(&self, leader: usize) -> &str {
        let name = &self.names[leader];
        let group = self
            .asked
            .groups
            .iter()
            .find(|group| group.columns.contains(name));
        group.map_or(name, |group| &group.name)
    }

    /// Returns the largest number of features that k can count: columns, or groups of them.
    pub fn feature_count(&self) -> usize {
        let leaders = self.leaders();
        let children = self.requires.iter().flat_map(|(child, parents)| {
            let bring = |parent: &usize| (*parent, vec![*child]);
            parents.iter().map(bring).collect::<Vec<_>>()
        });
        let children: Vec<(usize, Vec<usize>)> = children.collect();
        let out = with_all(&leaders, &self.excluded, &children);
        let free: BTreeSet<usize> = self.free.iter().map(|j| leaders[*j]).collect();
        let all: BTreeSet<usize> = leaders.iter().copied().collect();
        all.iter()
            .filter(|j| !free.contains(j) && !out.contains(j))
            .count()
    }

    /// Returns the number of features that are in every model and counted in k.
    pub fn included_count(&self) -> usize {
        let leaders = self.leaders();
        let chosen = [self.included.as_slice(), &self.free].concat();
        let chosen = with_all(&leaders, &chosen, &self.requires);
        let free = self.free.iter().map(|j| leaders[*j]).collect();
        chosen.difference(&free).count()
    }

    /// Returns the leader of each column's feature. A group's leader is its first column that is not excluded;
    /// an excluded column leads itself.
    fn leaders(&self) -> Vec<usize> {
        let mut leaders: Vec<usize> = (0..self.names.len()).collect();
        for group in &self.groups {
            let kept = group.iter().filter(|j| !self.excluded.contains(j));
            if let Some(first) = kept.clone().min() {
                kept.for_each(|j| leaders[*j] = *first);
            }
        }
        leaders
    }

    /// Applies these rules to a problem.
    pub fn apply(&self, mut builder: Builder) -> Builder {
        for j in &self.included {
            builder = builder.include(*j);
        }
        for j in &self.free {
            builder = builder.include_free(*j);
        }
        for j in &self.excluded {
            builder = builder.exclude(*j);
        }
        for bounds in &self.bounds {
            builder = builder.bounds(bounds.column, bounds.lower, bounds.upper);
        }
        for (j, factor) in &self.factors {
            builder = builder.ridge_factor(*j, *factor);
        }
        for (j, parents) in &self.requires {
            builder = builder.requires(*j, parents);
        }
        builder = builder.l0_penalty(self.l0_penalty);
        for (j, factor) in &self.l0_factors {
            builder = builder.l0_factor(*j, *factor);
        }
        if let Some(most) = self.assumed {
            builder = builder.assume_max_coefficient(most);
        }
        builder.groups(self.groups.clone())
    }
}

/// Returns the features of some columns, with all features that these bring in.
fn with_all(
    leaders: &[usize],
    columns: &[usize],
    brings: &[(usize, Vec<usize>)],
) -> BTreeSet<usize> {
    let mut features: BTreeSet<usize> = columns.iter().map(|j| leaders[*j]).collect();
    loop {
        let before = features.len();
        for (one, others) in brings {
            if features.contains(&leaders[*one]) {
                features.extend(others.iter().map(|j| leaders[*j]));
            }
        }
        if features.len() == before {
            return features;
        }
    }
}

/// Converts a request to names for the record; groups are added when their columns are known.
fn words(request: &Request, catalogue: &Catalogue) -> Constraints {
    let bounded = |bounds: &Bounds| Bounded {
        feature: catalogue.name(&bounds.feature),
        lower: bounds.lower,
        upper: bounds.upper,
    };
    let factor = |own: &RidgeFactor| (catalogue.name(&own.feature), own.factor);
    let price = |own: &L0Factor| (catalogue.name(&own.feature), own.factor);
    let requirement = |own: &Requires| Requirement {
        feature: catalogue.name(&own.feature),
        needs: catalogue.all_names(&own.needs),
    };
    Constraints {
        include: catalogue.all_names(&request.include),
        include_free: catalogue.all_names(&request.include_free),
        all_nonnegative: request.nonnegative == Nonnegative::All,
        nonnegative: match &request.nonnegative {
            Nonnegative::All => Vec::new(),
            Nonnegative::These(features) => catalogue.all_names(features),
        },
        bounds: request.bounds.iter().map(bounded).collect(),
        groups: Vec::new(),
        ridge_factors: ByName(request.ridge_factors.iter().map(factor).collect()),
        l0_factors: ByName(request.l0_factors.iter().map(price).collect()),
        heredity: request.heredity,
        requires: request.requires.iter().map(requirement).collect(),
    }
}
