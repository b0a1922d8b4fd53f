//! Models of several responses: their predictions on the rows of a problem.

use l0star::{Problem, Solution};

/// `intercept + Ax` on the rows of a problem, for each response.
pub fn scores(problem: &Problem, solution: &Solution) -> Vec<Vec<f64>> {
    let (features, design) = (problem.features(), problem.design());
    let own = solution.coefficients.chunks_exact(features.max(1));
    let each = own.zip(solution.intercepts()).map(|(coefficients, intercept)| {
        let mut scores = vec![intercept; design.rows()];
        let x = coefficients.iter().copied().enumerate();
        design.add_columns(x.filter(|(_, value)| *value != 0.0), &mut scores);
        scores
    });
    each.collect()
}

/// The responses of these rows, one after the other, in the units of the data.
pub fn rows(problem: &Problem) -> Vec<Vec<f64>> {
    (0..problem.outputs()).map(|r| problem.response_of(r)).collect()
}
