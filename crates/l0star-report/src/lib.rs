//! Text and HTML output that the command and the Python package share: warnings about data, explanations and reports.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`face`] | the command or the Python package: what an option is called |
//! | [`width`] | text in the columns of a terminal |
//! | [`text`] | numbers and names as they stand in a text |
//! | [`prices`] | in which order prices are shown |
//! | [`moments`] | what the means and deviations of columns warn of |
//! | [`warnings`] | what a user should know of the data before they believe a model |
//! | [`proof`] | every sentence about what is proved |
//! | [`outlook`] | whether a search is likely to end, and what would help |
//! | [`explain`] | what was asked, found and proved, in words |
//! | [`page`] | `--report`: the result as one HTML page |

pub mod explain;
pub mod face;
pub mod moments;
pub mod outlook;
pub mod page;
pub mod prices;
pub mod proof;
pub mod text;
pub mod warnings;
pub mod width;

pub use face::Face;
pub use outlook::Outlook;
pub use proof::Proof;
