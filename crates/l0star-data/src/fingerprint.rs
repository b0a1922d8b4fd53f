//! [`Fingerprint`]: a hash of all numbers of a problem.

/// Hashes columns one after the other. Only non-zero entries count, each with its row, so that sparse and dense
/// columns with the same numbers have the same hash.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    hasher: blake3::Hasher,
    /// Entries not yet passed to the hasher, which is fastest with long slices.
    buffer: Vec<u8>,
}

impl Fingerprint {
    /// Starts the hash of a table with `rows` rows.
    pub fn new(rows: usize) -> Fingerprint {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"l0star data 1");
        hasher.update(&(rows as u64).to_le_bytes());
        Fingerprint {
            hasher,
            buffer: Vec::new(),
        }
    }

    /// Adds the next column, given as a vector.
    pub fn vector(&mut self, values: &[f64]) {
        self.column(values.iter().copied().enumerate());
    }

    /// Adds the next column, given as rows and values with ascending rows; zeros may be present or absent.
    pub fn column(&mut self, entries: impl Iterator<Item = (usize, f64)>) {
        const FULL: usize = 1 << 16;
        let mut count: u64 = 0;
        for (row, value) in entries.filter(|(_, value)| *value != 0.0) {
            count += 1;
            self.buffer.extend_from_slice(&(row as u32).to_le_bytes());
            self.buffer
                .extend_from_slice(&value.to_bits().to_le_bytes());
            if self.buffer.len() >= FULL {
                self.hasher.update(&self.buffer);
                self.buffer.clear();
            }
        }
        // The count ends a column, so that its entries cannot be mistaken for those of the next.
        self.buffer.extend_from_slice(&count.to_le_bytes());
    }

    /// Returns the hash (BLAKE3) in hexadecimal.
    pub fn finish(mut self) -> String {
        self.hasher.update(&self.buffer);
        self.hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(columns: &[&[f64]]) -> String {
        let mut fingerprint = Fingerprint::new(3);
        columns.iter().for_each(|column| fingerprint.vector(column));
        fingerprint.finish()
    }

    #[test]
    fn sparse_and_dense_agree() {
        let mut sparse = Fingerprint::new(3);
        sparse.column([(1, 2.5)].into_iter());
        sparse.column([].into_iter());
        assert_eq!(sparse.finish(), of(&[&[0.0, 2.5, -0.0], &[0.0; 3]]));
    }

    #[test]
    fn every_number_and_its_place_count() {
        let base = of(&[&[1.0, 2.0, 3.0], &[4.0, 0.0, 6.0]]);
        assert_eq!(base.len(), 64);
        for other in [
            of(&[&[1.0, 2.0, 3.0], &[4.0, 6.0, 0.0]]),
            of(&[&[4.0, 0.0, 6.0], &[1.0, 2.0, 3.0]]),
            of(&[&[1.0, 2.0, 3.0f64.next_up()], &[4.0, 0.0, 6.0]]),
            of(&[&[1.0, 2.0, 3.0]]),
        ] {
            assert_ne!(base, other);
        }
        assert_ne!(Fingerprint::new(1).finish(), Fingerprint::new(2).finish());
    }
}
