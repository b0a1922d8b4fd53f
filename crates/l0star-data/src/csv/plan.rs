//! How a pass over the text parses each column.

use super::block::Plan;

/// How a pass parses a column.
pub(super) enum Use {
    Number,
    Text,
    Skip,
}

pub(super) fn planned(width: usize, used: impl Fn(usize) -> Use) -> Vec<Plan> {
    let (mut numbers, mut texts) = (0.., 0..);
    let mut plan = |j| match used(j) {
        Use::Number => numbers.next().map(Plan::Number),
        Use::Text => texts.next().map(Plan::Text),
        Use::Skip => None,
    };
    (0..width).map(|j| plan(j).unwrap_or(Plan::Skip)).collect()
}
