//! [`Outlook`]: whether a search is likely to finish, judged by the progress of its bound, and messages
//! about searches that are not.

use l0star::Problem;
use l0star::search::Event;
use l0star_data::counted;
use l0star_record::cv::{Axis, Tally};

use crate::face::Face;

/// Seconds from the start during which nothing is said about a search.
const EARLY: f64 = 10.0;
/// Multiple of its running time beyond which a proof counts as hopeless, at the pace of the second half of the
/// search. Bounds slow down, so the proof would take even longer.
const HOPELESS: f64 = 100.0;
/// Upper limit on the points, more than an estimate needs.
const MOST: usize = 512;

/// The decrease of a search's gap over time.
#[derive(Debug, Clone, Default)]
pub struct Outlook {
    /// Seconds, and the gap as a share of the objective, ordered by time.
    points: Vec<(f64, f64)>,
    /// Minimum time between two points, which doubles when there are too many.
    pause: f64,
}

impl Outlook {
    /// Creates an outlook from rows of (seconds, objective, lower bound, nodes), ordered by time,
    /// with NaN for unknown values.
    pub fn of(rows: impl IntoIterator<Item = [f64; 4]>) -> Self {
        let mut outlook = Self::default();
        for [seconds, objective, lower_bound, _] in rows {
            outlook.add(seconds, objective, lower_bound);
        }
        outlook
    }

    /// Records an event of a search.
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

    /// Returns the seconds that the proof would take at least, if they are hopelessly many.
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

    /// Describes a hopeless search and what would help; `None` if there is hope.
    /// `ridge` is that of the problem.
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

/// Describes the searches of cross-validation that were stopped and unlikely to finish, and what would help;
/// `None` if there are none.
pub fn of_folds(tally: &Tally, face: Face) -> Option<String> {
    let (count, searches, easiest) = tally.hopeless()?;
    let (proofs, each) = match count {
        1 => ("its proof", ""),
        _ => ("their proofs", " each"),
    };
    let smaller = match tally.axis() {
        Axis::Sizes => "a smaller k",
        Axis::Prices => "a higher price",
    };
    Some(format!(
        "{} had no prospect of ending ({searches}): at the pace of the bound {proofs} would take {}{each}; a larger ridge ({}), {smaller}, or bounds on the coefficients ({}) would help",
        counted(count, "search"),
        span(easiest.seconds),
        face.ridges(easiest.ridge),
        face.bounds(),
    ))
}

/// Formats a time that is far away.
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

    /// Creates the outlook of a search whose gap follows `gap` over time, observed every tenth of a second.
    fn after(seconds: usize, gap: impl Fn(f64) -> f64) -> Outlook {
        let rows = (1..=10 * seconds).map(|i| {
            let at = 0.1 * i as f64;
            [at, 1.0, 1.0 - gap(at), i as f64]
        });
        Outlook::of(rows)
    }

    #[test]
    fn a_bound_that_hardly_moves_is_hopeless_and_one_that_moves_is_not() {
        // These would finish after 60 seconds and after 3000 seconds.
        assert_eq!(after(30, |t| 1.0 - t / 60.0).hopeless(), None);
        assert_eq!(after(40, |t| 1.0 - t / 3000.0).hopeless(), None);
        let slow = after(40, |t| 1.0 - t / 1e6).hopeless().unwrap();
        assert!((slow / 1e6 - 1.0).abs() < 0.1, "{slow}");
        assert_eq!(after(40, |_| 0.8).hopeless(), Some(f64::INFINITY));
        // Fast at first, then hardly any progress.
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
        // Many events take little memory and lead to the same answer.
        let many = after(4000, |t| 1.0 - t / 1e7);
        assert!(many.points.len() <= MOST && many.hopeless().is_some());
    }

    #[test]
    fn searches_on_folds_are_told_together() {
        use l0star::Status;
        use l0star_record::cv::{Hopeless, Penalty, Scored};

        let stopped = |seconds: f64| Scored {
            score: 1.0,
            status: Status::TimeLimit,
            features: 2,
            hopeless: Some(Hopeless {
                seconds,
                ridge: 0.2,
            }),
        };
        let mut tally = Tally::new(&[1, 2], &Penalty::grid(&[0.01], &[0.0]), 3);
        assert_eq!(of_folds(&tally, Face::Command), None);
        tally.enter(0, 1, 0, stopped(9000.0));
        let one = of_folds(&tally, Face::Command).unwrap();
        assert!(
            one.starts_with("1 search had no prospect of ending (k = 2 in fold 1): at the pace of the bound its proof would take more than 2 hours; a larger ridge (--ridge 0.2), a smaller k, or"),
            "{one}"
        );
        tally.enter(0, 1, 2, stopped(f64::INFINITY));
        let two = of_folds(&tally, Face::Python).unwrap();
        for words in [
            "2 searches",
            "k = 2 in folds 1, 3",
            "hours each",
            "ridges=0.2",
        ] {
            assert!(two.contains(words), "{words}: {two}");
        }
        let mut priced = Tally::new(&[9], &Penalty::grid(&[0.01], &[5.0, 1.0]), 2);
        priced.enter(1, 0, 0, stopped(1e6));
        let words = of_folds(&priced, Face::Command).unwrap();
        assert!(
            words.contains("(price 1 in fold 1)") && words.contains("a higher price"),
            "{words}"
        );
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
