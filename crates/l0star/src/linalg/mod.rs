//! Small linear algebra: vector kernels with run-time SIMD dispatch, Cholesky, error constants.

pub mod cholesky;
pub mod kernels;
pub mod rounding;
pub(crate) mod select;
