//! Cross-validation over the engine: how many features, which ridge, and which price of a feature?
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`folds`] | which rows are held out together |
//! | [`score`] | how well held-out rows are predicted |
//! | [`tally`] | the scores so far: what is complete, what is not proved, what was not likely to be |
//! | [`choose`](mod@choose) | the best candidate, and by which rule another is chosen that is not clearly worse |
//! | [`searches`] | all searches, in turns; a face makes the problems and gives the scores |

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
