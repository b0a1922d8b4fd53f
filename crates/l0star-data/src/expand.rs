//! Interactions, squares and unit norms: the feature expansion of the paper's Section 4.2.

use crate::error::DataError;
use crate::table::Table;

/// Adds every product and square of all columns, as [`interactions_of`] does.
pub fn interactions(table: &Table) -> Result<Table, DataError> {
    let all: Vec<usize> = (0..table.columns()).collect();
    interactions_of(table, &all)
}

/// Adds every product `a:b` of two of the `chosen` columns and every square `a^2`.
///
/// Order: the columns themselves, the pairs (1,2), (1,3), …, (2,3), …, then the squares. The square of a column
/// whose non-zero entries are all identical (such as an indicator) is a multiple of the column and is omitted.
/// Fails if a product overflows or a name already exists.
pub fn interactions_of(table: &Table, chosen: &[usize]) -> Result<Table, DataError> {
    let n = table.rows();
    let mut names = table.names().to_vec();
    let mut values = table.values().to_vec();
    let mut product = |name: String, a: &[f64], b: &[f64]| {
        names.push(name);
        values.extend(a.iter().zip(b).map(|(a, b)| a * b));
    };
    for (at, &i) in chosen.iter().enumerate() {
        for &j in &chosen[at + 1..] {
            let name = format!("{}:{}", table.names()[i], table.names()[j]);
            product(name, table.column(i), table.column(j));
        }
    }
    for &j in chosen
        .iter()
        .filter(|&&j| !has_identical_nonzeros(table.column(j)))
    {
        product(
            format!("{}^2", table.names()[j]),
            table.column(j),
            table.column(j),
        );
    }
    Table::new(names, n, values)
}

/// Returns the two columns of `names` whose product [`interactions`] calls `name`; `None` if
/// `name` is itself a column.
pub fn factors<'a>(names: &'a [String], name: &str) -> Option<[&'a String; 2]> {
    let find = |part: &str| names.iter().find(|own| *own == part);
    if find(name).is_some() {
        return None;
    }
    if let Some(square) = name.strip_suffix("^2").and_then(find) {
        return Some([square, square]);
    }
    // A name may itself contain colons, so each of them may be the product sign.
    name.match_indices(':')
        .find_map(|(at, _)| Some([find(&name[..at])?, find(&name[at + 1..])?]))
}

fn has_identical_nonzeros(column: &[f64]) -> bool {
    let mut nonzeros = column.iter().filter(|value| **value != 0.0);
    let first = nonzeros.next();
    nonzeros.all(|value| Some(value) == first)
}

/// Scales every column to unit ℓ2 norm, without centring; a zero column stays zero.
pub fn unit_norm(table: Table) -> Result<Table, DataError> {
    let (names, rows, mut values) = table.into_parts();
    values.chunks_exact_mut(rows).for_each(normalise);
    Table::new(names, rows, values)
}

/// Prepares a data set as in the paper: unit norms, interactions and squares, then unit norms again. The last
/// column is the response, called `b` and also of unit norm.
pub fn paper_expansion(features: Table, response: &[f64]) -> Result<Table, DataError> {
    let expanded = unit_norm(interactions(&unit_norm(features)?)?)?;
    let (mut names, rows, mut values) = expanded.into_parts();
    names.push("b".into());
    let mut b = response.to_vec();
    normalise(&mut b);
    values.extend_from_slice(&b);
    Table::new(names, rows, values)
}

/// Computes `v / ‖v‖`; the zero vector stays unchanged.
pub(crate) fn normalise(v: &mut [f64]) {
    let norm = norm(v);
    if norm > 0.0 && norm.is_finite() {
        v.iter_mut().for_each(|entry| *entry /= norm);
    } else if norm > 0.0 {
        // Even the norm overflows: bring the entries near 1 first.
        let largest = v.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
        v.iter_mut().for_each(|entry| *entry /= largest);
        normalise(v);
    }
}

/// Computes `‖v‖₂ = √Σ v_i²`, summed left to right. Entries are scaled by the largest only where the plain sum
/// would overflow or underflow.
pub(crate) fn norm(v: &[f64]) -> f64 {
    let sum: f64 = v.iter().map(|x| x * x).sum();
    if sum.is_normal() && sum > 1e-290 {
        return sum.sqrt();
    }
    let largest = v.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest
        * v.iter()
            .map(|x| (x / largest) * (x / largest))
            .sum::<f64>()
            .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str], rows: usize, values: Vec<f64>) -> Table {
        Table::new(
            names.iter().map(|name| name.to_string()).collect(),
            rows,
            values,
        )
        .unwrap()
    }

    #[test]
    fn pairs_then_squares_without_indicators() {
        let given = table(
            &["a", "d", "c"],
            3,
            vec![1., 2., 3., 0., 1., 1., 2., 0., -2.],
        );
        let expanded = interactions(&given).unwrap();
        assert_eq!(
            expanded.names(),
            ["a", "d", "c", "a:d", "a:c", "d:c", "a^2", "c^2"]
        );
        assert_eq!(expanded.column(3), [0., 2., 3.]);
        assert_eq!(expanded.column(4), [2., 0., -6.]);
        assert_eq!(expanded.column(7), [4., 0., 4.]);
    }

    #[test]
    fn products_are_told_by_their_names() {
        let names: Vec<String> = ["a", "b:c", "b", "d^2"].map(String::from).to_vec();
        let of = |name| factors(&names, name).map(|pair| pair.map(String::as_str));
        assert_eq!(of("a:b:c"), Some(["a", "b:c"]));
        assert_eq!(of("a:b"), Some(["a", "b"]));
        assert_eq!(of("b^2"), Some(["b", "b"]));
        assert_eq!(of("d^2^2"), Some(["d^2", "d^2"]));
        assert_eq!(of("d^2"), None, "a column by itself");
        assert_eq!(of("b:c"), None);
        assert_eq!(of("a:z"), None);
    }

    #[test]
    fn overflow_and_taken_names_are_errors() {
        let large = interactions(&table(&["a", "b"], 1, vec![1e200, 1e200])).unwrap_err();
        assert!(
            large.to_string().contains("column 'a:b', row 1: 'inf'"),
            "{large}"
        );
        let taken = interactions(&table(&["a", "b", "a:b"], 1, vec![1., 1., 1.])).unwrap_err();
        assert!(taken.to_string().contains("both named 'a:b'"), "{taken}");
    }

    #[test]
    fn norms_survive_extreme_scales() {
        for scale in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
            let mut v = [3.0 * scale, -4.0 * scale];
            assert!((norm(&v) / (5.0 * scale) - 1.0).abs() < 1e-14, "{scale}");
            normalise(&mut v);
            assert!(
                (v[0] - 0.6).abs() < 1e-14 && (v[1] + 0.8).abs() < 1e-14,
                "{scale}"
            );
        }
        let mut largest = [f64::MAX; 4];
        normalise(&mut largest);
        assert_eq!(largest, [0.5; 4]);
        let mut zero = [0.0; 3];
        normalise(&mut zero);
        assert_eq!(zero, [0.0; 3]);
    }

    #[test]
    fn a_response_of_another_length_is_refused() {
        let refused = paper_expansion(table(&["a"], 2, vec![1., 2.]), &[1.]).unwrap_err();
        assert!(matches!(refused, DataError::Shape { .. }));
    }
}
