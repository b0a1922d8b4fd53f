//! `--prices`: what each choice of a model costs.

use std::fmt::Write;

use l0star::{Checkpoint, Price, PriceRun, Solution, Status};
use l0star_data::model::Priced;
use l0star_report::prices::ordered;
use l0star_report::text::{clip, percent, significant};

use crate::checkpoint::Checkpoints;
use crate::failure::Failure;
use crate::ready::Job;
use crate::screen::Screen;

/// Of the features that were not chosen, the table shows so many.
const MOST_OTHERS: usize = 10;

/// The prices of all features, and what is known of the least certain one. The time limit counts anew, for all of them together.
///
/// `search`: the last checkpoint of the search, which the checkpoints of the prices hold as well.
pub fn find(
    job: &Job,
    solution: &Solution,
    search: Option<Checkpoint>,
    checkpoints: &mut Checkpoints<Checkpoint>,
) -> Result<(Vec<Priced>, Status), Failure> {
    let mut run = PriceRun::new(&job.problem, &job.settings, solution);
    if let Some(search) = search {
        let every = checkpoints.every;
        let sink = Box::new(|checkpoint: &Checkpoint| checkpoints.write(checkpoint));
        run = run.resume(search).save(every, sink);
    }
    let prices = run.solve()?;
    let statuses = || prices.iter().map(|price| price.status);
    let status = match statuses().find(|status| status.stopped_early()) {
        _ if statuses().any(|status| status == Status::Interrupted) => Status::Interrupted,
        Some(status) => status,
        None => Status::Optimal,
    };
    let priced = prices.iter().map(|price| priced(job, price));
    Ok((priced.collect(), status))
}

fn priced(job: &Job, price: &Price) -> Priced {
    let names = &job.task.names;
    // JSON has no infinity.
    let finite = |value: f64| value.is_finite().then_some(value);
    Priced {
        feature: job.task.rules.name(names, price.feature).to_owned(),
        chosen: price.chosen,
        cost: finite(price.cost),
        cost_lower: finite(price.cost_bounds.0),
        cost_upper: finite(price.cost_bounds.1),
        objective: finite(price.objective),
        lower_bound: finite(price.lower_bound),
        status: price.status.to_string(),
        support: price.support.iter().map(|j| names[*j].clone()).collect(),
    }
}

/// A line a choice.
pub fn table(prices: &[Priced], objective: f64, screen: &Screen) -> String {
    let mut text = screen.bold("  what each choice costs: how much the objective rises") + "\n";
    let all = ordered(prices);
    let chosen = all.iter().filter(|price| price.chosen).count();
    let shown = all.len().min(chosen + MOST_OTHERS);
    let named = |price: &Priced| {
        let verb = if price.chosen { "without" } else { "with" };
        format!("{verb:<7} {}", clip(&price.feature, 32))
    };
    let widths = all[..shown].iter().map(|p| named(p).chars().count());
    let width = widths.max().unwrap_or(0);
    for price in &all[..shown] {
        let cost = match (price.cost, price.cost_lower) {
            (Some(cost), _) if price.status == "optimal" => format!(
                "{:>11}  {:>8} %",
                significant(cost, 6),
                significant(percent(cost, objective), 3)
            ),
            (Some(cost), Some(lower)) => format!(
                "between {} and {}, stopped before it was proved",
                significant(lower, 6),
                significant(price.cost_upper.unwrap_or(cost), 6)
            ),
            _ => "impossible: it needs more features than k allows".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<width$}  {cost}", named(price));
    }
    if shown < all.len() {
        let rest = all.len() - shown;
        let _ = writeln!(
            text,
            "  and {rest} more, which cost no less (--json has all)"
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
        let screen = Screen {
            width: 80,
            colours: false,
        };
        let text = table(&prices, 1.0, &screen);
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
