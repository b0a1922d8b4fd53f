//! NumPy `.npy` files, by the format's own description:
//! magic `\x93NUMPY`, version, header length (little-endian, 2 bytes in version 1, else 4),
//! a Python dictionary with `descr`, `fortran_order`, `shape`, then the raw numbers.
//!
//! A `.npy` file has no names: the columns are the features in order and the target last.

use std::io::Write;
use std::path::Path;

use crate::error::DataError;
use crate::file::{read_bytes, write_atomically};
use crate::table::Table;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Writes a `rows x columns` matrix of little-endian float64 in Fortran order, our own order.
pub fn write_npy(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    write_atomically(path, |out| {
        let mut header = format!(
            "{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, {}), }}",
            table.rows(),
            table.columns()
        );
        // The numbers start at a multiple of 64 bytes, so that they can be memory-mapped.
        let unpadded = MAGIC.len() + 4 + header.len() + 1;
        header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
        header.push('\n');
        out.write_all(MAGIC)?;
        out.write_all(&[1, 0])?;
        // Two numbers of 20 digits at most: the header is far below 65536 bytes.
        out.write_all(&(header.len() as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for value in table.values() {
            out.write_all(&value.to_le_bytes())?;
        }
        Ok(())
    })
}

/// Reads a float64 or float32 matrix in either order, or a vector as a single column. With `c`
/// columns the names are `x1 … x{c-1}` and, for the last, `b`.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Table, DataError> {
    let path = path.as_ref();
    let bytes = read_bytes(path)?;
    let (rows, columns, values) = parse(&bytes).map_err(|reason| DataError::Npy {
        path: path.to_path_buf(),
        reason,
    })?;
    let mut names: Vec<String> = (1..columns).map(|j| format!("x{j}")).collect();
    names.push("b".into());
    Table::new(names, rows, values).map_err(|error| error.in_file(path))
}

fn parse(bytes: &[u8]) -> Result<(usize, usize, Vec<f64>), String> {
    let (header, body) = split_header(bytes)?;
    let width = match string_entry(header, "descr")? {
        "<f8" => 8,
        "<f4" => 4,
        other => {
            return Err(format!(
                "its numbers are of type '{other}'; save it with array.astype('<f8')"
            ));
        }
    };
    let fortran = match word_entry(header, "fortran_order")? {
        "True" => true,
        "False" => false,
        other => {
            return Err(format!(
                "fortran_order is '{other}'; save it again with numpy.save"
            ));
        }
    };
    let (rows, columns) = match shape(header)?[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        ref other => {
            return Err(format!(
                "it has {} dimensions; save a matrix or a vector",
                other.len()
            ));
        }
    };
    // The size is compared before anything is allocated: a header can claim any shape.
    let claimed = rows
        .checked_mul(columns)
        .and_then(|cells| cells.checked_mul(width));
    if claimed != Some(body.len()) {
        return Err(format!(
            "the header promises {rows} x {columns} numbers of {width} bytes but {} bytes follow; \
             save it again",
            body.len()
        ));
    }
    if rows == 0 || columns == 0 {
        return Err(format!(
            "it has {rows} rows and {columns} columns; it needs at least one each"
        ));
    }
    let number = |at: usize| number(&body[at * width..(at + 1) * width]);
    let values = if fortran {
        (0..rows * columns).map(number).collect()
    } else {
        let column = |j: usize| (0..rows).map(move |i| i * columns + j);
        (0..columns).flat_map(column).map(number).collect()
    };
    Ok((rows, columns, values))
}

fn number(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    }
}

fn split_header(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or("it does not start like a .npy file; save it with numpy.save")?;
    let (length, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (usize::from(u16::from_le_bytes([a, b])), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]) as usize, rest),
        [major, minor, _, _, ..] if major > 3 || major == 0 => {
            return Err(format!(
                "its format version {major}.{minor} is unknown; save it as 1.0"
            ));
        }
        _ => return Err("it ends inside its header; save it again".into()),
    };
    let (header, body) = rest
        .split_at_checked(length)
        .ok_or("it ends inside its header; save it again")?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is no text; save it again")?;
    Ok((header, body))
}

/// What follows `'key':` in the header dictionary.
fn entry<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let missing = || format!("its header has no '{key}'; save it again with numpy.save");
    let (_, after) = header
        .split_once(&format!("'{key}'"))
        .or_else(|| header.split_once(&format!("\"{key}\"")))
        .ok_or_else(missing)?;
    after
        .trim_start()
        .strip_prefix(':')
        .map(str::trim_start)
        .ok_or_else(missing)
}

fn string_entry<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let value = entry(header, key)?;
    let quoted = value.strip_prefix(['\'', '"']);
    quoted
        .and_then(|rest| rest.split_once(['\'', '"']))
        .map(|(inside, _)| inside)
        .ok_or_else(|| "it holds records of several fields; save a plain float matrix".into())
}

fn word_entry<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let value = entry(header, key)?;
    let end = value
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(value.len());
    Ok(&value[..end])
}

fn shape(header: &str) -> Result<Vec<usize>, String> {
    let value = entry(header, "shape")?;
    let inside = value
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'));
    let (inside, _) = inside.ok_or("its shape is no tuple; save it again with numpy.save")?;
    inside
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            part.parse()
                .map_err(|_| format!("its shape has the entry '{part}'"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dictionary: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((dictionary.len() as u16).to_le_bytes());
        bytes.extend(dictionary.as_bytes());
        bytes.extend(body);
        bytes
    }

    fn bytes_of(values: &[f64]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    fn refused(dictionary: &str, body: &[u8]) -> String {
        parse(&file(dictionary, body)).unwrap_err()
    }

    #[test]
    fn both_orders_give_columns() {
        let c = file(
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n",
            &bytes_of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        );
        assert_eq!(
            parse(&c).unwrap(),
            (2, 3, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0])
        );
        let fortran = file(
            "{\"shape\": (2,3), \"descr\": \"<f8\", \"fortran_order\": True}",
            &bytes_of(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        );
        assert_eq!(parse(&fortran).unwrap(), parse(&c).unwrap());
    }

    #[test]
    fn single_precision_vectors_and_version_2_are_read() {
        let body: Vec<u8> = [0.5f32, -2.0]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        let expected = (2, 1, vec![0.5, -2.0]);
        assert_eq!(parse(&file(dictionary, &body)).unwrap(), expected);
        let mut second = MAGIC.to_vec();
        second.extend([2, 0]);
        second.extend((dictionary.len() as u32).to_le_bytes());
        second.extend(dictionary.as_bytes());
        second.extend(&body);
        assert_eq!(parse(&second).unwrap(), expected);
    }

    #[test]
    fn other_contents_are_refused_with_the_reason() {
        let ok = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }";
        assert!(refused(&ok.replace("<f8", "<i8"), &[0; 8]).contains("type '<i8'"));
        assert!(refused(&ok.replace("<f8", ">f8"), &[0; 8]).contains("astype('<f8')"));
        assert!(refused(&ok.replace("'<f8'", "[('a', '<f8')]"), &[0; 8]).contains("fields"));
        assert!(refused(&ok.replace("(1, 1)", "(1, 1, 1)"), &[0; 8]).contains("3 dimensions"));
        assert!(refused(&ok.replace("(1, 1)", "()"), &[0; 8]).contains("0 dimensions"));
        assert!(refused(&ok.replace("(1, 1)", "(0, 3)"), &[]).contains("0 rows"));
        assert!(refused(&ok.replace("(1, 1)", "(-1, 3)"), &[]).contains("entry '-1'"));
        assert!(refused(&ok.replace("(1, 1)", "7"), &[]).contains("no tuple"));
        assert!(refused(&ok.replace("False", "None"), &[0; 8]).contains("'None'"));
        assert!(refused(&ok.replace("shape", "size"), &[0; 8]).contains("no 'shape'"));
        assert!(refused(ok, &[0; 7]).contains("7 bytes follow"));
        assert!(refused(ok, &[0; 9]).contains("9 bytes follow"));
        let huge = ok.replace("(1, 1)", "(18446744073709551615, 18446744073709551615)");
        assert!(refused(&huge, &[0; 8]).contains("promises"));
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = file(
            "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1), }",
            &[0; 8],
        );
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "cut at {end}");
        }
        assert!(parse(b"a,b\n1,2\n").unwrap_err().contains("numpy.save"));
        let mut version = whole.clone();
        version[6] = 9;
        assert!(parse(&version).unwrap_err().contains("version 9.0"));
    }
}
