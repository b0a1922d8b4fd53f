//! The shared parts of the project's own commands.
//!
//! | module | its one job |
//! |---|---|
//! | [`step`] | a program run as one step |
//! | [`tools`] | programs that the checks need and Cargo does not provide |
//! | [`report`] | the pages of `--report` in a real browser |
//! | [`python`] | the Python package: environment, wheel, tests |

pub mod python;
pub mod report;
pub mod step;
pub mod tools;
