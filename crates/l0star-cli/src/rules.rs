//! What a model may look like beyond "at most k": the options as typed, and the [`Rules`] that they and the features make.

use std::collections::HashMap;

use l0star::problem::Builder;
use l0star_data::model::{Bounded, ByName, Constraints, Group};
use l0star_data::{factors, no_such_column};

use crate::failure::Failure;
use crate::numbers::positive;

/// Said of each option, as a heading for all would be that of the options after them, too.
const HEADING: &str = "Constraints";

/// The rules as typed. A name is that of a feature, of a group, or of a column of text (all its levels).
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RuleArgs {
    /// Features that are in every model, counted in k
    #[arg(help_heading = HEADING, long, value_name = "COLUMNS", value_delimiter = ',')]
    pub include: Vec<String>,

    /// Features that are in every model, not counted in k
    #[arg(help_heading = HEADING, long, value_name = "COLUMNS", value_delimiter = ',')]
    pub include_free: Vec<String>,

    /// No negative coefficients: of these columns, or of all
    #[arg(help_heading = HEADING, long, value_name = "COLUMNS", value_delimiter = ',', num_args = 0..=1)]
    pub nonnegative: Option<Vec<String>>,

    /// Bounds of coefficients, on the scale of the data, 0 between them: a=0:1,b=:2,c=-1:
    #[arg(help_heading = HEADING, long, value_name = "BOUNDS", value_delimiter = ',', value_parser = bounded)]
    pub bounds: Vec<Bounded>,

    /// Columns that are in or out together and count as one: name=a,b; can be repeated
    #[arg(help_heading = HEADING, long = "group", value_name = "GROUP", value_parser = group)]
    pub groups: Vec<Group>,

    /// Multiply the ridge of columns: a=2,b=0.5
    #[arg(help_heading = HEADING, long, value_name = "FACTORS", value_delimiter = ',', value_parser = factor)]
    pub ridge_factor: Vec<(String, f64)>,

    /// With --interactions: a product or a square only together with its factors
    #[arg(help_heading = HEADING, long)]
    pub heredity: bool,
}

/// `a=0:1`; what stands behind the last equals sign are the numbers.
fn bounded(text: &str) -> Result<Bounded, String> {
    let refuse = || "it must be name=lower:upper, one of the numbers may be left out".to_owned();
    let (name, range) = text.rsplit_once('=').ok_or_else(refuse)?;
    let (lower, upper) = range.split_once(':').ok_or_else(refuse)?;
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(refuse()),
        },
    };
    let (lower, upper) = (number(lower)?, number(upper)?);
    if lower.is_none() && upper.is_none() {
        return Err(refuse());
    }
    if lower.is_some_and(|lower| lower > 0.0) || upper.is_some_and(|upper| upper < 0.0) {
        return Err(
            "0 must be between the bounds, as that is the coefficient of a feature that is out"
                .into(),
        );
    }
    Ok(Bounded {
        feature: named(name).ok_or_else(refuse)?,
        lower,
        upper,
    })
}

/// `name=a,b`; the first equals sign ends the name.
fn group(text: &str) -> Result<Group, String> {
    let refuse = || "it must be name=a,b: a name of your own, and columns".to_owned();
    let (name, columns) = text.split_once('=').ok_or_else(refuse)?;
    let columns: Vec<String> = columns.split(',').filter_map(named).collect();
    if columns.is_empty() {
        return Err(refuse());
    }
    let name = named(name).ok_or_else(refuse)?;
    Ok(Group { name, columns })
}

/// `a=2`.
fn factor(text: &str) -> Result<(String, f64), String> {
    let refuse = || "it must be name=factor".to_owned();
    let (name, value) = text.rsplit_once('=').ok_or_else(refuse)?;
    let name = named(name).ok_or_else(refuse)?;
    Ok((name, positive(value.trim())?))
}

fn named(text: &str) -> Option<String> {
    let name = text.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn all_named(texts: &[String]) -> Vec<String> {
    texts.iter().filter_map(|text| named(text)).collect()
}

/// What is asked of the features, by their positions.
#[derive(Debug, Default)]
pub struct Rules {
    asked: Constraints,
    included: Vec<usize>,
    free: Vec<usize>,
    /// On the scale of the data.
    bounds: Vec<(usize, f64, f64)>,
    groups: Vec<Vec<usize>>,
    factors: Vec<(usize, f64)>,
    parents: Vec<(usize, [usize; 2])>,
    /// Products of columns that are no features, which heredity keeps out.
    orphans: Vec<usize>,
}

/// The features that rules are about.
pub struct Known<'a> {
    pub names: &'a [String],
    /// The columns of text with the features that stand for their levels.
    pub texts: &'a [Group],
    /// The columns whose products are features; empty without any.
    pub factors: &'a [String],
}

impl Rules {
    /// Finds the features that are named; a name that is none is an error.
    pub fn new(args: &RuleArgs, known: &Known) -> Result<Self, Failure> {
        let book = Book::new(args, known)?;
        let mut rules = Self {
            asked: Constraints {
                include: all_named(&args.include),
                include_free: all_named(&args.include_free),
                all_nonnegative: args.nonnegative.as_ref().is_some_and(Vec::is_empty),
                nonnegative: all_named(args.nonnegative.as_deref().unwrap_or_default()),
                bounds: args.bounds.clone(),
                groups: Vec::new(),
                ridge_factors: ByName(args.ridge_factor.clone()),
                heredity: args.heredity,
                requires: Vec::new(),
            },
            ..Self::default()
        };
        rules.included = book.columns(&rules.asked.include)?;
        rules.free = book.columns(&rules.asked.include_free)?;
        rules.free.sort_unstable();
        rules.free.dedup();
        if let Some(j) = rules.included.iter().find(|j| rules.free.contains(j)) {
            return Err(Failure::Usage(format!(
                "'{}' is both in --include, which counts it, and in --include-free; choose one",
                known.names[*j]
            )));
        }
        rules.bound(&book)?;
        for (name, factor) in &args.ridge_factor {
            for j in book.find(name)? {
                if rules.factors.iter().any(|(own, _)| own == j) {
                    return Err(Failure::Usage(format!(
                        "'{}' has two factors in --ridge-factor; give one",
                        known.names[*j]
                    )));
                }
                rules.factors.push((*j, *factor));
            }
        }
        rules.group(args, &book, known)?;
        if args.heredity {
            rules.inherit(known)?;
        }
        Ok(rules)
    }

    fn bound(&mut self, book: &Book) -> Result<(), Failure> {
        let columns = match self.asked.all_nonnegative {
            true => (0..book.names.len()).collect(),
            false => book.columns(&self.asked.nonnegative)?,
        };
        let nonnegative = columns.into_iter().map(|j| (j, 0.0, f64::INFINITY));
        self.bounds.extend(nonnegative);
        for bounded in &self.asked.bounds {
            let lower = bounded.lower.unwrap_or(f64::NEG_INFINITY);
            let upper = bounded.upper.unwrap_or(f64::INFINITY);
            let columns = book.find(&bounded.feature)?.iter();
            self.bounds.extend(columns.map(|j| (*j, lower, upper)));
        }
        Ok(())
    }

    /// The groups of `--group`, and those of columns of text that are in none of them.
    fn group(&mut self, args: &RuleArgs, book: &Book, known: &Known) -> Result<(), Failure> {
        let mut own = vec![None; known.names.len()];
        for (at, group) in args.groups.iter().enumerate() {
            let columns = book.find(&group.name)?.to_vec();
            for j in &columns {
                if let Some(first) = own[*j].replace(at) {
                    let other: &Group = &args.groups[first];
                    return Err(Failure::Usage(format!(
                        "'{}' is in the groups '{}' and '{}'; a column is in one group at most, and there once",
                        known.names[*j], other.name, group.name
                    )));
                }
            }
            self.add_group(&group.name, columns, known);
        }
        for text in known.texts {
            let columns = book.find(&text.name)?;
            let together = own[columns[0]];
            let is_regrouped = together.is_some() && columns.iter().all(|j| own[*j] == together);
            let is_free = columns.iter().all(|j| self.free.contains(j));
            if columns.len() > 1 && !is_regrouped && !is_free {
                self.add_group(&text.name, columns.to_vec(), known);
            }
        }
        Ok(())
    }

    fn add_group(&mut self, name: &str, columns: Vec<usize>, known: &Known) {
        let names = columns.iter().map(|j| known.names[*j].clone());
        self.asked.groups.push(Group {
            name: name.to_owned(),
            columns: names.collect(),
        });
        self.groups.push(columns);
    }

    /// Every product with its factors.
    fn inherit(&mut self, known: &Known) -> Result<(), Failure> {
        if known.factors.is_empty() {
            return Err(Failure::Usage(
                "--heredity is about products and squares, and there are none; add --interactions, or drop --heredity".into(),
            ));
        }
        let places = places(known.names);
        for (j, name) in known.names.iter().enumerate() {
            let Some(parents) = factors(known.factors, name) else {
                continue;
            };
            match parents.map(|parent| places.get(parent.as_str()).copied()) {
                [Some(first), Some(second)] => self.parents.push((j, [first, second])),
                _ => self.orphans.push(j),
            }
        }
        Ok(())
    }

    /// What was asked, if anything was.
    pub fn asked(&self) -> Option<&Constraints> {
        (self.asked != Constraints::default()).then_some(&self.asked)
    }

    /// The columns that are in every model and not in its support.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// The name of the feature that a column leads.
    pub fn name<'a>(&'a self, names: &'a [String], leader: usize) -> &'a str {
        let group = self.groups.iter().position(|own| own.contains(&leader));
        group.map_or(&names[leader], |at| &self.asked.groups[at].name)
    }

    /// How many features so many columns are, those not counted in k aside.
    pub fn count(&self, columns: usize) -> usize {
        let spared: usize = self.groups.iter().map(|group| group.len() - 1).sum();
        columns - spared - self.free.len() - self.orphans.len()
    }

    /// Asks it of a problem.
    pub fn apply(&self, mut builder: Builder) -> Builder {
        for j in &self.included {
            builder = builder.include(*j);
        }
        for j in &self.free {
            builder = builder.include_free(*j);
        }
        for (j, lower, upper) in &self.bounds {
            builder = builder.bounds(*j, *lower, *upper);
        }
        for (j, factor) in &self.factors {
            builder = builder.ridge_factor(*j, *factor);
        }
        for (j, parents) in &self.parents {
            builder = builder.requires(*j, parents);
        }
        for j in &self.orphans {
            builder = builder.exclude(*j);
        }
        builder.groups(self.groups.clone())
    }
}

fn places(names: &[String]) -> HashMap<&str, usize> {
    let places = names.iter().enumerate();
    places.map(|(j, name)| (name.as_str(), j)).collect()
}

/// The columns that each name stands for.
struct Book<'a> {
    names: &'a [String],
    columns: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Book<'a> {
    fn new(args: &'a RuleArgs, known: &Known<'a>) -> Result<Self, Failure> {
        let places = places(known.names).into_iter();
        let mut book = Self {
            names: known.names,
            columns: places.map(|(name, j)| (name, vec![j])).collect(),
        };
        for Group { name, columns } in known.texts.iter().chain(&args.groups) {
            let columns = book.columns(columns)?;
            if book.columns.insert(name, columns).is_some() {
                return Err(Failure::Usage(format!(
                    "--group '{name}' has the name of a feature, a column of text or another group; give it a name of its own"
                )));
            }
        }
        Ok(book)
    }

    fn find(&self, name: &str) -> Result<&[usize], Failure> {
        let found = self.columns.get(name).map(Vec::as_slice);
        found.ok_or_else(|| {
            let mut groups: Vec<&str> = self.columns.keys().copied().collect();
            let features = places(self.names);
            groups.retain(|known| !features.contains_key(known));
            groups.sort_unstable();
            let names = self.names.iter().cloned();
            let names: Vec<String> = names.chain(groups.into_iter().map(str::to_owned)).collect();
            no_such_column(name, &names).into()
        })
    }

    fn columns(&self, names: &[String]) -> Result<Vec<usize>, Failure> {
        let mut columns = Vec::new();
        for name in names {
            columns.extend_from_slice(self.find(name)?);
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_behind_the_last_equals_sign() {
        let of = |text| bounded(text).map(|b| (b.feature, b.lower, b.upper));
        assert_eq!(of("a=0:1"), Ok(("a".into(), Some(0.0), Some(1.0))));
        assert_eq!(
            of("city=Paris=:2"),
            Ok(("city=Paris".into(), None, Some(2.0)))
        );
        assert_eq!(of(" c =-1:"), Ok(("c".into(), Some(-1.0), None)));
        for text in [
            "a", "a=1", "a=:", "=0:1", "a=x:1", "a=1:2", "a=-2:-1", "a=0:inf",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn groups_and_factors_have_names() {
        let found = group("g = a, city=Paris,").unwrap();
        assert_eq!((found.name.as_str(), found.columns.len()), ("g", 2));
        assert!(group("g=").is_err() && group("a,b").is_err() && group("=a").is_err());
        assert_eq!(factor("a=b=2"), Ok(("a=b".into(), 2.0)));
        assert!(factor("a=0").is_err() && factor("a").is_err());
    }
}
