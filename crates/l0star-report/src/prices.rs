//! The order in which prices are shown.

use std::cmp::Ordering;

use l0star_record::fields::Priced;

/// Orders prices: the chosen features first, the most expensive on top; then the others, the cheapest on top.
pub fn ordered(prices: &[Priced]) -> Vec<&Priced> {
    let cost = |price: &Priced| price.cost.unwrap_or(f64::INFINITY);
    let order = |a: &&Priced, b: &&Priced| match (a.chosen, b.chosen) {
        (true, true) => cost(b).total_cmp(&cost(a)),
        (false, false) => cost(a).total_cmp(&cost(b)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    };
    let mut all: Vec<&Priced> = prices.iter().collect();
    all.sort_by(order);
    all
}
