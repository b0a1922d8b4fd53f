//! Every loss is what its definition says, checked against plain numerical minimisation.
#![allow(missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod conjugate;
mod curvature;
mod draws;
mod prox;
mod rows;
