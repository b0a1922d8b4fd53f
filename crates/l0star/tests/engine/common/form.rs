//! The same columns in every form in which a design matrix can be stored.

use std::sync::Arc;

use l0star::Design;
use l0star::problem::{Numbers, SharedColumns};

use super::Random;

/// Storage of a design matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Dense,
    /// Zeros are not stored.
    Sparse,
    /// Zeros are stored now and then.
    Padded,
    /// A centred and scaled view of dense columns.
    DenseView,
    /// A centred and scaled view of sparse columns.
    SparseView,
    /// Columns that a provider keeps, in single precision if that holds their numbers exactly.
    Shared,
}

impl Form {
    pub const ALL: [Self; 6] = [
        Self::Dense,
        Self::Sparse,
        Self::Padded,
        Self::DenseView,
        Self::SparseView,
        Self::Shared,
    ];

    /// The columns in this form. A view centres and scales them, so that its problem differs; the other forms hold the
    /// same numbers.
    pub fn design(self, columns: &[Vec<f64>], seed: u64) -> Design {
        let mut random = Random::new(seed ^ 0xA076_1D64_78BD_642F);
        let stored = match self {
            Self::Dense | Self::DenseView => {
                Design::dense(columns[0].len(), columns.len(), columns.concat()).unwrap()
            }
            Self::Sparse | Self::SparseView => compress(columns, |_| false),
            Self::Padded => compress(columns, |random: &mut Random| random.chance(0.2)),
            Self::Shared => share(columns),
        };
        if !matches!(self, Self::DenseView | Self::SparseView) {
            return stored;
        }
        let (mut centre, mut scale) = (Vec::new(), Vec::new());
        for column in columns {
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            let size = column.iter().map(|v| v.abs()).fold(0.0, f64::max);
            centre.push(match random.below(4) {
                0 => 0.0,
                1 => size * random.normal(),
                2 => 1.0,
                _ => mean,
            });
            scale.push(match random.below(3) {
                0 => 1.0,
                1 => -0.1 - random.uniform(),
                _ => 0.2 + 3.0 * random.uniform(),
            });
        }
        stored.with_view(centre, scale).unwrap()
    }
}

/// Columns that a design does not own.
#[derive(Debug)]
enum Kept {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

#[derive(Debug)]
struct Keeper(Vec<Kept>);

impl SharedColumns for Keeper {
    fn column(&self, index: usize) -> Numbers<'_> {
        match &self.0[index] {
            Kept::Double(values) => Numbers::Double(values),
            Kept::Single(values) => Numbers::Single(values),
        }
    }
}

/// The columns kept in reverse order, in single precision if that holds their numbers exactly.
pub fn share(columns: &[Vec<f64>]) -> Design {
    let keep = |column: &Vec<f64>| {
        let single: Vec<f32> = column.iter().map(|v| *v as f32).collect();
        let is_same = column.iter().zip(&single).all(|(a, b)| *a == f64::from(*b));
        if is_same {
            Kept::Single(single)
        } else {
            Kept::Double(column.clone())
        }
    };
    let places: Vec<usize> = (0..columns.len()).rev().collect();
    let owner = Keeper(columns.iter().rev().map(keep).collect());
    Design::shared(columns[0].len(), &places, Arc::new(owner)).unwrap()
}

/// Compressed sparse columns; `keep` says which zeros are stored nevertheless.
pub fn compress(columns: &[Vec<f64>], keep: impl Fn(&mut Random) -> bool) -> Design {
    let mut random = Random::new(columns.len() as u64);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in columns {
        for (i, v) in column.iter().enumerate() {
            if *v != 0.0 || keep(&mut random) {
                indices.push(i as u32);
                values.push(*v);
            }
        }
        indptr.push(values.len());
    }
    Design::sparse(columns[0].len(), columns.len(), indptr, indices, values).unwrap()
}
