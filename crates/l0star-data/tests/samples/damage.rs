//! Damages files, for the tests of the readers and for `cargo xtask attack`.

use l0star_data::generate::rng::Stream;

/// Words that have a meaning for some reader.
const TOKENS: [&[u8]; 34] = [
    b"\"",
    b"\n",
    b"\r\n",
    b",",
    b"\t",
    b"1e999",
    b"1e98",
    b"-inf",
    b"NaN",
    b"NA",
    b":",
    b"{",
    b"}",
    b"[",
    b"null",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x00",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\xff\xfe",
    b"\xfe\xff\xff\xff\x0f",
    b"18446744073709551615",
    b"-1",
    b"PAR1",
    b"ARROW1",
    b"\x93NUMPY",
    b"PK\x05\x06",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"50000000:1",
    b"\xe2\x80\xae",
    b"null",
    b"-0",
    b"[]",
    b"\"support\":",
];

/// Applies one to six changes: bits, bytes, words, numbers, pieces removed, duplicated,
/// or taken from another file.
pub fn mutate(random: &mut Stream, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(16)).min(bytes.len());
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..end, token.iter().copied());
            }
            3 => {
                bytes.drain(at..end);
            }
            4 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            6 => {
                let from = random.below(other.len() + 1);
                let to = (from + random.below(64)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            7 => {
                // Overwrites a length or an offset.
                let number = 1u64 << random.below(64);
                let number = number.wrapping_sub(random.below(3) as u64).to_le_bytes();
                let size = (1 << random.below(4)).min(bytes.len() - at);
                bytes[at..at + size].copy_from_slice(&number[..size]);
            }
            _ => {
                let token = TOKENS[random.below(TOKENS.len())];
                let size = token.len().min(bytes.len() - at);
                bytes[at..at + size].copy_from_slice(&token[..size]);
            }
        }
    }
    bytes
}
