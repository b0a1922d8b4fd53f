//! Every loss is what its definition says, checked against plain numerical minimisation.

mod conjugate;
mod curvature;
mod draws;
mod prox;
mod rows;
