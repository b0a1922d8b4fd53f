//! The columns of a table that are not features: target, weights, offset, events.

use std::sync::Arc;

use l0star::loss::{Loss, Multinomial, ResponseKind};
use l0star_data::{RawTable, counted};

use super::survival::Followed;
use super::{TaskArgs, checks};
use crate::failure::Failure;

/// What the columns that are not features say about the rows.
pub(super) struct Roles {
    pub loss: Arc<dyn Loss>,
    pub response: Vec<f64>,
    /// The responses after the first, if there are several.
    pub others: Vec<Vec<f64>>,
    /// The names of the classes by number, if there are several.
    pub classes: Vec<String>,
    pub labels: Option<[String; 2]>,
    pub weights: Option<Vec<f64>>,
    /// Offsets: none, or one for each score of a row.
    pub offsets: Vec<Vec<f64>>,
    pub survival: Option<Followed>,
}

impl Roles {
    pub(super) fn read(
        args: &TaskArgs,
        loss: Arc<dyn Loss>,
        raw: &RawTable,
    ) -> Result<Self, Failure> {
        let weights = args.weights.as_deref().map(|name| raw.number(name));
        let weights = weights.transpose()?;
        if let (Some(name), Some(weights)) = (&args.weights, &weights) {
            checks::check_weights(raw, name, weights)?;
        }
        let offsets = args.offset_names().into_iter().map(|name| raw.number(name));
        let offsets: Vec<Vec<f64>> = offsets.collect::<Result<_, _>>()?;
        let mut classes = Vec::new();
        let (response, labels) = match loss.response() {
            ResponseKind::Class => {
                let (codes, names) = checks::classes(raw, &args.target)?;
                classes = names;
                (codes.into_iter().map(|code| code as f64).collect(), None)
            }
            ResponseKind::Label => {
                let (signs, labels) = raw.labels(&args.target)?;
                (signs, Some(labels))
            }
            ResponseKind::Real
            | ResponseKind::Count
            | ResponseKind::Positive
            | ResponseKind::Time => {
                let target = args.targets.first().unwrap_or(&args.target);
                checks::check_numbers(raw, target, loss.name())?;
                let response = raw.number(target)?;
                checks::check_amounts(raw, target, &response, &*loss)?;
                // Rows with the same time can differ in their events.
                if offsets.is_empty() && !loss.has_hazards() {
                    checks::check_varies(raw, target, &response, weights.as_deref())?;
                }
                (response, None)
            }
        };
        let mut others = Vec::new();
        for target in args.targets.iter().skip(1) {
            checks::check_numbers(raw, target, loss.name())?;
            let response = raw.number(target)?;
            if offsets.is_empty() {
                checks::check_varies(raw, target, &response, weights.as_deref())?;
            }
            others.push(response);
        }
        let scores = classes.len().max(args.targets.len()).max(1);
        if !offsets.is_empty() && offsets.len() != scores {
            return Err(Failure::Usage(format!(
                "--offset names {}, and there {}; name one column for each of them, in their order",
                counted(offsets.len(), "column"),
                match (scores, classes.len()) {
                    (1, _) => "is one target".to_owned(),
                    (_, 0) => format!("are {scores} targets"),
                    _ => format!("are {scores} classes ({})", classes.join(", ")),
                }
            )));
        }
        let survival = loss
            .has_hazards()
            .then(|| Followed::read(&args.survival, raw, &response))
            .transpose()?;
        let loss = survival.as_ref().map_or(loss, Followed::loss);
        let loss: Arc<dyn Loss> = match classes.len() {
            0 => loss,
            count => Arc::new(Multinomial::new(count)),
        };
        Ok(Self {
            loss,
            response,
            others,
            classes,
            labels,
            weights,
            offsets,
            survival,
        })
    }
}
