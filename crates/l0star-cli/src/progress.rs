//! Progress of a search on standard error: one line per event (`--log`), or one live line on a terminal.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use l0star::search::{Event, News};
use l0star_data::counted;
use l0star_report::text::{clip, percent};

/// Seconds after which a risen bound is worth another line in the log.
const QUIET_SECONDS: f64 = 1.0;

/// Interval at which a live line or bar is redrawn.
const TICK: Duration = Duration::from_millis(100);

/// Output for the events of a search.
pub enum Listener {
    /// No output.
    None,
    /// A log, with the time of its last line.
    Log { last: f64 },
    /// A live line on a terminal.
    Live(ProgressBar),
}

impl Listener {
    /// Returns a log if it is asked for; otherwise a live line, if there is a terminal and `quiet` is not set.
    pub fn new(log: bool, quiet: bool) -> Self {
        if log {
            write_line(&HEADER.map(str::to_owned));
            return Self::Log { last: 0.0 };
        }
        if quiet || !io::stderr().is_terminal() {
            return Self::None;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise}  {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self::Live(bar)
    }

    /// Shows an event; `outlook` is the message about a search that is unlikely to finish.
    pub fn hear(&mut self, event: &Event, outlook: Option<&str>) {
        match self {
            Self::None => {}
            Self::Log { last } => {
                if let Some(what) = worth_a_line(event, *last) {
                    *last = event.seconds;
                    write_line(&columns(event, what));
                }
            }
            Self::Live(bar) => {
                let outlook = outlook.map(|words| format!("  {words}"));
                bar.set_message(message(event) + &outlook.unwrap_or_default());
            }
        }
    }

    /// Removes the live line.
    pub fn finish(self) {
        if let Self::Live(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Returns the word for an event in the log, if the event is worth a line after the one at `last`.
fn worth_a_line(event: &Event, last: f64) -> Option<&'static str> {
    match event.news {
        News::Phase => Some(event.phase.as_str()),
        News::Incumbent { .. } => Some("incumbent"),
        News::Enumeration { .. } => {
            (event.seconds >= last + QUIET_SECONDS).then_some("enumeration")
        }
        News::Bound | News::Tick => (event.seconds >= last + QUIET_SECONDS).then_some("bound"),
    }
}

/// Returns a bar that counts up to `count`; it is hidden without a terminal.
pub fn bar(count: usize, what: &str, hidden: bool) -> ProgressBar {
    let target = if hidden {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(Some(count as u64), target);
    let template = format!("{{elapsed_precise}}  {{wide_bar}} {{pos}} of {{len}} {what}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    if !bar.is_hidden() {
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// Size of a file below which reading is too quick to show progress.
const SLOW: u64 = 20 << 20;

/// Progress bar of the bytes read from a large file; it is hidden without a terminal.
pub struct ReadingBar {
    bar: ProgressBar,
    quiet: bool,
}

impl ReadingBar {
    pub fn new(file: &Path, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = "{elapsed_precise}  reading {msg}  {wide_bar} {bytes} of {total_bytes}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(clip(&file.display().to_string(), 40));
        Self { bar, quiet }
    }

    /// Reports that `read` of `of` bytes have been read.
    pub fn set(&self, read: u64, of: u64) {
        let Self { bar, quiet } = self;
        if *quiet || of < SLOW {
            return;
        }
        // The bar appears with the first report about a large file.
        if bar.length() != Some(of) {
            bar.set_length(of);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_position(read);
    }

    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

const HEADER: [&str; 9] = [
    "seconds",
    "nodes",
    "open",
    "lower bound",
    "incumbent",
    "gap %",
    "features",
    "event",
    "from",
];

fn columns(event: &Event, what: &str) -> [String; 9] {
    let number = |value: f64| {
        if value.is_finite() {
            format!("{value:.8e}")
        } else {
            "-".into()
        }
    };
    let gap = event.relative_gap();
    [
        format!("{:.2}", event.seconds),
        event.nodes.to_string(),
        event.open.to_string(),
        number(event.lower_bound),
        number(event.objective),
        if gap.is_finite() {
            percent(gap)
        } else {
            "-".into()
        },
        event.features_left.to_string(),
        what.to_owned(),
        match event.news {
            News::Incumbent { source, .. } => source.as_str().into(),
            News::Enumeration { percent } => format!("{percent} %"),
            _ => "-".into(),
        },
    ]
}

fn write_line(columns: &[String; 9]) {
    let [
        seconds,
        nodes,
        open,
        bound,
        incumbent,
        gap,
        features,
        event,
        from,
    ] = columns;
    // A log that cannot be written must not end the search.
    let _ = writeln!(
        io::stderr(),
        "{seconds:>9} {nodes:>10} {open:>9} {bound:>15} {incumbent:>15} {gap:>9} {features:>9}  {event:<11}  {from}"
    );
}

fn message(event: &Event) -> String {
    let mut text = event.phase.as_str().to_owned();
    if let News::Enumeration { percent } = event.news {
        text += &format!("  {percent} % of the models enumerated");
    }
    if event.nodes > 0 {
        text += &format!(
            "  {} ({:.0}/s), {} open",
            counted(event.nodes, "node"),
            event.nodes_per_second(),
            event.open
        );
    }
    if event.objective.is_finite() {
        text += &format!("  best {:.6e}", event.objective);
        text += &format!("  gap {} %", percent(event.relative_gap()));
    }
    text + &format!("  {} left", counted(event.features_left, "feature"))
}

#[cfg(test)]
mod tests {
    use l0star::search::{Phase, Source};

    use super::*;

    #[test]
    fn models_have_a_line_each_and_bounds_one_per_second() {
        let incumbent = News::Incumbent {
            support: &[3],
            source: Source::LocalSearch,
        };
        let mut last = 0.0;
        let mut lines = Vec::new();
        for (seconds, news) in [
            (0.0, News::Phase),
            (0.2, incumbent),
            (0.3, incumbent),
            (0.9, News::Bound),
            (1.25, News::Bound),
            (1.5, News::Bound),
            (2.5, News::Tick),
            (2.75, incumbent),
            (3.5, News::Bound),
            (3.75, News::Enumeration { percent: 12 }),
        ] {
            let event = Event {
                news,
                phase: Phase::Search,
                seconds,
                nodes: 1,
                open: 2,
                empty_objective: 1.0,
                lower_bound: 0.5,
                objective: 1.0,
                features_left: 4,
            };
            if let Some(what) = worth_a_line(&event, last) {
                last = seconds;
                lines.push((what, columns(&event, what)));
            }
        }
        let words: Vec<&str> = lines.iter().map(|(what, _)| *what).collect();
        let expected = [
            "search",
            "incumbent",
            "incumbent",
            "bound",
            "bound",
            "incumbent",
            "enumeration",
        ];
        assert_eq!(words, expected);
        let share = "3.75 1 2 5.00000000e-1 1.00000000e0 50.0 4 enumeration 12 %";
        assert_eq!(lines[6].1.join(" "), share);
        let bound = "1.50 1 2 5.00000000e-1 1.00000000e0 50.0 4 bound -";
        assert_eq!(lines[3].1.join(" "), bound);
        let model = "0.20 1 2 5.00000000e-1 1.00000000e0 50.0 4 incumbent local-search";
        assert_eq!(lines[1].1.join(" "), model);
    }
}
