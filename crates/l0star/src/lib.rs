//! **l0star** finds the *provably* best sparse model.
//!
//! ```text
//! minimize  P(x) = L(Ax + o) + ½ Σ λ_i x_i²   subject to  at most k of the selectable features are non-zero
//! ```
//!
//! exactly, with a certified lower bound. [`solve()`] solves a problem in one call, and [`Run`] does so with events
//! and checkpoints. [`path`] solves every size in one run, and [`prices()`] computes the cost of every opposite
//! decision.
//!
//! Each module imports only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | `tuning` | constants chosen by measurement: they decide how long a search takes, never what it proves |
//! | [`error`] | what can be wrong |
//! | [`settings`] | what is asked for and what comes back |
//! | [`limits`] | when to stop |
//! | `sealed` | values serialised with a checksum that reveals damage |
//! | `linalg` | kernels, Cholesky, proofs of definiteness, rounding constants |
//! | [`loss`] | a convex loss: value, slope, curvature, conjugate, prox |
//! | [`problem`] | data that are valid by construction |
//! | [`bound`] | the dual bound of a node, certified against rounding |
//! | `boxes` | proved intervals of coefficients |
//! | `restricted` | the minimum of P over a given support |
//! | `relaxation` | what a node is worth: the trait, Newton's method, PDAL and SGA of the paper, rows, groups and bounds |
//! | `gram` | relaxations in Gram form: frames, lifting, enumeration of small budgets, local search in a quadratic |
//! | [`search`] | the frontier, the two trees, incumbents, evidence, events, checkpoints |
//! | [`heuristic`] | OMP, IHT, HTP, DIHT; first incumbents |
//! | `primal` | better models by local search, before the proof and alongside it |
//! | `robust` | Huber's δ, chosen from the data |
//! | `prepare` | from a problem to the first node of its search: screening, the Gram matrix, row proofs |
//! | `solve` | the entry point: chooses the tree and the relaxation for a problem |
//! | `explore` | subtrees of a search in another process |
//! | [`path`] | every size in one run |
//! | [`batch`] | many paths that take turns, with one checkpoint for all of them |
//! | `prices` | the cost of the opposite decision about a feature |
//! | `breakpoints` | the best model at every price of a feature |
//! | `inference` | coefficients refitted without the ridge, and their standard errors |
//! | `internals` | parts of the engine for its own tests and benchmarks |

pub mod batch;
pub mod bound;
mod boxes;
mod breakpoints;
pub mod error;
mod explore;
mod gram;
pub mod heuristic;
mod inference;
pub mod limits;
mod linalg;
pub mod loss;
pub mod path;
mod prepare;
mod prices;
mod primal;
pub mod problem;
mod relaxation;
mod restricted;
mod robust;
mod sealed;
pub mod search;
pub mod settings;
mod solve;
mod tuning;

pub use batch::{Batch, BatchCheckpoint, BatchPlan};
pub use breakpoints::{Piece, penalty_path};
pub use error::{Error, Result};
pub use explore::Explorer;
pub use inference::{Errors, Undetermined, refit, standard_errors};
pub use path::{PathCheckpoint, PathRun, PathState};
pub use prices::{Price, PriceRun, PriceSink, prices};
pub use problem::{Design, Problem};
pub use robust::{huber_delta, loss_for};
pub use search::Checkpoint;
pub use settings::{Mechanisms, Method, Model, RelaxationKind, Settings, Solution, Status, Use};
pub use solve::{Run, solve, solve_observed};

/// Parts of the engine for its own tests and benchmarks. They are not part of the interface and may change at any time.
#[doc(hidden)]
pub mod internals {
    pub use crate::gram::boxed::{Probed, probe};
    pub use crate::gram::working::Working;
    pub use crate::relaxation::pdal::{self, Pdal};
    pub use crate::relaxation::rows::NewtonRows;
    pub use crate::relaxation::sga::Sga;
    pub use crate::restricted::{Fit, Restricted};
    pub use crate::search::binary::BinaryTree;
    pub use crate::search::paper::OrderedTree;
}

/// Runs the examples of the guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/constraints.md")]
mod guide {}

/// Runs the example of a loss defined outside the crate as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/add-a-loss.md")]
mod add_a_loss {}

/// Runs the example of the reference as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reference/rust.md")]
mod reference {}
