//! Tests of readers, writers and generators. Tests that measure the memory of their process, or stop its
//! writing, are separate programs.

mod csv_files;
mod formats;
mod golden;
mod instances;
mod round_trips;
mod store;
