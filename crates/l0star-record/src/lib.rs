//! The record of a fit, which the command, the Python package and the reports share: the constraints on the
//! features, the result, and the choice of cross-validation.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`several`] | models of several responses: their predictions on the rows of a problem |
//! | [`survival`] | models of hazards: comparable rows, the baseline, survival probabilities |
//! | [`cv`] | cross-validation over the engine: folds, scores, searches, the choice |
//! | [`holdout`] | which rows are held out |
//! | [`metrics`] | how well a model predicts some rows |
//! | [`inference`] | the refit without the ridge; standard errors and intervals |
//! | [`stability`] | the best model of every resample of the rows |
//! | [`fields`] | the fields of a result, as scripts read them |
//! | [`model`] | [`Model`]: a result with all that a prediction needs, in a file |
//! | [`moments`] | [`MomentFile`]: the moments of rows in a file, with a description of their columns |
//! | [`store`] | [`StoreFile`]: a column store as a design, with a description of its columns |
//! | [`names`] | which columns a user's word stands for |
//! | [`rules`] | [`Rules`]: constraints from names to columns, for the engine and for the record |
//! | [`outcome`] | a solution of the engine in terms of the user's columns |
//!
//! **Where a new constraint goes:** a field of [`rules::Request`] and of [`fields::Constraints`], and
//! its translation in [`rules`]. Each face fills in the request: `rules.rs` of the command,
//! `_constraints.py` of the Python package.

pub mod cv;
pub mod fields;
pub mod holdout;
pub mod inference;
pub mod metrics;
pub mod model;
pub mod moments;
pub mod names;
pub mod outcome;
pub mod rules;
pub mod several;
pub mod stability;
pub mod store;
pub mod survival;

pub use model::Model;
pub use moments::MomentFile;
pub use rules::Rules;
pub use store::StoreFile;
