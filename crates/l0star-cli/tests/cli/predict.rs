//! `l0star predict`: applies a model to other data.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, number};

const LABELS: &str = "\
a,b,died
1,0.5,no
2,-1,no
3,0.2,yes
4,2,no
5,-0.3,yes
6,1,yes
7,0.1,yes
2.5,1.5,yes
";

fn fitted(data: &str, options: &str) -> Sandbox {
    let sandbox = Sandbox::with("d.csv", data);
    let outcome = sandbox.run(&format!("fit d.csv --out m.json --quiet {options}"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

fn generated() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("generate ar -d 9 -k 3 -n 60 --rho 0.7 --snr 2 --out s.csv");
    let outcome = sandbox.run("fit s.csv --target b -k 3 --no-standardize --out m.json --quiet");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

/// Returns the header and the cells of CSV text.
fn cells(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut lines = text.lines().map(|line| line.split(',').collect());
    (lines.next().unwrap(), lines.collect())
}

fn predict(sandbox: &Sandbox, arguments: &str) -> String {
    let outcome = sandbox.run(&format!("predict {arguments}"));
    assert_eq!(outcome.code, Some(0), "{arguments}: {outcome:?}");
    assert_eq!(outcome.stderr, "");
    outcome.stdout
}

#[test]
fn predictions_are_the_sum_from_left_to_right_to_the_last_bit() {
    let sandbox = generated();
    let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    let text = String::from_utf8(sandbox.read("s.csv")).unwrap();
    let (names, rows) = cells(&text);
    let printed = predict(&sandbox, "m.json s.csv");
    let (header, predicted) = cells(&printed);
    assert_eq!(header, ["prediction"]);
    assert_eq!(predicted.len(), rows.len());
    for (row, predicted) in rows.iter().zip(predicted) {
        let mut sum = number(&model, "intercept");
        for (name, coefficient) in model["coefficients"].as_object().unwrap() {
            let at = names.iter().position(|own| own == name).unwrap();
            sum += coefficient.as_f64().unwrap() * row[at].parse::<f64>().unwrap();
        }
        assert_eq!(
            predicted[0].parse::<f64>().unwrap().to_bits(),
            sum.to_bits()
        );
    }
}

#[test]
fn residuals_give_the_objective_back() {
    let sandbox = generated();
    let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    let printed = predict(&sandbox, "m.json s.csv --residuals --out -");
    let (header, rows) = cells(&printed);
    assert_eq!(header, ["prediction", "target", "residual"]);
    let residuals = rows.iter().map(|row| row[2].parse::<f64>().unwrap());
    let loss: f64 = residuals.map(|r| r * r / 2.0).sum::<f64>() / rows.len() as f64;
    let coefficients = model["coefficients"].as_object().unwrap();
    let squares: f64 = coefficients
        .values()
        .map(|v| v.as_f64().unwrap().powi(2))
        .sum();
    assert_close(number(&model, "objective"), loss + 0.0005 * squares, 1e-12);
}

#[test]
fn columns_are_found_by_name_in_every_format() {
    let sandbox = generated();
    let expected = predict(&sandbox, "m.json s.csv");
    let text = String::from_utf8(sandbox.read("s.csv")).unwrap();
    // The same columns in another order, plus one more.
    let turned: Vec<String> = text
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').rev().collect();
            cells.insert(2, "note");
            cells.join(";")
        })
        .collect();
    sandbox.write("turned.csv", turned.join("\n"));
    assert_eq!(predict(&sandbox, "m.json turned.csv"), expected);
    let outs = ["p.csv", "p.tsv", "p.csv.gz", "p.parquet", "p.arrow"];
    let built = if cfg!(feature = "parquet") { 5 } else { 3 };
    for out in &outs[..built] {
        assert_eq!(predict(&sandbox, &format!("m.json s.csv --out {out}")), "");
        let json = sandbox.json(&format!("inspect {out} --json"));
        assert_eq!(json["rows"], 60, "{out}");
        assert_eq!(json["variables"][0]["name"], "prediction", "{out}");
    }
    assert_eq!(sandbox.read("p.csv"), expected.as_bytes());
}

#[test]
fn labels_come_with_scores_and_probabilities() {
    let sandbox = fitted(LABELS, "--target died --loss logistic -k 2");
    let printed = predict(&sandbox, "m.json d.csv --residuals");
    let (header, rows) = cells(&printed);
    assert_eq!(
        header,
        ["prediction", "probability", "score", "target", "residual"]
    );
    for row in &rows {
        let (p, z): (f64, f64) = (row[1].parse().unwrap(), row[2].parse().unwrap());
        assert_close(p, 1.0 / (1.0 + (-z).exp()), 1e-14);
        assert_eq!(row[0], if z > 0.0 { "yes" } else { "no" });
        let target = if row[3] == "yes" { 1.0 } else { 0.0 };
        assert_close(row[4].parse().unwrap(), target - p, 1e-14);
    }
    let targets: Vec<&str> = rows.iter().map(|row| row[3]).collect();
    assert_eq!(
        targets,
        ["no", "no", "yes", "no", "yes", "yes", "yes", "yes"]
    );
    predict(&sandbox, "m.json d.csv --out p.csv");
    let json = sandbox.json("inspect p.csv --json");
    assert_eq!(json["variables"][0]["levels"], 2);
}

#[test]
fn labels_that_are_numbers_stay_numbers() {
    let data = LABELS.replace("no", "0").replace("yes", "1");
    let sandbox = fitted(&data, "--target died --loss squared-hinge -k 2");
    let printed = predict(&sandbox, "m.json d.csv");
    let (header, rows) = cells(&printed);
    assert_eq!(header, ["prediction", "score"]);
    assert!(rows.iter().all(|row| ["0", "1"].contains(&row[0])));
    sandbox.refuses(
        "predict m.json d.csv --residuals",
        2,
        &["--residuals", "squared-hinge", "--loss logistic"],
    );
}

#[test]
fn products_are_computed_from_their_columns() {
    let data = "a,b,y\n1,2,2.1\n2,1,1.9\n3,5,15.2\n4,3,12.1\n5,5,24.8\n2,7,14.3\n";
    let sandbox = fitted(data, "--target y -k 1 --interactions");
    let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(model["support"][0], "a:b");
    assert_eq!(
        model["products"][0]["factors"],
        serde_json::json!(["a", "b"])
    );
    let printed = predict(&sandbox, "m.json d.csv");
    let third: f64 = printed.lines().nth(3).unwrap().parse().unwrap();
    let expected =
        number(&model, "intercept") + model["coefficients"]["a:b"].as_f64().unwrap() * 15.0;
    assert_close(third, expected, 1e-14);
}

#[test]
fn the_offset_is_added() {
    let data = "a,o,y\n1,1,2\n2,3,5\n4,2,6\n3,9,13\n";
    let sandbox = fitted(data, "--target y --offset o -k 1");
    let plain = predict(&sandbox, "m.json d.csv");
    sandbox.write("d.csv", data.replace("3,9,13", "3,19,13"));
    let shifted = predict(&sandbox, "m.json d.csv");
    let last = |text: &str| text.lines().last().unwrap().parse::<f64>().unwrap();
    assert_close(last(&shifted), last(&plain) + 10.0, 1e-14);
    sandbox.write("d.csv", "a,y\n1,2\n");
    sandbox.refuses("predict m.json d.csv", 3, &["lacks 1 of the 2", "'o'"]);
}

#[test]
fn missing_columns_are_all_named() {
    let data = "age,height,bmi,y\n1,2,3,4\n2,1,5,3\n4,3,1,8\n3,5,2,9\n7,2,2,1\n";
    let sandbox = fitted(data, "--target y -k 3");
    sandbox.write("d.csv", "Age,heigth,mass,y\n1,2,3,4\n");
    sandbox.refuses(
        "predict m.json d.csv",
        3,
        &[
            "d.csv lacks 3 of the 3",
            "'age' (did you mean 'Age'?)",
            "'height' (did you mean 'heigth'?)",
            "'bmi'",
        ],
    );
}

#[test]
fn cells_that_are_no_numbers_are_named_by_their_place() {
    let data = "a,b,y\n1,2,3\n2,1,5\n4,3,8\n3,5,7\n";
    let sandbox = fitted(data, "--target y -k 2");
    sandbox.write("d.csv", "a,b\n1,2\n2,\n,4\n3,\n");
    sandbox.refuses(
        "predict m.json d.csv",
        3,
        &["d.csv", "'a'", "line 4", "3 in all: a (1), b (2)"],
    );
    sandbox.write("d.csv", "a,b\n1,2\n2,x\n");
    sandbox.refuses("predict m.json d.csv", 3, &["'b'", "line 3", "'x'"]);
    sandbox.write("d.csv", "a,b,y\n1,2,4\n2,3,\n");
    sandbox.refuses("predict m.json d.csv --residuals", 3, &["'y'", "line 3"]);
    sandbox.write("d.csv", "a,b\n1,2\n");
    sandbox.refuses("predict m.json d.csv --residuals", 3, &["no column 'y'"]);
}

#[test]
fn a_label_that_the_model_does_not_know() {
    let sandbox = fitted(LABELS, "--target died --loss logistic -k 2");
    sandbox.write("d.csv", "a,b,died\n1,2,yes\n2,3,maybe\n");
    sandbox.refuses(
        "predict m.json d.csv --residuals",
        3,
        &["line 3", "'maybe'", "'no'", "'yes'"],
    );
    assert_eq!(sandbox.run("predict m.json d.csv").code, Some(0));
}

#[test]
fn outputs_that_cannot_be() {
    let sandbox = generated();
    for (out, words) in [
        ("p.xlsx", &["p.xlsx", ".csv", ".parquet"][..]),
        ("p.npy", &["p.npy"]),
        ("no/p.csv", &["no/p.csv", "create the folder"]),
        ("s.csv", &["overwrite the data"]),
        ("m.json", &["overwrite the model"]),
    ] {
        sandbox.refuses(&format!("predict m.json s.csv --out {out}"), 2, words);
    }
    sandbox.refuses("predict m.json", 2, &["DATA"]);
    sandbox.refuses("predict m.json no.csv", 3, &["no.csv"]);
}

#[test]
fn a_model_without_features_predicts_its_intercept() {
    let sandbox = fitted("a,y\n1,2\n2,4\n3,6\n", "--target y -k 0");
    assert_eq!(predict(&sandbox, "m.json d.csv"), "prediction\n4\n4\n4\n");
}

#[test]
fn labels_that_a_spreadsheet_would_run_are_neutralised_on_demand() {
    let mut text = "x,y\n".to_owned();
    for i in 0..20 {
        let label = if i % 4 < 2 { "=1+1" } else { "-2" };
        text += &format!("{},{label}\n", i % 4);
    }
    let sandbox = Sandbox::with("a.csv", text);
    let fit = "fit a.csv --target y -k 1 --loss logistic --out m.json --quiet";
    assert_eq!(sandbox.run(fit).code, Some(0));
    let labels = |arguments: &str| -> Vec<String> {
        let outcome = sandbox.run(&format!("predict m.json a.csv {arguments}"));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let rows = outcome.stdout.lines().skip(1);
        let first = rows.map(|row| row.split(',').next().unwrap().to_owned());
        let mut labels: Vec<String> = first.collect();
        labels.sort();
        labels.dedup();
        labels
    };
    // Labels written unchanged can be read back; a number is not a formula.
    assert_eq!(labels(""), ["\"-2\"", "=1+1"]);
    assert_eq!(labels("--safe-csv"), ["\"-2\"", "'=1+1"]);
    let words = ["--safe-csv is for CSV and TSV files", "'p.parquet'"];
    sandbox.refuses("predict m.json a.csv --safe-csv --out p.parquet", 2, &words);
}
