//! [`Decision`]: a feature that a search has in every model, or in none.

/// One feature is in every model of a search, or in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The feature, by its first column.
    pub feature: usize,
    /// Whether it is in.
    pub inside: bool,
}

impl Decision {
    /// Whether a support follows it.
    pub(crate) fn allows(self, support: &[usize]) -> bool {
        support.contains(&self.feature) == self.inside
    }
}
