//! How a text is written: its delimiter, its header, and where its cells end.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr3, memrchr};

use crate::column::Cell;

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter of the cells and the meaning of a comma in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// A blank stands for any run of blanks and tabs.
    pub(super) delimiter: u8,
    pub(super) decimal_comma: bool,
}

impl Dialect {
    pub(super) fn in_blanks(self) -> bool {
        self.delimiter == b' '
    }

    /// Returns where the cell that starts at `at` ends, and whether its quotes are closed there.
    pub(super) fn cell_end(self, bytes: &[u8], mut at: usize) -> (usize, bool) {
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            loop {
                let Some(quote) = memchr(b'"', &bytes[at..]) else {
                    return (bytes.len(), false);
                };
                at += quote + 1;
                // A doubled quote stands for one quote inside the cell.
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
        }
        let rest = &bytes[at..];
        let end = if self.in_blanks() {
            rest.iter()
                .position(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        } else {
            memchr3(self.delimiter, b'\n', b'\r', rest)
        };
        (at + end.unwrap_or(rest.len()), true)
    }

    /// Returns the position after the last record that is certainly complete.
    pub(super) fn last_record_end(self, bytes: &[u8]) -> Option<usize> {
        if memchr(b'"', bytes).is_none() {
            let newline = memrchr(b'\n', bytes).map(|at| at + 1);
            // A carriage return at the very end may be half of a CRLF.
            return newline.or_else(|| {
                let end = bytes.len().checked_sub(1)?;
                memrchr(b'\r', &bytes[..end]).map(|at| at + 1)
            });
        }
        let (mut at, mut last) = (0, None);
        loop {
            let (end, closed) = self.cell_end(bytes, at);
            if !closed || end >= bytes.len() {
                return last;
            }
            at = end + 1;
            match bytes[end] {
                b'\n' => last = Some(at),
                b'\r' if at == bytes.len() => return last,
                b'\r' => {
                    at += usize::from(bytes[at] == b'\n');
                    last = Some(at);
                }
                _ => {}
            }
        }
    }

    /// Returns the cells of the record that starts at `at`, and the position of its end; `None`
    /// if a quote is never closed.
    pub(super) fn record(self, bytes: &[u8], mut at: usize) -> Option<(Vec<Cow<'_, [u8]>>, usize)> {
        let mut cells = Vec::new();
        loop {
            if self.in_blanks() {
                at = skip_blanks(bytes, at);
                if is_record_end(bytes, at) && !cells.is_empty() {
                    return Some((cells, at));
                }
            }
            let (end, closed) = self.cell_end(bytes, at);
            if !closed {
                return None;
            }
            cells.push(unquoted(&bytes[at..end]));
            if is_record_end(bytes, end) {
                return Some((cells, end));
            }
            at = end + 1;
        }
    }
}

pub(super) fn is_record_end(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), None | Some(b'\n' | b'\r'))
}

pub(super) fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let blanks = bytes[at..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    at + blanks.count()
}

/// Skips the line break at `at`, if there is one.
pub(super) fn skip_break(bytes: &[u8], at: usize) -> usize {
    match bytes[at..] {
        [b'\r', b'\n', ..] => at + 2,
        [b'\r' | b'\n', ..] => at + 1,
        _ => at,
    }
}

/// Counts line breaks of every system, each once.
pub(super) fn line_breaks(bytes: &[u8]) -> u64 {
    let newlines = memchr_iter(b'\n', bytes).count();
    let alone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
    (newlines + memchr_iter(b'\r', bytes).filter(alone).count()) as u64
}

/// Returns a cell without its quotes.
pub(super) fn unquoted(cell: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut rest) = cell.strip_prefix(b"\"") else {
        return cell.into();
    };
    let mut inside = Vec::with_capacity(rest.len());
    while let Some(quote) = memchr(b'"', rest) {
        inside.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        match rest.strip_prefix(b"\"") {
            Some(after) => {
                inside.push(b'"');
                rest = after;
            }
            None => break,
        }
    }
    inside.extend_from_slice(rest);
    inside.into()
}

/// Guesses the delimiter: the candidate that occurs most often in the first line outside quotes. If no
/// candidate occurs, blanks are chosen if they give every line the same number of cells; otherwise a comma.
pub(super) fn detect_delimiter(text: &[u8]) -> u8 {
    let mut counts = [0usize; DELIMITERS.len()];
    let mut in_quotes = false;
    let first = text
        .iter()
        .position(|byte| !matches!(byte, b'\r' | b'\n'))
        .unwrap_or(0);
    for byte in &text[first..] {
        match byte {
            b'"' => in_quotes = !in_quotes,
            b'\r' | b'\n' if !in_quotes => break,
            _ if in_quotes => {}
            _ => {
                if let Some(which) = DELIMITERS.iter().position(|d| d == byte) {
                    counts[which] += 1;
                }
            }
        }
    }
    // A tie goes to the more common delimiter, which comes first.
    let mut best = 0;
    for which in 1..counts.len() {
        if counts[which] > counts[best] {
            best = which;
        }
    }
    if counts[best] == 0 && splits_at_blanks(text) {
        return b' ';
    }
    DELIMITERS[best]
}

fn splits_at_blanks(text: &[u8]) -> bool {
    const SAMPLE: usize = 20;
    let mut lines: Vec<&[u8]> = text
        .split(|byte| matches!(byte, b'\r' | b'\n'))
        .filter(|line| !line.trim_ascii().is_empty())
        .take(SAMPLE + 1)
        .collect();
    // The last line may be incomplete.
    if lines.len() > SAMPLE {
        lines.pop();
    }
    let cells = |line: &&[u8]| {
        line.split(|byte| matches!(byte, b' ' | b'\t'))
            .filter(|cell| !cell.is_empty())
            .count()
    };
    let mut counts = lines.iter().map(cells);
    let first = counts.next().unwrap_or(0);
    lines.len() > 1 && first > 1 && counts.all(|count| count == first)
}

/// Whether the first record names the columns. A record of numbers alone does not, unless they are 0, 1, 2, …
/// or 1, 2, 3, …, the default names of a data frame.
pub(super) fn is_header(cells: &[String]) -> bool {
    let is_number = |cell: &String| matches!(Cell::of(cell), Cell::Number(_));
    let counts_from = |start: usize| {
        let mut numbered = cells.iter().zip(start..);
        numbered.all(|(cell, number)| *cell == number.to_string())
    };
    !cells.iter().all(is_number) || (cells.len() > 1 && (counts_from(0) || counts_from(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_shows_the_delimiter() {
        assert_eq!(detect_delimiter(b"a,b;c,d\n"), b',');
        assert_eq!(detect_delimiter(b"a;b,c;d\n1,2"), b';');
        assert_eq!(detect_delimiter(b"\r\na\tb\n"), b'\t');
        assert_eq!(detect_delimiter(b"a|b"), b'|');
        assert_eq!(detect_delimiter(b"\"a;b;c\",d"), b',');
        assert_eq!(detect_delimiter(b"alone\n1;2;3"), b',');
        assert_eq!(detect_delimiter(b"a b c\n1 2  3\n 4 5 6 \n"), b' ');
        assert_eq!(detect_delimiter(b"first name\nAnn\nBob\n"), b',');
    }

    #[test]
    fn line_breaks_of_every_system_count_once() {
        assert_eq!(line_breaks(b"a\nb\r\nc\rd"), 3);
        assert_eq!(line_breaks(b"\r\r\n\n"), 3);
    }

    #[test]
    fn numbers_are_no_names() {
        let header = |cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.to_string()).collect();
            is_header(&cells)
        };
        assert!(header(&["a", "1"]));
        assert!(header(&["0", "1", "2"]));
        assert!(header(&["1", "2"]));
        assert!(!header(&["2", "1"]));
        assert!(!header(&["1.5", "2"]));
        assert!(!header(&["1"]));
    }

    #[test]
    fn records_are_cut_where_they_surely_end() {
        let dialect = Dialect {
            delimiter: b',',
            decimal_comma: false,
        };
        let cut = |text: &str| dialect.last_record_end(text.as_bytes());
        assert_eq!(cut("a,b\n1,2\n3"), Some(8));
        assert_eq!(cut("a,b"), None);
        assert_eq!(cut("a\r1\r"), Some(2));
        assert_eq!(cut("a\n\"x\ny\",1\n\"z\n"), Some(10));
        assert_eq!(cut("a\n\"x\"\"\n"), Some(2));
        assert_eq!(cut("\"a\"\r\n\"b\"\r"), Some(5));
        assert_eq!(
            cut("a\"b\nc\n"),
            Some(6),
            "a quote inside a cell is a letter"
        );
    }

    #[test]
    fn quotes_are_taken_off() {
        assert_eq!(*unquoted(b"\"a\"\"b\"c"), *b"a\"bc");
        assert_eq!(*unquoted(b"a\"b"), *b"a\"b");
        assert_eq!(*unquoted(b"\"\""), *b"");
    }
}
