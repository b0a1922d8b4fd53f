//! The data of the examples: ten measurements of 442 diabetes patients, and the disease a year later.

use std::error::Error;

use l0star_data::{Table, load};

/// The measurements, and the target.
pub fn diabetes() -> Result<(Table, Vec<f64>), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv");
    Ok(load(file)?.into_table()?.take_column("target")?)
}
