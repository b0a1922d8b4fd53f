//! `l0star path`: all sizes in one run.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::Sandbox;

const DATA: &str = "s.csv --target b";

fn sample() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("generate ar -d 20 -k 3 -n 60 --rho 0.7 --snr 2 --out s.csv");
    sandbox
}

fn number(value: &Value, field: &str) -> f64 {
    value[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field} in {value}"))
}

#[test]
fn every_size_is_what_fit_finds() {
    let sandbox = sample();
    let path = sandbox.json(&format!("path {DATA} -k 5 --json --standardize"));
    let sizes = path["path"].as_array().unwrap();
    assert_eq!(sizes.len(), 6);
    for (k, size) in sizes.iter().enumerate() {
        let alone = sandbox.json(&format!("fit {DATA} -k {k} --json --standardize"));
        assert_eq!(size["status"], "optimal");
        for field in ["k", "support", "loss", "ridge"] {
            assert_eq!(size[field], alone[field], "k = {k}");
        }
        let (own, other) = (number(size, "objective"), number(&alone, "objective"));
        assert!((own - other).abs() <= 2e-9 * other, "k = {k}");
        for (name, coefficient) in alone["coefficients"].as_object().unwrap() {
            let own = number(&size["coefficients"], name);
            assert!(
                (own - coefficient.as_f64().unwrap()).abs() < 1e-7,
                "k = {k}, {name}"
            );
        }
    }
}

#[test]
fn features_enter_and_leave() {
    let path = sample().json(&format!("path {DATA} -k 8 --json"));
    let mut now: Vec<&Value> = Vec::new();
    for size in path["path"].as_array().unwrap() {
        let list = |field: &str| size[field].as_array().unwrap().iter();
        assert!(list("leaving").all(|name| now.contains(&name)));
        now.retain(|name| !list("leaving").any(|left| left == *name));
        now.extend(list("entering"));
        let mut support: Vec<&Value> = list("support").collect();
        for names in [&mut now, &mut support] {
            names.sort_by_key(|name| name.to_string());
        }
        assert_eq!(now, support);
    }
}

#[test]
fn the_chosen_size_has_the_smallest_criterion_and_is_written() {
    let sandbox = sample();
    for criterion in ["aic", "bic", "ebic"] {
        let path = sandbox.json(&format!(
            "path {DATA} -k 6 --json --criterion {criterion} --out m.json"
        ));
        assert_eq!(path["criterion"], criterion);
        let sizes = path["path"].as_array().unwrap();
        let chosen = path["chosen_k"].as_u64().unwrap() as usize;
        let best = number(&sizes[chosen], criterion);
        assert!(sizes.iter().all(|size| number(size, criterion) >= best));
        let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
        assert_eq!(model["support"], sizes[chosen]["support"]);
        assert_eq!(sandbox.run("predict m.json s.csv").code, Some(0));
    }
}

#[test]
fn the_table_has_a_line_a_size_and_says_which_is_chosen() {
    let outcome = sample().run(&format!("path {DATA} -k 4"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "the best model of every size, each proved optimal"
    );
    assert_eq!(lines.iter().filter(|line| line.starts_with('→')).count(), 2);
    assert!(outcome.stdout.contains("→ EBIC is smallest at k = "));
    for (k, line) in lines[3..8].iter().enumerate() {
        let first = line.trim_start_matches('→').split_whitespace().next();
        assert_eq!(first, Some(k.to_string().as_str()));
    }
}

#[test]
fn without_k_it_goes_up_to_ten_or_all_features() {
    let sandbox = sample();
    let count = |options: &str| {
        let path = sandbox.json(&format!("path {DATA} --json {options}"));
        path["path"].as_array().unwrap().len()
    };
    assert_eq!(count(""), 11);
    assert_eq!(count("--features x1,x2,x3"), 4);
}

#[test]
fn a_limit_leaves_a_model_and_a_bound_for_every_size() {
    let outcome = sample().run(&format!("path {DATA} -k 8 --json --node-limit 0"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    for size in outcome.json()["path"].as_array().unwrap() {
        assert!(number(size, "lower_bound") <= number(size, "objective"));
    }
}

#[test]
fn a_loss_without_a_likelihood_has_no_criteria() {
    let sandbox = Sandbox::new();
    sandbox.run("generate logistic -d 10 -k 2 -n 50 --out s.csv");
    let path = sandbox.json(&format!("path {DATA} -k 3 --loss squared-hinge --json"));
    assert_eq!(path["chosen_k"], Value::Null);
    assert_eq!(path["path"][1]["bic"], Value::Null);
    let outcome = sandbox.run(&format!(
        "path {DATA} -k 3 --loss squared-hinge --out m.json"
    ));
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome
            .stderr
            .contains("'squared-hinge' is not a likelihood"),
        "{outcome:?}"
    );
    assert!(!sandbox.files().contains(&"m.json".to_owned()));
}

#[test]
fn the_log_names_each_size() {
    let sandbox = sample();
    let mut command: Command = sandbox.command(&format!("path {DATA} -k 2 --log --quiet"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    for k in 0..=2 {
        assert!(log.lines().any(|line| line == format!("k = {k}")), "{log}");
    }
    assert!(output.stdout.is_empty());
}
