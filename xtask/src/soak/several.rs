//! Problems with several responses or classes, compared with their definition and with brute force.

use l0star::{Method, Settings};

use super::common::several::{self, Data};
use super::{boxed, check, check_killed, check_list, check_path, check_prices, screened};

/// Kinds of problems that can be drawn.
pub const NAMES: &[&str] = &["responses", "multinomial"];

/// Checks the problem of a seed by its definition, then with constraints by brute force; `case` selects the questions.
pub fn run(name: &str, seed: u64, case: u64) -> Result<(), String> {
    let data = match name {
        "responses" => Data::draw(seed),
        _ => Data::draw_classes(seed),
    };
    let mut rows = Settings::default();
    rows.mechanisms.gram = false;
    for settings in [Settings::default(), rows, Settings::new(Method::Exhaustive)] {
        several::check(&data, &settings)
            .map_err(|error| format!("{}: {error}", settings.method))?;
    }
    let Ok(problem) = data.ruled(seed).build() else {
        return Ok(());
    };
    for settings in [Settings::default(), screened(), boxed()] {
        check(&problem, &settings).map_err(|error| format!("with rules: {error}"))?;
    }
    let outcome = match case % 4 {
        0 => check_list(&problem),
        1 => check_path(&problem),
        2 => check_prices(&problem, case),
        _ => check_killed(&problem),
    };
    outcome.map_err(|error| format!("with rules, question {}: {error}", case % 4))
}
