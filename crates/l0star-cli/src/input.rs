//! How a data file is read: the options that `fit` and `inspect` share.

use std::panic;
use std::path::Path;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use l0star_data::{
    DataError, Decimal, Each, Encoding, Format, RawTable, ReadOptions, Wanted, load_watched,
    stream, streamed_size,
};

use crate::progress::ReadingBar;

/// The help text on formats, shared by every command that reads data.
pub const FORMATS: &str = "\
Formats: CSV and TSV (any delimiter; gzip or zstd), Parquet, Arrow IPC, NPY, NPZ, LIBSVM,
column stores (.l0d);
detected from the content, not from the name of the file. '-' reads standard input.";

/// Options that say how to read the file, where detection should not decide.
#[derive(Debug, Clone, clap::Args)]
pub struct InputArgs {
    /// Read the file in this format instead of detecting it
    #[arg(long, value_name = "FORMAT", help_heading = "Input",
          value_parser = PossibleValuesParser::new(Format::WORDS).try_map(|word| word.parse::<Format>()))]
    pub format: Option<Format>,

    /// What separates cells: a character, 'tab' or 'space' (any run of blanks)
    #[arg(long, value_name = "CHARACTER", help_heading = "Input", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// The first line names the columns, even if it looks like numbers
    #[arg(long, help_heading = "Input", conflicts_with = "no_header")]
    pub header: bool,

    /// The first line is data; the columns are called c1, c2, …
    #[arg(long, help_heading = "Input")]
    pub no_header: bool,

    /// What stands before decimals: . or , [default: .]
    #[arg(long, value_name = "CHARACTER", help_heading = "Input", value_parser = decimal)]
    pub decimal: Option<Decimal>,

    /// The same as --decimal ,
    #[arg(long, hide = true, conflicts_with = "decimal")]
    pub decimal_comma: bool,

    /// Encoding of the text, instead of the one found: utf-8, utf-16, utf-16be or latin-1 (Windows-1252)
    #[arg(long, value_name = "ENCODING", help_heading = "Input", value_parser = Encoding::from_str)]
    pub encoding: Option<Encoding>,
}

impl InputArgs {
    /// Reads the file; `-` is standard input. `quiet` shows no progress.
    pub fn load(&self, path: &Path, quiet: bool) -> Result<RawTable, DataError> {
        self.load_as(path, self.decimal(), quiet)
    }

    /// Reads a file for a model that was fitted to files with decimal commas, or without.
    pub fn load_for(&self, path: &Path, decimal_comma: bool) -> Result<RawTable, DataError> {
        let decimal = match (self.decimal, self.decimal_comma, decimal_comma) {
            (None, false, true) => Decimal::CommaIfFree,
            _ => self.decimal(),
        };
        self.load_as(path, decimal, false)
    }

    /// Returns how decimals are written.
    pub fn decimal(&self) -> Decimal {
        if self.decimal_comma {
            Decimal::Comma
        } else {
            self.decimal.unwrap_or_default()
        }
    }

    /// Returns roughly how many bytes the cells of the file take in memory, if it can be streamed.
    pub fn streamed_size(&self, path: &Path) -> Option<u64> {
        streamed_size(path, &self.options(self.decimal()))
    }

    /// Streams the file in chunks.
    pub fn stream(
        &self,
        path: &Path,
        wanted: &Wanted<'_>,
        quiet: bool,
        each: Each<'_>,
    ) -> Result<(), DataError> {
        hush_readers();
        let bar = ReadingBar::new(path, quiet);
        let options = self.options(self.decimal());
        let read = stream(path, &options, wanted, &|read, of| bar.set(read, of), each);
        bar.finish();
        read
    }

    fn load_as(&self, path: &Path, decimal: Decimal, quiet: bool) -> Result<RawTable, DataError> {
        let options = self.options(decimal);
        hush_readers();
        let bar = ReadingBar::new(path, quiet);
        let table = load_watched(path, &options, &|read, of| bar.set(read, of));
        bar.finish();
        table
    }

    fn options(&self, decimal: Decimal) -> ReadOptions {
        let header = match (self.header, self.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        ReadOptions {
            format: self.format,
            delimiter: self.delimiter,
            header,
            decimal,
            encoding: self.encoding,
        }
    }
}

/// Silences panics in the readers of Arrow and Parquet, which a damaged file may cause. The panic is caught and
/// becomes an error with a clear message, so the usual panic message would only alarm the user.
fn hush_readers() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_theirs = |file: &str| file.contains("arrow-") || file.contains("parquet-");
        if !info.location().is_some_and(|at| is_theirs(at.file())) {
            usual(info);
        }
    }));
}

fn delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("space", _) => Ok(b' '),
        ("comma", _) => Ok(b','),
        ("semicolon", _) => Ok(b';'),
        (_, [byte]) if byte.is_ascii() => Ok(*byte),
        _ => Err("it must be one ASCII character, 'tab' or 'space'".into()),
    }
}

fn decimal(text: &str) -> Result<Decimal, String> {
    match text {
        "." | "point" => Ok(Decimal::Point),
        "," | "comma" => Ok(Decimal::Comma),
        _ => Err("it must be . or ,".into()),
    }
}
