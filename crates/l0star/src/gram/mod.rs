//! The engine for quadratic problems: all that a node needs is in a small Gram matrix.
//!
//! | module | its one job |
//! |---|---|
//! | [`product`] | `Aᵀ diag(p) A` by blocks, dense or sparse, on one thread or many |
//! | [`root`] | H, c, c0 of the whole problem, and bounds on their rounding errors |
//! | [`condensed`] | the quadratic without the included columns, and the lift of its ridge |
//! | [`frame`] | a subproblem with its included columns condensed, its ridge lifted, its columns scaled to ridge 1 |
//! | [`boxed`] | nodes whose coefficients are bounded by proved boxes |
//! | [`mixed`] | a frame together with the other rows |
//! | [`relaxation`] | the relaxation of nodes in frames |
//! | [`slot`] | frames that relatives share, and that come back from checkpoints |
//! | [`small`] | budgets of up to four features by enumeration |
//! | [`structured`] | frames for problems with groups and bounds |
//! | [`swaps`] | a first incumbent: greedy, then swaps |

pub(crate) mod boxed;
pub(crate) mod condensed;
pub(crate) mod form;
pub(crate) mod frame;
pub(crate) mod local;
pub(crate) mod mixed;
pub(crate) mod product;
pub(crate) mod quadratic;
pub(crate) mod relaxation;
pub(crate) mod root;
pub(crate) mod slot;
pub(crate) mod small;
pub(crate) mod structured;
pub(crate) mod swaps;
pub(crate) mod triangle;
pub mod working;
