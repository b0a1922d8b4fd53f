//! A quadratic over columns, some of which are always in ([`Form`]).

/// `c0 - cᵀx + ½ xᵀHx` over columns of which the first `selectable` can be chosen and the others are always in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    /// Row-major, symmetric.
    pub h: &'a [f64],
    pub c: &'a [f64],
    pub c0: f64,
    pub selectable: usize,
}

impl<'a> Form<'a> {
    pub(crate) fn size(&self) -> usize {
        self.c.len()
    }

    pub(crate) fn row(&self, i: usize) -> &'a [f64] {
        let d = self.size();
        &self.h[i * d..(i + 1) * d]
    }
}
