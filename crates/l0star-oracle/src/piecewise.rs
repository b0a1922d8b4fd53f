//! Quadratic, Huber and squared hinge losses: the piece of each row, and the exact minimum there.
//!
//! A number in this module is a numerator over a common denominator D > 0.

use std::cmp::Ordering;

use crate::newton::{ActiveBounds, Position};
use crate::problem::{Least, Loss};
use crate::{Dyadic, Exact};

/// Upper limit on the rounds of Newton's method; a handful is usual.
const ROUNDS: usize = 400;

/// A piece of a loss, as a function of the prediction z.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// The form `(z - b)²/2`, which the squared hinge also has, since b = ±1.
    Curved,
    /// The form `s (z - b) - s²/2`.
    Straight(Dyadic),
}

impl Piece {
    fn of(loss: &Loss, z: &Dyadic, b: &Dyadic) -> Self {
        match loss {
            Loss::Quadratic => Self::Curved,
            Loss::Huber(delta) => {
                let (r, delta) = (z - b, Dyadic::of(*delta));
                match (r > delta, r < -&delta) {
                    (true, _) => Self::Straight(delta),
                    (_, true) => Self::Straight(-&delta),
                    _ => Self::Curved,
                }
            }
            Loss::SquaredHinge if b * z < Dyadic::of(1.0) => Self::Curved,
            Loss::SquaredHinge => Self::Straight(Dyadic::zero()),
            Loss::Logistic | Loss::Poisson | Loss::Gamma | Loss::Cox(_) => {
                unreachable!("a smooth loss has no pieces")
            }
        }
    }

    /// Whether z is on the piece, including its ends.
    fn has(&self, loss: &Loss, z: &Dyadic, over: &Dyadic, b: &Dyadic) -> bool {
        let r = z - &(b * over);
        match (loss, self) {
            (Loss::Huber(delta), Self::Curved) => r.abs() <= &Dyadic::of(*delta) * over,
            (Loss::Huber(_), Self::Straight(s)) => {
                // On the side given by the sign of s, and beyond δ.
                &r * s >= &(s * s) * over
            }
            (Loss::SquaredHinge, Self::Curved) => b * z <= *over,
            (Loss::SquaredHinge, Self::Straight(_)) => b * z >= *over,
            _ => true,
        }
    }

    /// Returns the slope, over D.
    fn slope(&self, z: &Dyadic, over: &Dyadic, b: &Dyadic) -> Dyadic {
        match self {
            Self::Curved => z - &(b * over),
            Self::Straight(s) => s * over,
        }
    }

    /// Returns the value, over D².
    fn value(&self, z: &Dyadic, over: &Dyadic, b: &Dyadic) -> Dyadic {
        let r = z - &(b * over);
        match self {
            Self::Curved => (&r * &r).shifted(-1),
            Self::Straight(s) => {
                let end = s * over;
                &(&end * &r) - &(&end * &end).shifted(-1)
            }
        }
    }
}

/// Computes the loss of a prediction.
pub(crate) fn value(loss: &Loss, z: &Dyadic, b: &Dyadic) -> Dyadic {
    Piece::of(loss, z, b).value(z, &Dyadic::of(1.0), b)
}

/// Computes the least objective of the problem, if it is on this face.
pub(crate) fn least(face: &ActiveBounds) -> Option<Least> {
    let (loss, one) = (&face.problem.loss, Dyadic::of(1.0));
    let pieces = |z: &[Dyadic]| -> Vec<Piece> {
        let pairs = z.iter().zip(face.rows());
        pairs.map(|(z, row)| Piece::of(loss, z, &row.b)).collect()
    };
    let slopes = |pieces: &[Piece], z: &[Dyadic], over: &Dyadic| -> Vec<Dyadic> {
        let all = pieces.iter().zip(z).zip(face.rows());
        all.map(|((piece, z), row)| piece.slope(z, over, &row.b))
            .collect()
    };
    let mut x = face.start();
    for round in 0..ROUNDS {
        let z = face.predictions(&x);
        let own = pieces(&z);
        let gradient = face.gradient(&slopes(&own, &z, &one), &x);
        let curvature = |piece: &Piece| match piece {
            // The first step is that of least squares, because the pieces at 0 carry little information.
            Piece::Straight(_) if round > 0 => Dyadic::zero(),
            _ => one.clone(),
        };
        let curvatures: Vec<Dyadic> = own.iter().map(curvature).collect();
        let step = face.step(&curvatures, &[], &gradient);

        // The exact end of the step.
        let over = &step.1;
        let end: Vec<Dyadic> = (x.iter().zip(&step.0))
            .map(|(x, step)| &(x * over) + step)
            .collect();
        let products = face.product(&end);
        let z: Vec<Dyadic> = (products.iter().zip(face.rows()))
            .map(|(z, row)| z + &(&row.o * over))
            .collect();
        let gradient = face.gradient(&slopes(&own, &z, over), &end);
        let is_least = |j: usize| face.places[j] != Position::Free || gradient[j].is_zero();
        let mut rows = own.iter().zip(&z).zip(face.rows());
        if rows.all(|((piece, z), row)| piece.has(loss, z, over, &row.b))
            && (0..end.len()).all(is_least)
        {
            // This is the minimum of the face. It is that of the problem if bounds hold and no
            // coefficient would leave its bound.
            let pushes = |j: usize| match face.places[j] {
                Position::Free => true,
                _ if face.columns[j].low == face.columns[j].high => true,
                Position::Low => gradient[j].sign() != Ordering::Less,
                Position::High => gradient[j].sign() != Ordering::Greater,
            };
            let is_proved = face.has(&end, over) && (0..end.len()).all(pushes);
            return is_proved.then(|| value_at(face, &own, &z, &end, over));
        }
        x = face.search(&x, &step, |z| slopes(&pieces(z), z, &one));
    }
    None
}

/// Computes P, as a fraction.
fn value_at(
    face: &ActiveBounds,
    pieces: &[Piece],
    z: &[Dyadic],
    x: &[Dyadic],
    over: &Dyadic,
) -> Least {
    let rows = pieces.iter().zip(z).zip(face.rows());
    let losses: Dyadic = rows
        .map(|((piece, z), row)| &row.p * &piece.value(z, over, &row.b))
        .sum();
    let ridges: Dyadic = (face.columns.iter().zip(x))
        .map(|(column, x)| (&column.ridge * &(x * x)).shifted(-1))
        .sum();
    let value = Exact::new(&losses + &ridges, over * over);
    Least {
        low: value.clone(),
        high: value,
    }
}
