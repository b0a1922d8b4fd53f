//! `cargo xtask bench`: Markdown tables. All but `threads` and `path` use a single thread.

pub mod ablation;
pub mod engine;
pub mod flat;
mod instances;
mod measure;
pub mod paper;
pub mod python;
pub mod read;
pub mod stability;
mod table;
pub mod threads;
pub mod together;
