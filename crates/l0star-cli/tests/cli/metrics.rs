//! Measures of a model on the fitted rows and on held-out rows.

use serde_json::Value;

use crate::common::Sandbox;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv");

fn number(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{path}: {value}"))
}

fn close(one: f64, other: f64) {
    assert!(
        (one - other).abs() <= 1e-9 * one.abs().max(1.0),
        "{one} and {other}"
    );
}

/// Creates a small table with labels, a text column, gaps and weights.
fn clinic() -> Sandbox {
    let mut text = String::from("age,dose,city,died,w\n");
    for i in 0..120 {
        let age = 40 + (i * 37) % 41;
        let dose = match i % 7 {
            0 => String::new(),
            _ => format!("{}", (i * 13) % 29),
        };
        let city = ["Paris", "Rome", "Oslo"][(i * i / 2) % 3];
        let risk = age + (i * 29) % 23;
        let died = if risk > 71 { "yes" } else { "no" };
        text += &format!("{age},{dose},{city},{died},{}\n", 1 + i % 3);
    }
    Sandbox::with("clinic.csv", text)
}

#[test]
fn measures_are_those_of_the_predictions() {
    let sandbox = Sandbox::new();
    let fit = sandbox.json(&format!(
        "fit {DATA} --target target -k 4 --json --out m.json"
    ));
    let predicted = sandbox.run(&format!("predict m.json {DATA} --residuals"));
    let mut residuals: Vec<(f64, f64)> = Vec::new();
    for line in predicted.stdout.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        residuals.push((cells[1], cells[2]));
    }
    let count = residuals.len() as f64;
    let mean = residuals.iter().map(|(target, _)| target).sum::<f64>() / count;
    let missed: f64 = residuals
        .iter()
        .map(|(_, residual)| residual * residual)
        .sum();
    let spread: f64 = residuals
        .iter()
        .map(|(target, _)| (target - mean).powi(2))
        .sum();
    close(
        number(&fit, "/metrics/training/rmse"),
        (missed / count).sqrt(),
    );
    close(number(&fit, "/metrics/training/r2"), 1.0 - missed / spread);
    close(
        number(&fit, "/metrics/training/deviance_explained"),
        1.0 - missed / spread,
    );
    assert_eq!(number(&fit, "/metrics/training/rows"), 442.0);
    assert!(fit["metrics"].get("holdout").is_none());
}

#[test]
fn held_out_rows_do_not_matter_to_the_model() {
    let sandbox = Sandbox::new();
    let data = std::fs::read_to_string(DATA).unwrap();
    sandbox.write("data.csv", &data);
    let options = "--target target -k 4 --holdout 25% --seed 3 --threads 1 --json";
    let fit = sandbox.json(&format!("fit data.csv {options}"));
    assert_eq!(number(&fit, "/metrics/holdout/rows"), 111.0);
    assert_eq!(number(&fit, "/metrics/training/rows"), 331.0);
    assert_eq!(fit["metrics"]["holdout"]["seed"], 3);
    let again = sandbox.json(&format!("fit data.csv {options}"));
    assert_eq!(again["metrics"], fit["metrics"]);
    assert_eq!(again["coefficients"], fit["coefficients"]);

    let lines: Vec<&str> = data.lines().collect();
    let (mut held_out, mut fitted) = (0, 0);
    for at in 1..9 {
        let mut changed: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
        let (features, target) = changed[at].rsplit_once(',').unwrap();
        let target: f64 = target.parse().unwrap();
        changed[at] = format!("{features},{}", target + 50.0);
        sandbox.write("changed.csv", changed.join("\n") + "\n");
        let other = sandbox.json(&format!("fit changed.csv {options}"));
        let is_same = |field: &str| other["metrics"][field] == fit["metrics"][field];
        // A held-out row changes nothing but the measures on the held-out rows.
        if is_same("training") {
            assert_eq!(other["coefficients"], fit["coefficients"], "row {at}");
            assert!(!is_same("holdout"), "row {at}");
            held_out += 1;
        } else {
            assert_ne!(other["coefficients"], fit["coefficients"], "row {at}");
            fitted += 1;
        }
    }
    assert!(held_out > 0 && fitted > 0);
}

#[test]
fn labels_texts_gaps_and_weights_go_with_it() {
    let sandbox = clinic();
    let options = "--target died --loss logistic -k 2 --impute mean --weights w --holdout 0.3";
    let fit = sandbox.json(&format!("fit clinic.csv {options} --json --out m.json"));
    for measure in ["auc", "accuracy", "log_loss", "brier", "deviance_explained"] {
        for rows in ["training", "holdout"] {
            let value = number(&fit, &format!("/metrics/{rows}/{measure}"));
            assert!(value.is_finite(), "{rows} {measure}");
        }
    }
    let rows = number(&fit, "/metrics/training/rows") + number(&fit, "/metrics/holdout/rows");
    assert_eq!(rows, 120.0);
    let told = sandbox.run("explain m.json").stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("How good it is"), "{told}");
    assert!(told.contains("nothing was learnt from them"), "{told}");
    let cv = sandbox.json(&format!("cv clinic.csv {options} --json"));
    assert_eq!(
        cv["model"]["metrics"]["holdout"]["rows"],
        fit["metrics"]["holdout"]["rows"]
    );
    let path = sandbox.json(&format!("path clinic.csv {options} --json"));
    for size in path["path"].as_array().unwrap() {
        assert!(size["metrics"]["holdout"]["accuracy"].is_number());
    }
}

#[test]
fn the_table_says_which_rows_and_ends_with_the_small_print() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&format!("fit {DATA} --target target -k 4 --holdout 20%"));
    let text = shown.stdout;
    for words in [
        "training      R²",
        "(354 rows,",
        "which were fitted)",
        "holdout       R²",
        "(88 rows,",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (_, last) = text.rsplit_once("\n\n").unwrap();
    assert!(last.contains(" nodes ("), "{last}");
    assert!(last.ends_with(" seconds\n"), "{last}");
    let plain = sandbox
        .run(&format!("fit {DATA} --target target -k 4"))
        .stdout;
    assert!(!plain.contains("holdout"), "{plain}");
}

#[test]
fn holdouts_that_cannot_be_are_refused() {
    let sandbox = Sandbox::with("two.csv", "x,y\n1,a\n2,b\n3,b\n");
    sandbox.refuses(
        "fit two.csv --target y --loss logistic -k 1 --holdout 50%",
        3,
        &["'a'", "two of each label"],
    );
    for share in ["0", "1", "120%", "-1", "x"] {
        let options = format!("fit two.csv --target x -k 1 --holdout {share}");
        let outcome = sandbox.run(&options);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
    }
    let gaps = "x,c,y\n".to_owned()
        + &(0..40)
            .map(|i| {
                let text = if i == 17 { "" } else { ["u", "v"][i % 2] };
                format!("{i},{text},{}\n", (i * 7) % 11)
            })
            .collect::<String>();
    sandbox.write("gaps.csv", gaps);
    let codes: Vec<Option<i32>> = (1..16)
        .map(|seed| {
            let options = format!(
                "fit gaps.csv --target y -k 1 --impute mean --holdout 20% --rare 1 --seed {seed}"
            );
            let outcome = sandbox.run(&options);
            if outcome.code == Some(3) {
                assert!(
                    outcome
                        .stderr
                        .contains("'c' is missing in rows that are held out"),
                    "{outcome:?}"
                );
            }
            outcome.code
        })
        .collect();
    assert!(
        codes.contains(&Some(0)) && codes.contains(&Some(3)),
        "{codes:?}"
    );
}
