//! LIBSVM (SVMlight) text: `label index:value index:value … # comment`, one row per line.
//!
//! A feature's name is `x` followed by its index in the file, whether indices start at 0 or 1. The label comes
//! last and is called `b`, as in the other formats without names. Cells that are not listed are zero and are
//! not stored. A `qid:` is ignored.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::caps::LONGEST_RECORD;
use crate::column::RawColumn;
use crate::error::DataError;
use crate::format::Format;
use crate::frame::write_float;
use crate::lines::Lines;
use crate::place::clip;
use crate::raw::RawTable;
use crate::source::Source;
use crate::table::Table;

/// Upper limit on an index; a larger one is a mistake, because names alone would fill the memory.
const LARGEST_INDEX: u32 = 50_000_000;

/// Features that are accepted without a check. More are accepted only up to
/// `FEATURES_PER_ENTRY` features per entry.
const FEATURES: usize = 2_500_000;
const FEATURES_PER_ENTRY: usize = 1000;

/// Whether text looks like this format; `None` if it contains only labels.
pub(crate) fn looks_like(head: &[u8]) -> Option<bool> {
    const SAMPLE: usize = 5;
    let mut verdict = None;
    let mut lines = head.split(|byte| *byte == b'\n').take(SAMPLE).peekable();
    while let Some(line) = lines.next() {
        let found = std::str::from_utf8(line)
            .map_err(|error| error.to_string())
            .and_then(|line| parse_line(line, |_, _| Ok(())));
        match found {
            // The last line may be incomplete.
            Err(_) if lines.peek().is_none() && verdict.is_some() => {}
            Err(_) => return Some(false),
            Ok(Some((_, entries))) if entries > 0 => verdict = Some(true),
            Ok(_) => {}
        }
    }
    verdict
}

/// Reads the whole source.
pub(crate) fn read(source: &Source<'_>) -> Result<RawTable, DataError> {
    let file = source.name();
    let mut reader = BufReader::with_capacity(1 << 20, source.stream()?);
    let mut text = Vec::new();
    let mut lines = Lines::default();
    let (mut labels, mut ends) = (Vec::new(), Vec::new());
    let (mut indices, mut values) = (Vec::<u32>::new(), Vec::<f64>::new());
    for line in 1.. {
        text.clear();
        let mut limited = (&mut reader).take(LONGEST_RECORD as u64 + 1);
        let read = limited.read_until(b'\n', &mut text);
        let read = read.map_err(|reason| source.failed(reason))?;
        if read == 0 {
            break;
        }
        if read > LONGEST_RECORD {
            return Err(DataError::LongRecord {
                path: file.to_path_buf(),
                line,
                most: LONGEST_RECORD,
            });
        }
        let refuse = |what: String| DataError::Line {
            path: file.to_path_buf(),
            line,
            what,
        };
        let text = std::str::from_utf8(&text)
            .map_err(|_| refuse("no UTF-8 text; is this a LIBSVM file?".into()))?;
        let found = parse_line(text, |index, value| {
            indices.push(index);
            values.push(value);
            Ok(())
        })
        .map_err(refuse)?;
        if let Some((label, _)) = found {
            lines.put(labels.len(), line);
            labels.push(label);
            ends.push(values.len());
        }
    }
    if labels.is_empty() {
        return Err(DataError::EmptyFile {
            path: file.to_path_buf(),
        });
    }
    let largest = indices.iter().enumerate().max_by_key(|(_, index)| **index);
    let most = FEATURES.max(FEATURES_PER_ENTRY.saturating_mul(values.len()));
    if let Some((at, index)) = largest
        && *index as usize > most
    {
        let row = ends.partition_point(|end| *end <= at);
        return Err(DataError::Line {
            path: file.to_path_buf(),
            line: lines.of(row),
            what: format!(
                "index {index} means as many features, but the file has only {} entries; number the features from 1 \
                 without gaps",
                values.len()
            ),
        });
    }
    let (first, columns) =
        by_column(&ends, &indices, &values).map_err(|(row, index)| DataError::Line {
            path: file.to_path_buf(),
            line: lines.of(row),
            what: format!("index {index} stands there twice; keep one of them"),
        })?;
    let rows = labels.len();
    let mut names: Vec<String> = (0..columns.len())
        .map(|j| format!("x{}", j + first))
        .collect();
    names.push("b".into());
    let mut columns = columns;
    columns.push(RawColumn::from_numbers(labels));
    let table = RawTable::new(file, Format::Libsvm, names, rows, columns);
    Ok(table.with_lines(lines).without_names())
}

/// Converts rows to columns and returns them with the first index. An error is a (row,
/// index) that occurs twice.
fn by_column(
    ends: &[usize],
    indices: &[u32],
    values: &[f64],
) -> Result<(usize, Vec<RawColumn>), (usize, u32)> {
    let first = usize::from(!indices.contains(&0));
    let width = indices
        .iter()
        .max()
        .map_or(0, |most| *most as usize + 1 - first);
    let mut counts = vec![0usize; width];
    for (index, value) in indices.iter().zip(values) {
        counts[*index as usize - first] += usize::from(*value != 0.0);
    }
    let mut columns: Vec<(Vec<u32>, Vec<f64>)> = counts
        .iter()
        .map(|count| (Vec::with_capacity(*count), Vec::with_capacity(*count)))
        .collect();
    // The row in which each index was last seen; explicit zeros count.
    let mut seen = vec![u32::MAX; width];
    let mut start = 0;
    for (row, end) in ends.iter().enumerate() {
        for at in start..*end {
            let j = indices[at] as usize - first;
            if seen[j] == row as u32 {
                return Err((row, indices[at]));
            }
            seen[j] = row as u32;
            if values[at] != 0.0 {
                columns[j].0.push(row as u32);
                columns[j].1.push(values[at]);
            }
        }
        start = *end;
    }
    let columns = columns
        .into_iter()
        .map(|(rows, values)| RawColumn::Sparse { rows, values })
        .collect();
    Ok((first, columns))
}

/// Parses a line and returns its label and the number of its entries; `None` for a blank line or a comment.
fn parse_line(
    line: &str,
    mut entry: impl FnMut(u32, f64) -> Result<(), String>,
) -> Result<Option<(f64, usize)>, String> {
    let content = line.split('#').next().unwrap_or("");
    let mut words = content.split_ascii_whitespace();
    let Some(label) = words.next() else {
        return Ok(None);
    };
    let label = number(label).ok_or_else(|| {
        format!(
            "the label '{}' is not a finite number; a line is 'label index:value …'",
            clip(label)
        )
    })?;
    let mut entries = 0;
    for word in words {
        let (index, value) = word.split_once(':').ok_or_else(|| {
            format!(
                "'{}' is no index:value pair; a line is 'label index:value …'",
                clip(word)
            )
        })?;
        if index == "qid" {
            continue;
        }
        let index: u32 = index
            .parse()
            .ok()
            .filter(|index| *index <= LARGEST_INDEX)
            .ok_or_else(|| {
                format!(
                    "the index '{}' is not a whole number up to {LARGEST_INDEX}; number the features from 1",
                    clip(index)
                )
            })?;
        let value = number(value).ok_or_else(|| {
            format!(
                "the value '{}' of index {index} is not a finite number; replace it or drop the pair",
                clip(value)
            )
        })?;
        entry(index, value)?;
        entries += 1;
    }
    Ok(Some((label, entries)))
}

fn number(word: &str) -> Option<f64> {
    let value: f64 = fast_float2::parse(word).ok()?;
    value.is_finite().then_some(value)
}

/// Writes the last column as the label, and the non-zero cells of the others by column number.
pub(crate) fn write(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    let (design, label) = table.split_last();
    let rows = table.rows();
    let width = table.columns() - 1;
    for (i, label) in label.iter().enumerate() {
        write_float(out, *label)?;
        for j in 0..width {
            let value = design[j * rows + i];
            // The last feature is written once even if it is always zero, because it shows how many there are.
            if value != 0.0 || (i == 0 && j + 1 == width) {
                write!(out, " {}:", j + 1)?;
                write_float(out, value)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parse(text: &str) -> Result<RawTable, DataError> {
        read(&Source::memory(Path::new("a.svm"), text.as_bytes())?)
    }

    #[test]
    fn rows_become_sparse_columns() {
        let table = parse("# made by hand\n+1 qid:3 1:0.5 3:-2 # first\n\n-1 3:1 1:0\n").unwrap();
        assert_eq!(table.names(), ["x1", "x2", "x3", "b"]);
        assert_eq!(table.rows(), 2);
        let sparse = table.sparse(&["x1", "x2", "x3"]).unwrap();
        assert_eq!(sparse.entries(), 3);
        assert_eq!(sparse.column(2), (&[0, 1][..], &[-2.0, 1.0][..]));
        assert_eq!(table.number("b").unwrap(), [1.0, -1.0]);
        assert_eq!(table.number("x1").unwrap(), [0.5, 0.0]);
        assert_eq!(
            table.into_table().unwrap().values(),
            [0.5, 0.0, 0.0, 0.0, -2.0, 1.0, 1.0, -1.0]
        );
    }

    #[test]
    fn counting_from_zero_is_seen() {
        let table = parse("1 0:2 2:1\n0 1:3\n").unwrap();
        assert_eq!(table.names(), ["x0", "x1", "x2", "b"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("1 1:2\nhigh 1:3\n", "a.svm: line 2: the label 'high'"),
            ("1 1:2\n1 2\n", "a.svm: line 2: '2' is no index:value pair"),
            ("1,2 1:2\n", "line 1: the label '1,2'"),
            ("1 a:2\n", "line 1: the index 'a'"),
            ("1 -1:2\n", "line 1: the index '-1'"),
            ("1 4000000000:2\n", "line 1: the index '4000000000'"),
            ("1 1:nan\n", "line 1: the value 'nan' of index 1"),
            ("1 1:x\n", "line 1: the value 'x' of index 1"),
            (
                "1 1:1\n\n1 2:1 1:3 2:5\n",
                "line 3: index 2 stands there twice",
            ),
            ("# nothing\n", "'a.svm' is empty"),
            (
                "1 1:1\n0 2:1\n1 1:1 40000000:2\n",
                "line 3: index 40000000 means as many features, but the file has only 4 entries",
            ),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }

    #[test]
    fn the_format_is_recognised() {
        assert_eq!(looks_like(b"1 1:0.5 7:2\n-1 2:1\n"), Some(true));
        assert_eq!(looks_like(b"# c\n1 1:0.5"), Some(true));
        assert_eq!(looks_like(b"1\n2\n"), None);
        assert_eq!(looks_like(b"a,b\n1,2\n"), Some(false));
        assert_eq!(looks_like(b"1 2 3\n4 5 6\n"), Some(false));
        assert_eq!(looks_like(b"time\n12:30\n"), Some(false));
    }
}
