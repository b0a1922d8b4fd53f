//! Walks through the metadata of Parquet files (Thrift's compact protocol) without trusting them.
//!
//! A structure is a list of fields, each with a number and a type. Its integers are passed to a visitor, and
//! everything else is skipped. Lengths of texts and lists are compared with the number of bytes that remain.

use std::io::{self, Read};

/// Upper limit on the nesting depth.
const DEEPEST: u32 = 32;

/// A reader of metadata, with the number of bytes that may still be read.
pub(super) struct Walk<R> {
    input: R,
    left: u64,
    read: u64,
}

/// Location of an integer: its field, and the field of the enclosing structure or list
/// of structures (0 for none).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) outer: i64,
    pub(super) field: i64,
}

impl<R: Read> Walk<R> {
    pub(super) fn new(input: R, left: u64) -> Walk<R> {
        Walk {
            input,
            left,
            read: 0,
        }
    }

    /// Walks through one structure, passes its integers to `seen`, and returns its length in bytes.
    pub(super) fn structure(mut self, mut seen: impl FnMut(At, i64)) -> io::Result<u64> {
        self.fields(0, 0, &mut seen)?;
        Ok(self.read)
    }

    fn fields(&mut self, outer: i64, depth: u32, seen: &mut dyn FnMut(At, i64)) -> io::Result<()> {
        let mut field = 0i64;
        loop {
            let header = self.byte()?;
            let (step, kind) = (header >> 4, header & 15);
            if kind == 0 {
                return Ok(());
            }
            field = match step {
                0 => zigzag(self.varint()?),
                step => field.wrapping_add(step.into()),
            };
            // The type of a boolean is also its value.
            if kind > 2 {
                self.value(kind, At { outer, field }, depth, seen)?;
            }
        }
    }

    fn value(
        &mut self,
        kind: u8,
        at: At,
        depth: u32,
        seen: &mut dyn FnMut(At, i64),
    ) -> io::Result<()> {
        match kind {
            1..=3 => self.pass(1),
            4..=6 => {
                let value = zigzag(self.varint()?);
                seen(at, value);
                Ok(())
            }
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 if depth < DEEPEST => {
                let header = self.byte()?;
                let size = match header >> 4 {
                    15 => self.varint()?,
                    size => size.into(),
                };
                // An element takes at least one byte.
                if size > self.left {
                    return Err(wrong("a list is longer than the metadata"));
                }
                for _ in 0..size {
                    self.value(header & 15, at, depth + 1, seen)?;
                }
                Ok(())
            }
            12 if depth < DEEPEST => self.fields(at.field, depth + 1, seen),
            13 => self.pass(16),
            _ => Err(wrong("the metadata are of an unknown type")),
        }
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(wrong("a number is too long"))
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.count(1)?;
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        self.count(bytes)?;
        let passed = io::copy(&mut (&mut self.input).take(bytes), &mut io::sink())?;
        if passed == bytes {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    fn count(&mut self, bytes: u64) -> io::Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| wrong("a length is beyond the metadata"))?;
        self.read += bytes;
        Ok(())
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Field = (i64, i64, i64);

    fn walk(bytes: &[u8]) -> io::Result<(u64, Vec<Field>)> {
        let mut found = Vec::new();
        let length = Walk::new(bytes, bytes.len() as u64)
            .structure(|at, value| found.push((at.outer, at.field, value)))?;
        Ok((length, found))
    }

    #[test]
    fn integers_are_shown_with_their_fields() {
        // 1: i32 = -1, 2: text "ab", 4: structure {1: i64 = 150}, 5: list of two structures {2: i32 = 1}, 6: true.
        let bytes = [
            0x15, 0x01, 0x18, 2, b'a', b'b', 0x2c, 0x16, 0xac, 0x02, 0, 0x19, 0x2c, 0x25, 2, 0,
            0x25, 2, 0, 0x11, 0, 99,
        ];
        let (length, found) = walk(&bytes).unwrap();
        assert_eq!(length, bytes.len() as u64 - 1);
        assert_eq!(found, [(0, 1, -1), (4, 1, 150), (5, 2, 1), (5, 2, 1)]);
    }

    #[test]
    fn lengths_beyond_the_bytes_are_refused() {
        assert!(walk(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x7f, 0]).is_err());
        assert!(walk(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x7f]).is_err());
        assert!(walk(&[0x15]).is_err());
        assert!(walk(&[0x1c; 100]).is_err());
        assert!(walk(&[0x16, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0]).is_err());
    }
}
