//! Limits on the memory that a file may take, whatever it claims.
//!
//! | what | limit |
//! |---|---|
//! | a record of delimited text, a line of LIBSVM text | [`LONGEST_RECORD`] |
//! | the columns of delimited text | [`MOST_COLUMNS`] |
//! | the unpacked size of gzip, zstd, members of NPZ archives, columns of Parquet and Arrow files | [`Allowance`] |
//! | a length that a compressed page or buffer claims | `DENSEST` times its bytes |
//! | standard input and pipes, which are kept in memory | [`LARGEST_PIPE`] |
//!
//! The memory for an uncompressed file is bounded by its own size: a text cell takes at least one byte in the
//! file, and a number takes eight in memory.

use std::io::{self, Read};

/// Upper limit on the bytes of one text record.
pub(crate) const LONGEST_RECORD: usize = if cfg!(test) { 8 << 20 } else { 256 << 20 };

/// Upper limit on the columns of a text table; a larger count means endless delimiters.
pub(crate) const MOST_COLUMNS: usize = if cfg!(test) { 500_000 } else { 10_000_000 };

/// Upper limit on the bytes read from a source that is not a regular file.
pub(crate) const LARGEST_PIPE: u64 = 4 << 30;

/// The most bytes that one compressed byte can stand for. In zstd, the densest of the codecs, four bytes
/// stand for a block of 128 KiB.
#[cfg(feature = "parquet")]
pub(crate) const DENSEST: u64 = 1 << 15;

/// Unpacked bytes that are always allowed, and unpacked bytes allowed per stored byte.
const ALWAYS: u64 = 1 << 30;
const PER_BYTE: u64 = 200;

/// Limit on the unpacked size of a file: one gigabyte (2^30 bytes), or 200 times its size if that is more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    all: u64,
    left: u64,
}

impl Allowance {
    /// Returns the allowance of a file of `stored` bytes.
    pub(crate) fn of(stored: u64) -> Allowance {
        let all = stored.saturating_mul(PER_BYTE).max(ALWAYS);
        Allowance { all, left: all }
    }

    #[cfg(test)]
    pub(crate) fn exactly(all: u64) -> Allowance {
        Allowance { all, left: all }
    }

    /// Subtracts bytes before memory is taken for them.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(bytes).ok_or(TooLarge(self.all))?;
        Ok(())
    }
}

/// The error for data that unpack to more than their [`Allowance`].
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "it unpacks to more than {:.1} GB, over {PER_BYTE} times its size; if the data are right, store them uncompressed, as \
     .csv or .npy",
    *.0 as f64 / 1e9
)]
pub(crate) struct TooLarge(u64);

impl TooLarge {
    /// Returns this error if it caused a failed read.
    pub(crate) fn behind(error: &io::Error) -> Option<TooLarge> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// A stream of unpacked bytes that ends with an error at its allowance.
pub(crate) struct Metered<R> {
    stream: R,
    allowance: Allowance,
}

impl<R> Metered<R> {
    pub(crate) fn new(stream: R, allowance: Allowance) -> Metered<R> {
        Metered { stream, allowance }
    }

    /// Returns the rest of the allowance.
    pub(crate) fn left(&self) -> Allowance {
        self.allowance
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        let taken = self.allowance.take(read as u64);
        taken.map_err(|cap| io::Error::new(io::ErrorKind::InvalidData, cap))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_may_unpack_to_a_gigabyte_and_a_large_one_to_200_times_its_size() {
        let mut small = Allowance::of(10);
        assert!(small.take(ALWAYS).is_ok());
        assert!(small.take(1).is_err());
        let mut large = Allowance::of(ALWAYS);
        assert!(large.take(PER_BYTE * ALWAYS).is_ok());
        let message = large.take(1).unwrap_err().to_string();
        assert!(
            message.contains("214.7 GB, over 200 times its size"),
            "{message}"
        );
        assert!(Allowance::of(u64::MAX).take(u64::MAX).is_ok());
    }

    #[test]
    fn a_stream_ends_where_its_allowance_does() {
        let allowance = Allowance::exactly(10);
        let mut stream = Metered::new(io::repeat(7).take(11), allowance);
        let error = io::copy(&mut stream, &mut io::sink()).unwrap_err();
        assert!(TooLarge::behind(&error).is_some());
        let mut stream = Metered::new(io::repeat(7).take(10), allowance);
        assert_eq!(io::copy(&mut stream, &mut io::sink()).unwrap(), 10);
    }
}
