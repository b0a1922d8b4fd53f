//! [`Format`]: what a file is, by its first bytes, then by its name.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::DataError;
use crate::libsvm;
use crate::source::Source;

/// A file format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Delimited text: CSV, TSV and their kin.
    Csv,
    /// `label index:value …`, one row a line.
    Libsvm,
    /// One NumPy matrix.
    Npy,
    /// Several NumPy arrays in a ZIP file.
    Npz,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC: a file (Feather) or a stream.
    Arrow,
}

impl Format {
    /// The words that name the formats, as [`FromStr`] takes them.
    pub const WORDS: [&'static str; 6] = ["csv", "libsvm", "npy", "npz", "parquet", "arrow"];

    const ALL: [Format; 6] = [
        Format::Csv,
        Format::Libsvm,
        Format::Npy,
        Format::Npz,
        Format::Parquet,
        Format::Arrow,
    ];

    /// The word that names it.
    pub fn as_str(self) -> &'static str {
        Format::WORDS[self as usize]
    }

    /// As a message calls a file of this kind.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Format::Csv => "delimited text",
            Format::Libsvm => "LIBSVM text",
            Format::Npy => "a NumPy matrix",
            Format::Npz => "a NumPy archive (.npz)",
            Format::Parquet => "a Parquet file",
            Format::Arrow => "an Arrow file",
        }
    }

    /// What the name says, compression suffixes aside.
    pub fn of_name(path: &Path) -> Option<Format> {
        Some(match extension(path)?.as_str() {
            "csv" | "tsv" | "tab" => Format::Csv,
            "libsvm" | "svm" | "svmlight" => Format::Libsvm,
            "npy" => Format::Npy,
            "npz" => Format::Npz,
            "parquet" | "pq" => Format::Parquet,
            "arrow" | "arrows" | "feather" | "ipc" => Format::Arrow,
            _ => return None,
        })
    }

    fn of_magic(head: &[u8]) -> Option<Format> {
        let starts = |magic: &[u8]| head.starts_with(magic);
        if starts(b"PAR1") {
            Some(Format::Parquet)
        } else if starts(b"ARROW1") || is_arrow_stream(head) {
            Some(Format::Arrow)
        } else if starts(b"\x93NUMPY") {
            Some(Format::Npy)
        } else if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") {
            Some(Format::Npz)
        } else {
            None
        }
    }

    /// What the file is: the first bytes decide, the name only where they leave a doubt.
    pub(crate) fn of_source(source: &Source<'_>) -> Result<Format, DataError> {
        let head = source.head()?;
        let refuse = |what: &str| {
            Err(DataError::WrongFormat {
                path: source.name().to_path_buf(),
                what: what.to_string(),
            })
        };
        if let Some(format) = Format::of_magic(&head) {
            return Ok(format);
        }
        if let Some(foreign) = foreign(&head) {
            return refuse(&format!("is {foreign}"));
        }
        let named = Format::of_name(source.name());
        if head.is_empty() {
            return Err(DataError::EmptyFile {
                path: source.name().to_path_buf(),
            });
        }
        match named {
            Some(format @ (Format::Npy | Format::Npz | Format::Parquet | Format::Arrow)) => {
                // A table under a wrong name is read for what it is; a stump of a binary file is none.
                if is_text(&head) && head.contains(&b'\n') {
                    return Ok(Format::of_text(&head, None));
                }
                refuse(&format!(
                    "is named like {} but does not start like one",
                    format.described()
                ))
            }
            _ => Ok(Format::of_text(&head, named)),
        }
    }

    fn of_text(head: &[u8], named: Option<Format>) -> Format {
        match libsvm::looks_like(head) {
            Some(true) => Format::Libsvm,
            None if named == Some(Format::Libsvm) => Format::Libsvm,
            _ => Format::Csv,
        }
    }
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

/// The extension in small letters, without a compression suffix: `csv` of `a.CSV.gz`.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let last = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    match last(path)?.as_str() {
        "gz" | "zst" | "zstd" => last(Path::new(path.file_stem()?)),
        other => Some(other.to_string()),
    }
}

/// An IPC stream starts with a message: the continuation marker, then the length of its metadata.
fn is_arrow_stream(head: &[u8]) -> bool {
    match *head {
        [0xff, 0xff, 0xff, 0xff, a, b, c, d, ..] => {
            (1..1 << 28).contains(&i32::from_le_bytes([a, b, c, d]))
        }
        _ => false,
    }
}

fn is_text(head: &[u8]) -> bool {
    let whole = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The head may end inside a character.
        Err(error) => error.error_len().is_none(),
    };
    whole && !head.contains(&0)
}

/// Files that people have and that are not read here, with what to do about it.
fn foreign(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 8] = [
        (b"BZh", "compressed with bzip2; decompress it first"),
        (
            b"\xfd7zXZ\x00",
            "compressed with xz; decompress it first (xz -d)",
        ),
        (
            b"\x89HDF\r\n",
            "an HDF5 file; write it as Parquet, NPZ or CSV",
        ),
        (
            b"FEA1",
            "a Feather file of version 1; write it with version 2",
        ),
        (
            b"\xd0\xcf\x11\xe0",
            "an old Excel workbook; save it as CSV in UTF-8",
        ),
        (b"%PDF-", "a PDF document; give the data as CSV"),
        (b"\xff\xfe", "UTF-16 text; save it as CSV in UTF-8"),
        (b"\xfe\xff", "UTF-16 text; save it as CSV in UTF-8"),
    ];
    KNOWN
        .iter()
        .find(|(magic, _)| head.starts_with(magic))
        .map(|(_, what)| *what)
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
