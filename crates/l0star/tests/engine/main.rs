//! Tests of the engine, one module per promise: `cargo test -p l0star --test engine exact` runs those of `exact`.
//!
//! They are one program, because each alone would spend longer on linking the engine than on its tests.
#![allow(missing_docs)]

mod boxed_rows;
mod boxes;
mod cases;
mod checkpoint;
mod cluster;
mod common;
mod copies;
mod cox;
mod enumeration;
mod exact;
mod far;
mod heuristics;
mod limits;
mod lists;
mod log_link;
mod losses;
mod moments;
mod multinomial;
mod oracle;
mod path;
mod path_checkpoint;
mod penalty;
mod priced_copies;
mod problem;
mod range;
mod restricted;
mod several;
mod shared;
mod sparse;
mod standardize;
mod stepping;
mod structure;
mod threads;
mod twin_prices;
mod twins;
mod units;
mod wide;
