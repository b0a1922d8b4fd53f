//! What both faces of l0star say to a reader: warnings about data, words and a page about a result.
//!
//! | module | its one job |
//! |---|---|
//! | [`page`] | `--report`: the result as one HTML page |
//! | [`explain`] | what was proved of a model, and how, in words |
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
pub mod text;
pub mod warnings;
pub mod width;

pub use face::Face;
