//! [`Format`]: the formats, with their names and file extensions; [`ReadOptions`].

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::encoding::Encoding;

/// A file format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Delimited text: CSV, TSV and similar formats.
    Csv,
    /// `label index:value …`, one row per line.
    Libsvm,
    /// One NumPy matrix.
    Npy,
    /// Several NumPy arrays in a ZIP file.
    Npz,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC: a file (Feather) or a stream.
    Arrow,
    /// A column store, which is mapped into memory (`.l0d`).
    Store,
}

impl Format {
    /// The words that name the formats, as [`FromStr`] takes them.
    pub const WORDS: [&'static str; 7] = ["csv", "libsvm", "npy", "npz", "parquet", "arrow", "l0d"];

    const ALL: [Format; 7] = [
        Format::Csv,
        Format::Libsvm,
        Format::Npy,
        Format::Npz,
        Format::Parquet,
        Format::Arrow,
        Format::Store,
    ];

    /// Returns the word that names the format.
    pub fn as_str(self) -> &'static str {
        Format::WORDS[self as usize]
    }

    /// Whether files of this format are text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::Libsvm)
    }

    /// Returns the phrase for a file of this format in messages.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Format::Csv => "delimited text",
            Format::Libsvm => "LIBSVM text",
            Format::Npy => "a NumPy matrix",
            Format::Npz => "a NumPy archive (.npz)",
            Format::Parquet => "a Parquet file",
            Format::Arrow => "an Arrow file",
            Format::Store => "a column store",
        }
    }

    /// Returns the format that the file name implies, ignoring compression suffixes.
    pub fn of_name(path: &Path) -> Option<Format> {
        Some(match extension(path)?.as_str() {
            "csv" | "tsv" | "tab" => Format::Csv,
            "libsvm" | "svm" | "svmlight" => Format::Libsvm,
            "npy" => Format::Npy,
            "npz" => Format::Npz,
            "parquet" | "pq" => Format::Parquet,
            "arrow" | "arrows" | "feather" | "ipc" => Format::Arrow,
            "l0d" => Format::Store,
            _ => return None,
        })
    }
}

/// Options that replace what a reader would otherwise detect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format, regardless of what the file looks like.
    pub format: Option<Format>,
    /// For delimited text: the delimiter; a blank stands for any run of blanks and tabs.
    pub delimiter: Option<u8>,
    /// For delimited text: whether the first line names the columns. Without names they are `c1`, `c2`, ….
    pub header: Option<bool>,
    /// For delimited text: how decimals are written.
    pub decimal: Decimal,
    /// For text: the encoding; if absent, it is detected.
    pub encoding: Option<Encoding>,
}

/// How decimals are written in delimited text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decimal {
    /// `1.5`.
    #[default]
    Point,
    /// `1,5`.
    Comma,
    /// `1,5`, unless commas separate the cells.
    CommaIfFree,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Format, String> {
        Format::ALL
            .into_iter()
            .find(|format| format.as_str() == word)
            .ok_or_else(|| format!("it must be one of {}", Format::WORDS.join(", ")))
    }
}

/// Returns the extension in lower case, without a compression suffix: `csv` for `a.CSV.gz`.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let last = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    match last(path)?.as_str() {
        "gz" | "zst" | "zstd" => last(Path::new(path.file_stem()?)),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_suffixes_are_looked_through() {
        for (name, expected) in [
            ("a.csv", Some("csv")),
            ("a.CSV.gz", Some("csv")),
            ("a.tsv.zst", Some("tsv")),
            ("a.b.svm", Some("svm")),
            ("a.gz", None),
            ("a", None),
        ] {
            assert_eq!(extension(Path::new(name)).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn words_name_formats() {
        for format in Format::ALL {
            assert_eq!(format.as_str().parse::<Format>(), Ok(format));
        }
        assert!("xlsx".parse::<Format>().is_err());
    }
}
