//! The best model at every price of a feature: a path over `l0_penalty`, with its exact breakpoints.
//!
//! At the price C, a set of features T has the objective `P(T) + C f(T)`, where `f(T)` is the sum of the factors of
//! its features. This is a line in C. The optimum `v(C)` is the least of finitely many lines, so it is concave. Its
//! pieces are found by solving where the lines of two known optima meet: either they meet on v, and that is a
//! breakpoint, or a third line is below them there. By concavity, the bounds certified at both ends of a piece hold
//! for all prices between them. Beyond the last breakpoint no model costs less than what every model pays.

use std::time::Instant;

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::settings::{Method, Settings, Solution, Status};
use crate::solve::Run;

/// Relative difference below which two objectives count as equal: a little more than twice the accuracy of `optimal`.
const TIE: f64 = 3e-9;

/// The model that is best for prices in an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// The lowest price at which it is best …
    pub from: f64,
    /// … and the highest one; infinity for the last.
    pub to: f64,
    /// The sum of the factors of its features: the objective is `objective + price · weight`.
    pub weight: f64,
    /// The objective without the price.
    pub objective: f64,
    /// The weaker of the statuses at its two ends.
    pub status: Status,
    /// The model, as it was found at some price of the interval.
    pub solution: Solution,
}

/// A line that is optimal at some price.
#[derive(Debug, Clone)]
struct Line {
    weight: f64,
    objective: f64,
    solution: Solution,
}

/// A search for all pieces.
struct Search<'p> {
    problem: &'p Problem,
    settings: &'p Settings,
    start: Instant,
    /// The prices at which two lines meet on v, with the status there.
    breakpoints: Vec<(f64, Status)>,
    lines: Vec<Line>,
}

/// Finds the best model with at most k features at every price ≥ 0, in order of increasing prices. The price of the
/// problem itself does not matter.
///
/// `time_limit` applies to all searches together, the other limits to each. Searches that a limit stops leave pieces
/// that are not proved, as their status says.
///
/// ```
/// use l0star::{Design, Problem, Settings, Status, penalty_path};
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(2).build()?;
/// let path = penalty_path(&problem, &Settings::default())?;
/// let sizes: Vec<usize> = path.iter().map(|piece| piece.solution.support.len()).collect();
/// assert_eq!(sizes, [2, 1, 0]);
/// assert!(path.windows(2).all(|pair| pair[0].to == pair[1].from));
/// # Ok::<(), l0star::Error>(())
/// ```
pub fn penalty_path(problem: &Problem, settings: &Settings) -> Result<Vec<Piece>> {
    settings.check()?;
    if !matches!(settings.method, Method::BestFirst | Method::Exhaustive) || settings.wants_list() {
        return Err(Error::Setting {
            name: "method",
            value: settings.method.to_string(),
            range: "a path over prices needs the method best-first or exhaustive, and no list of models",
        });
    }
    let mut search = Search {
        problem,
        settings,
        start: Instant::now(),
        breakpoints: Vec::new(),
        lines: Vec::new(),
    };
    let (first, at_zero) = search.solve(0.0, &[])?;
    // Beyond this price, every feature with a positive factor costs more than the objective of the null model.
    let dearest = 2.0 * problem.null_value / problem.least_l0_factor();
    let (last, at_most) = search.solve(dearest, &[])?;
    search.lines.push(first.clone());
    search.between(&first, &last)?;
    if last.weight < first.weight {
        search.lines.push(last);
    }
    Ok(search.pieces(at_zero, at_most))
}

impl Search<'_> {
    /// Solves the problem at one price; returns the line of the optimum and the status.
    fn solve(&self, price: f64, known: &[&Line]) -> Result<(Line, Status)> {
        let problem = self.problem.with_l0_penalty(price)?;
        let limit = self.settings.time_limit;
        let settings = Settings {
            time_limit: limit.map(|limit| limit.saturating_sub(self.start.elapsed())),
            ..self.settings.clone()
        };
        let start = known.iter().map(|line| line.solution.support.clone());
        let solution = Run::new(&problem, &settings)
            .start(start.collect())
            .solve()?;
        let weight = self.problem.l0_weight(&solution.support);
        let status = solution.status;
        let line = Line {
            weight,
            objective: solution.objective - problem.l0_cost(&solution.support),
            solution,
        };
        Ok((line, status))
    }

    /// Finds the breakpoints between two lines, of which the left one is the steeper.
    fn between(&mut self, left: &Line, right: &Line) -> Result<()> {
        if right.weight >= left.weight {
            return Ok(());
        }
        // Up to rounding, the left line is no worse at 0.
        let meet = (right.objective - left.objective) / (left.weight - right.weight);
        let meet = meet.max(0.0);
        let value = left.objective + meet * left.weight;
        let (middle, status) = self.solve(meet, &[left, right])?;
        let is_between = middle.weight < left.weight && middle.weight > right.weight;
        let found = middle.objective + meet * middle.weight;
        let room = TIE * value.max(1e-12 * self.problem.null_value);
        if !is_between || found >= value - room {
            self.breakpoints.push((meet, status));
            return Ok(());
        }
        self.between(left, &middle)?;
        self.lines.push(middle.clone());
        self.between(&middle, right)
    }

    fn pieces(self, at_zero: Status, at_most: Status) -> Vec<Piece> {
        let mut ends = vec![(0.0, at_zero)];
        ends.extend(self.breakpoints);
        // The proof of a model that is best at every price consists of the proofs at both ends.
        let last = if ends.len() == 1 {
            at_most
        } else {
            Status::Optimal
        };
        ends.push((f64::INFINITY, last));
        let pieces = self.lines.into_iter().zip(ends.windows(2));
        let piece = |(line, ends): (Line, &[(f64, Status)])| Piece {
            from: ends[0].0,
            to: ends[1].0,
            weight: line.weight,
            objective: line.objective,
            status: weaker(ends[0].1, ends[1].1),
            solution: line.solution,
        };
        let is_wide = |piece: &Piece| piece.from < piece.to;
        pieces.map(piece).filter(is_wide).collect()
    }
}

/// The status that says less.
fn weaker(first: Status, second: Status) -> Status {
    match (first, second) {
        (Status::Optimal, other) => other,
        (Status::GapReached, other) if other != Status::Optimal => other,
        (first, _) => first,
    }
}
