//! A result as text, at most as wide as the screen.

use std::fmt::Write;

use l0star::Solution;
use l0star_data::counted;
use l0star_record::fields::{Fitted, Numbers};
use l0star_report::text::{exponent, percent, share, significant};
use l0star_report::width::{padded, width};
use l0star_report::{Proof, explain, quality};

use crate::ready::Job;
use crate::screen::Screen;

const LONGEST_NAME: usize = 32;
const LONGEST_BAR: usize = 30;

/// Formats a result: what is proved, the numbers of the search, and the coefficients with their bars.
pub fn render(job: &Job, solution: &Solution, fitted: &Fitted, screen: &Screen) -> String {
    let proof = Proof::of(fitted);
    let mut text = title(&proof, screen) + "\n\n";
    let mut line = |label: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}{value}", screen.dim(&format!("{label:<14}")));
    };
    line("objective", significant(solution.objective, 10));
    if let Some(without) = fitted.objective_without_penalty {
        let cost = significant(solution.objective - without, 6);
        line(
            "l0 penalty",
            format!(
                "{cost} of it for {}",
                counted(fitted.support.len(), "column")
            ),
        );
    }
    if let (Some(bound), Some(gap)) = (solution.lower_bound, proof.gap()) {
        line("lower bound", significant(bound, 10));
        line("gap", gap);
    }
    let features = job.problem.selectable().len() + job.problem.included().len();
    line(
        "k",
        format!("{} of {}", job.problem.k(), counted(features, "feature")),
    );
    if let Some(delta) = fitted.huber_delta {
        line("huber delta", significant(delta, 6));
    }
    if let Some(label) = job.positive_label() {
        let label = screen.clip(label, LONGEST_NAME);
        line("positive", format!("label '{label}'"));
    }
    text += &measures(fitted, screen);
    text.push('\n');
    text.push_str(&coefficients(fitted, job.problem.has_intercept(), screen));
    if job.lists {
        text.push('\n');
        text.push_str(&list(job, solution, screen));
    }
    text.push('\n');
    text += &small_print(fitted, screen);
    text
}

/// Formats how good the model is: a line for the fitted rows and one for the held-out rows.
pub fn measures(fitted: &Fitted, screen: &Screen) -> String {
    let mut text = String::new();
    let lines = fitted.metrics.as_ref().map(quality::lines);
    for [label, measures, rows] in lines.unwrap_or_default() {
        let first = format!("  {}", screen.dim(&format!("{label:<14}")));
        text += &screen.wrapped(&first, &" ".repeat(16), &format!("{measures} ({rows})"));
    }
    text
}

/// Formats the summary of the search.
pub fn small_print(fitted: &Fitted, screen: &Screen) -> String {
    screen.wrapped("  ", "  ", &quality::search(fitted))
}

/// Formats the models of `--top` and `--within`: how far above the best, and their features.
fn list(job: &Job, solution: &Solution, screen: &Screen) -> String {
    let shown = solution.solutions.len();
    let head = format!("  {:>4}  {:<12}  {:>9}  features", "", "objective", "above");
    let mut text = screen.bold(&head) + "\n";
    for (i, model) in solution.solutions.iter().enumerate() {
        let above = share(model.objective - solution.objective, solution.objective);
        let names: Vec<String> = model
            .support
            .iter()
            .map(|j| screen.clip(&job.problem.names()[*j], LONGEST_NAME))
            .collect();
        let features = if names.is_empty() {
            "(none)".to_owned()
        } else {
            screen.clip(&names.join(", "), screen.width - 35)
        };
        let _ = writeln!(
            text,
            "  {:>4}  {:<12}  {:>7} %  {features}",
            i + 1,
            significant(model.objective, 8),
            percent(above),
        );
    }
    let _ = writeln!(text, "  {}", Proof::rest(solution.rest_bound));
    if solution.truncated {
        let _ = writeln!(
            text,
            "  more models are within the threshold than the {shown} shown; --top M shows more"
        );
    }
    text
}

/// Formats what is proved, in green if that is all that was asked for.
fn title(proof: &Proof, screen: &Screen) -> String {
    if proof.is_complete() {
        screen.good(&proof.headline())
    } else {
        screen.loud(&proof.headline())
    }
}

/// Formats the coefficients, the effect of one standard deviation of each column, and a bar of that effect.
///
/// A coefficient is per unit of its column, and units differ, so bars of coefficients could not be compared.
/// Models in files that lack the standard deviations have no bars.
pub fn coefficients(model: &Fitted, has_intercept: bool, screen: &Screen) -> String {
    let mut text = if model.outputs().is_empty() {
        of_one_response(model, has_intercept, screen)
    } else {
        by_response(model, has_intercept, screen)
    };
    for sentence in explain::twins(model) {
        text += &screen.wrapped("  ", "  ", &sentence);
    }
    text
}

fn of_one_response(model: &Fitted, has_intercept: bool, screen: &Screen) -> String {
    let (mut names, mut values): (Vec<String>, Vec<f64>) = model
        .coefficients
        .0
        .iter()
        .map(|(name, value)| (screen.clip(name, LONGEST_NAME), value.first()))
        .unzip();
    let effects: Option<Vec<f64>> = model
        .coefficients
        .0
        .iter()
        .map(|(name, _)| model.per_sd.get(name))
        .collect();
    if has_intercept {
        names.push("(intercept)".into());
        values.push(model.intercept.first());
    }
    let effects = effects.filter(|effects| !effects.is_empty());
    let mut columns = vec![("coefficient", aligned(&values))];
    columns.extend(effects.as_ref().map(|effects| ("per SD", aligned(effects))));

    let name_width = names.iter().map(|name| width(name)).fold(7, usize::max);
    let mut lines = vec![format!("  {}", padded("feature", name_width))];
    lines.extend(
        names
            .iter()
            .map(|name| format!("  {}", padded(name, name_width))),
    );
    for (title, cells) in &columns {
        let wide = cells.iter().map(String::len).fold(title.len(), usize::max);
        let cells = cells.iter().map(String::as_str).chain([""]);
        for (line, cell) in lines.iter_mut().zip([*title].into_iter().chain(cells)) {
            let _ = write!(line, "  {cell:>wide$}");
        }
    }
    let mut text = screen.bold(&lines[0]) + "\n";
    let room = if screen.is_terminal {
        screen.width.saturating_sub(width(&lines[0]) + 2)
    } else {
        LONGEST_BAR
    };
    // A wide screen has room for longer bars.
    let longest = room.min(LONGEST_BAR + screen.width.saturating_sub(80) / 2);
    let mut effects = effects.unwrap_or_default();
    let largest = effects.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    effects.resize(names.len(), 0.0);
    for (line, effect) in lines[1..].iter_mut().zip(&effects) {
        let bar = bar(effect.abs() / largest, longest);
        *line += "  ";
        *line += &if *effect < 0.0 {
            screen.minus(&bar)
        } else {
            screen.good(&bar)
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Formats the coefficients of several responses, one column each.
fn by_response(model: &Fitted, has_intercept: bool, screen: &Screen) -> String {
    let rows: Vec<(&str, &Numbers)> = model
        .coefficients
        .0
        .iter()
        .map(|(name, numbers)| (name.as_str(), numbers))
        .chain(has_intercept.then_some(("(intercept)", &model.intercept)))
        .collect();
    let names: Vec<String> = rows
        .iter()
        .map(|(name, _)| screen.clip(name, LONGEST_NAME))
        .collect();
    let wide = names.iter().map(|name| width(name)).fold(7, usize::max);
    let mut lines = vec![format!("  {}", padded("feature", wide))];
    lines.extend(names.iter().map(|name| format!("  {}", padded(name, wide))));
    for (at, response) in model.outputs().iter().enumerate() {
        let values: Vec<f64> = rows.iter().map(|(_, numbers)| numbers.all()[at]).collect();
        let cells = aligned(&values);
        let title = screen.clip(response, LONGEST_NAME);
        let wide = cells
            .iter()
            .map(String::len)
            .fold(width(&title), usize::max);
        for (line, cell) in lines.iter_mut().zip([title].iter().chain(&cells)) {
            let _ = write!(
                line,
                "  {}{cell}",
                " ".repeat(wide.saturating_sub(width(cell)))
            );
        }
    }
    let mut text = screen.bold(&lines[0]) + "\n";
    for line in &lines[1..] {
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Draws a bar of `share` of `width` characters, to an eighth of a character.
fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // A cast saturates: the share 0/0 of a model without coefficients gives an empty bar.
    let eighths = ((share * 8.0 * width as f64).round() as usize).min(8 * width);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Formats numbers with aligned decimal points; in scientific notation if their magnitudes differ too much.
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
    use std::collections::BTreeMap;

    use l0star::Status;

    use super::*;

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0, 3), "");
        assert_eq!(bar(f64::NAN, 3), "");
    }

    /// Builds a model from the name, coefficient and effect of one standard deviation of each feature.
    fn model(rows: &[(&str, f64, f64)]) -> Fitted {
        let json = serde_json::json!({
            "status": "optimal", "objective": 1.0, "lower_bound": 1.0, "gap": 0.0, "relative_gap": 0.0, "k": rows.len(),
            "loss": "quadratic", "ridge": 1e-3, "intercept": 0.5, "solver_calls": 1, "nodes": 1, "peak_open_nodes": 1,
            "seconds": 0.1, "method": "best-first",
            "support": rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "coefficients": rows.iter().map(|row| (row.0, row.1)).collect::<BTreeMap<_, _>>(),
            "per_sd": rows.iter().map(|row| (row.0, row.2)).collect::<BTreeMap<_, _>>(),
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_width_and_the_colours_are_those_of_the_screen() {
        let model = model(&[
            ("a name of more than thirty-two letters", -1.0, -4.0),
            ("age", 2.0, 8.0),
        ]);
        let text = |width, colours| {
            let screen = Screen {
                colours,
                ..Screen::plain(width, true)
            };
            coefficients(&model, true, &screen)
        };
        let longest = |text: &str| text.lines().map(width).max();
        assert!(longest(&text(60, false)) <= Some(60));
        assert!(longest(&text(160, false)) > longest(&text(80, false)));
        assert!(!text(80, false).contains('\x1b'));
        let coloured = text(80, true);
        assert!(coloured.contains("\x1b[32m█") && coloured.contains("\x1b[35m█"));
        assert!(coloured.lines().last().unwrap().contains("(intercept)"));
    }

    #[test]
    fn the_title_is_green_only_where_all_is_proved() {
        let screen = Screen {
            width: 80,
            colours: true,
            is_terminal: true,
        };
        for status in Status::WORDS {
            let bound = (*status != "heuristic").then_some(0.9);
            let proof = Proof::new(status, 1, 1.0, bound, "best-first");
            let text = title(&proof, &screen);
            assert!(text.contains(&proof.headline()), "{text}");
            let is_green = text.starts_with("\x1b[32m");
            assert_eq!(
                is_green,
                ["optimal", "gap_reached"].contains(status),
                "{text}"
            );
        }
    }

    #[test]
    fn bars_are_what_a_standard_deviation_does() {
        // A small coefficient of a column that varies much, and a large one of a column that varies little.
        let rows = [("grams", 0.001, 5.0), ("share", 1000.0, -2.5)];
        let text = coefficients(&model(&rows), true, &Screen::plain(80, true));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("coefficient   per SD"), "{text}");
        let bar = |line: &str| line.chars().filter(|c| *c == '█').count();
        assert_eq!(
            [bar(lines[1]), bar(lines[2])],
            [LONGEST_BAR, LONGEST_BAR / 2]
        );
        assert!(
            lines[1].contains("5.0000") && lines[2].contains("-2.5000"),
            "{text}"
        );
        // The intercept is not a feature.
        assert!(lines[3].contains("(intercept)") && bar(lines[3]) == 0);
    }

    #[test]
    fn a_model_without_deviations_has_coefficients_and_no_bars() {
        let mut model = model(&[("age", 2.0, 8.0)]);
        model.per_sd.0.clear();
        let text = coefficients(&model, false, &Screen::plain(80, true));
        assert_eq!(text, "  feature  coefficient\n  age           2.0000\n");
        model.coefficients.0.clear();
        let text = coefficients(&model, true, &Screen::plain(80, true));
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn wide_characters_align() {
        let rows = [
            ("体重", 1.0, 1.0),
            ("年龄指数", 2.0, 2.0),
            ("abc", 3.0, 3.0),
        ];
        let text = coefficients(&model(&rows), false, &Screen::plain(80, true));
        let start = |line: &str| width(&line[..line.find('█').unwrap()]);
        let starts: Vec<usize> = text.lines().skip(1).map(start).collect();
        assert!(starts.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }

    #[test]
    fn columns_of_numbers_align() {
        assert_eq!(aligned(&[1.5, -20.25]), ["1.5000", "-20.2500"]);
        assert_eq!(aligned(&[1e-9, 1.0]), ["1.00000e-9", "1.00000e0"]);
        assert_eq!(aligned(&[0.0]), ["0.0000"]);
    }
}
