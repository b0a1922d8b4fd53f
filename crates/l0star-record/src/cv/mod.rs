//! Cross-validation over the engine: how many features, and which ridge?
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`folds`] | which rows are held out together |
//! | [`score`] | how well held-out rows are predicted |
//! | [`tally`] | the scores so far: what is complete, what is not proved |
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
pub use tally::{Candidate, Scored, Tally, in_folds, in_sizes};
