//! Moments in the place of rows.

use super::Builder;
use crate::error::{Error, Result};
use crate::problem::Design;
use crate::problem::moments::{Moments, Summary, Surrogate};

impl Builder {
    /// The design is replaced as soon as it is known whether there is an intercept.
    pub(in crate::problem) fn from_moments(moments: Moments) -> Self {
        let columns = moments.names().len();
        let nothing = Design::dense(1, columns, vec![0.0; columns]);
        let mut builder = Self::new(nothing.expect("one row"), vec![0.0]);
        builder.names = Some(moments.names().to_vec());
        builder.moments = Some(moments);
        builder
    }

    /// Puts rows in the place of moments, where there are any.
    pub(super) fn take_moments(&mut self) -> Result<Option<Summary>> {
        let Some(moments) = self.moments.take() else {
            return Ok(None);
        };
        let needs_rows = [
            (
                !self.loss.is_quadratic(),
                "a loss other than the quadratic one",
            ),
            (
                self.weights.is_some(),
                "weights (they are part of the moments)",
            ),
            (
                !self.offsets.is_empty(),
                "an offset (take it off the response before)",
            ),
        ];
        if let Some((_, what)) = needs_rows.iter().find(|(is, _)| *is) {
            return Err(Error::Moments {
                reason: format!("{what} cannot be had from moments: fit the rows instead"),
            });
        }
        let surrogate = Surrogate::new(&moments, self.intercept)?;
        (self.design, self.response) = (surrogate.design, surrogate.response);
        Ok(Some(surrogate.summary))
    }
}
