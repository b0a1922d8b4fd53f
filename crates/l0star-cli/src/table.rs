//! The result for a reader, as wide as the screen at most.

use std::fmt::Write;

use l0star::{Solution, Status};

use l0star_report::text::{clip, exponent, percent, percent_above, significant};

use crate::ready::Job;
use crate::screen::Screen;

const LONGEST_NAME: usize = 32;
const LONGEST_BAR: usize = 30;

/// A line that says what is proved, the numbers of the search, the coefficients with their bars.
pub fn render(job: &Job, solution: &Solution, screen: &Screen) -> String {
    let mut text = title(job, solution, screen) + "\n\n";
    let mut line = |label: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}{value}", screen.dim(&format!("{label:<14}")));
    };
    line("objective", significant(solution.objective, 10));
    if let (Some(bound), Some(gap), Some(relative)) = (
        solution.lower_bound,
        solution.gap(),
        solution.relative_gap(),
    ) {
        line("lower bound", significant(bound, 10));
        line(
            "gap",
            format!("{} ({} %)", significant(gap, 3), percent_above(relative)),
        );
    }
    let features = job.problem.selectable().len() + job.problem.included().len();
    line("k", format!("{} of {features} features", job.problem.k()));
    line(
        "nodes",
        format!(
            "{} ({} open at most)",
            solution.nodes, solution.peak_open_nodes
        ),
    );
    line("solver calls", solution.solver_calls.to_string());
    line("seconds", significant(solution.seconds, 3));
    line("method", solution.method.to_string());
    if let Some(label) = job.positive_label() {
        line("positive", format!("label '{}'", clip(label, LONGEST_NAME)));
    }
    text.push('\n');
    text.push_str(&coefficients(&rows(job, solution), screen));
    if job.lists {
        text.push('\n');
        text.push_str(&list(job, solution, screen));
    }
    text
}

/// Names and coefficients of a model.
#[derive(Debug)]
pub struct Rows<'a> {
    pub features: Vec<(&'a str, f64)>,
    pub intercept: Option<f64>,
}

fn rows<'a>(job: &'a Job, solution: &Solution) -> Rows<'a> {
    let names = job.problem.names();
    let features = job.task.columns(&solution.support).into_iter();
    Rows {
        features: features
            .map(|j| (names[j].as_str(), solution.coefficients[j]))
            .collect(),
        intercept: job.problem.has_intercept().then_some(solution.intercept),
    }
}

/// The models of `--top` and `--within`: how far above the best, and their features.
fn list(job: &Job, solution: &Solution, screen: &Screen) -> String {
    let shown = solution.solutions.len();
    let head = format!("  {:>4}  {:<12}  {:>9}  features", "", "objective", "above");
    let mut text = screen.bold(&head) + "\n";
    for (i, model) in solution.solutions.iter().enumerate() {
        let above = percent(model.objective - solution.objective, solution.objective);
        let names: Vec<String> = model
            .support
            .iter()
            .map(|j| clip(&job.problem.names()[*j], LONGEST_NAME))
            .collect();
        let features = match names.is_empty() {
            true => "(none)".to_owned(),
            false => clip(&names.join(", "), screen.width - 35),
        };
        let _ = writeln!(
            text,
            "  {:>4}  {:<12}  {:>7} %  {features}",
            i + 1,
            significant(model.objective, 8),
            significant(above, 3),
        );
    }
    let rest = match solution.rest_bound {
        None => "there are no other models".to_owned(),
        Some(bound) => format!("no other model is below {}", significant(bound, 8)),
    };
    let _ = writeln!(text, "  {rest}");
    if solution.truncated {
        let _ = writeln!(
            text,
            "  more are within the share than the {shown} shown; --top M shows more"
        );
    }
    text
}

fn title(job: &Job, solution: &Solution, screen: &Screen) -> String {
    let near = match solution.relative_gap() {
        Some(gap) if gap.is_finite() => format!("within {} %", percent_above(gap)),
        _ => "nothing proved".into(),
    };
    let stopped = |what: &str| format!("{near}, stopped at the {what} limit");
    let text = match solution.status {
        Status::Optimal => format!(
            "proved optimal: no model with at most {} features is better",
            job.problem.k()
        ),
        Status::GapReached => format!("{near} of the optimum, as the gap allows"),
        Status::TimeLimit => stopped("time"),
        Status::NodeLimit => stopped("node"),
        Status::MemoryLimit => stopped("memory"),
        Status::Interrupted => format!("{near}, interrupted"),
        Status::Heuristic => "heuristic: nothing proved".into(),
    };
    match solution.status {
        Status::Optimal | Status::GapReached => screen.good(&text),
        _ => screen.loud(&text),
    }
}

/// The coefficients, each with a bar of its size.
pub fn coefficients(model: &Rows, screen: &Screen) -> String {
    let features = model.features.iter();
    let mut rows: Vec<(String, f64)> = features
        .map(|(name, value)| (clip(name, LONGEST_NAME), *value))
        .collect();
    let bars = rows.len();
    rows.extend(
        model
            .intercept
            .map(|value| ("(intercept)".to_owned(), value)),
    );
    let values: Vec<f64> = rows.iter().map(|(_, value)| *value).collect();
    let shown = aligned(&values);
    let widest =
        |lengths: &mut dyn Iterator<Item = usize>, least: usize| lengths.fold(least, usize::max);
    let name_width = widest(&mut rows.iter().map(|(name, _)| name.chars().count()), 7);
    let value_width = widest(&mut shown.iter().map(String::len), 11);
    let room = screen.width.saturating_sub(name_width + value_width + 6);
    // A wide screen has room for finer bars.
    let longest = LONGEST_BAR + screen.width.saturating_sub(80) / 2;
    let largest = values[..bars].iter().fold(0.0, |m: f64, v| m.max(v.abs()));

    let head = format!(
        "  {:<name_width$}  {:>value_width$}",
        "feature", "coefficient"
    );
    let mut text = screen.bold(&head) + "\n";
    for (i, ((name, value), shown)) in rows.iter().zip(&shown).enumerate() {
        let mut line = format!("  {name:<name_width$}  {shown:>value_width$}");
        if i < bars {
            let bar = bar(value.abs() / largest, room.min(longest));
            line += "  ";
            line += &match *value < 0.0 {
                true => screen.minus(&bar),
                false => screen.good(&bar),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A bar of `share` of `width` characters, to an eighth of a character.
fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // A cast saturates: the share 0/0 of a model without coefficients gives an empty bar.
    let eighths = ((share * 8.0 * width as f64).round() as usize).min(8 * width);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Numbers with their decimal points one below the other; scientific when their sizes differ too much for that.
fn aligned(values: &[f64]) -> Vec<String> {
    let exponents = || values.iter().filter(|v| **v != 0.0).map(|v| exponent(*v));
    let (low, high) = (
        exponents().min().unwrap_or(0),
        exponents().max().unwrap_or(0),
    );
    if low < -5 || high > 8 || high - low > 6 {
        return values.iter().map(|value| format!("{value:.5e}")).collect();
    }
    let decimals = (4 - low).clamp(0, 9) as usize;
    values
        .iter()
        .map(|value| format!("{value:.decimals$}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0, 3), "");
        assert_eq!(bar(f64::NAN, 3), "");
    }

    #[test]
    fn the_width_and_the_colours_are_those_of_the_screen() {
        let model = Rows {
            features: vec![
                ("age", 2.0),
                ("a name of more than thirty-two letters", -1.0),
            ],
            intercept: Some(0.5),
        };
        let text = |width, colours| coefficients(&model, &Screen { width, colours });
        let longest = |text: &str| text.lines().map(|line| line.chars().count()).max();
        assert!(longest(&text(60, false)) <= Some(60));
        assert!(longest(&text(160, false)) > longest(&text(80, false)));
        assert!(!text(80, false).contains('\x1b'));
        let coloured = text(80, true);
        assert!(coloured.contains("\x1b[32m█") && coloured.contains("\x1b[35m█"));
        assert!(coloured.lines().last().unwrap().contains("(intercept)"));
    }

    #[test]
    fn columns_of_numbers_align() {
        assert_eq!(aligned(&[1.5, -20.25]), ["1.5000", "-20.2500"]);
        assert_eq!(aligned(&[1e-9, 1.0]), ["1.00000e-9", "1.00000e0"]);
        assert_eq!(aligned(&[0.0]), ["0.0000"]);
    }
}
