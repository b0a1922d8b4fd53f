//! Appendix B, Figure 6: supergradient ascent against the primal-dual algorithm.

use l0star::RelaxationKind;

use super::{Experiment, calls, listed, overall, seconds, statement};
use crate::reproduce::figure::{CALLS, Figure, Panel, SECONDS};
use crate::reproduce::page::Chapter;
use crate::reproduce::plan::{BFS, ENGINE, Entrant, Point, Source};
use crate::reproduce::results::Results;

pub const SGA_PDAL: Experiment = Experiment {
    name: "sga-pdal",
    points,
    chapter,
};

const SGA: Entrant = BFS.named("BFS-SGA (paper)").by(RelaxationKind::Sga);
const PDAL: Entrant = BFS.named("BFS-PDAL (paper)").by(RelaxationKind::Pdal);
const ENTRANTS: [Entrant; 3] = [PDAL, ENGINE, SGA];

fn points() -> Vec<Point> {
    let point = |d: usize| Point {
        panel: "huber",
        x: d as f64,
        source: Source::huber(d, d / 10),
        entrants: ENTRANTS.to_vec(),
    };
    (50..=300).step_by(50).map(point).collect()
}

fn chapter(results: &Results) -> Chapter {
    let methods = ENTRANTS.map(|entrant| entrant.name);
    let panels =
        [SECONDS, CALLS].map(|axis| Panel::of(results, "huber", "Huber", "d", axis, &methods));
    let both = [SGA, PDAL];
    let number = both.map(|e| (e.name, overall(results, "huber", e.name, calls)));
    let times = both.map(|e| (e.name, overall(results, "huber", e.name, seconds)));
    let ratio = times[0].1 / times[1].1;
    Chapter {
        name: SGA_PDAL.name,
        title: "supergradient ascent and the primal-dual algorithm",
        setting:
            "The Huber instances of `cost`; BFS with two ways to maximise the bound of a node."
                .into(),
        statements: vec![
            statement(
                "BFS-SGA requires more solver calls than BFS-PDAL on average",
                format!("mean calls {}", listed(number)),
                "the mean over all instances is higher",
                number[0].1 > number[1].1,
            ),
            statement(
                "The running times of the two methods are almost the same",
                format!("mean seconds {}", listed(times)),
                "the means over all instances differ by a factor of at most 2",
                (0.5..=2.0).contains(&ratio),
            ),
        ],
        figures: vec![Figure {
            name: "sga-pdal",
            caption: "BFS-SGA and BFS-PDAL: means and standard deviations.",
            columns: 2,
            panels: panels.into(),
        }],
        notes: Vec::new(),
    }
}
