//! Files in and out, instance generators and feature expansion.
//!
//! | module | its one job |
//! |---|---|
//! | [`table`] | [`Table`]: finite numbers in named columns, valid by construction |
//! | [`raw`] | [`RawTable`]: a file as it was read; a text column is an error only where it is used |
//! | [`csv`] | CSV text ⇄ tables, floats bit for bit |
//! | [`npy`] | NumPy `.npy` ⇄ tables |
//! | [`mod@file`] | [`load`] and [`save`] by extension, files written atomically |
//! | [`generate`] | the synthetic families of the paper, the same bits on every machine |
//! | [`expand`] | interactions, squares, unit norms |
//! | [`real`] | the paper's Diabetes and Boston instances |
//! | [`error`] | [`DataError`]: what is wrong, where, what to do |
//! | [`place`] | [`Place`]: the file, the column and the line of a message |
//!
//! A column-major design matrix is a plain slice: column `j` of a table with `n` rows occupies
//! `values[j * n..(j + 1) * n]`.
//!
//! ```
//! use l0star_data::{generate, load, save};
//!
//! let instance = generate::huber(20, 2, 60, 1)?;
//! let folder = std::env::temp_dir().join("l0star-data-doc");
//! std::fs::create_dir_all(&folder).unwrap();
//! let path = folder.join("huber.csv");
//! save(&path, instance.table())?;
//!
//! let (features, b) = load(&path)?.into_table()?.take_column("b")?;
//! assert_eq!(features.values(), instance.design());
//! assert_eq!(b, instance.response());
//! # Ok::<(), l0star_data::DataError>(())
//! ```

pub mod csv;
pub mod error;
pub mod expand;
pub mod file;
pub mod generate;
pub mod npy;
pub mod place;
pub mod raw;
pub mod real;
mod suggest;
pub mod table;

pub use csv::{parse_csv, read_csv, write_csv};
pub use error::DataError;
pub use expand::{interactions, paper_expansion, unit_norm};
pub use file::{load, save, write_atomically};
pub use generate::Instance;
pub use npy::{read_npy, write_npy};
pub use place::{Place, Position};
pub use raw::{RawColumn, RawTable};
pub use real::{RealData, real_instance};
pub use table::Table;
