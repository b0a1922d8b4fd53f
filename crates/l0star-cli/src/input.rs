//! How a data file is read: the options that `fit` and `inspect` share.

use std::panic;
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use l0star_data::{DataError, Format, RawTable, ReadOptions, load_with};

/// What every command that reads data says about its formats.
pub const FORMATS: &str = "\
Formats: CSV and TSV (any delimiter; gzip or zstd), Parquet, Arrow IPC, NPY, NPZ, LIBSVM;
detected from the content, not from the name of the file. '-' reads standard input.";

/// What is told about the file instead of found out.
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

    /// Decimals are written with a comma: 1,5
    #[arg(long, help_heading = "Input")]
    pub decimal_comma: bool,
}

impl InputArgs {
    /// Reads the file; `-` is standard input.
    pub fn load(&self, path: &Path) -> Result<RawTable, DataError> {
        let header = match (self.header, self.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let options = ReadOptions {
            format: self.format,
            delimiter: self.delimiter,
            header,
            decimal_comma: self.decimal_comma,
        };
        hush_readers();
        load_with(path, &options)
    }
}

/// The readers of Arrow and Parquet may panic on a damaged file. That is caught and becomes an
/// error with a message of its own; theirs would only frighten.
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
