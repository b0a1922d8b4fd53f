//! Text and HTML output that the command and the Python package share: warnings about data,
//! explanations and reports.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | [`face`] | names of options in the command and in the Python package |
//! | [`width`] | text in the columns of a terminal |
//! | [`text`] | numbers and names as they appear in a text |
//! | [`troubles`] | columns that a fit cannot use as they are, each with the option that handles it |
//! | [`prices`] | the order in which prices are shown |
//! | [`moments`] | warnings that follow from the means and deviations of columns |
//! | [`warnings`] | warnings about the data before a model is fitted |
//! | [`proof`] | every sentence about what is proved |
//! | [`quality`] | the quality of a model, in words |
//! | [`effects`] | the meaning and precision of coefficients |
//! | [`stability`] | the stability of the choice of features, in words |
//! | [`outlook`] | whether a search is likely to finish, and what would help |
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
