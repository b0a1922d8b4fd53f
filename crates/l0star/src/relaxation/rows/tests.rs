//! Checks lifted bounds against brute force, where the lift itself can be examined.

use super::*;
use crate::loss;
use crate::problem::Design;
use crate::restricted::Restricted;
use crate::settings::Settings;

/// A relaxation that can be made to lift.
pub(in crate::relaxation) trait Lifting: Relaxation {
    /// Lifts the ridge, whether or not that looks worthwhile.
    fn try_lift(&mut self, problem: &Problem, task: &Task) -> bool;

    /// Returns the region of better models of the last lift.
    fn region(&self) -> &Region;
}

impl Lifting for NewtonRows {
    fn try_lift(&mut self, problem: &Problem, task: &Task) -> bool {
        let weights = self.weights(problem, &task.node);
        self.lift(problem, task, weights, 1.0)
    }

    fn region(&self) -> &Region {
        &self.work.lift.as_ref().unwrap().region
    }
}

/// Returns a small problem with more rows than columns, with groups and bounds on request; the
/// draws are the same everywhere.
fn problem(seed: u64, word: &str, structured: bool) -> Problem {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (d, n) = (3 + (seed % 5) as usize, 20 + (seed % 41) as usize);
    let mut values = Vec::new();
    for _ in 0..d {
        let scale = 10f64.powf(2.0 * uniform() - 1.0);
        values.extend((0..n).map(|_| scale * (uniform() + uniform() + uniform() - 1.5)));
    }
    let signal: Vec<f64> = (0..n)
        .map(|i| values[i] - values[n + i] + uniform() - 0.5)
        .collect();
    let labels = word != "huber";
    let response = |(i, s): (usize, &f64)| {
        if word == "poisson" {
            (2.0 * s.clamp(-4.0, 4.0).exp() + 0.3).floor()
        } else if word == "gamma" {
            s.clamp(-4.0, 4.0).exp()
        } else if labels {
            f64::from(2 * i8::from(*s > 0.2 * ((i * 7) % 5) as f64) - 1)
        } else {
            *s + if i % 9 == 0 { 4.0 } else { 0.3 }
        }
    };
    let b: Vec<f64> = signal.iter().enumerate().map(response).collect();
    let design = Design::dense(n, d, values).unwrap();
    let mut builder = Problem::builder(design, b)
        .standardize(false)
        .loss(loss::by_name(word, 1.0).unwrap())
        .ridge(10f64.powi(-1 - (seed % 4) as i32))
        .k(1 + (seed % 2) as usize)
        .intercept(seed.is_multiple_of(3));
    if seed % 4 == 1 {
        builder = builder.offset((0..n).map(|i| 0.1 * (i % 3) as f64).collect());
    }
    if seed % 5 == 2 {
        builder = builder.weights((0..n).map(|i| 1.0 + (i % 4) as f64).collect());
    }
    if structured {
        if seed % 3 < 2 {
            builder = builder.groups(vec![vec![0, 2]]);
        }
        if !seed.is_multiple_of(3) {
            builder = builder.nonnegative([1]).bounds(2, -0.5, 0.1);
        }
    }
    builder.build().unwrap()
}

/// A support, its minimum and its coefficients.
type Model = (Vec<usize>, f64, Vec<(usize, f64)>);

/// Fits every support of at most k features.
fn models(problem: &Problem) -> Vec<Model> {
    let mut restricted = Restricted::new(problem);
    let features = &problem.selectable;
    let mut found = Vec::new();
    for bits in 0u32..1 << features.len() {
        if bits.count_ones() as usize <= problem.k {
            let chosen = features.iter().enumerate();
            let chosen = chosen.filter(|(i, _)| bits >> i & 1 == 1);
            let support: Vec<usize> = chosen.map(|(_, j)| *j).collect();
            let fit = restricted.fit(&support);
            found.push((support, fit.objective, fit.x));
        }
    }
    found
}

/// Solves the root of a problem and then lifts it for a reference that some models beat.
pub(in crate::relaxation) fn better_models_are_held<R: Lifting>(
    structured: bool,
    relaxation: impl Fn(&Problem) -> R,
) {
    let (mut lifts, mut again, mut fewer) = (0, 0, 0);
    for seed in 0..1800 {
        let word = match seed {
            0..1200 => ["logistic", "huber", "squared-hinge"][seed as usize % 3],
            _ => ["poisson", "gamma"][(seed as usize / 2) % 2],
        };
        let problem = problem(seed, word, structured);
        let mut models = models(&problem);
        let mut values: Vec<f64> = models.iter().map(|(_, value, _)| *value).collect();
        values.sort_unstable_by(f64::total_cmp);
        let reference = values[(seed as usize / 3) % values.len().min(6)] * (1.0 + 1e-9);
        let limits = Limits::new(&Settings::default());
        let mut task = Task {
            scale: reference,
            ..Task::whole(&problem, &problem.selectable, reference, &limits)
        };
        let mut rows = relaxation(&problem);
        rows.prepare(&problem, &task, None);
        let (plain, _) = rows.solve(&problem, &task);
        // On every second problem, lifts first for a worse reference, whose region is wider.
        let worse = reference + 1.5 * (reference - plain.value());
        (task.scale, task.reference) = (worse, worse);
        task.proved = plain.value().min(worse);
        let before = seed % 2 == 0 && rows.try_lift(&problem, &task);
        if before {
            rows.solve(&problem, &task);
        }
        (task.scale, task.reference) = (reference, reference);
        task.proved = plain.value().min(reference);
        // On some problems, acts as if the feature of the largest coefficient had been ruled out since.
        let one = Subproblem {
            budget: 1,
            ..task.node
        };
        let gone = rows.candidate(&problem, &one).first().copied();
        let gone = gone.filter(|_| seed % 3 == 1 || seed % 7 == 2);
        let mut left = problem.selectable.clone();
        left.retain(|j| Some(*j) != gone);
        task.node.free = &left;
        models.retain(|(support, _, _)| support.iter().all(|j| Some(*j) != gone));
        let values = models.iter().map(|(_, value, _)| *value);
        let optimum = values.fold(f64::INFINITY, f64::min);
        if !rows.try_lift(&problem, &task) {
            continue;
        }
        lifts += 1;
        again += usize::from(before);
        fewer += usize::from(gone.is_some());
        let region = rows.region().clone();
        for (support, value, x) in models.iter().filter(|(_, value, _)| *value < reference) {
            // The model, and the ways from it to points that are as bad as the reference.
            for way in 0..=2 * x.len() {
                let mut moved = x.clone();
                let mut step = 1e6;
                while way > 0 && step > 1e-9 {
                    let sign = if way % 2 == 0 { step } else { -step };
                    let mut further = moved.clone();
                    further[(way - 1) / 2].1 += sign;
                    let (j, value) = further[(way - 1) / 2];
                    let (low, high) = problem.range(j);
                    if (low..=high).contains(&value) && problem.value(&further) < reference {
                        moved = further;
                    } else {
                        step *= 0.5;
                    }
                }
                let mut z = vec![0.0; problem.rows()];
                problem.predict_into(&moved, &mut z);
                for (i, z) in z.iter().enumerate() {
                    assert!(
                        (region.low[i]..=region.high[i]).contains(z),
                        "{word} {seed}: row {i} of {support:?} at {value} is at {z}"
                    );
                }
            }
        }
        let (lifted, _) = rows.solve(&problem, &task);
        if task.node.free.len() <= task.node.budget {
            continue;
        }
        let room = 1e-12 * reference;
        assert!(
            lifted.value() <= optimum.min(reference) + room,
            "{word} {seed}"
        );
        let children = rows.children(&problem, &task.node);
        for other in &children.other_sides {
            let j = other.feature;
            let side = models
                .iter()
                .filter(|(s, _, _)| s.contains(&j) != other.is_out);
            let best = side
                .map(|(_, value, _)| *value)
                .fold(f64::INFINITY, f64::min);
            assert!(
                other.bound.value() <= best.min(reference) + room,
                "{word} {seed} {j}"
            );
        }
    }
    assert!(lifts > 100, "{lifts} lifts");
    assert!(again > 20, "{again} of them again");
    assert!(fewer > 20, "{fewer} with a feature less");
}

#[test]
fn better_models_are_in_the_region_and_above_the_lifted_bounds() {
    better_models_are_held(false, |problem| {
        NewtonRows::new(problem, Mechanisms::default())
    });
}
