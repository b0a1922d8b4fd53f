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
    // Only differences count.
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
    // Texts are classes, too, in the order of their letters.
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
            format!("cv {FIT} -k 2"),
            2,
            "not there for --loss multinomial",
        ),
        (
            format!("stability {FIT} -k 2"),
            2,
            "not there for --loss multinomial",
        ),
        (format!("fit {FIT} -k 2 --method iht"), 2, "several classes"),
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
        "export m.json --to sql",
        3,
        &["several responses or classes"],
    );
    sandbox.refuses(
        "predict m.json data.csv --residuals",
        2,
        &["several classes"],
    );
}
