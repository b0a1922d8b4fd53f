//! [`Frame`]: named columns of numbers and text that are to be written.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::column::Cell;
use crate::table::Table;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values<'a> {
    /// Numbers.
    Numbers(Cow<'a, [f64]>),
    /// Text.
    Texts(Cow<'a, [String]>),
}

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame<'a> {
    columns: Vec<(Cow<'a, str>, Values<'a>)>,
    rows: usize,
}

impl<'a> Frame<'a> {
    /// Creates a frame of `rows` rows without columns.
    pub fn new(rows: usize) -> Frame<'a> {
        Frame {
            columns: Vec::new(),
            rows,
        }
    }

    /// Adds a column.
    ///
    /// # Panics
    /// If the number of cells differs from the number of rows of the frame.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, values: Values<'a>) {
        let cells = match &values {
            Values::Numbers(values) => values.len(),
            Values::Texts(values) => values.len(),
        };
        assert_eq!(cells, self.rows, "a column of another length");
        self.columns.push((name.into(), values));
    }

    /// Iterates over the columns with their names.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &Values<'a>)> {
        let columns = self.columns.iter();
        columns.map(|(name, values)| (name.as_ref(), values))
    }

    /// Protects texts that a spreadsheet would run as formulas. Texts that begin with `=`, `+`, `-`, `@`, a tab
    /// or a line break get an apostrophe in front; texts that are numbers stay as they are.
    pub fn without_formulas(mut self) -> Frame<'a> {
        let starts = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
        let is_formula = |text: &String| {
            text.starts_with(starts) && !matches!(Cell::of(text.trim()), Cell::Number(_))
        };
        for (_, values) in &mut self.columns {
            if let Values::Texts(texts) = values
                && texts.iter().any(is_formula)
            {
                for text in texts.to_mut().iter_mut().filter(|text| is_formula(text)) {
                    text.insert(0, '\'');
                }
            }
        }
        self
    }

    /// Writes delimited text with a header; numbers read back to the same bits.
    pub fn write_text(&self, out: &mut dyn Write, delimiter: char) -> io::Result<()> {
        let mut between = [0; 4];
        let between = delimiter.encode_utf8(&mut between).as_bytes();
        let header: Vec<String> = self.columns().map(|(name, _)| quoted(name)).collect();
        writeln!(out, "{}", header.join(&delimiter.to_string()))?;
        for row in 0..self.rows {
            for (j, (_, values)) in self.columns.iter().enumerate() {
                if j > 0 {
                    out.write_all(between)?;
                }
                match values {
                    Values::Numbers(values) => write_float(out, values[row])?,
                    Values::Texts(values) => out.write_all(quoted(&values[row]).as_bytes())?,
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl<'a> From<&'a Table> for Frame<'a> {
    fn from(table: &'a Table) -> Frame<'a> {
        let mut frame = Frame::new(table.rows());
        for (j, name) in table.names().iter().enumerate() {
            frame.push(name, Values::Numbers(table.column(j).into()));
        }
        frame
    }
}

/// Writes a number in one of two formats of Rust, both of which round-trip; `{}` would spell out
/// the 300 zeros of `1e300`.
pub(crate) fn write_float(out: &mut dyn Write, value: f64) -> io::Result<()> {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}

/// Quotes a name if the reader could mistake it for structure.
pub(crate) fn quoted(name: &str) -> String {
    let is_number = matches!(Cell::of(name), Cell::Number(_));
    if is_number || name.contains([',', ';', '\t', '|', '"', '\r', '\n', '\u{feff}']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_neutralised_and_numbers_are_not() {
        let texts = [
            "=1+1", "+cmd", "-2.5", "@x", "\tx", "a=b", "-", "1e3", "'", "",
        ];
        let mut frame = Frame::new(texts.len());
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        frame.push("=name", Values::Texts(texts.into()));
        frame.push("z", Values::Numbers(vec![-1.0; 10].into()));
        let safe = frame.clone().without_formulas();
        let shown: Vec<_> = safe.columns().map(|(_, values)| values.clone()).collect();
        let Values::Texts(texts) = &shown[0] else {
            panic!("text")
        };
        let expected = [
            "'=1+1", "'+cmd", "-2.5", "'@x", "'\tx", "a=b", "'-", "1e3", "'", "",
        ];
        assert_eq!(texts[..], expected);
        assert_eq!(shown[1], Values::Numbers(vec![-1.0; 10].into()));
    }

    #[test]
    fn text_is_quoted_where_it_must_be() {
        let mut frame = Frame::new(2);
        frame.push("z", Values::Numbers(vec![1.5, 1e300].into()));
        frame.push("l", Values::Texts(vec!["a,b".into(), "c".into()].into()));
        let mut out = Vec::new();
        frame.write_text(&mut out, ',').unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "z,l\n1.5,\"a,b\"\n1e300,c\n"
        );
    }

    #[test]
    fn floats_are_short() {
        let shown = |value: f64| {
            let mut out = Vec::new();
            write_float(&mut out, value).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(0.1), "0.1");
        assert_eq!(shown(-0.0), "-0");
        assert_eq!(shown(151.0), "151");
        assert_eq!(shown(1e300), "1e300");
        assert_eq!(shown(-2.5e-7), "-2.5e-7");
    }
}
