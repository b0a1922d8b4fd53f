//! The objective and the bound while the search ran.

use l0star::search::Event;
use serde::Serialize;

/// More points than a chart can show.
const MOST: usize = 1000;

/// Where the search stood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    seconds: f64,
    objective: f64,
    lower_bound: f64,
    nodes: u64,
}

/// Points in the order of time, each different from the one before.
#[derive(Debug, Default)]
pub struct Trace {
    points: Vec<Point>,
    /// The least time between two points: it doubles when there are too many.
    pause: f64,
}

impl Trace {
    /// From rows of (seconds, objective, lower bound, nodes), NaN where nothing was known, the end last.
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

    /// Takes what a search says.
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

    /// What came out in the end.
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
            // The last word within the pause counts.
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

    /// Something to draw, if there is.
    pub fn points(&self) -> Option<&[Point]> {
        (self.points.len() > 1).then_some(&self.points)
    }

    /// Nodes that were examined up to the end.
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
        let points = trace.points().unwrap();
        assert!(points.len() <= MOST + 1, "{}", points.len());
        assert!(
            points
                .windows(2)
                .all(|pair| pair[0].seconds <= pair[1].seconds)
        );
        assert_eq!(points.last().unwrap().lower_bound, 1.0);
    }
}
