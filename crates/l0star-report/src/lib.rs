//! Text and HTML output that the command and the Python package share: warnings about data, explanations and reports.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`face`] | the command or the Python package: what an option is called |
//! | [`width`] | text in the columns of a terminal |
//! | [`text`] | numbers and names as they stand in a text |
//! | [`troubles`] | columns that a fit cannot take as they are, each with the option that handles it |
//! | [`prices`] | in which order prices are shown |
//! | [`moments`] | what the means and deviations of columns warn of |
//! | [`warnings`] | what a user should know of the data before they believe a model |
//! | [`proof`] | every sentence about what is proved |
//! | [`quality`] | how good a model is, in words |
//! | [`effects`] | what coefficients mean and are worth |
//! | [`stability`] | how stable the choice of features is, in words |
//! | [`outlook`] | whether a search is likely to end, and what would help |
//! | [`explain`] | what was asked, found and proved, in words |
//! | [`export`] | a model as SQL or as Python code |
//! | [`page`] | `--report`: the result as one HTML page |

pub mod effects;
pub mod explain;
pub mod export;
pub mod face;
pub mod moments;
pub mod outlook;
pub mod page;
pub mod prices;
pub mod proof;
pub mod quality;
pub mod stability;
pub mod text;
pub mod troubles;
pub mod warnings;
pub mod width;

pub use face::Face;
pub use outlook::Outlook;
pub use proof::Proof;
