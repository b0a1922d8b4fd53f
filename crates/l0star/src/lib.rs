//! **l0star** finds the *provably* best sparse model.
#![doc = ""]

pub mod error;
pub mod linalg;
pub mod loss;
pub mod problem;
pub mod settings;

pub use error::{Error, Result};
pub use problem::{Design, Problem};
pub use settings::{Method, RelaxationKind, Settings, Solution, Status};

/// Solves.
pub fn solve(_problem: &Problem, _settings: &Settings) -> Result<Solution> {
    todo!()
}
