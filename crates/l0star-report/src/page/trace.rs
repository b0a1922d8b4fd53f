//! The objective and the bound during the search.

use l0star::search::Event;
use serde::Serialize;

/// Upper limit on the points, more than a chart can show.
const MOST: usize = 1000;
/// Share of the objective within which numbers are drawn as one line. It is a thousand times the difference
/// that "optimal" allows for the bound: on a scale near that, a proof would look incomplete.
const FINEST: f64 = 1e-6;

/// The state of the search at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    seconds: f64,
    objective: f64,
    lower_bound: f64,
    nodes: u64,
}

/// The data of the chart.
#[derive(Debug, PartialEq, Serialize)]
pub struct Chart<'a> {
    points: &'a [Point],
    /// If the lines could not be told apart: the description of the single line that is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    flat: Option<&'static str>,
}

/// Points ordered by time, each different from the one before.
#[derive(Debug, Default)]
pub struct Trace {
    points: Vec<Point>,
    /// Minimum time between two points, which doubles when there are too many.
    pause: f64,
}

impl Trace {
    /// Creates a trace from rows of (seconds, objective, lower bound, nodes), NaN for unknown
    /// values, with the end last.
    pub fn of(rows: impl IntoIterator<Item = [f64; 4]>) -> Trace {
        let known = rows.into_iter().filter(|row| row[1].is_finite());
        let point = |[seconds, objective, lower_bound, nodes]: [f64; 4]| Point {
            seconds,
            objective,
            lower_bound: lower_bound.max(0.0),
            nodes: nodes as u64,
        };
        Trace {
            points: known.map(point).collect(),
            pause: 0.0,
        }
    }

    /// Records an event of a search.
    pub fn hear(&mut self, event: &Event) {
        if !event.objective.is_finite() {
            return;
        }
        self.add(Point {
            seconds: event.seconds,
            objective: event.objective,
            lower_bound: event.lower_bound,
            nodes: event.nodes,
        });
    }

    /// Records the final result.
    pub fn end(&mut self, seconds: f64, objective: f64, lower_bound: Option<f64>, nodes: u64) {
        self.points.push(Point {
            seconds,
            objective,
            lower_bound: lower_bound.unwrap_or(0.0),
            nodes,
        });
    }

    fn add(&mut self, point: Point) {
        if let Some(last) = self.points.last_mut() {
            let same = last.objective == point.objective && last.lower_bound == point.lower_bound;
            if same {
                return;
            }
            // The last point within the pause counts.
            if point.seconds < last.seconds + self.pause && last.objective == point.objective {
                last.lower_bound = point.lower_bound;
                last.nodes = point.nodes;
                return;
            }
        }
        self.points.push(point);
        if self.points.len() > MOST {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.pause = (2.0 * self.pause).max(0.01);
        }
    }

    /// Returns a chart if there is something to draw; `is_proved`: whether the search ended
    /// with the status `optimal`.
    pub fn chart(&self, is_proved: bool) -> Option<Chart<'_>> {
        (self.points.len() > 1).then(|| Chart {
            points: &self.points,
            flat: self.flat(is_proved),
        })
    }

    /// Describes the single line, if no point differs from the end by more than [`FINEST`].
    pub(super) fn flat(&self, is_proved: bool) -> Option<&'static str> {
        let last = self.points.last()?;
        let near = |value: f64| (value - last.objective).abs() <= FINEST * last.objective.abs();
        // The bound is unknown so far, or there is none.
        let is_known = |point: &Point| point.lower_bound != 0.0;
        let is_flat =
            |point: &Point| near(point.objective) && (near(point.lower_bound) || !is_known(point));
        if !is_known(last) || !self.points.iter().all(is_flat) {
            return None;
        }
        Some(match is_proved {
            true if last.nodes <= 1 => "bound and objective met at the root",
            true => "bound and objective met",
            false => "bound and objective differ by too little to be drawn apart",
        })
    }

    /// Returns the total number of examined nodes.
    pub fn nodes(&self) -> u64 {
        self.points.last().map_or(0, |last| last.nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_search_stays_short() {
        let mut trace = Trace::default();
        for i in 0..100_000 {
            trace.add(Point {
                seconds: 1e-3 * f64::from(i),
                objective: 1.0,
                lower_bound: 1e-6 * f64::from(i),
                nodes: 1,
            });
        }
        trace.end(100.0, 1.0, Some(1.0), 7);
        let points = trace.chart(true).unwrap().points;
        assert!(points.len() <= MOST + 1, "{}", points.len());
        assert!(
            points
                .windows(2)
                .all(|pair| pair[0].seconds <= pair[1].seconds)
        );
        assert_eq!(points.last().unwrap().lower_bound, 1.0);
    }

    fn flat(rows: &[[f64; 4]], is_proved: bool) -> Option<&'static str> {
        let trace = Trace::of(rows.iter().copied());
        trace.chart(is_proved).unwrap().flat
    }

    #[test]
    fn a_proof_at_the_root_is_one_line_that_says_so() {
        let first = [0.0, 1747.9, f64::NAN, 0.0];
        let proved = [0.01, 1747.9, 1747.9 * (1.0 - 8e-10), 1.0];
        let root = Some("bound and objective met at the root");
        assert_eq!(flat(&[first, proved], true), root);
        // A slightly lower bound before the end does not matter.
        let near = [0.005, 1747.9, 1747.9 * (1.0 - 5e-7), 1.0];
        assert_eq!(flat(&[first, near, proved], true), root);
        let later = [0.01, 1747.9, 1747.9, 12.0];
        assert_eq!(flat(&[near, later], true), Some("bound and objective met"));
    }

    #[test]
    fn lines_that_are_apart_are_drawn_apart() {
        let end = [1.0, 2.0, 2.0, 9.0];
        assert_eq!(flat(&[[0.0, 2.0, 1.9, 1.0], end], true), None);
        assert_eq!(flat(&[[0.0, 2.1, 2.0, 1.0], end], true), None);
        // A heuristic has no bound to meet.
        let unbounded = [1.0, 2.0, f64::NAN, 0.0];
        assert_eq!(flat(&[unbounded, unbounded], false), None);
    }

    #[test]
    fn nothing_is_said_to_meet_that_is_not_proved() {
        let open = [0.0, 2.0, 2.0 * (1.0 - 1e-7), 1.0];
        let said = flat(&[open, [1.0, 2.0, 2.0 * (1.0 - 1e-8), 9.0]], false).unwrap();
        assert!(!said.contains("met"), "{said}");
    }
}
