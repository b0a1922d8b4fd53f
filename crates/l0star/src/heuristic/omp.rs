use crate::problem::Problem;
use crate::restricted::Restricted;

/// Orthogonal matching pursuit in the form for any loss (Elenberg et al. 2018): largest gradient entry, full refit.
#[derive(Debug)]
pub struct Omp<'p> {
    problem: &'p Problem,
    restricted: Restricted<'p>,
    support: Vec<usize>,
}

impl<'p> Omp<'p> {
    /// Starts from the empty support.
    pub fn new(problem: &'p Problem) -> Self {
        Self::from(problem, Vec::new())
    }

    /// Continues from a support.
    pub(crate) fn from(problem: &'p Problem, support: Vec<usize>) -> Self {
        Self {
            problem,
            restricted: Restricted::new(problem),
            support,
        }
    }
}

impl Iterator for Omp<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let problem = self.problem;
        if self.support.len() >= problem.support_size() {
            return None;
        }
        self.restricted.fit(&self.support);
        let mut gradient = vec![0.0; problem.selectable.len()];
        let design = &problem.design;
        design.dots(&problem.selectable, self.restricted.beta(), &mut gradient);
        let best = problem
            .selectable
            .iter()
            .zip(&gradient)
            .filter(|(j, g)| **g != 0.0 && !self.support.contains(j))
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        let (best, _) = best?;
        self.support.push(*best);
        self.support.sort_unstable();
        Some(self.support.clone())
    }
}
