//! The least objective of a set of columns, in exact arithmetic. It shares no code with the engine.
//!
//! ```text
//! minimize  P(x) = Σ p_i l(a_iᵀx + o_i, b_i) + ½ Σ λ_j x_j²   over the columns of a set, l_j ≤ x_j ≤ u_j
//! ```
//!
//! or with Cox's partial likelihood in place of the sum.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | `dyadic` | integers times powers of two: floats, their sums and products |
//! | `fraction` | quotients of these: [`Exact`] |
//! | `linear` | linear equations without rounding |
//! | `series` | exp and log in fixed point, with a proved error |
//! | `hazards` | Cox's partial likelihood at given predictions, with a proved error |
//! | `problem` | the data |
//! | `newton` | Newton's method with a line search, and its end |
//! | `piecewise` | quadratic, Huber and squared hinge: the piece of each row, and the exact minimum there |
//! | `curves` | logistic, Poisson and gamma at a prediction, with a proved error, and the loss of all rows |
//! | `smooth` | the same losses: an enclosure of the minimum |
//! | `least` | the least objective of a set of columns; the objective of a model |
//! | `extent` | the ranges of the coefficients of good models |
//!
//! **Piecewise quadratic losses.** If the piece of each row and the coefficients at a bound are known, the
//! minimum solves linear equations: it is a fraction. A solution is accepted only if it satisfies the
//! conditions of Karush, Kuhn and Tucker exactly. P is convex, so these conditions prove that it is the
//! minimum, however the pieces were found.
//!
//! **Smooth losses.** At any feasible x with gradient g, `P(x) + Σ min_d (g_j d + ½ λ_j d²) ≤ min P ≤
//! P(x)`, d within the bounds. The coefficient of an intercept has no ridge, but `P(x)` limits its size,
//! so [`Least`] is still an enclosure. Newton's method in fixed point of 512 bits makes it narrow: the
//! width is about 1e-150 of P.

mod curves;
mod dyadic;
mod extent;
mod fraction;
mod hazards;
mod least;
mod linear;
mod newton;
mod piecewise;
mod problem;
mod series;
mod smooth;

pub use dyadic::Dyadic;
pub use extent::Extent;
pub use fraction::Exact;
pub use hazards::Times;
pub use problem::{Column, Least, Loss, Problem, Row};
