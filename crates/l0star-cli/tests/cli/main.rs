//! The real binary from outside: one test a promise.

#[cfg(not(feature = "full"))]
mod absent;
mod bad_data;
mod checkpoints;
mod common;
mod counts;
mod cv;
mod cv_checkpoints;
mod cv_stopping;
mod explain;
mod export;
mod formats;
mod generate;
mod inference;
mod inspect;
mod instances;
mod lists;
mod manual;
mod messy;
mod metrics;
mod missing;
mod models;
mod moments;
mod names;
mod options;
mod path;
mod path_checkpoints;
mod penalty;
mod precision;
mod predict;
mod prices;
mod readme;
mod report;
#[cfg(feature = "figures")]
mod reproduce;
mod results;
mod rules;
mod stability;
mod standardize;
mod stopped;
mod stopping;
mod survival;
mod texts;
mod units;
mod usage;
mod warnings;
