//! [`Summary`]: the content of a table, column by column, before anything is fitted to it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use crate::column::RawColumn;
use crate::raw::RawTable;

/// Upper limit on the distinct values that are counted individually.
const MOST_LABELS: usize = 20;

/// Summary of the columns of a table, left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// One summary per column.
    pub columns: Vec<ColumnSummary>,
}

/// Summary of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSummary {
    /// Kind of its cells, ignoring missing ones.
    pub kind: Kind,
    /// Number of cells without a value.
    pub missing: usize,
    /// Number of cells with an infinite number.
    pub infinite: usize,
    /// Whether all rows that have a value have the same one.
    pub is_constant: bool,
    /// For text: the number of distinct texts.
    pub levels: Option<usize>,
    /// For numbers: their range, mean and standard deviation.
    pub scale: Option<Scale>,
    /// Each value with its row count, if there are few values.
    pub labels: Option<Vec<(String, usize)>>,
    /// The first column to its left with the same content in every row, ignoring constant columns.
    pub duplicate_of: Option<usize>,
}

/// Kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, at least one of them not whole.
    Number,
    /// Whole numbers.
    Integer,
    /// 0 and 1, or `true` and `false`.
    Boolean,
    /// Anything else.
    Text,
}

impl Kind {
    /// Returns the word for the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Integer => "integer",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
        }
    }
}

/// Statistics of the finite numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The minimum.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: f64,
    /// The standard deviation; the variance is divided by the number of values.
    pub sd: f64,
}

impl Summary {
    /// Summarises a table, reading every cell once, on all cores.
    pub fn of(table: &RawTable) -> Summary {
        let rows = table.rows();
        let looked: Vec<(ColumnSummary, u64)> = table
            .columns()
            .par_iter()
            .map(|column| (ColumnSummary::of(column, rows), fingerprint(column)))
            .collect();
        let mut columns = Vec::with_capacity(looked.len());
        let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
        for (j, (mut summary, fingerprint)) in looked.into_iter().enumerate() {
            if !summary.is_constant {
                let alike = seen.entry(fingerprint).or_default();
                let own = &table.columns()[j];
                let same = |other: &&usize| are_same(own, &table.columns()[**other]);
                summary.duplicate_of = alike.iter().find(same).copied();
                if summary.duplicate_of.is_none() {
                    alike.push(j);
                }
            }
            columns.push(summary);
        }
        Summary { columns }
    }
}

impl ColumnSummary {
    fn of(column: &RawColumn, rows: usize) -> ColumnSummary {
        match column {
            RawColumn::Number(values) | RawColumn::Gaps { values, .. } => {
                ColumnSummary::of_numbers(column, values, 0)
            }
            RawColumn::Sparse { values, .. } => {
                ColumnSummary::of_numbers(column, values, rows - values.len())
            }
            RawColumn::Text { levels, codes } => ColumnSummary::of_text(column, levels, codes),
        }
    }

    /// Summarises listed values plus `zeros` zeros that are not listed.
    fn of_numbers(column: &RawColumn, values: &[f64], zeros: usize) -> ColumnSummary {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let count = finite().count() + zeros;
        let scale = (count > 0).then(|| {
            let start = if zeros > 0 { 0.0 } else { f64::NAN };
            // Each value is scaled by the count first: a sum of large numbers may overflow
            // although their mean does not.
            let share = 1.0 / count as f64;
            let mean: f64 = finite().map(|value| value * share).sum();
            let away = |value: f64| (value - mean) * (value - mean) * share;
            let variance = finite().map(away).sum::<f64>() + away(0.0) * zeros as f64;
            Scale {
                min: finite().fold(start, f64::min),
                mean,
                max: finite().fold(start, f64::max),
                sd: variance.sqrt(),
            }
        });
        let labels = few_labels(finite(), zeros);
        let is_binary = labels.as_ref().is_some_and(|labels| {
            labels.len() == 2 && labels.iter().all(|(value, _)| [0.0, 1.0].contains(value))
        });
        let infinite = values.iter().filter(|value| value.is_infinite()).count();
        ColumnSummary {
            kind: if is_binary {
                Kind::Boolean
            } else if finite().all(|value| value == value.trunc()) {
                Kind::Integer
            } else {
                Kind::Number
            },
            missing: column.missing(),
            infinite,
            is_constant: infinite == 0 && scale.is_none_or(|scale| scale.min == scale.max),
            levels: None,
            scale,
            labels: labels.map(|labels| {
                let shown = |(value, count): (f64, usize)| (value.to_string(), count);
                labels.into_iter().map(shown).collect()
            }),
            duplicate_of: None,
        }
    }

    fn of_text(column: &RawColumn, levels: &[String], codes: &[u32]) -> ColumnSummary {
        let mut counts = vec![0usize; levels.len()];
        for code in codes {
            counts[*code as usize] += 1;
        }
        let missing = column.missing();
        let is_missing =
            |level: &String| crate::column::Cell::of(level) == crate::column::Cell::Missing;
        let mut labels: Vec<(String, usize)> = levels
            .iter()
            .zip(counts)
            .filter(|(level, _)| !is_missing(level))
            .map(|(level, count)| (level.clone(), count))
            .collect();
        labels.sort();
        let different = labels.len();
        ColumnSummary {
            kind: if column.is_boolean() {
                Kind::Boolean
            } else {
                Kind::Text
            },
            missing,
            infinite: 0,
            is_constant: different < 2,
            levels: Some(different),
            scale: None,
            labels: (different <= MOST_LABELS).then_some(labels),
            duplicate_of: None,
        }
    }
}

/// Returns the distinct values in ascending order with their counts; `None` if there are many.
fn few_labels(values: impl Iterator<Item = f64>, zeros: usize) -> Option<Vec<(f64, usize)>> {
    let mut labels: Vec<(f64, usize)> = Vec::new();
    if zeros > 0 {
        labels.push((0.0, zeros));
    }
    for value in values {
        match labels.iter().position(|(label, _)| *label == value) {
            Some(at) => labels[at].1 += 1,
            None if labels.len() == MOST_LABELS => return None,
            // Zeros of either sign are one label.
            None => labels.push((value + 0.0, 1)),
        }
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(labels)
}

/// Returns the bits of a number, the same for both zeros and for every `NaN`.
fn bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        (value + 0.0).to_bits()
    }
}

fn fingerprint(column: &RawColumn) -> u64 {
    let mut hasher = DefaultHasher::new();
    match column {
        RawColumn::Number(values) | RawColumn::Gaps { values, .. } => {
            values
                .iter()
                .for_each(|value| bits(*value).hash(&mut hasher));
        }
        RawColumn::Sparse { rows, values } => {
            rows.hash(&mut hasher);
            values
                .iter()
                .for_each(|value| bits(*value).hash(&mut hasher));
        }
        RawColumn::Text { levels, codes } => (levels, codes).hash(&mut hasher),
    }
    hasher.finish()
}

fn are_same(a: &RawColumn, b: &RawColumn) -> bool {
    let equal = |a: &[f64], b: &[f64]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| bits(*a) == bits(*b))
    };
    match (a, b) {
        (
            RawColumn::Number(a) | RawColumn::Gaps { values: a, .. },
            RawColumn::Number(b) | RawColumn::Gaps { values: b, .. },
        ) => equal(a, b),
        (RawColumn::Sparse { rows: a, values: x }, RawColumn::Sparse { rows: b, values: y }) => {
            a == b && equal(x, y)
        }
        (RawColumn::Text { .. }, RawColumn::Text { .. }) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::parse_csv;
    use std::path::Path;

    fn summary(text: &str) -> Summary {
        Summary::of(&parse_csv(Path::new("t.csv"), text.as_bytes()).unwrap())
    }

    #[test]
    fn kinds_are_told_apart() {
        let text =
            "n,i,b,t,w,c,m\n1.5,1,0,true,red,7,NA\n2,2,1,false,blue,7,NA\n3,4,0,true,red,7,NA\n";
        let summary = summary(text);
        let kinds: Vec<Kind> = summary.columns.iter().map(|column| column.kind).collect();
        use Kind::*;
        assert_eq!(
            kinds,
            [Number, Integer, Boolean, Boolean, Text, Integer, Integer]
        );
        let constant: Vec<bool> = summary.columns.iter().map(|c| c.is_constant).collect();
        assert_eq!(constant, [false, false, false, false, false, true, true]);
        assert_eq!(summary.columns[4].levels, Some(2));
        let labels = summary.columns[4].labels.clone().unwrap();
        assert_eq!(labels, [("blue".to_string(), 1), ("red".to_string(), 2)]);
        assert_eq!(summary.columns[6].missing, 3);
        assert_eq!(summary.columns[6].scale, None);
    }

    #[test]
    fn scales_leave_gaps_out() {
        let column = summary("a,b\n1,0\nNA,0\ninf,0\n3,1\n").columns.remove(0);
        assert_eq!((column.missing, column.infinite), (1, 1));
        let expected = Scale {
            min: 1.0,
            mean: 2.0,
            max: 3.0,
            sd: 1.0,
        };
        assert_eq!(column.scale, Some(expected));
    }

    #[test]
    fn unlisted_zeros_count() {
        let sparse = RawColumn::Sparse {
            rows: vec![1, 3],
            values: vec![2.0, 6.0],
        };
        let own = ColumnSummary::of(&sparse, 4);
        let dense = ColumnSummary::of(&RawColumn::Number(vec![0.0, 2.0, 0.0, 6.0]), 4);
        assert_eq!(own, dense);
    }

    #[test]
    fn copies_point_to_the_first() {
        let summary = summary("a,b,c,d,e,f\n1,0,1,x,x,5\n2,-0,2,y,y,5\n3,1,3,x,y,5\n");
        let copies: Vec<Option<usize>> = summary.columns.iter().map(|c| c.duplicate_of).collect();
        assert_eq!(copies, [None, None, Some(0), None, None, None]);
    }
}
