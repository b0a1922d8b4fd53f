//! Detects the format of a file from its first bytes, then from its name.

use crate::error::DataError;
use crate::format::Format;
use crate::libsvm;
use crate::source::Source;
use crate::store;

/// Detects the format: the first bytes decide, and the name only if they leave doubt.
pub(crate) fn detect(source: &Source<'_>) -> Result<Format, DataError> {
    let head = source.head()?;
    let refuse = |what: &str| {
        Err(DataError::WrongFormat {
            path: source.name().to_path_buf(),
            what: what.to_string(),
        })
    };
    if let Some(format) = of_magic(&head) {
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
        Some(
            format @ (Format::Npy | Format::Npz | Format::Parquet | Format::Arrow | Format::Store),
        ) => {
            // A text table with the wrong extension is read as text; a fragment of a binary file is refused.
            if is_text(&head) && head.contains(&b'\n') {
                return Ok(of_text(&head, None));
            }
            refuse(&format!(
                "is named like {} but does not start like one",
                format.described()
            ))
        }
        _ => Ok(of_text(&head, named)),
    }
}

pub(crate) fn of_magic(head: &[u8]) -> Option<Format> {
    let starts = |magic: &[u8]| head.starts_with(magic);
    if starts(b"PAR1") {
        Some(Format::Parquet)
    } else if starts(b"ARROW1") || is_arrow_stream(head) {
        Some(Format::Arrow)
    } else if starts(b"\x93NUMPY") {
        Some(Format::Npy)
    } else if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") {
        Some(Format::Npz)
    } else if starts(&store::MAGIC) {
        Some(Format::Store)
    } else {
        None
    }
}

fn of_text(head: &[u8], named: Option<Format>) -> Format {
    match libsvm::looks_like(head) {
        Some(true) => Format::Libsvm,
        None if named == Some(Format::Libsvm) => Format::Libsvm,
        _ => Format::Csv,
    }
}

/// Whether the head looks like an IPC stream, which starts with a message: the continuation marker, then
/// the length of its metadata.
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

/// Recognises common formats that are not supported, and returns advice for each.
fn foreign(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 6] = [
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
    ];
    KNOWN
        .iter()
        .find(|(magic, _)| head.starts_with(magic))
        .map(|(_, what)| *what)
}
