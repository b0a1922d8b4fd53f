//! NumPy archives: a ZIP file with one `.npy` file per array.
//!
//! A vector `y` becomes the column `y`, and a matrix `X` becomes the columns `X1`, `X2`, …. A vector of
//! text becomes a text column.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::caps::{Allowance, Metered, TooLarge};
use crate::counted::counted;
use crate::error::DataError;
use crate::format::Format;
use crate::npy::{self, Array};
use crate::raw::RawTable;
use crate::source::Source;
use crate::table::{Table, check_names};

/// Reads the whole source.
pub(crate) fn read(source: &Source<'_>) -> Result<RawTable, DataError> {
    let refuse = |reason: String| DataError::Unreadable {
        path: source.name().to_path_buf(),
        format: Format::Npz.described().into(),
        reason,
    };
    let arrays = match source.plain_file() {
        Some(path) => {
            let file = File::open(path).map_err(|reason| source.failed(reason))?;
            arrays(BufReader::new(file), source.allowance())
        }
        None => arrays(Cursor::new(source.bytes()?), source.allowance()),
    };
    let arrays = arrays.map_err(refuse)?;
    let rows = match arrays.first() {
        Some((_, array)) => array.rows,
        None => {
            return Err(refuse(
                "it holds no arrays; save it with numpy.savez(file, X=X, y=y)".into(),
            ));
        }
    };
    let (mut names, mut columns) = (Vec::new(), Vec::new());
    for (name, array) in &arrays {
        if array.rows != rows {
            return Err(refuse(format!(
                "its array '{name}' has {} but '{}' has {rows}; save arrays of one length",
                counted(array.rows, "row"),
                arrays[0].0
            )));
        }
        if array.is_vector {
            names.push(name.clone());
        } else {
            names.extend((1..=array.columns.len()).map(|j| format!("{name}{j}")));
        }
    }
    for (_, array) in arrays {
        columns.extend(array.columns);
    }
    check_names(Some(source.name()), &names)?;
    Ok(RawTable::new(
        source.name(),
        Format::Npz,
        names,
        rows,
        columns,
    ))
}

fn arrays(
    archive: impl Read + Seek,
    mut allowance: Allowance,
) -> Result<Vec<(String, Array)>, String> {
    const AGAIN: &str = "it is damaged or cut short, so save it again";
    let mut archive = ZipArchive::new(archive).map_err(|error| format!("{error}; {AGAIN}"))?;
    let again = |error| format!("{error}; {AGAIN}");
    let files: Vec<String> = archive
        .file_names()
        .map(|name| name.map(|name| name.into_owned()))
        .collect::<Result<_, _>>()
        .map_err(again)?;
    if files.iter().any(|name| name.ends_with("workbook.xml")) {
        return Err("it is an Excel workbook; save it as CSV in UTF-8".into());
    }
    if ["indptr.npy", "indices.npy", "data.npy"]
        .iter()
        .all(|part| files.iter().any(|name| name == part))
    {
        return Err("it is a sparse matrix of SciPy; write it as LIBSVM with \
                    sklearn.datasets.dump_svmlight_file"
            .into());
    }
    let mut arrays = Vec::new();
    for (at, member) in files.iter().enumerate() {
        let Some(name) = member.strip_suffix(".npy").map(str::to_string) else {
            return Err(format!(
                "its member '{member}' is no array; save it with numpy.savez"
            ));
        };
        let mut file = Metered::new(archive.by_index(at).map_err(again)?, allowance);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| match TooLarge::behind(&error) {
                Some(cap) => cap.to_string(),
                None => format!("its array '{name}' cannot be unpacked ({error}); {AGAIN}"),
            })?;
        allowance = file.left();
        let array = npy::parse(&bytes).map_err(|reason| format!("its array '{name}': {reason}"))?;
        arrays.push((name, array));
    }
    Ok(arrays)
}

/// Writes every column as a vector under its own name.
pub(crate) fn write(out: &mut (impl Write + Seek), table: &Table) -> std::io::Result<()> {
    // A fixed time instead of the current one: the same table gives the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    let mut archive = ZipWriter::new(out);
    for (j, name) in table.names().iter().enumerate() {
        archive.start_file(format!("{name}.npy"), options)?;
        npy::write_array(&mut archive, &[table.rows()], table.column(j))?;
    }
    archive.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        let mut archive = ZipWriter::new(&mut out);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for (name, bytes) in members {
            archive.start_file(*name, options).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap();
        out.into_inner()
    }

    fn array(shape: &[usize], values: &[f64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        npy::write_array(&mut bytes, shape, values).unwrap();
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<RawTable, DataError> {
        read(&Source::memory(Path::new("a.npz"), bytes)?)
    }

    #[test]
    fn matrices_become_numbered_columns() {
        let bytes = archive(&[
            ("X.npy", &array(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
            ("y.npy", &array(&[2], &[5.0, 6.0])),
        ]);
        let table = parse(&bytes).unwrap();
        assert_eq!(table.names(), ["X1", "X2", "y"]);
        assert_eq!(
            table.into_table().unwrap().values(),
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        );
    }

    #[test]
    fn members_share_one_allowance() {
        let zeros = array(&[1000], &[0.0; 1000]);
        let bytes = archive(&[("X.npy", &zeros), ("y.npy", &zeros)]);
        assert!(bytes.len() < 1000);
        let read = |allowance| arrays(Cursor::new(&bytes), Allowance::exactly(allowance));
        assert_eq!(read(2 * zeros.len() as u64).unwrap().len(), 2);
        let message = read(2 * zeros.len() as u64 - 1).unwrap_err();
        assert!(message.contains("store them uncompressed"), "{message}");
    }

    #[test]
    fn other_archives_are_refused_with_the_reason() {
        let one = array(&[2], &[1.0, 2.0]);
        let refused = |members: &[(&str, &[u8])]| parse(&archive(members)).unwrap_err().to_string();
        let short = refused(&[("X.npy", &one), ("y.npy", &array(&[1], &[1.0]))]);
        assert!(short.contains("'y' has 1 row but 'X' has 2"), "{short}");
        let twice = refused(&[("X1.npy", &one), ("X.npy", &array(&[2, 1], &[1.0, 2.0]))]);
        assert!(twice.contains("both named 'X1'"), "{twice}");
        assert!(refused(&[("readme.txt", b"hello")]).contains("'readme.txt' is no array"));
        assert!(refused(&[("xl/workbook.xml", b"<x/>")]).contains("Excel workbook"));
        assert!(refused(&[]).contains("no arrays"));
        assert!(refused(&[("X.npy", b"junk")]).contains("its array 'X': "));
        let sparse = ["indptr.npy", "indices.npy", "data.npy"].map(|name| (name, &one[..]));
        assert!(refused(&sparse).contains("SciPy"));
        let whole = archive(&[("y.npy", &one)]);
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "cut at {end}");
        }
    }
}
