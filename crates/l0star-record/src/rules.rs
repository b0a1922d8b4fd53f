//! What a model may look like beyond "at most k": from what a face asks to what the engine is told.

use std::collections::BTreeSet;

use l0star::problem::Builder;
use l0star_data::{DataError, factors};

use crate::fields::{Bounded, ByName, Constraints, Group, Requirement};
use crate::names::{Catalogue, Feature, Known, positions};

/// Whose coefficients may not be negative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nonnegative {
    /// Those of all features.
    All,
    /// Those of some features, or of none.
    These(Vec<Feature>),
}

impl Default for Nonnegative {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// Between which numbers a coefficient must lie, on the scale of the data; nothing is no bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Whose.
    pub feature: Feature,
    /// At least this.
    pub lower: Option<f64>,
    /// At most this.
    pub upper: Option<f64>,
}

/// Columns that are in or out together and count as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// A name of its own, which other constraints may use; without one a group goes by its first column.
    pub name: Option<String>,
    /// Its columns.
    pub columns: Vec<Feature>,
}

/// What the ridge of a feature is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeFactor {
    /// Whose.
    pub feature: Feature,
    /// By this.
    pub factor: f64,
}

/// What the price of a feature is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct L0Factor {
    /// Whose.
    pub feature: Feature,
    /// By this.
    pub factor: f64,
}

/// A feature that is in a model only together with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requires {
    /// The feature.
    pub feature: Feature,
    /// All of these are in every model that has it.
    pub needs: Vec<Feature>,
}

/// What a face asks of the features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// In every model, counted in k.
    pub include: Vec<Feature>,
    /// In every model, not counted in k.
    pub include_free: Vec<Feature>,
    /// In no model.
    pub exclude: Vec<Feature>,
    /// No negative coefficients.
    pub nonnegative: Nonnegative,
    /// Bounds of coefficients.
    pub bounds: Vec<Bounds>,
    /// Columns that count as one.
    pub groups: Vec<Together>,
    /// Factors of the ridge.
    pub ridge_factors: Vec<RidgeFactor>,
    /// What the objective pays for every feature of a model, ≥ 0.
    pub l0_penalty: f64,
    /// Factors of that price.
    pub l0_factors: Vec<L0Factor>,
    /// No coefficient is larger than this: assumed, not proved.
    pub assume_max_coefficient: Option<f64>,
    /// Whether a product or square needs its factors.
    pub heredity: bool,
    /// Other features that need some to be in with them.
    pub requires: Vec<Requires>,
}

/// Why a request means nothing.
#[derive(Debug)]
pub enum RuleError {
    /// A word is no feature.
    Unknown(DataError),
    /// A group has the name of a feature, a column of text or another group.
    TakenName(String),
    /// Heredity is asked for, and there are no products.
    NoProducts,
}

impl From<DataError> for RuleError {
    fn from(error: DataError) -> Self {
        Self::Unknown(error)
    }
}

/// Something that is said twice, and differently. The engine takes the first two, so a face decides whether they are faults.
#[derive(Debug, PartialEq, Eq)]
pub enum Clash<'a> {
    /// A feature is included, counted and not counted.
    CountedAndFree(&'a str),
    /// A feature has two factors of the ridge.
    TwoFactors(&'a str),
    /// A feature has two factors of its price.
    TwoL0Factors(&'a str),
    /// A column is in two groups, or twice in one.
    TwoGroups {
        /// The column.
        column: &'a str,
        /// One group.
        first: &'a str,
        /// The other.
        second: &'a str,
    },
}

/// The bounds of one column.
#[derive(Debug, Clone, Copy)]
struct Interval {
    column: usize,
    lower: f64,
    upper: f64,
}

/// What is asked of the features, by their positions.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    names: Vec<String>,
    asked: Constraints,
    included: Vec<usize>,
    free: Vec<usize>,
    /// Those that were asked for, and products of columns that are no features, which heredity keeps out.
    excluded: Vec<usize>,
    bounds: Vec<Interval>,
    /// Those that were asked for come first.
    groups: Vec<Vec<usize>>,
    requested_groups: usize,
    factors: Vec<(usize, f64)>,
    requires: Vec<(usize, Vec<usize>)>,
    l0_penalty: f64,
    l0_factors: Vec<(usize, f64)>,
    assumed: Option<f64>,
}

impl Rules {
    /// Finds the features that are named; a name that is none is an error.
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

    /// The levels of a column of text are one feature, unless they are grouped otherwise or in for free.
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

    /// Every product with its factors.
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

    /// The first thing that is said twice.
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

    /// What was asked, if anything was.
    pub fn asked(&self) -> Option<&Constraints> {
        (self.asked != Constraints::default()).then_some(&self.asked)
    }

    /// The price of a feature whose factor is 1.
    pub fn l0_penalty(&self) -> f64 {
        self.l0_penalty
    }

    /// The columns that are in every model and not in its support.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// The columns that are in no model.
    pub fn excluded(&self) -> &[usize] {
        &self.excluded
    }

    /// The columns with coefficients of a model: its support, and what is in for free.
    pub fn columns(&self, support: &[usize]) -> Vec<usize> {
        let mut columns = [support, &self.free].concat();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The name of the feature that a column leads.
    pub fn name(&self, leader: usize) -> &str {
        let name = &self.names[leader];
        let group = self
            .asked
            .groups
            .iter()
            .find(|group| group.columns.contains(name));
        group.map_or(name, |group| &group.name)
    }

    /// How many features k counts at most: columns, or groups of them.
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

    /// How many features are in every model and counted in k.
    pub fn included_count(&self) -> usize {
        let leaders = self.leaders();
        let chosen = [self.included.as_slice(), &self.free].concat();
        let chosen = with_all(&leaders, &chosen, &self.requires);
        let free = self.free.iter().map(|j| leaders[*j]).collect();
        chosen.difference(&free).count()
    }

    /// The feature of each column. A group goes by the first of its columns that are not excluded; those go by themselves.
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

    /// Asks it of a problem.
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

/// The features of some columns, with all that they bring.
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

/// The words of a request for the record; groups come when their columns are known.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|j| format!("x{j}")).collect()
    }

    fn word(text: &str) -> Feature {
        Feature::Word(text.into())
    }

    fn of_columns(columns: &[usize]) -> Vec<Feature> {
        columns.iter().map(|j| Feature::Column(*j)).collect()
    }

    #[test]
    fn words_stand_for_features_groups_and_texts() {
        let names = ["a", "city=P", "city=L", "b"].map(String::from);
        let texts = [Group {
            name: "city".into(),
            columns: vec!["city=P".into(), "city=L".into()],
        }];
        let known = Known {
            names: &names,
            texts: &texts,
            factors: &[],
        };
        let request = Request {
            include: vec![word("city")],
            nonnegative: Nonnegative::These(vec![word("g")]),
            groups: vec![Together {
                name: Some("g".into()),
                columns: vec![word("a"), word("b")],
            }],
            ..Request::default()
        };
        let rules = Rules::new(&request, &known).unwrap();
        let asked = rules.asked().unwrap();
        assert_eq!(asked.include, ["city"]);
        assert_eq!(asked.nonnegative, ["g"]);
        let groups: Vec<&str> = asked.groups.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(groups, ["g", "city"]);
        assert_eq!((rules.name(0), rules.name(2)), ("g", "city"));
        assert_eq!((rules.feature_count(), rules.included_count()), (2, 1));
        assert_eq!(rules.clash(), None);
        for (name, request) in [
            (
                "city",
                Request {
                    groups: vec![Together {
                        name: Some("city".into()),
                        columns: vec![word("a")],
                    }],
                    ..Request::default()
                },
            ),
            (
                "none",
                Request {
                    include: vec![word("none")],
                    ..Request::default()
                },
            ),
        ] {
            assert!(Rules::new(&request, &known).is_err(), "{name}");
        }
    }

    #[test]
    fn free_levels_and_regrouped_levels_are_no_group() {
        let names = ["a", "t=1", "t=2"].map(String::from);
        let texts = [Group {
            name: "t".into(),
            columns: vec!["t=1".into(), "t=2".into()],
        }];
        let known = Known {
            names: &names,
            texts: &texts,
            factors: &[],
        };
        let free = Request {
            include_free: vec![word("t")],
            ..Request::default()
        };
        let rules = Rules::new(&free, &known).unwrap();
        assert!(rules.asked().unwrap().groups.is_empty());
        assert_eq!(
            (rules.feature_count(), rules.columns(&[0])),
            (1, vec![0, 1, 2])
        );
        let regrouped = Request {
            groups: vec![Together {
                name: Some("all".into()),
                columns: vec![word("a"), word("t")],
            }],
            ..Request::default()
        };
        let rules = Rules::new(&regrouped, &known).unwrap();
        assert_eq!(rules.asked().unwrap().groups.len(), 1);
        assert_eq!(rules.feature_count(), 1);
    }

    #[test]
    fn counts_follow_groups_exclusions_and_requirements() {
        let names = names(6);
        let known = Known::plain(&names);
        let request = Request {
            include: of_columns(&[0]),
            include_free: of_columns(&[5]),
            exclude: of_columns(&[3]),
            groups: vec![Together {
                name: None,
                columns: of_columns(&[1, 3, 4]),
            }],
            requires: vec![Requires {
                feature: Feature::Column(0),
                needs: of_columns(&[4]),
            }],
            ..Request::default()
        };
        let rules = Rules::new(&request, &known).unwrap();
        // 0, 2 and the group of 1 and 4; the first brings the group with it.
        assert_eq!((rules.feature_count(), rules.included_count()), (3, 2));
        let group = &rules.asked().unwrap().groups[0];
        assert_eq!((group.name.as_str(), group.columns.len()), ("x1", 2));
        // What requires an excluded feature is out.
        let out = Request {
            exclude: of_columns(&[2]),
            requires: vec![Requires {
                feature: Feature::Column(1),
                needs: of_columns(&[2]),
            }],
            ..Request::default()
        };
        assert_eq!(Rules::new(&out, &known).unwrap().feature_count(), 4);
    }

    #[test]
    fn what_is_said_twice_is_found() {
        let names = names(3);
        let known = Known::plain(&names);
        let clash = |request: Request| {
            let rules = Rules::new(&request, &known).unwrap();
            rules.clash().map(|clash| format!("{clash:?}"))
        };
        let both = Request {
            include: of_columns(&[1]),
            include_free: of_columns(&[1]),
            ..Request::default()
        };
        assert_eq!(clash(both).unwrap(), "CountedAndFree(\"x1\")");
        let factor = |factor| RidgeFactor {
            feature: Feature::Column(2),
            factor,
        };
        let factors = Request {
            ridge_factors: vec![factor(2.0), factor(3.0)],
            ..Request::default()
        };
        assert_eq!(clash(factors).unwrap(), "TwoFactors(\"x2\")");
        let group = |name: &str, columns: &[usize]| Together {
            name: Some(name.into()),
            columns: of_columns(columns),
        };
        let groups = Request {
            groups: vec![group("g", &[0, 1]), group("h", &[1, 2])],
            ..Request::default()
        };
        let found = clash(groups).unwrap();
        assert!(found.contains("\"x1\"") && found.contains("\"g\"") && found.contains("\"h\""));
        assert_eq!(clash(Request::default()), None);
    }
}
