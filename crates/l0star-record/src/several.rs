//! Models of several responses or classes: their predictions on the rows of a problem, and probabilities.

use l0star::{Design, Problem, Solution};

/// Computes `intercept + Ax + o` on the rows of a problem, for each response.
pub fn scores(problem: &Problem, solution: &Solution) -> Vec<Vec<f64>> {
    on_rows(problem.design(), solution, &offsets(problem))
}

/// Returns the offset of each response or class on the rows of a problem; empty if there are none.
pub fn offsets(problem: &Problem) -> Vec<Vec<f64>> {
    (0..problem.outputs())
        .filter_map(|r| problem.offset_of(r))
        .collect()
}

/// Computes `intercept + Ax + o` on the rows of any design with the features of a solution, for each
/// response; `offsets` may be empty.
pub fn on_rows(design: &Design, solution: &Solution, offsets: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let intercepts: Vec<f64> = solution.intercepts().collect();
    let features = solution.coefficients.len() / intercepts.len();
    let own = solution.coefficients.chunks_exact(features.max(1));
    let each = own.zip(intercepts).enumerate();
    let each = each.map(|(output, (coefficients, intercept))| {
        let mut scores = match offsets.get(output) {
            Some(offset) => offset.iter().map(|o| o + intercept).collect(),
            None => vec![intercept; design.rows()],
        };
        let x = coefficients.iter().copied().enumerate();
        design.add_columns(x.filter(|(_, value)| *value != 0.0), &mut scores);
        scores
    });
    each.collect()
}

/// Returns the responses of a problem's rows, one after the other, in the units of the data.
pub fn rows(problem: &Problem) -> Vec<Vec<f64>> {
    (0..problem.outputs())
        .map(|r| problem.response_of(r))
        .collect()
}

/// Returns the class of each row, from the indicators of all classes.
pub fn classes(indicators: &[Vec<f64>]) -> Vec<usize> {
    let rows = indicators.first().map_or(0, Vec::len);
    let class = |row: usize| indicators.iter().position(|own| own[row] == 1.0);
    (0..rows).map(|row| class(row).unwrap_or(0)).collect()
}

/// Upper limit on the number of classes; a column with more is a number or an identifier.
pub const MOST_CLASSES: usize = 100;

/// Computes `ln Σ e^z - z_y`.
pub fn log_loss(scores: &[f64], class: usize) -> f64 {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| libm::exp(score - most)).sum();
    (most - scores[class]) + libm::log(sum)
}

/// Returns the class of the highest score, the first of several.
pub fn best(scores: &[f64]) -> usize {
    let (mut best, mut most) = (0, f64::NEG_INFINITY);
    for (class, score) in scores.iter().enumerate() {
        if *score > most {
            (best, most) = (class, *score);
        }
    }
    best
}

/// Computes `e^{z_c} / Σ e^z`.
///
/// The exponentials are computed in software, because those of the platform may differ in the last bit.
pub fn probabilities(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = scores.iter().map(|score| libm::exp(score - most)).collect();
    let sum: f64 = shares.iter().sum();
    shares.iter().map(|share| share / sum).collect()
}
