//! Several classes through every command.

use serde_json::{Value, json};

use crate::common::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::generated("classes -d 6 -k 2 -n 120 --classes 3 --out data.csv")
}

const FIT: &str = "data.csv --target b --loss multinomial";

fn list(value: &Value) -> Vec<f64> {
    let found = value.as_array().unwrap_or_else(|| panic!("{value}"));
    found.iter().map(|own| own.as_f64().unwrap()).collect()
}

#[test]
fn a_fit_is_proved_and_its_predictions_are_probabilities() {
    let sandbox = sandbox();
    let fit = sandbox.json(&format!(
        "fit {FIT} -k 2 --out m.json --report page.html --json"
    ));
    assert_eq!(fit["status"], "optimal");
    assert_eq!(fit["loss"], "multinomial");
    assert_eq!(fit["classes"], json!(["1", "2", "3"]));
    assert_eq!(fit["support"], json!(["x2", "x5"]));
    // Only differences between classes matter.
    for numbers in [&fit["intercept"], &fit["coefficients"]["x2"]] {
        assert!(list(numbers).iter().sum::<f64>().abs() < 1e-6, "{numbers}");
    }
    let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let truth = data
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().to_owned());
    let out = sandbox.run("predict m.json data.csv").stdout;
    let mut lines = out.lines();
    assert_eq!(
        lines.next(),
        Some("prediction,probability_1,probability_2,probability_3")
    );
    let (mut right, mut loss, mut rows) = (0, 0.0, 0);
    for (line, truth) in lines.zip(truth) {
        let cells: Vec<&str> = line.split(',').collect();
        let chances: Vec<f64> = cells[1..]
            .iter()
            .map(|cell| cell.parse().unwrap())
            .collect();
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let most = chances.iter().copied().fold(0.0, f64::max);
        let own: usize = cells[0].parse().unwrap();
        assert_eq!(chances[own - 1], most);
        right += usize::from(cells[0] == truth);
        loss -= chances[truth.parse::<usize>().unwrap() - 1].ln();
        rows += 1;
    }
    let metrics = &fit["metrics"]["training"];
    assert!((metrics["accuracy"].as_f64().unwrap() - right as f64 / rows as f64).abs() < 1e-12);
    assert!((metrics["log_loss"].as_f64().unwrap() - loss / rows as f64).abs() < 1e-9);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains(">x2<") && page.contains("A column for each class"));
    let told = sandbox.run("explain m.json").stdout;
    assert!(told.contains("classes"), "{told}");
}

#[test]
fn lists_prices_and_paths_are_about_features() {
    let sandbox = sandbox();
    let listed = sandbox.json(&format!(
        "fit {FIT} -k 2 --top 2 --prices --ridge 0.01 --json"
    ));
    assert_eq!(listed["solutions"].as_array().unwrap().len(), 2);
    assert_eq!(listed["prices"].as_array().unwrap().len(), 6);
    let path = sandbox.json(&format!("path {FIT} -k 3 --json"));
    assert_eq!(path["chosen_k"], 2);
    let held = sandbox.json(&format!("fit {FIT} -k 2 --holdout 25% --json"));
    assert!(held["metrics"]["holdout"]["accuracy"].as_f64().unwrap() > 0.4);
    // Text values are classes too, in alphabetical order.
    let text = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let named: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(at, line)| match (at, line.rsplit_once(',')) {
            (0, _) | (_, None) => line.to_owned(),
            (_, Some((rest, class))) => format!(
                "{rest},class {}",
                ["c", "a", "b"][class.parse::<usize>().unwrap() - 1]
            ),
        })
        .collect();
    sandbox.write("named.csv", named.join("\n") + "\n");
    let named = sandbox.json("fit named.csv --target b --loss multinomial -k 2 --json");
    assert_eq!(named["classes"], json!(["class a", "class b", "class c"]));
}

#[test]
fn what_is_not_there_is_refused() {
    let sandbox = sandbox();
    for (line, code, words) in [
        (
            format!("cv {FIT} -k 2 --score r2"),
            2,
            "use accuracy or log-loss",
        ),
        (format!("fit {FIT} -k 2 --method iht"), 2, "several classes"),
        (
            format!("fit {FIT} -k 2 --offset x1"),
            2,
            "--offset names 1 column, and there are 3 classes (1, 2, 3)",
        ),
        (
            format!("fit {FIT} -k 2 --nonnegative x1"),
            2,
            "bounds on coefficients of classes",
        ),
        (
            "fit data.csv --target x1 --loss multinomial -k 2".to_owned(),
            3,
            "120 different values",
        ),
    ] {
        sandbox.refuses(&line, code, &[words]);
    }
    let outcome = sandbox.run(&format!("fit {FIT} -k 2 --out m.json"));
    assert_eq!(outcome.code, Some(0));
    sandbox.refuses(
        "export m.json --to sql --expression",
        3,
        &["a score for each response or class"],
    );
    sandbox.refuses(
        "predict m.json data.csv --residuals",
        2,
        &["several classes"],
    );
}

/// Folds and resamples have their share of each class, and folds are scored by the probabilities of all classes.
#[test]
fn cross_validation_stability_and_queries() {
    let sandbox = sandbox();
    for score in ["accuracy", "log-loss"] {
        let line = format!("cv {FIT} -k 3 --ridge 0.01 --score {score} --json");
        let found = sandbox.json(&line);
        let candidates = found["candidates"].as_array().unwrap();
        let means: Vec<f64> = candidates
            .iter()
            .map(|own| own["mean"].as_f64().unwrap())
            .collect();
        // Without features, the prediction is the share of each class; the true features are right far more often.
        if score == "accuracy" {
            assert!(means[0] < 0.6 && means[2] > means[0] + 0.15, "{means:?}");
        } else {
            assert!(
                (0.8..1.2).contains(&means[0]) && means[2] < means[0] - 0.2,
                "{means:?}"
            );
        }
        assert_eq!(found["model"]["classes"].as_array().unwrap().len(), 3);
    }
    let line = format!("stability {FIT} -k 2 --ridge 0.01 --resamples 10 --json");
    let found = sandbox.json(&line);
    let spreads = found["stability"]["coefficients"].as_array().unwrap();
    assert_eq!(spreads.len() % 3, 0);
    assert_eq!(spreads[0]["output"], found["classes"][0]);
    sandbox.run(&format!("fit {FIT} -k 2 --out m.json"));
    let query = sandbox.run("export m.json --to sql").stdout;
    for (class, name) in found["classes"].as_array().unwrap().iter().enumerate() {
        let name = name.as_str().unwrap();
        assert!(
            query.contains(&format!("AS \"probability_{name}\"")),
            "{query}"
        );
        assert!(query.contains(&format!("AS \"score_{name}\"")), "{class}");
    }
    assert!(
        query.contains("GREATEST(") && query.contains("CASE"),
        "{query}"
    );
    let other = sandbox.run("export m.json --to sqlite").stdout;
    assert!(other.contains("max("), "{other}");
}

/// A class with a single row can neither be split into folds nor held out.
#[test]
fn a_class_needs_two_rows_to_be_held_out() {
    let sandbox = sandbox();
    let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let (head, rows) = data.split_once('\n').unwrap();
    let at = head.split(',').position(|name| name == "b").unwrap();
    let mut rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
    rows[0][at] = "9";
    let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    sandbox.write("rare.csv", format!("{head}\n{}\n", rows.join("\n")));
    let words = ["the label '9'", "1 row"];
    let rare = "rare.csv --target b --loss multinomial -k 2";
    sandbox.refuses(&format!("cv {rare}"), 3, &words);
    sandbox.refuses(&format!("fit {rare} --holdout 20%"), 3, &words);
}

/// Offsets are added to the scores, in predictions as in the fit; coefficients have standard errors.
#[test]
fn offsets_and_standard_errors() {
    let sandbox = sandbox();
    let plain = sandbox.json(&format!(
        "fit {FIT} -k 2 --drop x1,x3 --refit --out p.json --json"
    ));
    assert_eq!(plain["refit"], true);
    assert_eq!(
        plain["inference"]["coefficients"].as_array().unwrap().len(),
        9
    );
    let table = sandbox.run("explain p.json --table").stdout;
    assert!(
        table.contains("class") && table.contains("std. error"),
        "{table}"
    );
    let line = format!("fit {FIT} -k 2 --offset x1,x3,x3 --ridge 0.01");
    let fit = sandbox.json(&format!("{line} --out m.json --json"));
    assert_eq!(fit["status"], "optimal");
    let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let out = sandbox.run("predict m.json data.csv").stdout;
    let head: Vec<&str> = data.lines().next().unwrap().split(',').collect();
    for (row, said) in data.lines().skip(1).zip(out.lines().skip(1)).take(20) {
        let row: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        let value = |name: &str| row[head.iter().position(|own| *own == name).unwrap()];
        let scores: Vec<f64> = (0..3)
            .map(|c| {
                let own = fit["coefficients"].as_object().unwrap().iter();
                let own = own.map(|(name, all)| list(all)[c] * value(name));
                list(&fit["intercept"])[c] + own.sum::<f64>() + value(["x1", "x3", "x3"][c])
            })
            .collect();
        let total: f64 = scores.iter().map(|score| score.exp()).sum();
        let said: Vec<f64> = said
            .split(',')
            .skip(1)
            .map(|cell| cell.parse().unwrap())
            .collect();
        for (score, said) in scores.iter().zip(said) {
            assert!((score.exp() / total - said).abs() < 1e-9);
        }
    }
    let held = sandbox.json(&format!("{line} --holdout 25% --json"));
    assert!(
        held["metrics"]["holdout"]["log_loss"]
            .as_f64()
            .unwrap()
            .is_finite()
    );
}
