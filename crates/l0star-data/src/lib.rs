//! Files in and out, instance generators and feature expansion.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | `counted` | [`counted`] and [`plural`]: nouns with their counts |
//! | [`text`] | names as they may appear in a message: without control characters or invisible ones |
//! | `caps` | limits on the memory that a file may take |
//! | [`place`] | [`Place`]: the file, the column and the line of a message |
//! | [`error`] | [`DataError`]: what is wrong, where, what to do |
//! | `atomic` | [`write_atomically`]: a file is written whole or not at all |
//! | [`lock`] | [`Lock`]: one process at a time writes a file |
//! | [`fingerprint`] | [`Fingerprint`]: a hash of numbers that does not depend on how they are stored |
//! | [`encoding`] | [`Encoding`]: UTF-8, UTF-16 and Latin-1, detected and decoded |
//! | [`format`](mod@format) | [`Format`], [`ReadOptions`]: the formats, and the options of a reader |
//! | `source` | bytes behind a name: a file, standard input, gzip, zstd |
//! | `suggest` | [`no_such_column`]: suggestions of similar names |
//! | [`column`](mod@column), [`table`], [`sparse`] | [`Table`] and [`SparseTable`]: finite numbers in named columns |
//! | `lines`, `names` | the physical line of each row; the names of columns, made unique |
//! | [`raw`] | [`RawTable`]: a file as it was read; a text column is an error only where it is used |
//! | `pieces` | [`Wanted`]: options of a reader that hands out a file piece by piece |
//! | [`select`] | [`Selection`]: columns by name, pattern or number |
//! | [`missing`] | missing values: rows dropped, or means filled in |
//! | [`indicators`] | [`Indicator`]: text columns as one column per level |
//! | `labels` | targets with two labels |
//! | `amounts`, [`dates`] | `$1,200` as a number, `2024-03-01` as days |
//! | [`troubles`] | [`Trouble`]: columns that a fit cannot use as they are, and why |
//! | [`reading`] | [`Reading`]: columns read as dates, amounts or codes |
//! | [`summary`] | [`Summary`]: types, missing cells, scales, duplicates |
//! | [`frame`] | [`Frame`]: columns of numbers and text to write |
//! | [`csv`] | CSV text ⇄ tables, floats bit for bit, in parallel |
//! | [`npy`], `npz`, `libsvm`, `arrow` | the other formats: NumPy, LIBSVM, Parquet and Arrow |
//! | [`store`] | [`ColumnStore`]: columns that are mapped into memory |
//! | `detect` | the format of a file, by its first bytes, then by its name |
//! | [`mod@file`] | [`load`], [`stream`] and [`save`]: choose the module that reads or writes a file |
//! | [`expand`] | interactions, squares, unit norms |
//! | [`generate`] | the synthetic families of the paper, the same bits on every machine |
//! | [`real`] | the paper's Diabetes and Boston instances |
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

mod amounts;
mod arrow;
mod atomic;
mod caps;
pub mod column;
mod counted;
pub mod csv;
pub mod dates;
mod detect;
pub mod encoding;
pub mod error;
pub mod expand;
pub mod file;
pub mod fingerprint;
pub mod format;
pub mod frame;
pub mod generate;
pub mod indicators;
mod labels;
mod libsvm;
mod lines;
pub mod lock;
pub mod missing;
mod names;
pub mod npy;
mod npz;
mod pieces;
pub mod place;
pub mod raw;
pub mod reading;
pub mod real;
pub mod select;
mod source;
pub mod sparse;
pub mod store;
mod suggest;
pub mod summary;
pub mod table;
pub mod text;
pub mod troubles;

pub use atomic::{quit_writing, write_atomically};
pub use column::RawColumn;
pub use counted::{counted, plural};
pub use csv::{parse_csv, read_csv, write_csv};
pub use dates::DateOrder;
pub use encoding::Encoding;
pub use error::DataError;
pub use expand::{factors, interactions, interactions_of, paper_expansion, unit_norm};
pub use file::{load, load_watched, load_with, parse, save, save_frame, stream, streamed_size};
pub use fingerprint::Fingerprint;
pub use format::{Decimal, Format, ReadOptions};
pub use frame::Frame;
pub use generate::Instance;
pub use indicators::Indicator;
pub use lock::Lock;
pub use npy::{read_npy, write_npy};
pub use pieces::{Each, Wanted};
pub use place::{Place, Position};
pub use raw::RawTable;
pub use reading::Reading;
pub use real::{RealData, real_instance};
pub use select::Selection;
pub use source::Watch;
pub use sparse::SparseTable;
pub use store::ColumnStore;
pub use suggest::no_such_column;
pub use summary::Summary;
pub use table::Table;
pub use troubles::{Problem, Trouble};
