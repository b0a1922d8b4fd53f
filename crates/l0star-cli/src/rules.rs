//! The options that constrain a model beyond "at most k features", and the errors in them.

use l0star_record::Rules;
use l0star_record::fields::{Bounded, Group};
use l0star_record::names::{Feature, Known};
use l0star_record::rules::{
    Bounds, Clash, L0Factor, Nonnegative, Request, RidgeFactor, RuleError, Together,
};

use crate::failure::Failure;
use crate::numbers::{non_negative, positive};

/// Heading of each option. A heading for the whole struct would also apply to the options after it.
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

    /// Price of a feature, added to the objective for each one in the model; -k may then be left out. cv chooses among several,
    /// separated by commas
    #[arg(help_heading = HEADING, long, value_name = "C", value_delimiter = ',', allow_hyphen_values = true,
          value_parser = non_negative)]
    pub l0_penalty: Vec<f64>,

    /// Multiply the price of features that cost more, or less, to measure: a=2,b=0.5
    #[arg(help_heading = HEADING, long, value_name = "FACTORS", value_delimiter = ',', value_parser = price)]
    pub l0_factor: Vec<(String, f64)>,

    /// Assume that no coefficient is larger than M in absolute value, per standard deviation of its column (with
    /// --no-standardize per unit). Hard proofs become far easier, but hold only under this assumption
    #[arg(help_heading = HEADING, long, value_name = "M", allow_hyphen_values = true, value_parser = positive)]
    pub assume_max_coefficient: Option<f64>,

    /// With --interactions: a product or a square only together with its factors
    #[arg(help_heading = HEADING, long)]
    pub heredity: bool,
}

/// Parses `a=0:1`; the numbers follow the last equals sign.
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

/// Parses `name=a,b`; the first equals sign ends the name.
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

/// Parses `a=2`.
fn factor(text: &str) -> Result<(String, f64), String> {
    let refuse = || "it must be name=factor".to_owned();
    let (name, value) = text.rsplit_once('=').ok_or_else(refuse)?;
    let name = named(name).ok_or_else(refuse)?;
    Ok((name, positive(value.trim())?))
}

/// Parses `a=2`, or `a=0` for a feature that costs nothing.
fn price(text: &str) -> Result<(String, f64), String> {
    let refuse = || "it must be name=factor".to_owned();
    let (name, value) = text.rsplit_once('=').ok_or_else(refuse)?;
    let name = named(name).ok_or_else(refuse)?;
    Ok((name, non_negative(value.trim())?))
}

fn named(text: &str) -> Option<String> {
    let name = text.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn all_named(texts: &[String]) -> Vec<String> {
    texts.iter().filter_map(|text| named(text)).collect()
}

impl RuleArgs {
    /// Returns the request for the record.
    fn request(&self) -> Request {
        let word = |name: &String| Feature::Word(name.clone());
        let words = |names: &[String]| all_named(names).iter().map(word).collect();
        let bounds = |own: &Bounded| Bounds {
            feature: word(&own.feature),
            lower: own.lower,
            upper: own.upper,
        };
        let group = |own: &Group| Together {
            name: Some(own.name.clone()),
            columns: own.columns.iter().map(word).collect(),
        };
        let factor = |(name, factor): &(String, f64)| RidgeFactor {
            feature: word(name),
            factor: *factor,
        };
        let price = |(name, factor): &(String, f64)| L0Factor {
            feature: word(name),
            factor: *factor,
        };
        Request {
            include: words(&self.include),
            include_free: words(&self.include_free),
            // Excluded columns are dropped before there are features.
            exclude: Vec::new(),
            nonnegative: match self.nonnegative.as_deref() {
                Some([]) => Nonnegative::All,
                names => Nonnegative::These(words(names.unwrap_or_default())),
            },
            bounds: self.bounds.iter().map(bounds).collect(),
            groups: self.groups.iter().map(group).collect(),
            ridge_factors: self.ridge_factor.iter().map(factor).collect(),
            l0_penalty: self.l0_penalty.first().copied().unwrap_or(0.0),
            l0_factors: self.l0_factor.iter().map(price).collect(),
            assume_max_coefficient: self.assume_max_coefficient,
            heredity: self.heredity,
            requires: Vec::new(),
        }
    }

    /// Refuses several prices where one is expected, and price factors without a price.
    pub fn check_price(&self) -> Result<(), Failure> {
        if self.l0_penalty.len() > 1 {
            return Err(Failure::Usage(
                "--l0-penalty takes one price here; l0star cv chooses among several, and l0star path --l0-penalty-path finds the best model at every price".into(),
            ));
        }
        self.check_factors()
    }

    /// Refuses price factors without a price.
    pub fn check_factors(&self) -> Result<(), Failure> {
        if self.l0_penalty.is_empty() && !self.l0_factor.is_empty() {
            return Err(Failure::Usage(
                "--l0-factor multiplies the price of a feature, and there is none; add --l0-penalty C".into(),
            ));
        }
        Ok(())
    }

    /// Finds the named features; an unknown name is an error.
    pub fn resolve(&self, known: &Known) -> Result<Rules, Failure> {
        let rules = Rules::new(&self.request(), known).map_err(|error| match error {
            RuleError::Unknown(error) => error.into(),
            RuleError::TakenName(name) => Failure::Usage(format!(
                "--group '{name}' has the name of a feature, a column of text or another group; give it a name of its own"
            )),
            RuleError::NoProducts => Failure::Usage(
                "--heredity is about products and squares, and there are none; add --interactions, or drop --heredity".into(),
            ),
        })?;
        let clash = rules.clash().map(|clash| match clash {
            Clash::CountedAndFree(name) => format!(
                "'{name}' is both in --include, which counts it, and in --include-free; choose one"
            ),
            Clash::TwoFactors(name) => {
                format!("'{name}' has two factors in --ridge-factor; give one")
            }
            Clash::TwoL0Factors(name) => {
                format!("the feature of '{name}' has two factors in --l0-factor; give one")
            }
            Clash::TwoGroups {
                column,
                first,
                second,
            } => format!(
                "'{column}' is in the groups '{first}' and '{second}'; a column is in one group at most, and there once"
            ),
        });
        match clash {
            Some(message) => Err(Failure::Usage(message)),
            None => Ok(rules),
        }
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
        assert_eq!(price("a=b=0"), Ok(("a=b".into(), 0.0)));
        assert!(price("a=-1").is_err() && price("a").is_err());
    }
}
