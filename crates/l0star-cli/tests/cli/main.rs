//! The real binary from outside: one test a promise.

mod bad_data;
mod checkpoints;
mod common;
mod cv;
mod explain;
mod formats;
mod generate;
mod inspect;
mod instances;
mod lists;
mod manual;
mod missing;
mod models;
mod options;
mod path;
mod predict;
mod readme;
mod report;
mod reproduce;
mod results;
mod standardize;
mod stopping;
mod usage;
mod warnings;
