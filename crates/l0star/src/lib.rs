//! **l0star** finds the *provably* best sparse model.
//!
//! ```text
//! minimize  P(x) = L(Ax + o) + ½ Σ λ_i x_i²   subject to  at most k of the selectable features are non-zero
//! ```
//!
//! exactly, with a certified lower bound. The parts, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`error`], [`settings`] | what can be wrong; what is asked for and what comes back |
//! | [`limits`] | when to stop |
//! | [`linalg`] | kernels, Cholesky, rounding constants |
//! | [`loss`] | a convex loss: value, slope, curvature, conjugate, prox |
//! | [`problem`] | data that are valid by construction |
//! | [`bound`] | the dual bound of a node, certified against rounding |
//! | `boxes` | intervals of coefficients, proved |
//! | [`restricted`] | the minimum of P over a given support |
//! | [`relaxation`] | what a node is worth: PDAL and SGA of the paper, piecewise Newton |
//! | [`search`] | the frontier, the trees, incumbents, limits, events |
//! | `gram` | the engine for quadratic problems: frames, Newton, lifting, branching |
//! | [`heuristic`] | OMP, IHT, HTP, DIHT |
//! | [`huber_delta`] | where Huber's loss turns linear, from the data |
//! | [`solve()`], [`prices()`] | one call for all of it; what each choice of its answer is worth |
//! | [`path`] | every size in one run |
//! | [`batch`] | many paths that take turns, and whose checkpoints are kept together |

pub mod batch;
pub mod bound;
mod boxes;
pub mod error;
mod gram;
pub mod heuristic;
pub mod limits;
pub mod linalg;
pub mod loss;
pub mod path;
mod prices;
mod primal;
pub mod problem;
pub mod relaxation;
pub mod restricted;
mod robust;
pub mod search;
pub mod settings;
mod solve;

pub use batch::{Batch, BatchCheckpoint, BatchPlan};
pub use error::{Error, Result};
pub use path::{PathCheckpoint, PathRun, PathState};
pub use prices::{Price, PriceRun, PriceSink, prices};
pub use problem::{Design, Problem};
pub use robust::{huber_delta, loss_for};
pub use search::Checkpoint;
pub use settings::{Ideas, Method, Model, RelaxationKind, Settings, Solution, Status, Use};
pub use solve::{Run, solve, solve_observed};

/// The examples of the guide are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/constraints.md")]
mod guide {}
