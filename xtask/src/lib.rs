//! What the project's own commands share.
//!
//! | module | its one job |
//! |---|---|
//! | [`step`] | one program run as one step |
//! | [`tools`] | programs that checks need and Cargo does not bring |
//! | [`report`] | the pages of `--report` in a real browser |
//! | [`python`] | the Python package: environment, wheel, tests |

pub mod python;
pub mod report;
pub mod step;
pub mod tools;
