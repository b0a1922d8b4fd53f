//! What readers, writers and generators promise. Tests that watch the memory of their process, or end its writing, are programs of
//! their own.

mod csv_files;
mod formats;
mod golden;
mod instances;
mod round_trips;
mod store;
