//! `--prices`: the cost of each choice of features in a model.

use std::fmt::Write;
use std::time::Duration;

use l0star::{Checkpoint, Price, PriceRun, Settings, Solution};
use l0star_record::fields::Priced;
use l0star_report::prices::ordered;
use l0star_report::proof::{self, Cost};
use l0star_report::text::{percent, share, significant};
use l0star_report::width::{padded, width};

use crate::checkpoint::Checkpoints;
use crate::failure::Failure;
use crate::ready::Job;
use crate::screen::Screen;

/// Most features outside the model that the table shows.
const MOST_OTHERS: usize = 10;

/// Computes the prices of all features within the rest of the time limit, `left`.
///
/// `search` is the last checkpoint of the search; the checkpoints of the prices contain it as well.
pub fn find(
    job: &Job,
    left: Option<Duration>,
    solution: &Solution,
    search: Option<Checkpoint>,
    checkpoints: &mut Checkpoints<Checkpoint>,
) -> Result<Vec<Price>, Failure> {
    let settings = Settings {
        time_limit: left,
        ..job.settings.clone()
    };
    let mut run = PriceRun::new(&job.problem, &settings, solution);
    if let Some(search) = search {
        let every = checkpoints.every;
        let sink = Box::new(|checkpoint: &Checkpoint| checkpoints.write(checkpoint));
        run = run.resume(search).save(every, sink);
    }
    Ok(run.solve()?)
}

/// Formats the prices, one line per feature.
pub fn table(prices: &[Priced], objective: f64, screen: &Screen) -> String {
    let mut text = screen.bold("  what each choice costs: how much the objective rises") + "\n";
    let all = ordered(prices);
    let chosen = all.iter().filter(|price| price.chosen).count();
    let shown = all.len().min(chosen + MOST_OTHERS);
    let named = |price: &Priced| {
        let verb = if price.chosen { "without" } else { "with" };
        format!("{verb:<7} {}", screen.clip(&price.feature, 32))
    };
    let widest = all[..shown].iter().map(|price| width(&named(price)));
    let widest = widest.max().unwrap_or(0);
    for price in &all[..shown] {
        let cost = match proof::cost(price) {
            Cost::Exact(cost) => format!(
                "{:>11}  {:>8} %",
                significant(cost, 6),
                percent(share(cost, objective))
            ),
            Cost::Between(lower, upper, why) => format!(
                "between {} and {}, {why}",
                significant(lower, 6),
                significant(upper, 6)
            ),
            Cost::Impossible => "impossible: it needs more features than k allows".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}  {cost}", padded(&named(price), widest));
    }
    if shown < all.len() {
        let rest = all.len() - shown;
        let _ = writeln!(
            text,
            "  and {rest} more, which cost no less (--json lists all)"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_ones_come_first_and_what_is_impossible_last() {
        let price = |feature: &str, chosen, cost| Priced {
            feature: feature.into(),
            chosen,
            cost,
            cost_lower: cost,
            cost_upper: cost,
            objective: cost,
            lower_bound: cost,
            status: "optimal".into(),
            support: Vec::new(),
        };
        let prices = [
            price("a", false, None),
            price("b", false, Some(1.0)),
            price("c", true, Some(0.5)),
            price("d", true, Some(2.0)),
            price("e", false, Some(0.1)),
        ];
        let names: Vec<&str> = ordered(&prices)
            .iter()
            .map(|p| p.feature.as_str())
            .collect();
        assert_eq!(names, ["d", "c", "e", "b", "a"]);
        let text = table(&prices, 1.0, &Screen::plain(80, true));
        assert!(
            text.contains("without d") && text.contains("with    e"),
            "{text}"
        );
        assert!(
            text.lines().last().unwrap().contains("impossible"),
            "{text}"
        );
    }
}
