//! The coefficients in words, and as a table with prices and standard errors.

use l0star_record::Model;
use l0star_record::fields::{Fitted, Numbers, Priced};
use l0star_record::inference::{INTERCEPT, Inference};

use crate::face::Face;
use crate::proof::{self, Cost};
use crate::text::significant;

/// Upper limit on the sentences, since nobody reads more.
const MOST_SENTENCES: usize = 12;

/// Returns sentences on the effect of one standard deviation of each feature, the largest effects first.
///
/// There are none with several responses: the table of coefficients shows what each does.
pub fn sentences(model: &Model) -> Vec<String> {
    let fitted = &model.fitted;
    if !fitted.outputs().is_empty() {
        return Vec::new();
    }
    let mut effects: Vec<(&str, f64, f64)> = fitted
        .coefficients
        .0
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.first(), fitted.per_sd.get(name)?)))
        .filter(|(_, value, effect)| *value != 0.0 && *effect != 0.0)
        .collect();
    effects.sort_by(|one, other| other.2.abs().total_cmp(&one.2.abs()));
    let sentence = |(name, value, effect): &(&str, f64, f64)| {
        let is_indicator = model.indicators.iter().any(|own| own.name == *name);
        let (what, effect) = if is_indicator {
            (format!("'{name}' rather than not"), *value)
        } else {
            let deviation = significant(effect / value, 3);
            (format!("One SD more of '{name}' ({deviation})"), *effect)
        };
        format!("{what}: {}.", change(model, effect))
    };
    effects.iter().take(MOST_SENTENCES).map(sentence).collect()
}

/// Describes a change of the linear predictor.
fn change(model: &Model, effect: f64) -> String {
    let signed = |value: f64| {
        let sign = if value > 0.0 { "+" } else { "−" };
        format!("{sign}{}", significant(value.abs(), 3))
    };
    match &model.labels {
        Some([_, positive]) if model.has_log_odds() => {
            format!("odds of '{positive}' × {}", significant(effect.exp(), 3))
        }
        Some(_) => format!("score {}", signed(effect)),
        None if model.has_log_link() => {
            format!(
                "expected '{}' × {}",
                model.target,
                significant(effect.exp(), 3)
            )
        }
        None if model.has_hazards() => format!("hazard × {}", significant(effect.exp(), 3)),
        None => format!("'{}' {}", model.target, signed(effect)),
    }
}

/// A table of the coefficients, with their prices and standard errors if known.
pub struct Table {
    /// The titles of the columns of numbers.
    pub titles: Vec<String>,
    /// Names with their numbers; an empty text stands for an absent number.
    pub rows: Vec<(String, Vec<String>)>,
    /// Notes that complete the numbers.
    pub notes: Vec<String>,
}

/// Returns the table of `explain --table`.
pub fn table(model: &Model, face: Face) -> Table {
    let fitted = &model.fitted;
    if !fitted.outputs().is_empty() {
        return by_response(model, face);
    }
    let ratios = [
        ("odds ratio", &fitted.odds_ratios),
        ("rate ratio", &fitted.rate_ratios),
        ("hazard ratio", &fitted.hazard_ratios),
    ];
    let ratios = ratios.into_iter().find(|(_, own)| !own.is_empty());
    let inference = fitted.inference.as_ref();
    let has_errors = inference.is_some_and(|own| own.missing.is_none());
    let has_prices = fitted.prices.is_some();
    let mut titles = vec!["coefficient", "per SD"];
    titles.extend(ratios.map(|(title, _)| title));
    if has_errors {
        titles.extend(["std. error", "95 % from", "to"]);
    }
    if has_prices {
        titles.push("cost without");
    }
    let number = |value: Option<f64>| value.map_or(String::new(), |value| significant(value, 5));
    let row = |name: &str, value: f64| {
        let mut cells = vec![number(Some(value)), number(fitted.per_sd.get(name))];
        cells.extend(ratios.map(|(_, ratios)| number(ratios.get(name))));
        if has_errors {
            let own = inference.and_then(|inference| inference.get(name, None));
            cells.push(number(own.and_then(|own| own.standard_error)));
            cells.push(number(own.and_then(|own| own.lower)));
            cells.push(number(own.and_then(|own| own.upper)));
        }
        if has_prices {
            cells.push(price(model, name).map_or(String::new(), cost));
        }
        (name.to_owned(), cells)
    };
    let own = fitted.coefficients.0.iter();
    let mut rows: Vec<_> = own.map(|(name, value)| row(name, value.first())).collect();
    if model.fit_intercept {
        rows.push(row(INTERCEPT, fitted.intercept.first()));
    }
    Table {
        titles: titles.into_iter().map(str::to_owned).collect(),
        rows,
        notes: notes(model, face),
    }
}

/// Returns the coefficients of several responses: one column for each, and one for prices if they are known.
/// With standard errors, there is one row for each feature and response.
fn by_response(model: &Model, face: Face) -> Table {
    let fitted = &model.fitted;
    if let Some(inference) = fitted
        .inference
        .as_ref()
        .filter(|own| own.missing.is_none())
    {
        return each_response(model, inference, face);
    }
    let has_prices = fitted.prices.is_some();
    let mut titles = fitted.outputs().to_vec();
    titles.extend(has_prices.then(|| "cost without".to_owned()));
    let row = |name: &str, numbers: &Numbers| {
        let own = numbers.all().iter();
        let mut cells: Vec<String> = own.map(|value| significant(*value, 5)).collect();
        if has_prices {
            cells.push(price(model, name).map_or(String::new(), cost));
        }
        (name.to_owned(), cells)
    };
    let own = fitted.coefficients.0.iter();
    let mut rows: Vec<_> = own.map(|(name, numbers)| row(name, numbers)).collect();
    if model.fit_intercept {
        rows.push(row(INTERCEPT, &fitted.intercept));
    }
    Table {
        titles,
        rows,
        notes: notes(model, face),
    }
}

/// Returns one row for each coefficient of several responses, with its standard error and interval.
fn each_response(model: &Model, inference: &Inference, face: Face) -> Table {
    let fitted = &model.fitted;
    let has_prices = fitted.prices.is_some();
    let what = if fitted.classes.is_empty() {
        "response"
    } else {
        "class"
    };
    let mut titles = vec![what, "coefficient", "std. error", "95 % from", "to"];
    if has_prices {
        titles.push("cost without");
    }
    let number = |value: Option<f64>| value.map_or(String::new(), |value| significant(value, 5));
    let mut rows = Vec::new();
    let mut add = |name: &str, numbers: &Numbers| {
        for (output, value) in fitted.outputs().iter().zip(numbers.all()) {
            let own = inference.get(name, Some(output));
            let mut cells = vec![output.clone(), number(Some(*value))];
            cells.push(number(own.and_then(|own| own.standard_error)));
            cells.push(number(own.and_then(|own| own.lower)));
            cells.push(number(own.and_then(|own| own.upper)));
            if has_prices {
                cells.push(price(model, name).map_or(String::new(), cost));
            }
            rows.push((name.to_owned(), cells));
        }
    };
    for (name, numbers) in &fitted.coefficients.0 {
        add(name, numbers);
    }
    if model.fit_intercept {
        add(INTERCEPT, &fitted.intercept);
    }
    Table {
        titles: titles.into_iter().map(str::to_owned).collect(),
        rows,
        notes: notes(model, face),
    }
}

/// Returns the price of excluding the feature that a column belongs to.
fn price<'a>(model: &'a Model, name: &str) -> Option<&'a Priced> {
    let group = model.constraints().and_then(|asked| {
        let mut groups = asked.groups.iter();
        groups.find(|group| group.columns.iter().any(|own| own == name))
    });
    let feature = group.map_or(name, |group| &group.name);
    let prices = model.fitted.prices.as_ref()?;
    prices
        .iter()
        .find(|price| price.chosen && price.feature == feature)
}

fn cost(price: &Priced) -> String {
    match proof::cost(price) {
        Cost::Exact(cost) => significant(cost, 4),
        Cost::Between(low, high, _) => {
            format!("{} to {}", significant(low, 4), significant(high, 4))
        }
        Cost::Impossible => "impossible".to_owned(),
    }
}

/// Explains what standard errors and intervals mean, and what they do not.
pub fn notes(model: &Model, face: Face) -> Vec<String> {
    let fitted = &model.fitted;
    let mut notes = Vec::new();
    notes.extend(refit(fitted));
    match &fitted.inference {
        None => {}
        Some(own) => match &own.missing {
            Some(reason) => notes.push(format!("There are no standard errors: {reason}.")),
            None => {
                let about = match own.degrees_of_freedom {
                    Some(freedom) => {
                        format!("Student's distribution with {freedom} degrees of freedom")
                    }
                    None => "the normal distribution".to_owned(),
                };
                let ridge = if fitted.refit {
                    ""
                } else {
                    " They are those of the coefficients with the ridge, which draws these towards 0 a little."
                };
                notes.push(format!(
                    "Standard errors and 95 % intervals ({about}) take the chosen features as given. The same rows chose them, so the intervals are too narrow; {} shows how the choice itself varies.{ridge}",
                    face.stability()
                ));
            }
        },
    }
    notes
}

/// States that the coefficients are those of the refit without the ridge, if they are.
pub fn refit(fitted: &Fitted) -> Option<String> {
    fitted.refit.then(|| {
        "The coefficients are those of a second fit of the chosen features without the ridge. Objective, bound and proof are about the choice, which was made with the ridge.".to_owned()
    })
}
