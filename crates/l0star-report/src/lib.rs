//! Text and HTML output that the command and the Python package share: warnings about data, explanations and reports.
//!
//! | module | its one job |
//! |---|---|
//! | [`page`] | `--report`: the result as one HTML page |
//! | [`explain`] | what was asked, found and proved, in words |
//! | [`proof`] | every sentence about what is proved |
//! | [`warnings`] | what a user should know of the data before they believe a model |
//! | [`moments`] | what the means and deviations of columns warn of |
//! | [`prices`] | in which order prices are shown |
//! | [`face`] | the command or the Python package: what an option is called |
//! | [`text`] | numbers and names as they stand in a text |
//! | [`width`] | text in the columns of a terminal |

pub mod explain;
pub mod face;
pub mod moments;
pub mod page;
pub mod prices;
pub mod proof;
pub mod text;
pub mod warnings;
pub mod width;

pub use face::Face;
pub use proof::Proof;
