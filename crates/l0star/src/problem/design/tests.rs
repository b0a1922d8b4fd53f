use super::super::shared::Numbers;
use super::*;

/// 5 × 4 with an empty column and a full one, in every representation of the same numbers.
fn representations() -> Vec<Design> {
    let columns = [
        [0.0, 2.0, 0.0, -1.0, 0.5],
        [0.0; 5],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        [0.0, 0.0, 0.0, 0.0, -8.0],
    ];
    let dense = Design::dense(5, 4, columns.concat()).unwrap();
    let sparse = compress(&columns);
    // Powers of two and small integers: nothing rounds, so that the views are the same numbers.
    let (centre, scale) = ([1.0, -3.0, 0.0, 2.0], [0.5, 4.0, 2.0, -1.0]);
    let mut stored = columns;
    for (column, (c, s)) in stored.iter_mut().zip(centre.iter().zip(scale)) {
        column.iter_mut().for_each(|v| *v = *v / s + c);
    }
    let viewed = Design::dense(5, 4, stored.concat()).unwrap();
    let viewed = viewed.with_view(centre.to_vec(), scale.to_vec()).unwrap();
    let sparse_viewed = compress(&stored)
        .with_view(centre.to_vec(), scale.to_vec())
        .unwrap();
    let own = share(&columns);
    let shared_viewed = share(&stored)
        .with_view(centre.to_vec(), scale.to_vec())
        .unwrap();
    vec![dense, sparse, viewed, sparse_viewed, own, shared_viewed]
}

/// Columns in single precision, which has all numbers here, and one in double.
#[derive(Debug)]
struct Owner(Vec<[f32; 5]>, [f64; 5]);

impl SharedColumns for Owner {
    fn column(&self, index: usize) -> Numbers<'_> {
        match self.0.get(index) {
            Some(column) => Numbers::Single(column),
            None => Numbers::Double(&self.1),
        }
    }
}

fn share(columns: &[[f64; 5]; 4]) -> Design {
    let single = columns[..3].iter().rev();
    let single = single.map(|column| column.map(|v| v as f32)).collect();
    Design::shared(5, &[2, 1, 0, 3], Arc::new(Owner(single, columns[3]))).unwrap()
}

fn compress(columns: &[[f64; 5]]) -> Design {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in columns {
        for (i, v) in column.iter().enumerate() {
            if *v != 0.0 {
                indices.push(i as u32);
                values.push(*v);
            }
        }
        indptr.push(values.len());
    }
    Design::sparse(5, columns.len(), indptr, indices, values).unwrap()
}

#[test]
fn shared_columns_of_another_length_are_refused() {
    let owner = Arc::new(Owner(Vec::new(), [1.0; 5]));
    let wrong = Design::shared(4, &[0], owner).unwrap_err();
    assert!(
        matches!(
            wrong,
            Error::Shape {
                expected: 4,
                found: 5,
                ..
            }
        ),
        "{wrong}"
    );
}

#[test]
fn row_and_column_order_agree() {
    let by_rows = Design::from_rows(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let by_columns = Design::dense(2, 3, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]).unwrap();
    assert_eq!(by_rows.plain(), by_columns.plain());
}

#[test]
fn dots_cover_every_column_once() {
    let design = Design::dense(3, 7, (0..21).map(f64::from).collect()).unwrap();
    let v = [1.0, -1.0, 2.0];
    let columns = [6, 0, 2, 5, 3, 1];
    let mut out = [0.0; 6];
    design.dots(&columns, &v, &mut out);
    let mut scattered = [f64::NAN; 7];
    design.dots_scattered(&columns, &v, &mut scattered);
    for (j, out) in columns.iter().zip(out) {
        assert_eq!(out, design.dot(*j, &v));
        assert_eq!(scattered[*j], out);
    }
    assert!(scattered[4].is_nan());
}

#[test]
fn every_verb_sees_the_same_numbers_in_every_representation() {
    let all = representations();
    let keep = [true, false, true, true, true];
    let ones = [1.0; 5];
    let mut forms: Vec<Vec<Design>> = vec![all.clone()];
    forms.push(all.iter().map(|d| d.keep_rows(&keep)).collect());
    forms.push(all.iter().map(|d| d.clone().with_column(&ones)).collect());
    for form in forms {
        let expected = &form[0];
        let n = expected.rows();
        let v: Vec<f64> = (0..n).map(|i| (3 * i % 7) as f64 - 2.0).collect();
        let w: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        for design in &form {
            assert_eq!(design.columns(), expected.columns());
            for j in 0..expected.columns() {
                let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
                design.column_into(j, &mut a);
                expected.column_into(j, &mut b);
                assert_eq!(a, b);
                assert!((0..n).all(|i| design.entry(i, j) == b[i]));
                assert_eq!(design.dot(j, &v), expected.dot(j, &v));
                assert_eq!(design.doubled_dot(j, &v).value(), expected.dot(j, &v));
                design.weigh_column(j, &w, &mut a);
                expected.weigh_column(j, &w, &mut b);
                assert_eq!(a, b);
                let (mut a, mut b) = (v.clone(), v.clone());
                design.add_columns([(j, 3.0), (0, -1.0)], &mut a);
                expected.add_columns([(j, 3.0), (0, -1.0)], &mut b);
                assert_eq!(a, b);
                let (mut high, mut low) = (vec![1e20; n], vec![0.0; n]);
                design.add_doubled(&[(j, 3.0)], &mut high, &mut low);
                let exact = |i| high[i] - 1e20 + low[i] == 3.0 * expected.entry(i, j);
                assert!((0..n).all(exact));
                let (norm, size) = design.norm_above(j);
                let exact = expected.norm_above(j).0;
                assert!(size >= norm && norm >= exact * (1.0 - 1e-14));
                assert!(norm <= exact * (1.0 + 1e-13), "{norm} against {exact}");
                let total = w.iter().sum();
                let sum = design.absolute_sum(j, &w, total);
                assert!(sum >= expected.absolute_sum(j, &w, total));
            }
        }
    }
}

#[test]
fn entries_are_those_that_are_stored() {
    let designs = representations();
    let of = |design: &Design, j| design.entries(j).collect::<Vec<_>>();
    assert_eq!(of(&designs[1], 0), [(1, 2.0), (3, -1.0), (4, 0.5)]);
    assert_eq!(of(&designs[1], 1), []);
    let dense = of(&designs[0], 0);
    assert_eq!(dense.len(), 5);
    assert_eq!((dense[0], dense[4]), ((0, 0.0), (4, 0.5)));
}

/// The bound that certificates rely on: `|fl(a_jᵀv) - a_jᵀv| ≤ γ_{n+2} |v| size`.
#[test]
fn the_rounding_of_a_dot_is_within_its_size() {
    let n = 400;
    // A large mean beside a small spread: centring cancels four digits.
    let stored: Vec<f64> = (0..n).map(|i| 1e4 + (0.37 * i as f64).sin()).collect();
    let v: Vec<f64> = (0..n).map(|i| (1.7 * i as f64).cos()).collect();
    let indices: Vec<u32> = (0..n as u32).collect();
    let designs = [
        Design::dense(n, 1, stored.clone()).unwrap(),
        Design::sparse(n, 1, vec![0, n], indices, stored).unwrap(),
    ];
    for design in designs {
        let design = design.with_view(vec![1e4], vec![0.3]).unwrap();
        let exact = design.doubled_dot(0, &v);
        let (norm, size) = design.norm_above(0);
        let error = (design.dot(0, &v) - exact.value()).abs();
        assert!(error <= gamma(n + 2) * kernels::norm(&v) * size);
        assert_eq!(design.is_sparse(), size > 1e3 * norm);
    }
}

#[test]
fn a_wrong_size_is_an_error() {
    assert!(matches!(
        Design::dense(2, 2, vec![0.0; 3]),
        Err(Error::Shape {
            expected: 4,
            found: 3,
            ..
        })
    ));
    assert!(matches!(
        Design::dense(0, 2, vec![]),
        Err(Error::Empty { what: "rows" })
    ));
}
