//! [`Encoding`]: text in UTF-8, UTF-16 or Latin-1, detected from its bytes and decoded while it is read.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// Encoding of the letters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8, with or without a byte-order mark.
    Utf8,
    /// UTF-16, the low byte of each unit first.
    Utf16Le,
    /// UTF-16, the high byte of each unit first.
    Utf16Be,
    /// One byte per letter: Windows-1252, which contains the letters of Latin-1.
    Latin1,
}

/// The letters of the bytes 0x80 to 0x9f in Windows-1252. Bytes without a letter keep their meaning in Latin-1.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Bytes that are examined to detect the byte order of UTF-16 without a mark.
const SAMPLE: usize = 4096;
/// Bytes that are decoded at a time.
const CHUNK: usize = 64 * 1024;

impl Encoding {
    /// The words that name the encodings, as [`FromStr`] takes them.
    pub const WORDS: [&'static str; 4] = ["utf-8", "utf-16", "utf-16be", "latin-1"];

    /// Returns the word that names the encoding.
    pub fn as_str(self) -> &'static str {
        Encoding::WORDS[self as usize]
    }

    /// Returns the encoding that the first bytes prove: by a mark, or by UTF-16 text in which
    /// every other byte is zero.
    pub(crate) fn of(head: &[u8]) -> Option<Encoding> {
        match head {
            [0xef, 0xbb, 0xbf, ..] => return Some(Encoding::Utf8),
            [0xff, 0xfe, ..] => return Some(Encoding::Utf16Le),
            [0xfe, 0xff, ..] => return Some(Encoding::Utf16Be),
            _ => {}
        }
        let pairs = head[..head.len().min(SAMPLE)].chunks_exact(2);
        let all = pairs.len();
        let is_letter = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
        let of_order = |low: usize| {
            let plain = pairs.clone();
            let plain = plain.filter(|pair| pair[1 - low] == 0 && is_letter(pair[low]));
            // Names may contain letters of other scripts; digits and delimiters do not.
            all >= 4 && 2 * plain.count() > all
        };
        if of_order(0) {
            Some(Encoding::Utf16Le)
        } else if of_order(1) {
            Some(Encoding::Utf16Be)
        } else {
            None
        }
    }

    /// Returns the requested encoding, with the byte order of the file's mark if there is one.
    pub(crate) fn ordered(self, head: &[u8]) -> Encoding {
        match (self, Encoding::of(head)) {
            (Encoding::Utf16Le, Some(Encoding::Utf16Be)) => Encoding::Utf16Be,
            (own, _) => own,
        }
    }

    /// Wraps a stream so that it yields UTF-8.
    pub(crate) fn decoded<'a>(
        self,
        stream: Box<dyn Read + Send + 'a>,
    ) -> Box<dyn Read + Send + 'a> {
        match self {
            Encoding::Utf8 => stream,
            _ => Box::new(Decoded {
                stream,
                encoding: self,
                raw: Vec::new(),
                text: Vec::new(),
                at: 0,
                offset: 0,
            }),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le | Encoding::Utf16Be => "UTF-16",
            Encoding::Latin1 => "Latin-1",
        })
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(word: &str) -> Result<Encoding, String> {
        Ok(match word.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Encoding::Utf8,
            "utf-16" | "utf16" | "utf-16le" => Encoding::Utf16Le,
            "utf-16be" => Encoding::Utf16Be,
            "latin-1" | "latin1" | "iso-8859-1" | "windows-1252" | "cp1252" => Encoding::Latin1,
            _ => return Err(format!("it must be one of {}", Encoding::WORDS.join(", "))),
        })
    }
}

/// A stream that decodes another encoding to UTF-8.
struct Decoded<'a> {
    stream: Box<dyn Read + Send + 'a>,
    encoding: Encoding,
    /// Bytes of an incomplete letter.
    raw: Vec<u8>,
    text: Vec<u8>,
    at: usize,
    /// Number of bytes before `raw`.
    offset: u64,
}

impl Decoded<'_> {
    fn refill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() {
            let before = self.raw.len();
            (&mut self.stream)
                .take(CHUNK as u64)
                .read_to_end(&mut self.raw)?;
            let at_end = self.raw.len() == before;
            let mut text = String::with_capacity(2 * self.raw.len());
            let used = match self.encoding {
                Encoding::Utf8 | Encoding::Latin1 => {
                    text.extend(self.raw.iter().map(|byte| match byte {
                        0x80..0xa0 => WINDOWS[usize::from(byte - 0x80)],
                        other => char::from(*other),
                    }));
                    self.raw.len()
                }
                Encoding::Utf16Le => self.utf16(u16::from_le_bytes, at_end, &mut text)?,
                Encoding::Utf16Be => self.utf16(u16::from_be_bytes, at_end, &mut text)?,
            };
            self.text = text.into_bytes();
            self.raw.drain(..used);
            self.offset += used as u64;
            if at_end {
                break;
            }
        }
        Ok(())
    }

    /// Decodes all complete letters and returns how many bytes they took.
    fn utf16(
        &self,
        unit: fn([u8; 2]) -> u16,
        at_end: bool,
        text: &mut String,
    ) -> io::Result<usize> {
        let pairs = self.raw.chunks_exact(2);
        let mut units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
        let is_open = units
            .last()
            .is_some_and(|last| (0xd800..0xdc00).contains(last));
        if is_open && !at_end {
            units.pop();
        }
        if at_end && self.raw.len() % 2 == 1 {
            let at = self.offset + self.raw.len() as u64 - 1;
            return Err(Undecodable::error(at, "it ends in the middle of a letter"));
        }
        let mut at = 0;
        for decoded in char::decode_utf16(units.iter().copied()) {
            let letter = decoded.map_err(|_| {
                let at = self.offset + 2 * at as u64;
                Undecodable::error(at, "half of a letter is missing")
            })?;
            at += letter.len_utf16();
            text.push(letter);
        }
        Ok(2 * units.len())
    }
}

impl Read for Decoded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            self.refill()?;
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// The reason why bytes are not text in an encoding, carried through [`io::Error`].
#[derive(Debug)]
pub(crate) struct Undecodable(String);

impl Undecodable {
    fn error(at: u64, why: &str) -> io::Error {
        let reason = format!("damaged UTF-16 at byte offset {at}: {why}");
        io::Error::new(io::ErrorKind::InvalidData, Undecodable(reason))
    }

    /// Returns this error if it caused a read error.
    pub(crate) fn behind(reason: &io::Error) -> Option<&Undecodable> {
        reason.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Undecodable {}

/// Classification of bytes that are not valid UTF-8 throughout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ByteKind {
    /// Text with one byte per letter.
    Latin1,
    /// Text in which only some letters are UTF-8, with the first line of each kind.
    Mixed { utf8: u64, other: u64 },
    /// Bytes that do not occur in text.
    Binary,
}

impl ByteKind {
    /// Classifies all bytes of a stream.
    pub(crate) fn of(stream: &mut dyn Read) -> io::Result<ByteKind> {
        let (mut utf8, mut other) = (None, None);
        let mut line = 1;
        let mut bytes = Vec::new();
        loop {
            let before = bytes.len();
            (&mut *stream).take(CHUNK as u64).read_to_end(&mut bytes)?;
            let at_end = bytes.len() == before;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (good, bad) = match std::str::from_utf8(rest) {
                    Ok(_) => (rest.len(), 0),
                    Err(error) => match error.error_len() {
                        Some(length) => (error.valid_up_to(), length),
                        None if at_end => (error.valid_up_to(), rest.len() - error.valid_up_to()),
                        None => (error.valid_up_to(), 0),
                    },
                };
                for byte in &rest[..good + bad] {
                    match byte {
                        b'\n' => line += 1,
                        0..=8 | 0x0e..0x20 | 0x7f => return Ok(ByteKind::Binary),
                        _ => {}
                    }
                }
                let breaks =
                    |part: &[u8]| part.iter().filter(|byte| **byte == b'\n').count() as u64;
                if utf8.is_none()
                    && let Some(at) = rest[..good].iter().position(|byte| !byte.is_ascii())
                {
                    utf8 = Some(line - breaks(&rest[at..good + bad]));
                }
                if bad > 0 {
                    let has_no_letter =
                        |byte: &u8| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
                    if rest[good..good + bad].iter().any(has_no_letter) {
                        return Ok(ByteKind::Binary);
                    }
                    other.get_or_insert(line - breaks(&rest[good..good + bad]));
                }
                rest = &rest[good + bad..];
                if good + bad == 0 || bad == 0 {
                    break;
                }
            }
            let left = rest.len();
            bytes.drain(..bytes.len() - left);
            if at_end {
                break;
            }
        }
        Ok(match (utf8, other) {
            (Some(utf8), Some(other)) => ByteKind::Mixed { utf8, other },
            _ => ByteKind::Latin1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    fn decode(encoding: Encoding, bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        // Yields one byte at a time, so that letters are cut at every possible place.
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.0.len().min(buffer.len()).min(1);
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let mut decoded = encoding.decoded(Box::new(Slow(bytes)));
        decoded.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn letters_of_every_plane_come_through() {
        let text = "größe;名前;😀\n1;2;3\n".repeat(20_000);
        for (encoding, unit) in [
            (Encoding::Utf16Le, u16::to_le_bytes as fn(u16) -> [u8; 2]),
            (Encoding::Utf16Be, u16::to_be_bytes),
        ] {
            let bytes = utf16(&text, unit);
            assert!(decode(encoding, &bytes).unwrap() == text);
            assert_eq!(Encoding::of(&bytes), Some(encoding));
        }
        let latin = decode(Encoding::Latin1, b"caf\xe9 \x80\x93").unwrap();
        assert_eq!(latin, "café €“");
    }

    #[test]
    fn damaged_utf16_is_told_with_its_place() {
        let mut bytes = utf16("a,b\n1,2\n", u16::to_le_bytes);
        bytes.pop();
        let error = decode(Encoding::Utf16Le, &bytes).unwrap_err().to_string();
        assert!(error.contains("offset 14: it ends"), "{error}");
        let mut bytes = utf16("a,😀\n1,2\n", u16::to_le_bytes);
        bytes.drain(6..8);
        let error = decode(Encoding::Utf16Le, &bytes).unwrap_err().to_string();
        assert!(error.contains("offset 4: half"), "{error}");
        let cut = &utf16("a,😀", u16::to_le_bytes)[..6];
        assert!(decode(Encoding::Utf16Le, cut).is_err());
    }

    #[test]
    fn the_first_bytes_tell() {
        assert_eq!(Encoding::of(b"a,b\n1,2\n"), None);
        assert_eq!(Encoding::of("größe,名前".as_bytes()), None);
        assert_eq!(Encoding::of(b"\xff\xfea\0"), Some(Encoding::Utf16Le));
        assert_eq!(Encoding::of(b"\xfe\xff\0a"), Some(Encoding::Utf16Be));
        assert_eq!(Encoding::of(&[0; 64]), None);
    }

    #[test]
    fn surveys_tell_latin_from_mixed_and_binary() {
        let survey = |bytes: &[u8]| ByteKind::of(&mut &*bytes).unwrap();
        assert_eq!(survey(b"a,b\ncaf\xe9,1\n"), ByteKind::Latin1);
        assert_eq!(survey(b"caf\xe9"), ByteKind::Latin1);
        assert_eq!(
            survey(b"a\ncaf\xc3\xa9\nx\n\xe9t\xe9\n"),
            ByteKind::Mixed { utf8: 2, other: 4 }
        );
        assert_eq!(survey(b"a\0\xe9"), ByteKind::Binary);
        assert_eq!(survey(b"a\x81"), ByteKind::Binary);
        let mut far = b"1,2\n".repeat(100_000);
        far.extend(b"caf\xe9,2\n");
        assert_eq!(survey(&far), ByteKind::Latin1);
        far.extend("café\n".as_bytes());
        assert_eq!(
            survey(&far),
            ByteKind::Mixed {
                utf8: 100_002,
                other: 100_001
            }
        );
    }
}
