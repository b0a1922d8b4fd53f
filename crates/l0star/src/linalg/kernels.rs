//! Vector kernels. Each is written once against `pulp` and runs on the widest instruction set found at run time.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::rounding::{two_product, two_sum};

/// `max |a_i|`, ignoring NaN; 0 for an empty slice.
pub(crate) fn largest(a: &[f64]) -> f64 {
    let larger = |m: f64, a: f64| if a.abs() > m { a.abs() } else { m };
    let (blocks, rest) = a.as_chunks::<8>();
    let mut most = [0.0; 8];
    for block in blocks {
        for (m, a) in most.iter_mut().zip(block) {
            *m = larger(*m, *a);
        }
    }
    most.iter().chain(rest).fold(0.0, |m, a| larger(m, *a))
}

/// `Σ a_i b_i`.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            let (a, a_tail) = S::as_simd_f64s(self.0);
            let (b, b_tail) = S::as_simd_f64s(self.1);
            let zero = simd.splat_f64s(0.0);
            let mut sums = [zero; 4];
            let (a4, a1) = pulp::as_arrays::<4, _>(a);
            let (b4, b1) = pulp::as_arrays::<4, _>(b);
            for (a, b) in a4.iter().zip(b4) {
                for l in 0..4 {
                    sums[l] = simd.mul_add_e_f64s(a[l], b[l], sums[l]);
                }
            }
            for (a, b) in a1.iter().zip(b1) {
                sums[0] = simd.mul_add_e_f64s(*a, *b, sums[0]);
            }
            let low = simd.add_f64s(sums[0], sums[1]);
            let high = simd.add_f64s(sums[2], sums[3]);
            let mut sum = simd.reduce_sum_f64s(simd.add_f64s(low, high));
            for (a, b) in a_tail.iter().zip(b_tail) {
                sum += a * b;
            }
            sum
        }
    }
    assert_eq!(a.len(), b.len());
    arch().dispatch(Dot(a, b))
}

/// `[Σ a0_i b_i, …, Σ a3_i b_i]`: four columns share each load of `b`.
#[inline]
pub fn dot4(a: [&[f64]; 4], b: &[f64]) -> [f64; 4] {
    struct Dot4<'a>([&'a [f64]; 4], &'a [f64]);
    impl WithSimd for Dot4<'_> {
        type Output = [f64; 4];
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [f64; 4] {
            let n = self.1.len();
            let [c0, c1, c2, c3] = self.0;
            let (a0, t0) = S::as_simd_f64s(&c0[..n]);
            let (a1, t1) = S::as_simd_f64s(&c1[..n]);
            let (a2, t2) = S::as_simd_f64s(&c2[..n]);
            let (a3, t3) = S::as_simd_f64s(&c3[..n]);
            let (b, tail) = S::as_simd_f64s(self.1);
            let zero = simd.splat_f64s(0.0);
            let mut even = [zero; 4];
            let mut odd = [zero; 4];
            let (b2, b1) = pulp::as_arrays::<2, _>(b);
            let pairs = b2.len();
            let (p0, r0) = pulp::as_arrays::<2, _>(a0);
            let (p1, r1) = pulp::as_arrays::<2, _>(a1);
            let (p2, r2) = pulp::as_arrays::<2, _>(a2);
            let (p3, r3) = pulp::as_arrays::<2, _>(a3);
            for ((((b, x0), x1), x2), x3) in b2
                .iter()
                .zip(&p0[..pairs])
                .zip(&p1[..pairs])
                .zip(&p2[..pairs])
                .zip(&p3[..pairs])
            {
                even[0] = simd.mul_add_e_f64s(x0[0], b[0], even[0]);
                even[1] = simd.mul_add_e_f64s(x1[0], b[0], even[1]);
                even[2] = simd.mul_add_e_f64s(x2[0], b[0], even[2]);
                even[3] = simd.mul_add_e_f64s(x3[0], b[0], even[3]);
                odd[0] = simd.mul_add_e_f64s(x0[1], b[1], odd[0]);
                odd[1] = simd.mul_add_e_f64s(x1[1], b[1], odd[1]);
                odd[2] = simd.mul_add_e_f64s(x2[1], b[1], odd[2]);
                odd[3] = simd.mul_add_e_f64s(x3[1], b[1], odd[3]);
            }
            for (i, b) in b1.iter().enumerate() {
                even[0] = simd.mul_add_e_f64s(r0[i], *b, even[0]);
                even[1] = simd.mul_add_e_f64s(r1[i], *b, even[1]);
                even[2] = simd.mul_add_e_f64s(r2[i], *b, even[2]);
                even[3] = simd.mul_add_e_f64s(r3[i], *b, even[3]);
            }
            let mut sums = [0.0; 4];
            for l in 0..4 {
                sums[l] = simd.reduce_sum_f64s(simd.add_f64s(even[l], odd[l]));
            }
            for (i, b) in tail.iter().enumerate() {
                sums[0] += t0[i] * b;
                sums[1] += t1[i] * b;
                sums[2] += t2[i] * b;
                sums[3] += t3[i] * b;
            }
            sums
        }
    }
    assert!(a.iter().all(|a| a.len() == b.len()));
    arch().dispatch(Dot4(a, b))
}

/// `y += s a`.
#[inline]
pub fn axpy(s: f64, a: &[f64], y: &mut [f64]) {
    struct Axpy<'a>(f64, &'a [f64], &'a mut [f64]);
    impl WithSimd for Axpy<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (a, a_tail) = S::as_simd_f64s(self.1);
            let (y, y_tail) = S::as_mut_simd_f64s(self.2);
            let s = simd.splat_f64s(self.0);
            for (y, a) in y.iter_mut().zip(a) {
                *y = simd.mul_add_e_f64s(s, *a, *y);
            }
            for (y, a) in y_tail.iter_mut().zip(a_tail) {
                *y += self.0 * a;
            }
        }
    }
    assert_eq!(a.len(), y.len());
    arch().dispatch(Axpy(s, a, y))
}

/// `Σ w_i a_i b_i`.
#[inline]
pub fn weighted_dot(w: &[f64], a: &[f64], b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64], &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            let (w, w_tail) = S::as_simd_f64s(self.0);
            let (a, a_tail) = S::as_simd_f64s(self.1);
            let (b, b_tail) = S::as_simd_f64s(self.2);
            let zero = simd.splat_f64s(0.0);
            let mut sums = [zero; 2];
            let (w2, w1) = pulp::as_arrays::<2, _>(w);
            let (a2, a1) = pulp::as_arrays::<2, _>(a);
            let (b2, b1) = pulp::as_arrays::<2, _>(b);
            for ((w, a), b) in w2.iter().zip(a2).zip(b2) {
                for l in 0..2 {
                    sums[l] = simd.mul_add_e_f64s(simd.mul_f64s(w[l], a[l]), b[l], sums[l]);
                }
            }
            for ((w, a), b) in w1.iter().zip(a1).zip(b1) {
                sums[0] = simd.mul_add_e_f64s(simd.mul_f64s(*w, *a), *b, sums[0]);
            }
            let mut sum = simd.reduce_sum_f64s(simd.add_f64s(sums[0], sums[1]));
            for ((w, a), b) in w_tail.iter().zip(a_tail).zip(b_tail) {
                sum += w * a * b;
            }
            sum
        }
    }
    assert!(w.len() == a.len() && a.len() == b.len());
    arch().dispatch(Dot(w, a, b))
}

/// `Σ (a_i - c) b_i`, each difference rounded once.
#[inline]
pub fn dot_shifted(a: &[f64], c: f64, b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], f64, &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            let (a, a_tail) = S::as_simd_f64s(self.0);
            let (b, b_tail) = S::as_simd_f64s(self.2);
            let c = simd.splat_f64s(self.1);
            let mut sums = [simd.splat_f64s(0.0); 4];
            let (a4, a1) = pulp::as_arrays::<4, _>(a);
            let (b4, b1) = pulp::as_arrays::<4, _>(b);
            for (a, b) in a4.iter().zip(b4) {
                for l in 0..4 {
                    sums[l] = simd.mul_add_e_f64s(simd.sub_f64s(a[l], c), b[l], sums[l]);
                }
            }
            for (a, b) in a1.iter().zip(b1) {
                sums[0] = simd.mul_add_e_f64s(simd.sub_f64s(*a, c), *b, sums[0]);
            }
            let low = simd.add_f64s(sums[0], sums[1]);
            let high = simd.add_f64s(sums[2], sums[3]);
            let mut sum = simd.reduce_sum_f64s(simd.add_f64s(low, high));
            for (a, b) in a_tail.iter().zip(b_tail) {
                sum += (a - self.1) * b;
            }
            sum
        }
    }
    assert_eq!(a.len(), b.len());
    arch().dispatch(Dot(a, c, b))
}

/// `y += s (a - c)`.
#[inline]
pub fn axpy_shifted(s: f64, a: &[f64], c: f64, y: &mut [f64]) {
    assert_eq!(a.len(), y.len());
    for (y, a) in y.iter_mut().zip(a) {
        *y += s * (a - c);
    }
}

/// `Σ a_l b_{rows_l}`: a sparse column and a dense vector.
#[inline]
pub fn dot_sparse(rows: &[u32], a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(rows.len(), a.len());
    let (rows4, rows1) = rows.as_chunks::<4>();
    let (a4, a1) = a.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (rows, a) in rows4.iter().zip(a4) {
        for l in 0..4 {
            sums[l] += a[l] * b[rows[l] as usize];
        }
    }
    let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (i, a) in rows1.iter().zip(a1) {
        sum += a * b[*i as usize];
    }
    sum
}

/// `y_{rows_l} += s a_l`: a sparse column into a dense vector.
#[inline]
pub fn axpy_sparse(s: f64, rows: &[u32], a: &[f64], y: &mut [f64]) {
    assert_eq!(rows.len(), a.len());
    for (i, a) in rows.iter().zip(a) {
        y[*i as usize] += s * a;
    }
}

/// `Σ a_i`.
#[inline]
pub fn sum(a: &[f64]) -> f64 {
    let (a8, a1) = a.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for a in a8 {
        for l in 0..8 {
            sums[l] += a[l];
        }
    }
    sums.iter().sum::<f64>() + a1.iter().sum::<f64>()
}

/// `√Σ a_i²`, plain (no guard against overflow).
#[inline]
pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Finds the rows j of a single-precision matrix of correlations m that are nearly dependent together with row i and a
/// third one: those of `rows` with
///
/// ```text
/// (m_jl - m_ij m_il)² - (1 - m_ij²)(1 - m_il²) ≥ least   for some l of `columns`
/// ```
///
/// Section 14 of `docs/numerics.md` bounds the rounding of the difference. Four rows share each load of row i.
pub(crate) fn dependent(
    square: &[f32],
    stride: usize,
    i: usize,
    rows: &[u32],
    columns: Range<usize>,
    least: f32,
    found: &mut Vec<u32>,
) {
    struct Dependent<'a> {
        square: &'a [f32],
        stride: usize,
        i: usize,
        rows: &'a [u32],
        columns: Range<usize>,
        least: f32,
        found: &'a mut Vec<u32>,
    }
    impl WithSimd for Dependent<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let part = |j: usize| {
                let row = &self.square[j * self.stride..(j + 1) * self.stride];
                S::as_simd_f32s(&row[self.columns.clone()])
            };
            let (own, own_tail) = part(self.i);
            let size = own.len();
            let one = simd.splat_f32s(1.0);
            for group in self.rows.chunks(4) {
                let j = [0, 1, 2, 3].map(|at| group[at.min(group.len() - 1)] as usize);
                let parts = j.map(part);
                let a = j.map(|j| self.square[self.i * self.stride + j]);
                let q = a.map(|a| 1.0 - a * a);
                let (minus_a, minus_q) = (
                    a.map(|a| simd.splat_f32s(-a)),
                    q.map(|q| simd.splat_f32s(-q)),
                );
                let mut most = [simd.splat_f32s(f32::NEG_INFINITY); 4];
                let [r0, r1, r2, r3] = parts.map(|(row, _)| &row[..size]);
                for ((((b, c0), c1), c2), c3) in own.iter().zip(r0).zip(r1).zip(r2).zip(r3) {
                    let rest = simd.sub_f32s(one, simd.mul_f32s(*b, *b));
                    for (l, c) in [c0, c1, c2, c3].into_iter().enumerate() {
                        let w = simd.mul_add_e_f32s(minus_a[l], *b, *c);
                        let room = simd.mul_f32s(minus_q[l], rest);
                        most[l] = simd.max_f32s(most[l], simd.mul_add_e_f32s(w, w, room));
                    }
                }
                for l in 0..group.len() {
                    let tail = own_tail.iter().zip(parts[l].1).map(|(b, c)| {
                        let w = c - a[l] * b;
                        w * w - q[l] * (1.0 - b * b)
                    });
                    let most = tail.fold(simd.reduce_max_f32s(most[l]), f32::max);
                    if most >= self.least {
                        self.found.push(group[l]);
                    }
                }
            }
        }
    }
    arch().dispatch(Dependent {
        square,
        stride,
        i,
        rows,
        columns,
        least,
        found,
    });
}

/// `high + low += s a`, in doubled precision: `low` accumulates what rounding removes from `high`.
pub(crate) fn axpy_doubled(s: f64, a: &[f64], high: &mut [f64], low: &mut [f64]) {
    // Compiled for the detected instruction set, where `mul_add` is an instruction and not a call.
    arch().dispatch(|| {
        let sums = high.iter_mut().zip(low);
        sums.zip(a).for_each(|(sum, a)| add_product(sum, *a, s));
    });
}

/// Variant of [`axpy_doubled`] for a sparse column.
pub(crate) fn axpy_sparse_doubled(
    s: f64,
    rows: &[u32],
    a: &[f64],
    high: &mut [f64],
    low: &mut [f64],
) {
    for (i, a) in rows.iter().zip(a) {
        let i = *i as usize;
        add_product((&mut high[i], &mut low[i]), *a, s);
    }
}

#[inline(always)]
fn add_product((high, low): (&mut f64, &mut f64), a: f64, s: f64) {
    let (product, rest) = two_product(a, s);
    let (sum, error) = two_sum(*high, product);
    *high = sum;
    *low += error + rest;
}

/// Runs plain code compiled for the widest instruction set: a fused multiplication is then an instruction, not a call.
#[inline]
pub(crate) fn widest<R>(code: impl FnOnce() -> R) -> R {
    arch().dispatch(code)
}

/// Returns the instruction set, which is detected once.
#[inline]
fn arch() -> Arch {
    Arch::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_agree_with_plain_loops_at_every_length() {
        for n in 0..70 {
            let column = |s: usize| -> Vec<f64> {
                (0..n)
                    .map(|i| ((i * 7 + s * 13) % 11) as f64 - 5.0)
                    .collect()
            };
            let (a, b, w) = (column(1), column(2), column(3));
            let plain = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            assert_eq!(dot(&a, &b), plain(&a, &b));
            let wa: Vec<f64> = w.iter().zip(&a).map(|(w, a)| w * a).collect();
            assert_eq!(weighted_dot(&w, &a, &b), plain(&wa, &b));
            let columns = [column(4), column(5), column(6), column(7)];
            let four = dot4([&columns[0], &columns[1], &columns[2], &columns[3]], &b);
            for (column, four) in columns.iter().zip(four) {
                assert_eq!(plain(column, &b), four);
            }
            let mut y = w.clone();
            axpy(3.0, &a, &mut y);
            for i in 0..n {
                assert_eq!(y[i], w[i] + 3.0 * a[i]);
            }
            let shifted: Vec<f64> = a.iter().map(|a| a - 2.0).collect();
            assert_eq!(dot_shifted(&a, 2.0, &b), plain(&shifted, &b));
            axpy_shifted(-3.0, &a, 2.0, &mut y);
            for i in 0..n {
                assert_eq!(y[i], w[i] + 6.0);
            }
            // Every third entry, as a sparse column.
            let rows: Vec<u32> = (0..n as u32).step_by(3).collect();
            let picked: Vec<f64> = rows.iter().map(|i| b[*i as usize]).collect();
            assert_eq!(dot_sparse(&rows, &picked, &a), {
                let pairs = rows.iter().zip(&picked);
                pairs.map(|(i, b)| a[*i as usize] * b).sum::<f64>()
            });
            axpy_sparse(2.0, &rows, &picked, &mut y);
            for i in 0..n {
                let more = if i % 3 == 0 { 2.0 * b[i] } else { 0.0 };
                assert_eq!(y[i], w[i] + 6.0 + more);
            }
            assert_eq!(sum(&a), a.iter().sum::<f64>());
            let most = |a: &[f64]| a.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
            assert_eq!(largest(&a), most(&a));
            for i in 0..n {
                let mut alone = vec![f64::NAN; n];
                alone[i] = -2.0;
                assert_eq!(largest(&alone), 2.0);
            }
        }
    }
}
