//! From a problem to the first node of its search.
//!
//! | module | its one job |
//! |---|---|
//! | [`screening`] | drops features that no better model can use, before a Gram matrix is made |
//! | [`bands`] | the Gram matrix, one band per step |
//! | [`first_model`] | greedy steps and swaps in Gram form |
//! | [`enumeration`] | budgets of up to four features, solved without a search |
//! | [`huber`] | which rows of a Huber problem are quadratic for every model that matters |
//! | [`start`] | the Gram matrix, a first incumbent, the frame of all columns |
//! | [`shared`] | data shared by runs on the same columns |

mod bands;
pub(crate) mod enumeration;
mod first_model;
mod huber;
pub(crate) mod screening;
pub(crate) mod shared;
pub(crate) mod start;
