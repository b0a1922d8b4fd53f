//! Stability of the choice of features: the best model of every resample of the rows.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`resample`] | the rows of a resample, as weights |
//! | [`drawn`] | the best models of the resamples so far, and their file |
//! | [`summary`] | [`Stability`]: frequencies, pairs, models, intervals |
//! | [`searches`] | all searches, on several threads |

pub mod drawn;
pub mod resample;
pub mod searches;
pub mod summary;

pub use drawn::{Drawn, DrawnFile};
pub use resample::{Plan, Resampling};
pub use searches::{Searches, Stop};
pub use summary::Stability;
