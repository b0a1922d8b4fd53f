//! NumPy `.npy` files, as the format is documented: magic `\x93NUMPY`, version, header length
//! (little-endian, 2 bytes in version 1, else 4), a Python dictionary with `descr`, `fortran_order`,
//! `shape`, then the raw numbers.
//!
//! A `.npy` file has no names: the columns are the features in order, then the target.

use std::io::{self, Write};
use std::path::Path;

use crate::atomic::write_atomically;
use crate::column::RawColumn;
use crate::counted::counted;
use crate::error::DataError;
use crate::format::Format;
use crate::raw::RawTable;
use crate::source::Source;
use crate::table::Table;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Writes a `rows x columns` matrix of little-endian float64 in Fortran order, the order of [`Table`].
pub fn write_npy(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    write_atomically(path, |out| {
        write_array(out, &[table.rows(), table.columns()], table.values())
    })
}

/// Writes values in Fortran order, after a header that says so.
pub(crate) fn write_array(out: &mut dyn Write, shape: &[usize], values: &[f64]) -> io::Result<()> {
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    // A tuple with one element needs its comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '<f8', 'fortran_order': True, 'shape': ({}{comma}), }}",
        shape.join(", ")
    );
    // The numbers start at a multiple of 64 bytes, so that they can be memory-mapped.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    // Two numbers of up to 20 digits: the header is far below 65536 bytes.
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for value in values {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(())
}

/// Reads a matrix of numbers in either order, or a vector as a single column. With `c` columns, the names are
/// `x1 … x{c-1}` and `b` for the last one.
pub fn read_npy(path: impl AsRef<Path>) -> Result<RawTable, DataError> {
    read(&Source::open(path.as_ref())?)
}

pub(crate) fn read(source: &Source<'_>) -> Result<RawTable, DataError> {
    let array = parse(&source.bytes()?).map_err(|reason| DataError::Unreadable {
        path: source.name().to_path_buf(),
        format: Format::Npy.described().into(),
        reason,
    })?;
    let mut names: Vec<String> = (1..array.columns.len()).map(|j| format!("x{j}")).collect();
    names.push("b".into());
    let table = RawTable::new(source.name(), Format::Npy, names, array.rows, array.columns);
    Ok(table.without_names())
}

/// An array with at least one row and one column.
#[derive(Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<RawColumn>,
    pub(crate) is_vector: bool,
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Array, String> {
    let (header, body) = split_header(bytes)?;
    let kind = Kind::of(string_entry(header, "descr")?)?;
    let fortran = match word_entry(header, "fortran_order")? {
        "True" => true,
        "False" => false,
        other => {
            return Err(format!(
                "fortran_order is '{other}'; save it again with numpy.save"
            ));
        }
    };
    let shape = shape(header)?;
    let (rows, columns) = match shape[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        ref other => {
            return Err(format!(
                "it has {} dimensions; save a matrix or a vector",
                other.len()
            ));
        }
    };
    // The size is checked before anything is allocated, because a header can claim any shape.
    let width = kind.width;
    let claimed = rows
        .checked_mul(columns)
        .and_then(|cells| cells.checked_mul(width));
    if claimed != Some(body.len()) {
        return Err(format!(
            "the header promises {rows} x {columns} cells of {width} bytes but {} bytes follow; \
             save it again",
            body.len()
        ));
    }
    if rows == 0 || columns == 0 || width == 0 {
        return Err(format!(
            "it has {} and {}; it needs at least one each",
            counted(rows, "row"),
            counted(columns, "column")
        ));
    }
    let cell = |i: usize, j: usize| {
        let at = if fortran {
            j * rows + i
        } else {
            i * columns + j
        };
        &body[at * width..(at + 1) * width]
    };
    let column = |j: usize| {
        let cells = (0..rows).map(|i| cell(i, j));
        if kind.letter == b'U' {
            let texts: Vec<String> = cells.map(|cell| kind.text(cell)).collect();
            RawColumn::from_texts(texts.iter().map(|text| text.trim()))
        } else if kind.letter == b'b' {
            RawColumn::from_texts(cells.map(|cell| ["false", "true"][usize::from(cell[0] != 0)]))
        } else {
            RawColumn::from_numbers(cells.map(|cell| kind.number(cell)).collect())
        }
    };
    Ok(Array {
        rows,
        columns: (0..columns).map(column).collect(),
        is_vector: shape.len() == 1,
    })
}

/// The type of the cells, such as `<f8`, `|b1`, `>i4` or `<U5`.
struct Kind {
    big_endian: bool,
    letter: u8,
    width: usize,
}

impl Kind {
    fn of(descr: &str) -> Result<Kind, String> {
        let refuse = || {
            format!(
                "its cells are of type '{descr}'; save numbers, for example array.astype('<f8')"
            )
        };
        let (order, letter, size) = match descr.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), letter, size @ ..] => (order, *letter, size),
            _ => return Err(refuse()),
        };
        let size: Option<usize> = std::str::from_utf8(size).ok().and_then(|s| s.parse().ok());
        let size = size.ok_or_else(refuse)?;
        let width = match (letter, size) {
            (b'f', 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1) => size,
            (b'U', characters) => characters.checked_mul(4).ok_or_else(refuse)?,
            _ => return Err(refuse()),
        };
        Ok(Kind {
            big_endian: *order == b'>',
            letter,
            width,
        })
    }

    fn number(&self, cell: &[u8]) -> f64 {
        let mut bytes = [0u8; 8];
        bytes[..cell.len()].copy_from_slice(cell);
        if self.big_endian {
            bytes[..cell.len()].reverse();
        }
        let word = u64::from_le_bytes(bytes);
        // Shifts the sign of a short integer to the top and back, which extends it.
        let shift = 64 - 8 * cell.len() as u32;
        match (self.letter, cell.len()) {
            (b'f', 4) => f64::from(f32::from_bits(word as u32)),
            (b'f', _) => f64::from_bits(word),
            (b'i', _) => (((word << shift) as i64) >> shift) as f64,
            _ => word as f64,
        }
    }

    /// Decodes characters of four bytes each, without the zeros at the end.
    fn text(&self, cell: &[u8]) -> String {
        let letter = |bytes: &[u8]| {
            let word = [bytes[0], bytes[1], bytes[2], bytes[3]];
            let code = if self.big_endian {
                u32::from_be_bytes(word)
            } else {
                u32::from_le_bytes(word)
            };
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        let text: String = cell.chunks_exact(4).map(letter).collect();
        text.trim_end_matches('\0').to_string()
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

/// Returns the text after `'key':` in the header dictionary.
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

    /// Parses an array into rows, columns and values.
    fn parsed(bytes: &[u8]) -> Result<(usize, usize, Vec<f64>), String> {
        let array = parse(bytes)?;
        let mut values = Vec::new();
        for column in &array.columns {
            let numbers = column.numbers(array.rows);
            values.extend_from_slice(&numbers.map_err(|bad| bad.text.to_string())?);
        }
        Ok((array.rows, array.columns.len(), values))
    }

    #[test]
    fn both_orders_give_columns() {
        let c = file(
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n",
            &bytes_of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        );
        assert_eq!(
            parsed(&c).unwrap(),
            (2, 3, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0])
        );
        let fortran = file(
            "{\"shape\": (2,3), \"descr\": \"<f8\", \"fortran_order\": True}",
            &bytes_of(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        );
        assert_eq!(parsed(&fortran).unwrap(), parsed(&c).unwrap());
    }

    #[test]
    fn single_precision_vectors_and_version_2_are_read() {
        let body: Vec<u8> = [0.5f32, -2.0]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        let expected = (2, 1, vec![0.5, -2.0]);
        assert_eq!(parsed(&file(dictionary, &body)).unwrap(), expected);
        let mut second = MAGIC.to_vec();
        second.extend([2, 0]);
        second.extend((dictionary.len() as u32).to_le_bytes());
        second.extend(dictionary.as_bytes());
        second.extend(&body);
        assert_eq!(parsed(&second).unwrap(), expected);
    }

    #[test]
    fn integers_booleans_text_and_the_other_byte_order_are_read() {
        let cells = |descr: &str, body: &[u8]| {
            let dictionary =
                format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}");
            parse(&file(&dictionary, body)).unwrap().columns.remove(0)
        };
        let numbers = |values: &[f64]| RawColumn::Number(values.to_vec());
        assert_eq!(cells("|i1", &[0xff, 1]), numbers(&[-1.0, 1.0]));
        assert_eq!(cells("|u1", &[0xff, 1]), numbers(&[255.0, 1.0]));
        assert_eq!(cells("<i2", &[0xfe, 0xff, 1, 0]), numbers(&[-2.0, 1.0]));
        assert_eq!(cells(">i2", &[0xff, 0xfe, 0, 1]), numbers(&[-2.0, 1.0]));
        let large: Vec<u8> = [-3i64, 1 << 40]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        assert_eq!(cells("<i8", &large), numbers(&[-3.0, (1u64 << 40) as f64]));
        let other: Vec<u8> = [0.5f64, 2.0].iter().flat_map(|v| v.to_be_bytes()).collect();
        assert_eq!(cells(">f8", &other), numbers(&[0.5, 2.0]));
        assert!(cells("|b1", &[1, 0]).is_boolean());
        let text: Vec<u8> = "añb\0"
            .chars()
            .flat_map(|c| (c as u32).to_le_bytes())
            .collect();
        let RawColumn::Text { levels, .. } = cells("<U2", &text) else {
            panic!("text")
        };
        assert_eq!(levels, ["añ", "b"]);
    }

    #[test]
    fn other_contents_are_refused_with_the_reason() {
        let ok = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }";
        assert!(refused(&ok.replace("<f8", "<c16"), &[0; 16]).contains("type '<c16'"));
        assert!(refused(&ok.replace("<f8", "|O"), &[0; 8]).contains("astype('<f8')"));
        assert!(refused(&ok.replace("<f8", "<U0"), &[]).contains("at least one"));
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
