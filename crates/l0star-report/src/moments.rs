//! What the means and deviations of columns warn of.

use l0star::problem::Moments;
use l0star_data::generate::rng::Stream;

use crate::face::Face;
use crate::text::{clip, significant};
use crate::warnings::Data;

/// Scales further apart than this make the ridge unfair.
pub const FAR_APART: f64 = 1e3;
/// A message names as many columns.
const NAMED: usize = 5;
/// The search for copies ends after so many.
const MOST_PAIRS: usize = 100;
/// Columns that agree to this are the same.
const SAME: f64 = 1e-9;

/// Columns that never change, which an intercept makes useless.
pub fn constant(moments: &[Moments], data: &Data, face: Face) -> Option<String> {
    let Data {
        names, intercept, ..
    } = *data;
    let found: Vec<usize> = (0..names.len())
        .filter(|&j| moments[j].is_constant)
        .collect();
    let why = if intercept {
        "beside the intercept a constant says nothing"
    } else {
        "a constant is an intercept by another name"
    };
    let is = if found.len() == 1 { "is" } else { "are" };
    (!found.is_empty()).then(|| {
        let named = named(&found, names);
        format!(
            "{named} {is} constant: {why}; leave it out with {}",
            face.leave_out()
        )
    })
}

/// Scales so different that the ridge decides by them.
pub fn far_apart(moments: &[Moments], names: &[String], face: Face) -> Option<String> {
    let varying = || (0..names.len()).filter(|&j| !moments[j].is_constant && moments[j].sd > 0.0);
    let by_sd = |a: &usize, b: &usize| moments[*a].sd.total_cmp(&moments[*b].sd);
    let (least, most) = (varying().min_by(by_sd)?, varying().max_by(by_sd)?);
    let ratio = moments[most].sd / moments[least].sd;
    (ratio > FAR_APART).then(|| {
        format!(
            "the scales of the features differ by a factor of {} (from '{}' to '{}'), and with {} the ridge holds back those of small scale",
            significant(ratio, 3),
            clip(&names[least], 32),
            clip(&names[most], 32),
            face.unstandardized()
        )
    })
}

/// Columns that are a multiple of another one, up to a constant when there is an intercept.
pub fn copies(moments: &[Moments], data: &Data) -> Option<String> {
    let Data {
        design,
        names,
        weights,
        intercept,
        ..
    } = *data;
    // Each column is centred, brought to unit size and multiplied by the same random numbers: copies give the same
    // number up to its sign, so that only neighbours in order of it need a closer look.
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let mut random = Stream::new(1);
    let probe: Vec<f64> = (0..design.rows())
        .map(|row| random.normal() * f64::from(counts(row)))
        .collect();
    let total: f64 = probe.iter().sum();
    let frame = |j: usize| {
        let Moments { mean, sd, .. } = moments[j];
        if intercept {
            (mean, sd)
        } else {
            (0.0, mean.hypot(sd))
        }
    };
    let mut marks: Vec<(f64, usize)> = (0..names.len())
        .filter(|&j| !moments[j].is_constant)
        .map(|j| {
            let (centre, size) = frame(j);
            let dot: f64 = design.entries(j).map(|(row, v)| probe[row] * v).sum();
            (((dot - centre * total) / size).abs(), j)
        })
        .collect();
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let are_same = |a: usize, b: usize| {
        let ((centre_a, size_a), (centre_b, size_b)) = (frame(a), frame(b));
        let (mut plus, mut minus) = (0.0f64, 0.0f64);
        let mut compare = |x: f64, y: f64| {
            let (x, y) = ((x - centre_a) / size_a, (y - centre_b) / size_b);
            plus = plus.max((x - y).abs());
            minus = minus.max((x + y).abs());
            plus.min(minus) <= SAME
        };
        let rows = merged(design.entries(a), design.entries(b));
        let mut rows = rows.filter(|(row, _, _)| counts(*row));
        // Rows that neither column stores are all alike.
        (!design.is_sparse() || compare(0.0, 0.0)) && rows.all(|(_, x, y)| compare(x, y))
    };
    let close = |pair: &&[(f64, usize)]| {
        let room = SAME * pair[1].0.max(1.0) * (design.rows() as f64).sqrt();
        pair[1].0 - pair[0].0 <= room && are_same(pair[0].1, pair[1].1)
    };
    let mut pairs: Vec<(usize, usize)> = marks
        .windows(2)
        .filter(close)
        .take(MOST_PAIRS)
        .map(|pair| (pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1)))
        .collect();
    pairs.sort_unstable();
    if pairs.is_empty() {
        return None;
    }
    let shown = pairs.iter().take(NAMED);
    let mut list: Vec<String> = shown
        .map(|(a, b)| format!("'{}' and '{}'", clip(&names[*a], 32), clip(&names[*b], 32)))
        .collect();
    if pairs.len() > NAMED {
        list.push("…".into());
    }
    Some(format!(
        "some columns say the same up to their scale: {}; which of them is chosen means nothing, so drop one of each",
        list.join(", ")
    ))
}

/// The rows that one of two columns stores, in order, with the values of both.
fn merged(
    a: impl Iterator<Item = (usize, f64)>,
    b: impl Iterator<Item = (usize, f64)>,
) -> impl Iterator<Item = (usize, f64, f64)> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let next = |entry: Option<&(usize, f64)>| entry.map_or(usize::MAX, |(row, _)| *row);
        let row = next(a.peek()).min(next(b.peek()));
        let here = |entry: &(usize, f64)| entry.0 == row;
        let (x, y) = (a.next_if(here), b.next_if(here));
        let value = |entry: Option<(usize, f64)>| entry.map_or(0.0, |(_, value)| value);
        (row < usize::MAX).then(|| (row, value(x), value(y)))
    })
}

/// `column 'a'`, or `3 columns ('a', 'b', 'c')`.
pub fn named(columns: &[usize], names: &[String]) -> String {
    let shown = columns.iter().take(NAMED);
    let mut list: Vec<String> = shown
        .map(|&j| format!("'{}'", clip(&names[j], 32)))
        .collect();
    if let ([name], 1) = (list.as_slice(), columns.len()) {
        return format!("column {name}");
    }
    if columns.len() > NAMED {
        list.push("…".into());
    }
    format!("{} columns ({})", columns.len(), list.join(", "))
}

#[cfg(test)]
mod tests {
    use l0star::Design;

    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|j| format!("x{j}")).collect()
    }

    fn data<'a>(design: &'a Design, names: &'a [String], weights: Option<&'a [f64]>) -> Data<'a> {
        Data {
            design,
            names,
            weights,
            features: names.len(),
            intercept: true,
            standardize: false,
        }
    }

    #[test]
    fn a_constant_is_named() {
        let design = Design::dense(3, 2, vec![0.1, 0.1, 0.1, 1.0, 2.0, 3.0]).unwrap();
        let moments = Moments::of(&design, None);
        let warning = constant(&moments, &data(&design, &names(2), None), Face::Command).unwrap();
        assert!(warning.contains("column 'x0' is constant"), "{warning}");
    }

    #[test]
    fn copies_are_found_up_to_scale_sign_and_shift() {
        let a = [1.0, 2.0, 4.0, 7.0];
        let scaled = a.map(|v| -0.3 * v);
        let shifted = a.map(|v| 5.0 * v + 2.0);
        let other = [1.0, 2.0, 4.0, 7.0001];
        let design = Design::dense(4, 4, [a, other, scaled, shifted].concat()).unwrap();
        let moments = Moments::of(&design, None);
        let names = names(4);
        let of = |intercept| {
            let data = data(&design, &names, None);
            copies(&moments, &Data { intercept, ..data }).unwrap()
        };
        let with = of(true);
        assert!(with.contains("'x0'") && with.contains("'x2'") && with.contains("'x3'"));
        assert!(!with.contains("'x1'"), "{with}");
        let without = of(false);
        assert!(without.contains("'x0' and 'x2'"), "{without}");
        assert!(!without.contains("'x3'"), "{without}");
    }

    #[test]
    fn copies_among_sparse_columns_are_found() {
        let (rows, values) = (vec![0, 3, 0, 3, 1, 3], vec![1.0, 2.0, 3.0, 6.0, 1.0, 2.0]);
        let design = Design::sparse(6, 3, vec![0, 2, 4, 6], rows, values).unwrap();
        let names = names(3);
        let found = |weights| {
            let moments = Moments::of(&design, weights);
            copies(&moments, &data(&design, &names, weights)).unwrap()
        };
        let all = found(None);
        assert!(all.contains("'x0' and 'x1'; which"), "{all}");
        // Of the rows that count the third is a copy too.
        let some = found(Some(&[0.0, 0.0, 1.0, 1.0, 1.0, 1.0]));
        assert!(some.contains("'x2'"), "{some}");
    }

    #[test]
    fn scales_far_apart_are_named() {
        let design = Design::dense(2, 2, vec![0.0, 1.0, 0.0, 5000.0]).unwrap();
        let warning = far_apart(&Moments::of(&design, None), &names(2), Face::Command).unwrap();
        assert!(warning.contains("5.00e3"), "{warning}");
        assert!(warning.contains("from 'x0' to 'x1'"), "{warning}");
    }
}
