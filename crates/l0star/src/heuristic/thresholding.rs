use super::EPSILON;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::relaxation::largest;
use crate::restricted::Restricted;

const MAX_ITERATIONS: usize = 10_000;

/// Limit on the halvings of a step where the curvature has no bound.
const MAX_HALVINGS: usize = 100;

/// A gradient step `x - η∇P(x)` with `η = 1/(‖A‖² max p s + max λ)`, and its k largest selectable entries.
///
/// Without a bound s of the curvature, the curvature at x replaces it, and η is halved until P does not rise.
#[derive(Debug)]
struct GradientStep<'p> {
    problem: &'p Problem,
    /// All columns whose coefficients can be nonzero.
    columns: Vec<usize>,
    step: f64,
    /// `‖A‖²` and `max λ`, where the step depends on x.
    steep: Option<(f64, f64)>,
    z: Vec<f64>,
    beta: Vec<f64>,
}

impl<'p> GradientStep<'p> {
    fn new(problem: &'p Problem, limits: &Limits) -> Self {
        let mut columns = problem.penalised.clone();
        columns.extend_from_slice(problem.unpenalised.columns());
        columns.extend_from_slice(&problem.selectable);
        let heaviest = problem.p.iter().copied().fold(0.0, f64::max);
        let ridge = columns
            .iter()
            .map(|j| problem.ridge[*j])
            .fold(0.0, f64::max);
        // Unpenalised columns are not projected out here. So this is the norm of all columns, with a few percent of
        // room.
        let norm: f64 = 1.05 * plain_norm(problem, &columns, limits);
        let smooth = norm * norm * heaviest * problem.loss.smoothness() + ridge;
        Self {
            problem,
            columns,
            step: 1.0 / smooth,
            steep: problem.is_steep().then_some((norm * norm, ridge)),
            z: vec![0.0; problem.rows()],
            beta: vec![0.0; problem.rows()],
        }
    }

    /// P(x), and the entries after the step with only the k largest selectable ones kept.
    fn run(&mut self, x: &[(usize, f64)]) -> (f64, Vec<(usize, f64)>) {
        let problem = self.problem;
        problem.predict_into(x, &mut self.z);
        let value = problem.loss_of(&self.z) + problem.penalty(x);
        let mut alpha = vec![0.0; problem.rows()];
        problem.slopes_of(&self.z, &mut alpha, &mut self.beta);
        let mut gradient = vec![0.0; problem.design.columns()];
        let design = &problem.design;
        design.dots_scattered(&self.columns, &self.beta, &mut gradient);
        let Some((square, ridge)) = self.steep else {
            return (value, self.stepped(x, &gradient));
        };
        let mut bends = alpha;
        problem.curvatures_of(&self.z, &mut bends);
        let sharpest = bends.into_iter().fold(1e-300, f64::max);
        self.step = 1.0 / (square * sharpest + ridge);
        for _ in 0..MAX_HALVINGS {
            let next = self.stepped(x, &gradient);
            if problem.value(&next) <= value {
                return (value, next);
            }
            self.step *= 0.5;
        }
        (value, x.to_vec())
    }

    /// The entries after a step against the gradient of the loss, with only the k largest selectable ones kept.
    fn stepped(&self, x: &[(usize, f64)], gradient: &[f64]) -> Vec<(usize, f64)> {
        let problem = self.problem;
        let mut stepped: Vec<f64> = gradient.iter().map(|g| -self.step * g).collect();
        for (j, x) in x {
            stepped[*j] += x - self.step * problem.ridge[*j] * x;
        }
        let scores = problem.selectable.iter().map(|j| (*j, stepped[*j].abs()));
        let support = largest(scores, problem.support_size());
        let always = self.columns.len() - problem.selectable.len();
        let next = self.columns[..always].iter().chain(&support);
        next.map(|j| (*j, stepped[*j])).collect()
    }
}

fn plain_norm(problem: &Problem, columns: &[usize], limits: &Limits) -> f64 {
    let always = problem.unpenalised.columns();
    let penalised: Vec<usize> = columns
        .iter()
        .copied()
        .filter(|j| !always.contains(j))
        .collect();
    let squares: f64 = always.iter().map(|j| problem.norms[*j].powi(2)).sum();
    // ‖[A U]‖² ≤ ‖A‖² + ‖U‖²; the projected norm of A misses at most the part inside span(U).
    let inside = problem.unpenalised.squares_inside(problem, &penalised);
    (problem.spectral_norm(&penalised, limits).powi(2) + squares + inside).sqrt()
}

fn selectable_support(problem: &Problem, x: &[(usize, f64)]) -> Vec<usize> {
    let support = x.iter().filter(|(_, x)| *x != 0.0).map(|(j, _)| *j);
    let mut support: Vec<usize> = support
        .filter(|j| problem.selectable.binary_search(j).is_ok())
        .collect();
    support.sort_unstable();
    support
}

/// Iterative hard thresholding (Blumensath and Davies 2009; Jain et al. 2014).
#[derive(Debug)]
pub struct Iht<'p> {
    step: GradientStep<'p>,
    x: Vec<(usize, f64)>,
    value: f64,
    iterations: usize,
}

impl<'p> Iht<'p> {
    /// Starts from the null model.
    pub fn new(problem: &'p Problem) -> Self {
        Self::within(problem, &Limits::none())
    }

    /// Like [`Iht::new`]; a limit ends the preparation early, and then the steps may be too long.
    pub(crate) fn within(problem: &'p Problem, limits: &Limits) -> Self {
        Self {
            step: GradientStep::new(problem, limits),
            x: problem.null_model(),
            value: f64::INFINITY,
            iterations: 0,
        }
    }
}

impl Iterator for Iht<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let problem = self.step.problem;
        let (value, next) = self.step.run(&self.x);
        let gain = self.value - value;
        if self.iterations >= MAX_ITERATIONS || gain <= EPSILON * problem.null_value {
            return None;
        }
        self.value = value;
        self.x = next;
        self.iterations += 1;
        Some(selectable_support(problem, &self.x))
    }
}

/// Hard thresholding pursuit, gradient form (Yuan et al. 2014).
#[derive(Debug)]
pub struct Htp<'p> {
    step: GradientStep<'p>,
    restricted: Restricted<'p>,
    x: Vec<(usize, f64)>,
    value: f64,
    seen: Vec<Vec<usize>>,
}

impl<'p> Htp<'p> {
    /// Starts from the null model.
    pub fn new(problem: &'p Problem) -> Self {
        Self::within(problem, &Limits::none())
    }

    /// Like [`Htp::new`]; a limit ends the preparation early, and then the steps may be too long.
    pub(crate) fn within(problem: &'p Problem, limits: &Limits) -> Self {
        Self {
            step: GradientStep::new(problem, limits),
            restricted: Restricted::new(problem),
            x: problem.null_model(),
            value: f64::INFINITY,
            seen: Vec::new(),
        }
    }
}

impl Iterator for Htp<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let (_, next) = self.step.run(&self.x);
        let support = selectable_support(self.step.problem, &next);
        if self.seen.contains(&support) || self.seen.len() >= MAX_ITERATIONS {
            return None;
        }
        let fit = self.restricted.fit(&support);
        if fit.objective >= self.value {
            return None;
        }
        self.value = fit.objective;
        self.x = fit.x;
        self.seen.push(support.clone());
        Some(support)
    }
}
