//! Selection: the largest entries of a vector without sorting it.

/// Number of entries up to which insertion beats a selection: few values enter.
const FEW: usize = 48;

/// Sum of the `m` largest of some non-negative numbers, in O(d) expected time.
pub(crate) fn top_sum(
    values: impl ExactSizeIterator<Item = f64>,
    m: usize,
    scratch: &mut Vec<f64>,
) -> f64 {
    if m == 0 {
        return 0.0;
    }
    if m >= values.len() {
        return values.sum();
    }
    scratch.clear();
    if m > FEW {
        scratch.extend(values);
        scratch.select_nth_unstable_by(m - 1, |a, b| b.total_cmp(a));
        return scratch[..m].iter().sum();
    }
    // An ordered buffer of the best so far.
    let mut values = values;
    scratch.extend(values.by_ref().take(m));
    scratch.sort_unstable_by(|a, b| a.total_cmp(b));
    for value in values {
        // A NaN must not hide: it enters, and makes the sum a NaN.
        if value > scratch[0] || value.is_nan() {
            let mut at = 0;
            while at + 1 < m && scratch[at + 1] < value {
                scratch[at] = scratch[at + 1];
                at += 1;
            }
            scratch[at] = value;
        }
    }
    scratch.iter().sum()
}

/// Moves the `m` largest entries to the front, in descending order. There must be more than m entries, and m > 0.
pub(crate) fn largest_to_front(sizes: &mut [f64], m: usize) {
    if m > FEW {
        sizes.select_nth_unstable_by(m - 1, |a, b| b.total_cmp(a));
        return sizes[..m].sort_unstable_by(|a, b| b.total_cmp(a));
    }
    for i in 1..sizes.len() {
        let value = sizes[i];
        let mut at = i.min(m);
        if at == m {
            // Most entries end here.
            if value <= sizes[m - 1] {
                continue;
            }
            sizes[i] = sizes[m - 1];
            at = m - 1;
        }
        while at > 0 && sizes[at - 1] < value {
            sizes[at] = sizes[at - 1];
            at -= 1;
        }
        sizes[at] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_top_sum_is_that_of_a_sort(
            v in proptest::collection::vec(prop_oneof![4 => -3.0..3.0f64, 1 => Just(0.0), 1 => Just(1.0)], 1..80),
            m in 0usize..85,
        ) {
            let squares: Vec<f64> = v.iter().map(|v| v * v).collect();
            let mut sorted = squares.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let expected: f64 = sorted.iter().take(m).sum();
            let found = top_sum(squares.into_iter(), m, &mut Vec::new());
            prop_assert!((found - expected).abs() <= 1e-12 * (1.0 + expected));
        }
    }

    proptest! {
        #[test]
        fn the_front_is_that_of_a_sort(
            v in proptest::collection::vec(prop_oneof![4 => 0.0..3.0f64, 1 => Just(0.0), 1 => Just(1.0)], 2..120),
            share in 0.0..1.0f64,
        ) {
            let m = 1 + (share * (v.len() - 1) as f64) as usize;
            let mut found = v.clone();
            largest_to_front(&mut found, m);
            let mut expected = v;
            expected.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(&found[..m], &expected[..m]);
            found.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_nan_is_never_lost() {
        for count in [5, 100] {
            for m in [1, 3, 60] {
                for at in 0..count {
                    let values = (0..count).map(|i| if i == at { f64::NAN } else { i as f64 });
                    assert!(
                        top_sum(values, m, &mut Vec::new()).is_nan(),
                        "{count}, {m}, {at}"
                    );
                }
            }
        }
    }
}
