//! What each column of a problem is: selectable, always in, or out; its ridge, its group, its bounds, what it needs.

use super::Builder;
use crate::error::{Error, Result};
use crate::problem::Structure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Selectable,
    AlwaysIn,
    Excluded,
}

/// What the columns of a problem are.
#[derive(Debug)]
pub(super) struct Roles {
    pub selectable: Vec<usize>,
    pub penalised: Vec<usize>,
    pub free: Vec<usize>,
    pub included: Vec<Box<[usize]>>,
    pub structure: Structure,
    /// What the price of each feature is multiplied by.
    pub l0_factors: Vec<f64>,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            selectable: Vec::new(),
            penalised: Vec::new(),
            free: Vec::new(),
            included: Vec::new(),
            structure: Structure::new(0),
            l0_factors: Vec::new(),
        }
    }
}

fn conflict(names: &[String], column: usize) -> Error {
    Error::Conflict {
        column: names[column].clone(),
    }
}

/// Applies the rules of heredity to what is in or out: what is in needs its parents, and what needs something excluded
/// is out, until nothing new follows.
fn follow(
    parents: &[Vec<usize>],
    names: &[String],
    kinds: &mut [Kind],
    included: &mut [bool],
) -> Result<()> {
    let mut is_open = true;
    while std::mem::take(&mut is_open) {
        for (child, needed) in parents.iter().enumerate() {
            let is_in = included[child] || kinds[child] == Kind::AlwaysIn;
            for parent in needed {
                if kinds[*parent] == Kind::Excluded {
                    if is_in {
                        return Err(conflict(names, *parent));
                    }
                    is_open |= kinds[child] != Kind::Excluded;
                    kinds[child] = Kind::Excluded;
                } else if is_in && kinds[*parent] == Kind::Selectable {
                    is_open |= !included[*parent];
                    included[*parent] = true;
                }
            }
        }
    }
    Ok(())
}

impl Structure {
    /// Stores, for each selectable column, the selectable columns that it needs, directly or through others.
    fn add_ancestors(
        &mut self,
        selectable: &[usize],
        parents: &[Vec<usize>],
        names: &[String],
    ) -> Result<()> {
        let is_selectable = |j: &usize| selectable.binary_search(j).is_ok();
        for child in selectable.iter().copied() {
            let mut all: Vec<usize> = Vec::new();
            let mut next = parents[child].clone();
            while let Some(j) = next.pop() {
                if is_selectable(&j) && !all.contains(&j) {
                    next.extend_from_slice(&parents[j]);
                    all.push(j);
                }
            }
            if all.contains(&child) {
                return Err(Error::Circle {
                    column: names[child].clone(),
                });
            }
            all.sort_unstable();
            self.heredity |= !all.is_empty();
            self.ancestors[child] = all;
        }
        Ok(())
    }
}

impl Builder {
    /// The ridge of each column, and what each column is.
    pub(super) fn roles(&self, names: &[String]) -> Result<(Vec<f64>, Roles)> {
        let columns = names.len();
        let known = |column: usize| -> Result<usize> {
            if column < columns {
                return Ok(column);
            }
            Err(Error::NoSuchColumn { column, columns })
        };
        let mut ridge = self.ridges(&known)?;
        let mut kinds = self.kinds(names, &mut ridge, &known)?;
        let mut structure = Structure::new(columns);
        let leaders = self.leaders(names, &kinds, &mut structure, &known)?;
        self.check_bounds(names, &ridge, &kinds, &mut structure, &known)?;
        let l0_factors = self.l0_factors(names, &leaders, &known)?;
        structure.price(self.l0_penalty, &l0_factors);

        let parents = self.parents(&leaders, &known)?;
        let mut included = vec![false; columns];
        for column in &self.included {
            match kinds[known(*column)?] {
                Kind::Excluded => return Err(conflict(names, *column)),
                // It is in already, outside the budget.
                Kind::AlwaysIn => {}
                Kind::Selectable => included[leaders[*column]] = true,
            }
        }
        follow(&parents, names, &mut kinds, &mut included)?;

        let mut roles = Roles::default();
        for j in 0..columns {
            match kinds[j] {
                Kind::Selectable if leaders[j] != j => {}
                Kind::Selectable if included[j] => {
                    let members = std::mem::replace(&mut structure.members[j], Box::from([j]));
                    roles.penalised.extend_from_slice(&members);
                    roles.included.push(members);
                }
                Kind::Selectable => roles.selectable.push(j),
                Kind::AlwaysIn if ridge[j] > 0.0 => roles.penalised.push(j),
                Kind::AlwaysIn => roles.free.push(j),
                Kind::Excluded => {}
            }
        }
        roles.penalised.sort_unstable();
        structure.add_ancestors(&roles.selectable, &parents, names)?;
        roles.structure = structure;
        roles.l0_factors = l0_factors;
        Ok((ridge, roles))
    }

    /// The kind of each column, with the ridges that columns bring along that are always in.
    fn kinds(
        &self,
        names: &[String],
        ridge: &mut [f64],
        known: &dyn Fn(usize) -> Result<usize>,
    ) -> Result<Vec<Kind>> {
        let mut kinds = vec![Kind::Selectable; names.len()];
        for column in &self.excluded {
            kinds[known(*column)?] = Kind::Excluded;
        }
        for (column, own) in &self.always_in {
            known(*column)?;
            if kinds[*column] == Kind::Excluded {
                return Err(conflict(names, *column));
            }
            let own = own.unwrap_or(ridge[*column]);
            if !(own >= 0.0 && own.is_finite()) {
                return Err(Error::Setting {
                    name: "the ridge of an always-in column",
                    value: own.to_string(),
                    range: "it must be a finite number >= 0",
                });
            }
            ridge[*column] = own;
            kinds[*column] = Kind::AlwaysIn;
        }
        Ok(kinds)
    }

    /// λ of each column.
    fn ridges(&self, known: &dyn Fn(usize) -> Result<usize>) -> Result<Vec<f64>> {
        let range = "it must be a finite number > 0";
        let refuse = |name, value: f64| {
            let value = value.to_string();
            Err(Error::Setting { name, value, range })
        };
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return refuse("ridge", self.ridge);
        }
        let mut ridge = vec![self.ridge; self.design.columns()];
        for (column, factor) in &self.factors {
            let own = self.ridge * factor;
            if !(*factor > 0.0 && own > 0.0 && own.is_finite()) {
                return refuse("the ridge factor of a column", *factor);
            }
            ridge[known(*column)?] = own;
        }
        Ok(ridge)
    }

    /// The first column of the group of each column; the groups themselves go to `structure`.
    fn leaders(
        &self,
        names: &[String],
        kinds: &[Kind],
        structure: &mut Structure,
        known: &dyn Fn(usize) -> Result<usize>,
    ) -> Result<Vec<usize>> {
        let mut leaders: Vec<usize> = (0..names.len()).collect();
        let mut seen = vec![false; names.len()];
        for group in &self.groups {
            if group.is_empty() {
                return Err(Error::Empty {
                    what: "columns in a group",
                });
            }
            for j in group {
                let refuse = |reason| {
                    let column = names[*j].clone();
                    Err(Error::Group { column, reason })
                };
                if std::mem::replace(&mut seen[known(*j)?], true) {
                    return refuse("is in two groups (or twice in one): groups must be disjoint");
                }
                if kinds[*j] == Kind::AlwaysIn {
                    return refuse(
                        "is in a group and always in by itself: include the group, or take the column out of it",
                    );
                }
            }
            let mut members: Vec<usize> = group.clone();
            members.retain(|j| kinds[*j] == Kind::Selectable);
            members.sort_unstable();
            if let Some(first) = members.first().copied() {
                members.iter().for_each(|j| leaders[*j] = first);
                structure.members[first] = members.into();
            }
        }
        Ok(leaders)
    }

    fn check_bounds(
        &self,
        names: &[String],
        ridge: &[f64],
        kinds: &[Kind],
        structure: &mut Structure,
        known: &dyn Fn(usize) -> Result<usize>,
    ) -> Result<()> {
        for (column, lower, upper) in &self.bounds {
            let name = &names[known(*column)?];
            if !(*lower <= 0.0 && *upper >= 0.0) {
                return Err(Error::Bounds {
                    column: name.clone(),
                    lower: *lower,
                    upper: *upper,
                });
            }
            if kinds[*column] == Kind::AlwaysIn && ridge[*column] == 0.0 {
                return Err(Error::Group {
                    column: name.clone(),
                    reason: "has bounds and no ridge: give it a ridge > 0",
                });
            }
            // Zeros of either sign are the same bound.
            let (low, high) = &mut structure.bounds[*column];
            (*low, *high) = (low.max(*lower + 0.0), high.min(*upper + 0.0));
            structure.boxed |= low.is_finite() || high.is_finite();
        }
        Ok(())
    }

    /// What the price of each feature is multiplied by. The columns of a group share one factor: one that is given for any of
    /// them is that of the group.
    fn l0_factors(
        &self,
        names: &[String],
        leaders: &[usize],
        known: &dyn Fn(usize) -> Result<usize>,
    ) -> Result<Vec<f64>> {
        let range = "it must be a finite number >= 0";
        let refuse = |name, value: f64| {
            let value = value.to_string();
            Err(Error::Setting { name, value, range })
        };
        let penalty = self.l0_penalty;
        if !(penalty >= 0.0 && penalty.is_finite()) {
            return refuse("l0_penalty", penalty);
        }
        let mut factors: Vec<Option<f64>> = vec![None; leaders.len()];
        for (column, factor) in &self.l0_factors {
            let leader = leaders[known(*column)?];
            let is_finite = factor.is_finite() && (penalty * factor).is_finite();
            if !(*factor >= 0.0 && is_finite) {
                return refuse("the l0 factor of a feature", *factor);
            }
            if factors[leader].is_some_and(|other| other != *factor) {
                return Err(Error::Group {
                    column: names[*column].clone(),
                    reason: "belongs to a feature with two l0 factors: a group has one price, give one factor",
                });
            }
            factors[leader] = Some(*factor);
        }
        Ok(factors.iter().map(|own| own.unwrap_or(1.0)).collect())
    }

    /// The features that each feature needs directly, all by their leaders.
    fn parents(
        &self,
        leaders: &[usize],
        known: &dyn Fn(usize) -> Result<usize>,
    ) -> Result<Vec<Vec<usize>>> {
        let mut parents = vec![Vec::new(); leaders.len()];
        for (child, needed) in &self.required {
            let child = leaders[known(*child)?];
            for parent in needed {
                let parent = leaders[known(*parent)?];
                // In one group they are together anyway.
                if parent != child {
                    parents[child].push(parent);
                }
            }
        }
        Ok(parents)
    }
}
