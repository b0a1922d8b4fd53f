//! Every loss agrees with its definition, checked by plain numerical minimisation.

mod conjugate;
mod curvature;
mod draws;
mod prox;
mod rows;
