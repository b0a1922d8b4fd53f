//! Cross-validation over the engine: chooses the number of features, the ridge and the price of a feature.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`folds`] | the assignment of rows to folds |
//! | [`score`] | how well held-out rows are predicted |
//! | [`tally`] | the scores so far: complete, unproved and hopeless searches |
//! | [`choose`](mod@choose) | the choice of a candidate: the best one, or by rule a simpler one that is not clearly worse |
//! | [`searches`] | all searches, in turns; each face makes the problems and computes the scores |

pub mod choose;
pub mod folds;
pub mod score;
pub mod searches;
pub mod tally;

pub use choose::{Choice, Rule, Undecided, choose};
pub use folds::{Dealer, FoldError, Folds};
pub use score::Score;
pub use searches::{CrossValidation, Path, Searcher, on_folds};
pub use tally::{Axis, Candidate, Hopeless, Penalty, Scored, Tally, in_folds};
