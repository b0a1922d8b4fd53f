//! Warnings that follow from the means and deviations of columns.

use l0star::Design;
use l0star::problem::ColumnStats;
use l0star_data::generate::rng::Stream;

use crate::face::Face;
use crate::text::{clip, significant};

/// Ratio of scales above which the ridge treats columns too differently.
pub const FAR_APART: f64 = 1e3;
/// Upper limit on the columns that a message names.
const NAMED: usize = 5;
/// Number of pairs at which the search for copies ends.
const MOST_PAIRS: usize = 100;
/// Tolerance within which columns are equal.
const SAME: f64 = 1e-9;
/// Correlation above which columns are nearly equal.
const NEARLY: f64 = 0.9999;
/// Upper limit on the columns among which near copies are searched.
const MOST_COMPARED: usize = 4000;
/// Number of random directions in which near copies must agree before they are compared.
const PROBES: usize = 4;

/// The data of a fit, and the settings that matter for warnings.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    /// The features, without a column for the intercept, on their own scale.
    pub design: &'a Design,
    /// Names of the features.
    pub names: &'a [String],
    /// Weights of the rows.
    pub weights: Option<&'a [f64]>,
    /// Number of features to choose from; a group is one.
    pub features: usize,
    /// Whether an intercept is fitted.
    pub intercept: bool,
    /// Whether columns are divided by their standard deviations.
    pub standardize: bool,
}

impl Data<'_> {
    /// Returns the number of rows of positive weight.
    pub(crate) fn rows(&self) -> usize {
        self.weights.map_or(self.design.rows(), |weights| {
            weights.iter().filter(|weight| **weight > 0.0).count()
        })
    }
}

/// Warns about constant columns, which an intercept makes useless.
pub fn constant(moments: &[ColumnStats], data: &Data, face: Face) -> Option<String> {
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

/// Warns about scales that differ so much that they decide the effect of the ridge.
pub fn far_apart(moments: &[ColumnStats], names: &[String], face: Face) -> Option<String> {
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

/// Warns about columns that are a multiple of another one, up to a constant if there is an intercept.
pub fn copies(moments: &[ColumnStats], data: &Data) -> Option<String> {
    let Data {
        design,
        names,
        weights,
        intercept,
        ..
    } = *data;
    // Each column is centred, scaled to unit size and multiplied by the same random numbers. Copies then give
    // the same number up to its sign, so only neighbours in this order need a comparison.
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let mut random = Stream::new(1);
    let probe: Vec<f64> = (0..design.rows())
        .map(|row| random.normal() * f64::from(counts(row)))
        .collect();
    let total: f64 = probe.iter().sum();
    let frame = |j: usize| moments[j].frame(intercept);
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
        // All rows that neither column stores are alike.
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
        "some columns say the same up to their scale: {}; which of them is chosen means nothing: the result names the alternatives",
        list.join(", ")
    ))
}

/// Warns about pairs of columns whose correlation (without an intercept: their cosine) is above 0.9999,
/// but which are not copies.
pub fn near_copies(moments: &[ColumnStats], data: &Data, face: Face) -> Option<String> {
    let Data {
        design,
        names,
        weights,
        intercept,
        ..
    } = *data;
    let varying: Vec<usize> = (0..names.len())
        .filter(|&j| !moments[j].is_constant)
        .collect();
    if varying.len() > MOST_COMPARED {
        return None;
    }
    let rows = design.rows();
    let shares: Vec<f64> = match weights {
        None => vec![1.0 / rows as f64; rows],
        Some(weights) => {
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / total).collect()
        }
    };
    // In each random direction, columns of unit size that are far apart are likely to differ.
    let mut random = Stream::new(2);
    let probes: [Vec<f64>; PROBES] = std::array::from_fn(|_| {
        shares
            .iter()
            .map(|share| random.normal() * share.sqrt())
            .collect()
    });
    let unit = |j: usize| {
        let (centre, size) = moments[j].frame(intercept);
        let mut values = vec![0.0; rows];
        design.column_into(j, &mut values);
        let pairs = values.iter_mut().zip(&shares);
        pairs.for_each(|(v, share)| *v = (*v - centre) / size * share.sqrt());
        values
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut marks: Vec<([f64; PROBES], usize)> = Vec::with_capacity(varying.len());
    for j in varying {
        let values = unit(j);
        marks.push((std::array::from_fn(|at| dot(&values, &probes[at])), j));
    }
    marks.sort_by(|a, b| a.0[0].abs().total_cmp(&b.0[0].abs()));
    // Four standard deviations of the difference of two such projections.
    let room = 4.0 * (2.0 * (1.0 - NEARLY) / rows as f64).sqrt();
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for (at, (own, a)) in marks.iter().enumerate() {
        let near = marks[at + 1..].iter();
        for (other, b) in near.take_while(|(other, _)| other[0].abs() - own[0].abs() <= room) {
            let differ = |sign: f64| (0..PROBES).any(|i| (own[i] - sign * other[i]).abs() > room);
            if differ(1.0) && differ(-1.0) {
                continue;
            }
            let correlation = dot(&unit(*a), &unit(*b)).abs();
            if correlation > NEARLY && 1.0 - correlation > SAME {
                found.push((correlation, *a.min(b), *a.max(b)));
            }
            if found.len() == MOST_PAIRS {
                break;
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (correlation, a, b) = *found.first()?;
    let others = match found.len() - 1 {
        0 => String::new(),
        1 => " (and 1 other pair)".to_owned(),
        count => format!(" (and {count} other pairs)"),
    };
    Some(format!(
        "'{}' and '{}'{others} are nearly the same (correlation {correlation:.6}): which of them is chosen says little, and a proof can take much longer; leave one out with {}",
        clip(&names[a], 32),
        clip(&names[b], 32),
        face.leave_out()
    ))
}

/// Returns the rows that at least one of two columns stores, in order, with the values of both.
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

/// Names columns: `column 'a'`, or `3 columns ('a', 'b', 'c')`.
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
        let moments = ColumnStats::of(&design, None);
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
        let moments = ColumnStats::of(&design, None);
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
    fn near_copies_are_named_with_their_correlation() {
        let mut random = Stream::new(3);
        let mut draw = || -> Vec<f64> { (0..50).map(|_| random.normal()).collect() };
        let (a, noise, other) = (draw(), draw(), draw());
        let near = |share: f64| -> Vec<f64> {
            let pairs = a.iter().zip(&noise);
            pairs.map(|(a, e)| 3.0 - 7.0 * (a + share * e)).collect()
        };
        let copy: Vec<f64> = a.iter().map(|a| 2.0 * a).collect();
        let warning = |near: Vec<f64>| {
            let columns = [a.clone(), other.clone(), near, copy.clone()].concat();
            let design = Design::dense(50, 4, columns).unwrap();
            let moments = ColumnStats::of(&design, None);
            let names = names(4);
            near_copies(&moments, &data(&design, &names, None), Face::Command)
        };
        let found = warning(near(0.005)).unwrap();
        // The column and its exact copy are both close to it, but are not near copies of each other.
        assert!(
            found.contains("'x2'") && found.contains("1 other pair)"),
            "{found}"
        );
        assert!(
            found.contains("correlation 0.9999") && found.contains("--drop"),
            "{found}"
        );
        assert_eq!(warning(near(0.1)), None);
        assert_eq!(warning(other.iter().map(|v| v * v).collect()), None);
    }

    #[test]
    fn copies_among_sparse_columns_are_found() {
        let (rows, values) = (vec![0, 3, 0, 3, 1, 3], vec![1.0, 2.0, 3.0, 6.0, 1.0, 2.0]);
        let design = Design::sparse(6, 3, vec![0, 2, 4, 6], rows, values).unwrap();
        let names = names(3);
        let found = |weights| {
            let moments = ColumnStats::of(&design, weights);
            copies(&moments, &data(&design, &names, weights)).unwrap()
        };
        let all = found(None);
        assert!(all.contains("'x0' and 'x1'; which"), "{all}");
        // On the rows of positive weight, the third column is a copy as well.
        let some = found(Some(&[0.0, 0.0, 1.0, 1.0, 1.0, 1.0]));
        assert!(some.contains("'x2'"), "{some}");
    }

    #[test]
    fn scales_far_apart_are_named() {
        let design = Design::dense(2, 2, vec![0.0, 1.0, 0.0, 5000.0]).unwrap();
        let warning = far_apart(&ColumnStats::of(&design, None), &names(2), Face::Command).unwrap();
        assert!(warning.contains("a factor of 5000 "), "{warning}");
        assert!(warning.contains("from 'x0' to 'x1'"), "{warning}");
    }
}
