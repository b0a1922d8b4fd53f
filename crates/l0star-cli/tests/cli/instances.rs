//! The paper's two real instances, whose optima are known.

use crate::common::{Sandbox, number, support};

const DIABETES: f64 = 2.967405555892e-4;
const BOSTON: f64 = 1.367664354865e-4;

const FIT: &str =
    "fit D.csv --target b -k 10 --no-intercept --no-standardize --ridge 1e-3 --method paper --json";

fn generated(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&format!("generate {name} --out D.csv"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

fn finds_the_optimum(name: &str, optimum: f64) {
    let json = generated(name).json(FIT);
    let objective = number(&json, "objective");
    assert!((objective - optimum).abs() <= 1e-13, "{objective:e}");
    assert_eq!(support(&json).len(), 10);
    assert_eq!(json["status"], "optimal");
    assert_eq!(json["intercept"], 0.0);
}

fn stops_after_one_call_when_the_gap_allows(name: &str, optimum: f64) {
    let json = generated(name).json(&format!("{FIT} --gap 4e-6"));
    let error = number(&json, "objective") - optimum;
    assert!((-1e-13..=4e-6).contains(&error), "{error:e}");
    assert_eq!(json["solver_calls"], 1);
    assert!(number(&json, "gap") <= 4e-6);
}

#[test]
fn diabetes_is_solved_to_the_known_optimum() {
    finds_the_optimum("diabetes", DIABETES);
}

#[test]
fn boston_is_solved_to_the_known_optimum() {
    finds_the_optimum("boston", BOSTON);
}

#[test]
fn diabetes_within_a_gap_takes_one_call() {
    stops_after_one_call_when_the_gap_allows("diabetes", DIABETES);
}

#[test]
fn boston_within_a_gap_takes_one_call() {
    stops_after_one_call_when_the_gap_allows("boston", BOSTON);
}

#[test]
fn the_default_method_agrees_on_diabetes() {
    let arguments = FIT.replace("paper", "best-first");
    let objective = number(&generated("diabetes").json(&arguments), "objective");
    assert!((objective - DIABETES).abs() <= 1e-12, "{objective:e}");
}

/// Regression test for the line search of PDAL, which compared rounding errors near a fixed point.
///
/// All descendants inherited its steps of 1e-19, and their bounds never rose again: the search made a hundred thousand
/// calls instead of hundreds.
#[test]
fn a_warm_start_does_not_spoil_the_bounds() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate huber -d 50 -k 20 --seed 1 --out D.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let fit = "fit D.csv --target b -k 20 --loss huber --huber-delta 1 --no-intercept --no-standardize --method paper --node-limit 2000 --json";
    let cold = number(
        &sandbox.json(&format!("{fit} --no-warm-start")),
        "solver_calls",
    );
    let warm = number(&sandbox.json(fit), "solver_calls");
    assert!(warm <= 1.5 * cold, "{warm} with, {cold} without");
}
