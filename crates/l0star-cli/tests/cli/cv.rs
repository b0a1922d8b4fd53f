//! `l0star cv`: the choice of the number of features.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support};

fn generated() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("generate ar -d 8 -k 2 -n 60 --rho 0.3 --snr 8 --out s.csv");
    sandbox
}

/// Removes what depends on the clock.
fn timeless(mut json: Value) -> Value {
    json["seconds"] = Value::Null;
    json["model"]["seconds"] = Value::Null;
    json
}

#[test]
fn it_finds_the_size_of_the_truth_and_fits_it_to_all_rows() {
    let sandbox = generated();
    let json = sandbox.json("cv s.csv --target b -k 6 --json --out m.json");
    assert_eq!(json["k"], 2);
    assert_eq!(json["rule"], "one_standard_error");
    assert_eq!((&json["score"], &json["folds"]), (&"r2".into(), &5.into()));
    assert_eq!(json["higher_is_better"], true);
    let candidates = json["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 7);
    for (k, candidate) in candidates.iter().enumerate() {
        assert_eq!(candidate["k"], k);
        let scores = candidate["scores"].as_array().unwrap();
        assert_eq!(scores.len(), 5);
        let mean = scores.iter().map(|s| s.as_f64().unwrap()).sum::<f64>() / 5.0;
        assert_close(number(candidate, "mean"), mean, 1e-12);
    }
    let fit = sandbox.json("fit s.csv --target b -k 2 --json");
    assert_eq!(support(&json["model"]), support(&fit));
    assert_eq!(json["model"]["objective"], fit["objective"]);
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(file["coefficients"], fit["coefficients"]);
    assert_eq!(sandbox.run("predict m.json s.csv").code, Some(0));
}

#[test]
fn leaving_out_one_row_at_a_time_gives_what_the_formula_says() {
    // Without features a prediction is the mean of the other rows.
    let y = [3.0, 5.0, 8.0, 7.0, 1.0];
    let text: String = y
        .iter()
        .enumerate()
        .map(|(i, y)| format!("{i},{y}\n"))
        .collect();
    let sandbox = Sandbox::with("d.csv", format!("a,y\n{text}"));
    let json = sandbox.json("cv d.csv --target y -k 0,0 --folds 5 --score mse --json");
    let mean: f64 = y.iter().sum::<f64>() / 5.0;
    let expected = y
        .iter()
        .map(|y| ((y - mean) * 5.0 / 4.0).powi(2))
        .sum::<f64>()
        / 5.0;
    assert_close(number(&json["candidates"][0], "mean"), expected, 1e-12);
    assert_eq!(json["fold_rows"], serde_json::json!([1, 1, 1, 1, 1]));
    assert_eq!(json["higher_is_better"], false);
}

#[test]
fn seeds_decide_and_threads_do_not() {
    let sandbox = generated();
    let cv = |options: &str| {
        timeless(sandbox.json(&format!("cv s.csv --target b -k 3 --json {options}")))
    };
    let one = cv("--threads 1");
    assert_eq!(one, cv("--threads 1"));
    assert_eq!(one["candidates"], cv("--threads 3")["candidates"]);
    assert_ne!(one["candidates"], cv("--seed 2")["candidates"]);
}

#[test]
fn every_fold_has_both_labels() {
    let mut text = "a,y\n".to_owned();
    for i in 0..20 {
        let label = if [4, 5, 13].contains(&i) {
            "ill"
        } else {
            "well"
        };
        text += &format!("{},{label}\n", (i * 7) % 11);
    }
    let sandbox = Sandbox::with("d.csv", text);
    for seed in 0..20 {
        let json = sandbox.json(&format!(
            "cv d.csv --target y --loss logistic -k 1 --folds 3 --seed {seed} --json"
        ));
        assert_eq!(json["score"], "accuracy");
        // Two of three rows are 'well' in every fold, so no model has a lower score than this.
        assert_eq!(json["fold_rows"], serde_json::json!([7, 7, 6]));
        let scores = json["candidates"][0]["scores"].as_array().unwrap();
        let expected = [6.0 / 7.0, 6.0 / 7.0, 5.0 / 6.0];
        let mut found: Vec<f64> = scores.iter().map(|s| s.as_f64().unwrap()).collect();
        found.sort_by(|a, b| b.total_cmp(a));
        for (found, expected) in found.iter().zip(expected) {
            assert_close(*found, expected, 1e-12);
        }
    }
}

#[test]
fn ridges_are_candidates_too() {
    let sandbox = generated();
    let cv = "cv s.csv --target b -k 1-3 --ridge 10,1e-3 --json";
    let json = sandbox.json(cv);
    assert_eq!(json["candidates"].as_array().unwrap().len(), 6);
    assert_eq!(json["ridge"], 1e-3);
    assert_eq!(json["model"]["ridge"], 1e-3);
    let best = sandbox.json(&format!("{cv} --best"));
    assert_eq!(best["rule"], "best");
    assert_eq!(best["k"], best["best"]["k"]);
    assert!(number(&json, "k") <= number(&best, "k"));
}

#[test]
fn prices_are_candidates_too() {
    let sandbox = generated();
    let cv = "cv s.csv --target b --l0-penalty 0.01,100,0.1 --folds 3";
    let json = sandbox.json(&format!("{cv} --json --out m.json --report r.html"));
    let candidates = json["candidates"].as_array().unwrap();
    let prices: Vec<f64> = candidates.iter().map(|c| number(c, "l0_penalty")).collect();
    assert_eq!(prices, [100.0, 0.1, 0.01]);
    // Without `-k` the size is unlimited, and a feature that is too expensive is in no model.
    assert!(candidates.iter().all(|one| one["k"] == 8));
    assert_eq!(candidates[0]["features"], serde_json::json!([0, 0, 0]));
    assert_eq!(candidates[2]["hopeless"], serde_json::json!([]));
    // The scores are those of a run with this price alone.
    for candidate in candidates {
        let price = number(candidate, "l0_penalty");
        let one = format!("cv s.csv --target b -k 8,8 --l0-penalty {price} --folds 3 --json");
        let one = sandbox.json(&one);
        let scores = |of: &Value| of["scores"].as_array().unwrap().clone();
        let expected = scores(&one["candidates"][0]);
        for (found, expected) in scores(candidate).iter().zip(&expected) {
            assert_close(found.as_f64().unwrap(), expected.as_f64().unwrap(), 1e-9);
        }
    }
    let chosen = number(&json, "l0_penalty");
    assert_eq!(number(&json["model"], "l0_penalty"), chosen);
    let fit = sandbox.json(&format!(
        "fit s.csv --target b --l0-penalty {chosen} --json"
    ));
    assert_eq!(support(&json["model"]), support(&fit));
    assert_close(
        number(&json["model"], "objective_without_penalty"),
        number(&fit, "objective_without_penalty"),
        1e-12,
    );
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(number(&file, "l0_penalty"), chosen);
    let page = String::from_utf8(sandbox.read("r.html")).unwrap();
    assert!(
        page.contains("\"l0_penalty\":100.0"),
        "no price on the page"
    );
    let table = sandbox.run(cv);
    for words in ["chosen: the price", "price  features"] {
        assert!(table.stdout.contains(words), "{words}: {table:?}");
    }
}

#[test]
fn with_prices_one_number_is_a_limit_and_other_sizes_are_tried_at_each() {
    let sandbox = generated();
    let cv = |options: &str| sandbox.json(&format!("cv s.csv --target b --json {options}"));
    let limited = cv("-k 1 --l0-penalty 0.01,0.1");
    let candidates = limited["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 2);
    assert!(candidates.iter().all(|one| one["k"] == 1));
    let both = cv("-k 1-3 --l0-penalty 0.01,0.1 --ridge 1e-3,1 --rule proof");
    assert_eq!(both["candidates"].as_array().unwrap().len(), 12);
    // A single price applies to all sizes.
    let one = cv("-k 2 --l0-penalty 0.01");
    assert_eq!(one["candidates"].as_array().unwrap().len(), 3);
    let words = ["one price", "l0star cv", "--l0-penalty-path"];
    for command in ["fit s.csv -k 2", "path s.csv -k 2", "stability s.csv -k 2"] {
        let several = format!("{command} --target b --l0-penalty 0.1,1");
        sandbox.refuses(&several, 2, &words);
    }
    sandbox.refuses("cv s.csv --target b --l0-penalty 1,-1", 2, &["'-1'"]);
    sandbox.refuses("cv s.csv --target b --l0-factor x1=2", 2, &["--l0-penalty"]);
}

#[test]
fn the_table_marks_the_choice() {
    let sandbox = generated();
    let outcome = sandbox.run("cv s.csv --target b -k 4 --ridge 1e-3,1e-2");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for word in [
        "chosen: 2 features",
        "std. error",
        "best",
        "proved optimal",
        "█",
    ] {
        assert!(outcome.stdout.contains(word), "{word}: {}", outcome.stdout);
    }
    let quiet = sandbox.run("cv s.csv --target b -k 2 --quiet");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn standardizing_and_weights_are_those_of_each_fold() {
    let sandbox = generated();
    for options in ["--standardize", "--weights x1", "--interactions"] {
        let text = String::from_utf8(sandbox.read("s.csv")).unwrap();
        let positive: Vec<String> = text.lines().map(|line| line.replacen('-', "", 1)).collect();
        sandbox.write("p.csv", positive.join("\n"));
        let json = sandbox.json(&format!(
            "cv p.csv --target b -k 2 --json {options} --quiet"
        ));
        assert_eq!(json["model"]["status"], "optimal", "{options}");
    }
}

#[test]
fn a_limit_is_told() {
    let sandbox = Sandbox::new();
    sandbox.run("generate huber -d 60 -k 6 -n 60 --out h.csv");
    let outcome = sandbox.run(
        "cv h.csv --target b --loss huber -k 6,6 --ridge 1e-4 --node-limit 0 --method paper --json",
    );
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    let warnings = outcome.json()["model"]["warnings"].to_string();
    assert!(
        warnings.contains("searches ended without a proof"),
        "{warnings}"
    );
}

#[test]
fn wrong_usage_and_bad_data() {
    let sandbox = Sandbox::with("d.csv", "a,y\n1,2\n2,5\n3,1\n");
    let cv = "cv d.csv --target y";
    sandbox.refuses(
        &format!("{cv} --folds 1"),
        2,
        &["'1'", "--folds", "two or more"],
    );
    sandbox.refuses(&format!("{cv} -k 4-2"), 2, &["'4-2'", "range"]);
    sandbox.refuses(&format!("{cv} --ridge 1,0"), 2, &["'0'", "--ridge"]);
    sandbox.refuses(&format!("{cv} --score brier"), 2, &["'brier'", "log-loss"]);
    sandbox.refuses(
        &format!("{cv} --score accuracy"),
        2,
        &["accuracy", "quadratic", "r2"],
    );
    sandbox.refuses(&format!("{cv} --folds 4"), 3, &["3 rows", "4 folds"]);
    sandbox.write("l.csv", "a,y\n1,no\n2,no\n3,no\n4,yes\n");
    let labels = "cv l.csv --target y --folds 2 --loss";
    sandbox.refuses(&format!("{labels} logistic"), 3, &["'yes'", "two rows"]);
    sandbox.refuses(
        &format!("{labels} squared-hinge --score log-loss"),
        2,
        &["log-loss", "squared-hinge"],
    );
    sandbox.refuses("cv no.csv --target y", 3, &["no.csv"]);
}
