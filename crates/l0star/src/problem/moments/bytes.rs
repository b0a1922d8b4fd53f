//! Moments as bytes that show damage ([`crate::sealed`]), with a note of whoever made them.

use serde::{Deserialize, Serialize};

use super::Moments;
use crate::error::{Error, Result};
use crate::linalg::double::Double;
use crate::sealed;

const MAGIC: [u8; sealed::MAGIC] = *b"L0*MOMT\n";
const VERSION: u32 = 1;

/// The fields of [`Moments`].
#[derive(Serialize, Deserialize)]
struct Saved {
    note: String,
    names: Vec<String>,
    rows: u64,
    weight: (f64, f64),
    means: Vec<(f64, f64)>,
    exponents: Vec<i32>,
    products: Vec<(f64, f64)>,
    sizes: Vec<f64>,
    error: f64,
    depth: u64,
}

impl Moments {
    /// Whether bytes begin like those of [`Moments::encode`].
    pub fn is_encoded(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Whether bytes are so few of those of [`Moments::encode`] that other formats may begin alike; none at all are.
    pub fn is_stump(bytes: &[u8]) -> bool {
        bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes)
    }

    /// The bytes of the moments and of a note of any kind, with a version and a checksum: what a file `.l0m` holds.
    pub fn encode(&self, note: &str) -> Vec<u8> {
        let pair = |v: &Double| (v.high, v.low);
        let saved = Saved {
            note: note.to_owned(),
            names: self.names.clone(),
            rows: self.rows,
            weight: pair(&self.weight),
            means: self.means.iter().map(pair).collect(),
            exponents: self.exponents.clone(),
            products: self.products.iter().map(pair).collect(),
            sizes: self.sizes.clone(),
            error: self.error,
            depth: self.depth,
        };
        sealed::seal(MAGIC, VERSION, &saved)
    }

    /// Moments and note from the bytes of [`Moments::encode`]; refuses any others.
    pub fn decode(bytes: &[u8]) -> Result<(Self, String)> {
        let refuse = |why: String| {
            Err(Error::Moments {
                reason: format!("moments that cannot be read: {why}; make them again"),
            })
        };
        let saved: Saved = match sealed::open(MAGIC, VERSION, bytes) {
            Ok(saved) => saved,
            Err(fault) => return refuse(fault.words(VERSION)),
        };
        let double = |(high, low): &(f64, f64)| Double {
            high: *high,
            low: *low,
        };
        let moments = Self {
            names: saved.names,
            rows: saved.rows,
            weight: double(&saved.weight),
            means: saved.means.iter().map(double).collect(),
            exponents: saved.exponents,
            products: saved.products.iter().map(double).collect(),
            sizes: saved.sizes,
            error: saved.error,
            depth: saved.depth,
        };
        if moments.is_sound() {
            Ok((moments, saved.note))
        } else {
            refuse("its numbers do not fit together".to_owned())
        }
    }

    /// Whether the fields can be those of moments: a checksum keeps accidents out, this whatever would make us panic.
    fn is_sound(&self) -> bool {
        let columns = self.names.len() + 1;
        let lengths = [self.means.len(), self.exponents.len(), self.sizes.len()];
        let is_finite = |v: &Double| v.high.is_finite() && v.low.is_finite();
        columns > 1
            && lengths.iter().all(|length| *length == columns)
            && self.products.len() == super::place(columns, 0)
            && self.means.iter().chain(&self.products).all(is_finite)
            && self.exponents.iter().all(|q| (-1001..=1001).contains(q))
            && self
                .sizes
                .iter()
                .all(|size| *size >= 0.0 && size.is_finite())
            && (0.0..1.0).contains(&self.error)
            && self.weight.high.is_finite()
            && (self.rows == 0) == (self.weight.high <= 0.0)
    }
}
