//! The answer does not depend on units, and interchangeable columns are named.

use serde_json::Value;

use crate::common::Sandbox;

/// Returns the diabetes data with one column, or the response, multiplied by a factor.
fn diabetes(column: &str, factor: f64) -> String {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv");
    let text = std::fs::read_to_string(data).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let at = head.split(',').position(|name| name == column);
    let at = at.unwrap_or_else(|| panic!("no column {column}"));
    let mut out = head.to_owned() + "\n";
    for line in lines {
        let cells = line.split(',').enumerate().map(|(j, cell)| {
            if j == at {
                (factor * cell.parse::<f64>().unwrap()).to_string()
            } else {
                cell.to_owned()
            }
        });
        out += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    out
}

fn fit(data: &str, options: &str) -> Value {
    let sandbox = Sandbox::with("d.csv", data);
    sandbox.json(&format!(
        "fit d.csv --target target --json --threads 1 {options}"
    ))
}

fn same(json: &Value, other: &Value, fields: &[&str]) {
    for field in fields {
        assert_eq!(json[field], other[field], "{field}");
    }
}

#[test]
fn the_unit_of_a_column_changes_neither_support_nor_status() {
    for k in [1, 3, 5] {
        let plain = fit(&diabetes("bmi", 1.0), &format!("-k {k}"));
        for factor in [2f64.powi(-20), 2f64.powi(9)] {
            let scaled = fit(&diabetes("bmi", factor), &format!("-k {k}"));
            same(
                &plain,
                &scaled,
                &["support", "status", "objective", "lower_bound", "nodes"],
            );
        }
        let scaled = fit(&diabetes("bmi", 1e-2), &format!("-k {k}"));
        same(&plain, &scaled, &["support", "status"]);
    }
}

#[test]
fn the_unit_of_the_response_changes_neither_support_nor_status() {
    for options in ["-k 3", "-k 3 --loss huber"] {
        let plain = fit(&diabetes("target", 1.0), options);
        let scaled = fit(&diabetes("target", 1024.0), options);
        same(&plain, &scaled, &["support", "status", "nodes"]);
        let scaled = fit(&diabetes("target", 1e-3), options);
        same(&plain, &scaled, &["support", "status"]);
    }
}

#[test]
fn the_delta_of_huber_is_found_in_the_data_and_told() {
    let of = |factor: f64, options: &str| {
        let options = format!("-k 3 --loss huber {options}");
        fit(&diabetes("target", factor), &options)["huber_delta"].as_f64()
    };
    let found = of(1.0, "").unwrap();
    // The value is 1.345 times the deviation of the residuals of a model with three features.
    assert!((50.0..100.0).contains(&found), "{found}");
    assert_eq!(of(256.0, ""), Some(256.0 * found));
    assert_eq!(of(1.0, "--huber-delta auto"), Some(found));
    assert_eq!(of(1.0, "--huber-delta 7"), Some(7.0));
    let sandbox = Sandbox::with("d.csv", diabetes("bmi", 1.0));
    let options = "fit d.csv --target target -k 3 --loss huber";
    let outcome = sandbox.run(&format!("{options} --out m.json"));
    let told = format!("{found:.3}");
    assert!(outcome.stdout.contains("huber delta"), "{}", outcome.stdout);
    assert!(
        outcome.stdout.contains(&told[..5]),
        "{told}: {}",
        outcome.stdout
    );
    let explained = sandbox.run("explain m.json");
    assert!(
        explained.stdout.contains(&found.to_string()),
        "{}",
        explained.stdout
    );
    assert_eq!(
        fit(&diabetes("bmi", 1.0), "-k 3")["huber_delta"],
        Value::Null
    );
}

#[test]
fn what_could_stand_for_a_chosen_feature_is_named() {
    let mut data = String::from("celsius,wind,fahrenheit,y\n");
    for i in 0..30 {
        let (celsius, wind) = (f64::from(i * i % 17), f64::from(i * 7 % 11));
        let y = 3.0 * celsius + 0.1 * wind + f64::from(i % 3);
        data += &format!("{celsius},{wind},{},{y}\n", 1.8 * celsius + 32.0);
    }
    let sandbox = Sandbox::with("d.csv", &data);
    let json = sandbox.json("fit d.csv --target y -k 1 --json");
    assert_eq!(json["status"], "optimal");
    assert_eq!(json["support"], serde_json::json!(["celsius"]));
    assert_eq!(
        json["twins"],
        serde_json::json!({"celsius": ["fahrenheit"]})
    );
    let sentence = "'fahrenheit' could stand for 'celsius'";
    let outcome = sandbox.run("fit d.csv --target y -k 1 --out m.json --report page.html");
    assert!(outcome.stdout.contains(sentence), "{}", outcome.stdout);
    assert!(sandbox.run("explain m.json").stdout.contains(sentence));
    let page = std::fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.contains("&#39;fahrenheit&#39; could stand for &#39;celsius&#39;"));
    // Without standardisation, the ridge distinguishes them.
    let json = sandbox.json("fit d.csv --target y -k 1 --json --no-standardize");
    assert_eq!(json["support"], serde_json::json!(["fahrenheit"]));
    assert_eq!(json.get("twins"), None);
}

#[test]
fn units_beyond_double_precision_are_refused_by_file_and_column() {
    for (column, factor, words) in [
        (
            "target",
            1e150,
            ["d.csv: row 1, column 'target' is", "leave the range"],
        ),
        (
            "target",
            1e-200,
            [
                "d.csv: no number of the target 'target'",
                "multiply the target",
            ],
        ),
        (
            "bmi",
            1e-300,
            ["d.csv: no number of column 'bmi'", "multiply the column"],
        ),
    ] {
        let sandbox = Sandbox::with("d.csv", diabetes(column, factor));
        sandbox.refuses("fit d.csv --target target -k 3", 3, &words);
    }
}
