//! Several responses through every command.

use serde_json::{Value, json};

use crate::common::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::generated("responses -d 8 -k 2 -n 60 --responses 3 --out data.csv")
}

const FIT: &str = "data.csv --target b1,b2,b3";

fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|own| own == name);
    let at = at.unwrap_or_else(|| panic!("no column {name} in {text}"));
    lines
        .map(|line| line.split(',').nth(at).unwrap().parse().unwrap())
        .collect()
}

fn list(value: &Value) -> Vec<f64> {
    let found = value.as_array().unwrap_or_else(|| panic!("{value}"));
    found.iter().map(|own| own.as_f64().unwrap()).collect()
}

#[test]
fn a_fit_is_proved_and_every_response_is_predicted() {
    let sandbox = sandbox();
    let fit = sandbox.json(&format!(
        "fit {FIT} -k 2 --out m.json --report page.html --json"
    ));
    assert_eq!(fit["status"], "optimal");
    assert_eq!(fit["responses"], json!(["b1", "b2", "b3"]));
    assert_eq!(fit["support"], json!(["x3", "x7"]));
    assert_eq!(list(&fit["intercept"]).len(), 3);
    let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let out = sandbox.run("predict m.json data.csv --residuals").stdout;
    let (x3, x7) = (column(&data, "x3"), column(&data, "x7"));
    let (first, second) = (
        list(&fit["coefficients"]["x3"]),
        list(&fit["coefficients"]["x7"]),
    );
    for (r, name) in ["b1", "b2", "b3"].iter().enumerate() {
        let predicted = column(&out, &format!("{name}_prediction"));
        let residual = column(&out, &format!("{name}_residual"));
        let truth = column(&data, name);
        for (row, own) in predicted.iter().enumerate() {
            let expected = list(&fit["intercept"])[r] + first[r] * x3[row] + second[r] * x7[row];
            assert!((own - expected).abs() < 1e-12);
            assert!((truth[row] - own - residual[row]).abs() < 1e-12);
        }
        // R² of each response is that of its predictions.
        let mean = truth.iter().sum::<f64>() / truth.len() as f64;
        let rest: f64 = residual.iter().map(|r| r * r).sum();
        let all: f64 = truth.iter().map(|b| (b - mean).powi(2)).sum();
        let said = &fit["metrics"]["training"]["responses"][r];
        assert_eq!(said["name"], *name);
        assert!((said["r2"].as_f64().unwrap() - (1.0 - rest / all)).abs() < 1e-12);
    }
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    for name in ["b1", "b2", "b3", "x3", "x7"] {
        assert!(page.contains(&format!(">{name}<")), "{name}");
    }
    let told = sandbox.run("explain m.json").stdout;
    for part in [
        "b1', 'b2', 'b3",
        "a coefficient for each",
        "standard deviation",
    ] {
        let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(sandbox.run("explain m.json --table").stdout.contains("b2"));
}

/// One response has the model of a fit by itself, and units of responses do not matter.
#[test]
fn the_model_of_one_response_is_that_of_its_own_fit() {
    let sandbox = sandbox();
    let all = sandbox.json(&format!("fit {FIT} -k 8 --json"));
    for (r, name) in ["b1", "b2", "b3"].iter().enumerate() {
        let drop: Vec<&str> = ["b1", "b2", "b3"]
            .into_iter()
            .filter(|n| n != name)
            .collect();
        let one = sandbox.json(&format!(
            "fit data.csv --target {name} --drop {} -k 8 --json",
            drop.join(",")
        ));
        for (feature, value) in one["coefficients"].as_object().unwrap() {
            let own = list(&all["coefficients"][feature])[r];
            assert!(
                (own - value.as_f64().unwrap()).abs() < 1e-9,
                "{feature} of {name}"
            );
        }
    }
}

#[test]
fn lists_prices_and_paths_are_about_features() {
    let sandbox = sandbox();
    let listed = sandbox.json(&format!("fit {FIT} -k 2 --top 3 --prices --json"));
    let models = listed["solutions"].as_array().unwrap();
    assert_eq!(models.len(), 3);
    assert_eq!(list(&models[1]["intercept"]).len(), 3);
    assert_eq!(listed["prices"].as_array().unwrap().len(), 8);
    let path = sandbox.json(&format!("path {FIT} -k 3 --json"));
    assert_eq!(path["chosen_k"], 2);
    let held = sandbox.json(&format!("fit {FIT} -k 2 --holdout 25% --json"));
    assert_eq!(
        held["metrics"]["holdout"]["responses"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let table = sandbox.run(&format!("fit {FIT} -k 2")).stdout;
    assert!(
        table.contains("mean R²") && table.contains("of 'b2'"),
        "{table}"
    );
}

#[test]
fn what_is_for_one_target_is_refused() {
    let sandbox = sandbox();
    for (line, code, words) in [
        (format!("cv {FIT} -k 2"), 2, "cv is for one target"),
        (
            format!("stability {FIT} -k 2"),
            2,
            "stability is for one target",
        ),
        (
            format!("fit {FIT} -k 2 --loss huber"),
            2,
            "the loss 'huber' fits one",
        ),
        (
            format!("fit {FIT} -k 2 --offset x1"),
            2,
            "--offset is for one target",
        ),
        (
            format!("fit {FIT} -k 2 --method omp"),
            2,
            "several responses",
        ),
        (
            "fit data.csv --target b1,b1 -k 2".to_owned(),
            2,
            "both --target and --target",
        ),
        ("fit data.csv --target b1,b9 -k 2".to_owned(), 3, "b9"),
    ] {
        sandbox.refuses(&line, code, &[words]);
    }
    sandbox.run(&format!("fit {FIT} -k 2 --out m.json"));
    sandbox.refuses("export m.json --to sql", 3, &["several responses"]);
}
