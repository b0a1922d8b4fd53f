//! The engine for quadratic problems: everything that a node needs is in a small Gram matrix.
//!
//! | module | its one job |
//! |---|---|
//! | [`product`] | `Aᵀ diag(p) A` by blocks, dense or sparse, on one thread or many |
//! | [`root`] | H, c, c0 of the whole problem, and how far rounding can have moved them |
//! | [`frame`] | a subproblem with its fixed-in columns condensed, its ridge lifted, its columns scaled to ridge 1 |
//! | [`huber`] | which rows of a Huber problem are quadratic for every model that matters |
//! | [`kept`] | the Gram matrix of a run in its checkpoints |
//! | [`leaf`] | nodes in which one support is left |
//! | [`mixed`] | a frame with the other rows beside it |
//! | [`restrict`] | the tree of one decision from that of the whole problem |
//! | [`resume`] | nodes in a checkpoint, and back |
//! | [`small`] | budgets of up to three features by enumeration |
//! | [`start`] | from a problem to the first node |
//! | [`structured`] | frames for problems with groups and bounds |
//! | [`swaps`] | a first incumbent: greedy, then swaps |
//! | [`tree`] | the binary search tree over frames |

pub(crate) mod boxed;
pub(crate) mod frame;
pub(crate) mod huber;
mod kept;
mod leaf;
mod mixed;
mod product;
mod restrict;
mod resume;
pub(crate) mod root;
pub(crate) mod small;
pub(crate) mod start;
pub(crate) mod structured;
pub(crate) mod swaps;
pub(crate) mod tree;
