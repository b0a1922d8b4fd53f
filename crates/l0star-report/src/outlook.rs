//! [`Outlook`]: whether a search is likely to end, from how its bound has moved so far.

use l0star::Problem;
use l0star::search::Event;

use crate::face::Face;

/// Nothing is said of a search in its first seconds …
const EARLY: f64 = 10.0;
/// … nor of one that would end within so many times what it has taken, at the pace of its second half. Bounds slow down, so that
/// it would take longer than that.
const HOPELESS: f64 = 100.0;
/// More than an estimate needs.
const MOST: usize = 512;

/// How the gap of a search has become smaller.
#[derive(Debug, Clone, Default)]
pub struct Outlook {
    /// Seconds, and the gap as a share of the objective, in the order of time.
    points: Vec<(f64, f64)>,
    /// The least time between two points: it doubles when there are too many.
    pause: f64,
}

impl Outlook {
    /// From rows of (seconds, objective, lower bound, nodes), NaN where nothing was known, the end last.
    pub fn of(rows: impl IntoIterator<Item = [f64; 4]>) -> Self {
        let mut outlook = Self::default();
        for [seconds, objective, lower_bound, _] in rows {
            outlook.add(seconds, objective, lower_bound);
        }
        outlook
    }

    /// Takes what a search says.
    pub fn hear(&mut self, event: &Event) {
        self.add(event.seconds, event.objective, event.lower_bound);
    }

    fn add(&mut self, seconds: f64, objective: f64, lower_bound: f64) {
        let gap = (objective - lower_bound.max(0.0)) / objective;
        let last = self.points.last().map_or(f64::NEG_INFINITY, |last| last.0);
        if !gap.is_finite() || seconds < last + self.pause {
            return;
        }
        self.points.push((seconds, gap));
        if self.points.len() > MOST {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.pause = (2.0 * self.pause).max(0.01);
        }
    }

    /// How many seconds the proof would take at least, where that is hopelessly many.
    pub fn hopeless(&self) -> Option<f64> {
        let (now, gap) = *self.points.last()?;
        let half = self.points.iter().rev().find(|(at, _)| *at <= 0.5 * now)?;
        if now < EARLY {
            return None;
        }
        let pace = ((half.1 - gap) / (now - half.0)).max(0.0);
        let left = gap / pace;
        (left > HOPELESS * now).then_some(left)
    }

    /// The same in words, with what would help; nothing where there is hope. `ridge` is that of the problem.
    pub fn words(&self, problem: &Problem, ridge: f64, face: Face) -> Option<String> {
        let seconds = self.hopeless()?;
        let larger = problem.stronger_ridge(ridge);
        Some(format!(
            "at the pace of its bound this proof would take {}; a larger ridge ({}), a smaller k, or bounds on the coefficients ({}) would help",
            span(seconds),
            face.ridge(larger),
            face.bounds(),
        ))
    }
}

/// A time that is far away.
fn span(seconds: f64) -> String {
    const DAY: f64 = 24.0 * 3600.0;
    match seconds {
        s if s < DAY => format!("more than {:.0} hours", (s / 3600.0).max(1.0).floor()),
        s if s < 365.0 * DAY => format!("more than {:.0} days", (s / DAY).floor()),
        _ => "years".to_owned(),
    }
    .replace("than 1 hours", "than an hour")
    .replace("than 1 days", "than a day")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search whose gap falls like this with time, seen every tenth of a second.
    fn after(seconds: usize, gap: impl Fn(f64) -> f64) -> Outlook {
        let rows = (1..=10 * seconds).map(|i| {
            let at = 0.1 * i as f64;
            [at, 1.0, 1.0 - gap(at), i as f64]
        });
        Outlook::of(rows)
    }

    #[test]
    fn a_bound_that_hardly_moves_is_hopeless_and_one_that_moves_is_not() {
        // Done after 60 seconds, or after 3000.
        assert_eq!(after(30, |t| 1.0 - t / 60.0).hopeless(), None);
        assert_eq!(after(40, |t| 1.0 - t / 3000.0).hopeless(), None);
        let slow = after(40, |t| 1.0 - t / 1e6).hopeless().unwrap();
        assert!((slow / 1e6 - 1.0).abs() < 0.1, "{slow}");
        assert_eq!(after(40, |_| 0.8).hopeless(), Some(f64::INFINITY));
        // Fast at first, then hardly at all.
        assert!(after(40, |t| 0.5 + 0.5 * (-t).exp()).hopeless().is_some());
    }

    #[test]
    fn nothing_is_said_early_or_of_nothing() {
        assert_eq!(after(9, |_| 0.8).hopeless(), None);
        assert_eq!(Outlook::default().hopeless(), None);
        assert_eq!(
            Outlook::of([[20.0, f64::NAN, f64::NAN, 0.0]]).hopeless(),
            None
        );
        // Many events take little memory and give the same answer.
        let many = after(4000, |t| 1.0 - t / 1e7);
        assert!(many.points.len() <= MOST && many.hopeless().is_some());
    }

    #[test]
    fn spans_are_rough() {
        assert_eq!(span(1500.0), "more than an hour");
        assert_eq!(span(9000.0), "more than 2 hours");
        assert_eq!(span(100_000.0), "more than a day");
        assert_eq!(span(1e6), "more than 11 days");
        assert_eq!(span(f64::INFINITY), "years");
    }
}
