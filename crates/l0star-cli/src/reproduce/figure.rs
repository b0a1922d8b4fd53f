//! The content of a figure, before it is drawn.

use super::results::{Mark, Results};
use super::store::Record;

/// A figure of the page, drawn to its own files.
#[derive(Debug)]
pub struct Figure {
    /// The name of its files, without extension.
    pub name: &'static str,
    pub caption: &'static str,
    /// Number of panels per row.
    pub columns: usize,
    pub panels: Vec<Panel>,
}

/// A pair of axes with its curves.
#[derive(Debug)]
pub struct Panel {
    pub title: String,
    pub x: &'static str,
    pub y: Axis,
    pub series: Vec<Series>,
}

/// The label and the scale of a vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    pub label: &'static str,
    pub log: bool,
}

/// Axis of seconds, in powers of ten.
pub const SECONDS: Axis = Axis {
    label: "seconds",
    log: true,
};
/// Axis of solver calls, in powers of ten.
pub const CALLS: Axis = Axis {
    label: "solver calls",
    log: true,
};
/// Axis of the share of instances whose true support was found.
pub const PSSR: Axis = Axis {
    label: "PSSR (%)",
    log: false,
};
/// Axis of the distance to the optimal objective.
pub const ERROR: Axis = Axis {
    label: "objective error",
    log: false,
};

/// A curve with its name and marks.
#[derive(Debug)]
pub struct Series {
    pub name: String,
    pub marks: Vec<Mark>,
}

impl Panel {
    /// Builds a panel with one curve of means and deviations per method.
    pub fn of(
        results: &Results,
        panel: &str,
        title: &str,
        x: &'static str,
        y: Axis,
        methods: &[&str],
    ) -> Self {
        let value = |record: &Record| match y.label {
            label if label == SECONDS.label => record.seconds,
            label if label == CALLS.label => record.solver_calls as f64,
            label if label == PSSR.label => match record.recovered {
                Some(true) => 100.0,
                _ => 0.0,
            },
            _ => results.error(record).unwrap_or(f64::NAN),
        };
        let series = methods.iter().map(|method| Series {
            name: (*method).to_owned(),
            marks: results.marks(panel, method, value),
        });
        Self {
            title: title.to_owned(),
            x,
            y,
            series: series.filter(|series| !series.marks.is_empty()).collect(),
        }
    }

    /// Removes the error bars, which a percentage does not have.
    pub fn without_deviations(mut self) -> Self {
        for series in &mut self.series {
            series
                .marks
                .iter_mut()
                .for_each(|mark| mark.deviation = 0.0);
        }
        self
    }
}
