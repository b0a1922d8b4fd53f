//! `--top` and `--within`: lists of several models.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support, without_seconds};

fn small() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 9 -k 3 -n 60 --rho 0.9 --snr 1 --out s.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

/// Returns the feature sets of a list with their objectives.
fn list(json: &Value) -> Vec<(Vec<&str>, f64)> {
    let models = json["solutions"].as_array().expect("a list");
    models
        .iter()
        .map(|model| (support(model), number(model, "objective")))
        .collect()
}

#[test]
fn the_best_models_are_those_of_the_exhaustive_method() {
    let sandbox = small();
    for loss in ["quadratic", "huber"] {
        let fit = format!("fit s.csv --target b -k 3 --loss {loss} --top 20 --json");
        let json = sandbox.json(&fit);
        let exhaustive = sandbox.json(&format!("{fit} --method exhaustive"));
        assert_eq!(json["status"], "optimal");
        assert_eq!(json["truncated"], false);
        let (fast, slow) = (list(&json), list(&exhaustive));
        assert_eq!(fast.len(), 20);
        for ((one, value), (two, other)) in fast.iter().zip(&slow) {
            assert_eq!(one, two);
            assert_close(*value, *other, 1e-12);
        }
        assert_eq!(fast[0].0, support(&json));
        assert_eq!(fast[0].1, number(&json, "objective"));
        assert!(number(&json, "rest_bound") >= fast[19].1 * (1.0 - 1e-9));
        // The sets have at most k features, and some of the twenty have fewer.
        assert!(fast.iter().any(|(set, _)| set.len() < 3), "{fast:?}");
        for model in json["solutions"].as_array().unwrap() {
            let keys: Vec<&String> = model["coefficients"].as_object().unwrap().keys().collect();
            assert_eq!(keys, support(model));
            assert!(model["intercept"].is_number());
        }
    }
}

#[test]
fn all_models_within_a_share_are_listed_up_to_the_cap() {
    let sandbox = small();
    let all = sandbox.json("fit s.csv --target b -k 3 --top 1000 --json");
    // All sets of at most three of nine features.
    assert_eq!(list(&all).len(), 1 + 9 + 36 + 84);
    assert_eq!(all["rest_bound"], Value::Null);
    let best = number(&all, "objective");
    let near: Vec<_> = list(&all)
        .into_iter()
        .filter(|(_, value)| *value <= 1.04 * best)
        .collect();
    assert!(near.len() > 4, "{near:?}");
    for share in ["4%", "0.04"] {
        let json = sandbox.json(&format!(
            "fit s.csv --target b -k 3 --within {share} --json"
        ));
        assert_eq!(list(&json), near);
        assert_eq!(json["truncated"], false);
        assert!(number(&json, "rest_bound") > 1.04 * best);
    }
    let json = sandbox.json("fit s.csv --target b -k 3 --within 4% --top 4 --json");
    assert_eq!(list(&json), near[..4]);
    assert_eq!(json["truncated"], true);
    let outcome = sandbox.run("fit s.csv --target b -k 3 --within 4% --top 4");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("--top M shows more"), "{outcome:?}");
    let lines = || outcome.stdout.lines();
    assert!(lines().all(|line| line.chars().count() <= 80));
    assert!(lines().any(|line| line.trim_start().starts_with("4 ")));
}

#[test]
fn one_model_is_the_same_with_and_without_a_list_of_one() {
    let sandbox = small();
    let plain = sandbox.json("fit s.csv --target b -k 3 --threads 1 --json");
    assert!(plain.get("solutions").is_none());
    let one = sandbox.json("fit s.csv --target b -k 3 --threads 1 --top 1 --json");
    assert_eq!(list(&one), [(support(&plain), number(&plain, "objective"))]);
    let (plain, mut one) = (without_seconds(plain.clone()), without_seconds(one.clone()));
    for field in ["solutions", "rest_bound", "truncated"] {
        one.as_object_mut().unwrap().shift_remove(field).unwrap();
    }
    assert_eq!(plain, one);
}

#[test]
fn a_list_goes_on_from_its_checkpoint_and_from_no_other() {
    let sandbox = small();
    let fit = "fit s.csv --target b -k 3 --top 15 --threads 1 --json";
    let whole = sandbox.json(fit);
    let stopped = sandbox.run(&format!("{fit} --node-limit 3 --checkpoint s.ckpt"));
    assert_eq!(stopped.code, Some(4), "{stopped:?}");
    sandbox.refuses(
        "fit s.csv --target b -k 3 --top 14 --resume s.ckpt",
        2,
        &["top", "15", "14"],
    );
    sandbox.refuses(
        "fit s.csv --target b -k 3 --top 15 --within 1% --resume s.ckpt",
        2,
        &["within", "0.01"],
    );
    let resumed = sandbox.json(&format!("{fit} --resume s.ckpt"));
    assert_eq!(list(&resumed), list(&whole));
    assert_eq!(resumed["status"], "optimal");
}

#[test]
fn what_a_list_does_not_go_with_is_refused() {
    let sandbox = small();
    let fit = "fit s.csv --target b -k 3";
    sandbox.refuses(&format!("{fit} --top 0"), 2, &["--top", "one or more"]);
    sandbox.refuses(
        &format!("{fit} --within -1%"),
        2,
        &["--within", "1% or 0.01"],
    );
    sandbox.refuses(
        &format!("{fit} --top 3 --method paper"),
        2,
        &["--top", "paper"],
    );
    sandbox.refuses(
        &format!("{fit} --within 1% --method omp"),
        2,
        &["--within", "omp"],
    );
    sandbox.refuses(&format!("{fit} --top 3 --gap 1"), 2, &["--top", "--gap"]);
}
