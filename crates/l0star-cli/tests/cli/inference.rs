//! Inference on coefficients: `--refit`, standard errors, `explain --table`.

use serde_json::Value;

use crate::common::Sandbox;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv");

/// Returns the least-squares coefficients of the diabetes data and their standard errors, computed from the normal
/// equations by elimination. R gives the same with `summary(lm(target ~ bmi + bp + s5))`.
fn least_squares(columns: &[&str]) -> (Vec<f64>, Vec<f64>) {
    let text = std::fs::read_to_string(DATA).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|own| *own == name).unwrap();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let size = columns.len() + 1;
    let entry = |row: &[f64], c: usize| columns.get(c).map_or(1.0, |name| row[place(name)]);
    // Elimination on [M | v | I] leaves the solution and the inverse.
    let mut m = vec![vec![0.0; 2 * size + 1]; size];
    for row in &rows {
        for (r, sums) in m.iter_mut().enumerate() {
            for (c, sum) in sums[..size].iter_mut().enumerate() {
                *sum += entry(row, r) * entry(row, c);
            }
            sums[size] += entry(row, r) * row[place("target")];
        }
    }
    (0..size).for_each(|r| m[r][size + 1 + r] = 1.0);
    for pivot in 0..size {
        let scale = m[pivot][pivot];
        m[pivot].iter_mut().for_each(|x| *x /= scale);
        for r in (0..size).filter(|r| *r != pivot) {
            let (factor, other) = (m[r][pivot], m[pivot].clone());
            let pairs = m[r].iter_mut().zip(other);
            pairs.for_each(|(own, other)| *own -= factor * other);
        }
    }
    let x: Vec<f64> = m.iter().map(|row| row[size]).collect();
    let residuals = rows.iter().map(|row| {
        let z: f64 = (0..size).map(|c| entry(row, c) * x[c]).sum();
        (row[place("target")] - z).powi(2)
    });
    let sigma2 = residuals.sum::<f64>() / (rows.len() - size) as f64;
    let errors = (0..size).map(|r| (sigma2 * m[r][size + 1 + r]).sqrt());
    (x.clone(), errors.collect())
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!(
        (found - expected).abs() <= 1e-7 * expected.abs(),
        "{found} and {expected}"
    );
}

#[test]
fn refitted_coefficients_and_errors_are_those_of_least_squares() {
    let sandbox = Sandbox::new();
    let options = format!("fit {DATA} --target target -k 3 --ridge 0.2 --json");
    let with = sandbox.json(&options);
    let without = sandbox.json(&format!("{options} --refit --out m.json"));
    let (x, errors) = least_squares(&["bmi", "bp", "s5"]);
    for (at, name) in ["bmi", "bp", "s5"].iter().enumerate() {
        near(&without["coefficients"][name], x[at]);
        near(
            &without["inference"]["coefficients"][at]["standard_error"],
            errors[at],
        );
    }
    near(&without["intercept"], x[3]);
    near(
        &without["inference"]["coefficients"][3]["standard_error"],
        errors[3],
    );
    assert_eq!(without["inference"]["degrees_of_freedom"], 438);
    // The chosen features and their proof are the same.
    assert_eq!(without["refit"], true);
    assert!(with.get("refit").is_none());
    for field in ["support", "objective", "lower_bound", "status"] {
        assert_eq!(with[field], without[field], "{field}");
    }
    assert_ne!(with["coefficients"], without["coefficients"]);

    let told = sandbox.run("explain m.json").stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("a second fit of the chosen features without the ridge"),
        "{told}"
    );
    let table = sandbox.run("explain m.json --table").stdout;
    assert!(table.starts_with("  feature"), "{table}");
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("take the chosen features as given"),
        "{table}"
    );
    assert!(
        table.contains("std. error") && !table.contains("cost without"),
        "{table}"
    );
}

#[test]
fn prices_and_odds_are_in_the_table() {
    let sandbox = Sandbox::generated("logistic -d 8 -k 3 -n 120 --out l.csv");
    let fit = sandbox.json(
        "fit l.csv --target b --loss logistic -k 3 --ridge 0.05 --prices --out m.json --json",
    );
    for (name, value) in fit["coefficients"].as_object().unwrap() {
        near(&fit["odds_ratios"][name], value.as_f64().unwrap().exp());
    }
    let table = sandbox.run("explain m.json --table").stdout;
    for title in ["odds ratio", "std. error", "cost without"] {
        assert!(table.contains(title), "{title}: {table}");
    }
    let told = sandbox.run("explain m.json").stdout;
    assert!(told.contains("odds of '1' ×"), "{told}");
}

#[test]
fn what_has_no_fit_without_the_ridge_keeps_it_and_says_so() {
    let rows: String = (0..30)
        .map(|i| format!("{i},{}\n", i64::from(i > 14)))
        .collect();
    let sandbox = Sandbox::with("s.csv", format!("x,y\n{rows}"));
    let outcome = sandbox.run("fit s.csv --target y --loss logistic -k 1 --refit");
    assert_eq!(outcome.code, Some(0));
    assert!(
        outcome
            .stderr
            .contains("not fitted again without the ridge"),
        "{outcome:?}"
    );
    let fit = sandbox.json("fit s.csv --target y --loss logistic -k 1 --refit --json");
    assert!(fit.get("refit").is_none());
    assert!(fit["warnings"].to_string().contains("without the ridge"));
}
