//! A set of small numbers, one bit each.

/// A subset of a list of columns.
#[derive(Debug, Clone)]
pub(crate) struct Bits(Box<[u64]>);

impl Bits {
    /// The empty subset of `size` columns.
    pub(crate) fn new(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)].into())
    }

    /// All of `size` columns.
    pub(crate) fn full(size: usize) -> Self {
        Self(vec![u64::MAX; size.div_ceil(64)].into())
    }

    pub(crate) fn remove(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    pub(crate) fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    pub(crate) fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}
