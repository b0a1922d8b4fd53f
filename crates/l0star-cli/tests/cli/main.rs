//! The real binary from outside: one test a promise.

mod bad_data;
mod checkpoints;
mod common;
mod formats;
mod generate;
mod inspect;
mod instances;
mod lists;
mod options;
mod reproduce;
mod results;
mod stopping;
mod usage;
