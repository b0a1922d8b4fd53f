//! Parquet files and Arrow IPC (Feather) files and streams, read with the `parquet` and `arrow` crates.
//!
//! Numbers of every width and decimals become numbers, and booleans become the texts `true` and `false`.
//! Strings, dictionaries of strings, dates and times become text, and a null becomes a missing value. A column
//! of lists or records is an error only where it is used.
//!
//! Those crates allocate the lengths that a file claims. `messages` (Arrow) and `pages` (Parquet) compare these
//! lengths with the file first.

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod fault;
#[cfg(feature = "parquet")]
mod messages;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod read;
#[cfg(feature = "parquet")]
mod stream;
#[cfg(feature = "parquet")]
mod thrift;
#[cfg(feature = "parquet")]
mod write;

#[cfg(not(feature = "parquet"))]
pub(crate) use absent::{
    read_ipc, read_parquet, stream_ipc, stream_parquet, write_ipc, write_parquet,
};
#[cfg(feature = "parquet")]
pub(crate) use read::{read_ipc, read_parquet};
#[cfg(feature = "parquet")]
pub(crate) use stream::{stream_ipc, stream_parquet};
#[cfg(feature = "parquet")]
pub(crate) use write::{write_ipc, write_parquet};
