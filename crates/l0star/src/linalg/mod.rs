//! Small linear algebra: vector kernels with run-time SIMD dispatch, Cholesky, proofs of definiteness, error constants.

pub mod cholesky;
pub(crate) mod double;
pub mod kernels;
pub(crate) mod psd;
pub mod rounding;
pub(crate) mod select;
pub(crate) mod short;
