//! Bands of dense products ([`Tiles`]).

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use super::bands::{Band, Way};
use super::{Columns, weigh};
use crate::limits::Limits;
use crate::linalg::kernels;

/// Dense products of blocks of columns, written out part by part where they are not stored like that.
pub(super) struct Tiles<'a> {
    pub of: &'a Columns<'a>,
}

impl Way for Tiles<'_> {
    fn run(&self, band: &mut Band, limits: &Limits) -> bool {
        let of = self.of;
        let (d, width) = (of.columns.len(), of.band());
        let (first, count) = (band.first, band.c.len());
        let (mut own, mut other, mut weighted) = (Vec::new(), Vec::new(), Vec::new());
        for rows in of.parts(of.stored().is_some()) {
            let length = rows.len();
            let own = of.block(first, count, &rows, &mut own);
            let (right, weight) = weigh(own, of.p, &rows, &mut weighted);
            for (c, column) in band.c.iter_mut().zip(right.chunks_exact(length)) {
                *c += weight * kernels::dot(column, &of.b[rows.clone()]);
            }
            if !of.shifts.is_empty() {
                for (mean, column) in band.means.iter_mut().zip(own.chunks_exact(length)) {
                    *mean += kernels::dot(&of.p[rows.clone()], column);
                }
            }
            let right = MatRef::from_column_major_slice(right, length, count);
            // Row by row in the band is column by column of its transpose.
            let mut multiply = |start: usize, left: &[f64], structure: BlockStructure| {
                let size = left.len() / length;
                let tile = &mut band.gram[start..];
                matmul(
                    MatMut::from_column_major_slice_with_stride_mut(tile, size, count, d),
                    structure,
                    Accum::Add,
                    MatRef::from_row_major_slice(left, size, length),
                    BlockStructure::Rectangular,
                    right,
                    BlockStructure::Rectangular,
                    weight,
                    Par::Seq,
                );
            };
            if limits.reached().is_some() {
                return false;
            }
            multiply(first, own, BlockStructure::TriangularUpper);
            for start in (0..first).step_by(width) {
                if limits.reached().is_some() {
                    return false;
                }
                let left = of.block(start, width, &rows, &mut other);
                multiply(start, left, BlockStructure::Rectangular);
            }
        }
        for (i, size) in band.sizes.iter_mut().enumerate() {
            *size = band.gram[i * d + first + i];
        }
        band.means.iter_mut().for_each(|mean| *mean = mean.abs());
        true
    }
}
