//! The output of a fit: the JSON object, the file, the table.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support, without_seconds};

const FIELDS: [&str; 24] = [
    "status",
    "objective",
    "lower_bound",
    "gap",
    "relative_gap",
    "k",
    "loss",
    "huber_delta",
    "ridge",
    "l0_penalty",
    "intercept",
    "support",
    "coefficients",
    "per_sd",
    "inference",
    "metrics",
    "solver_calls",
    "nodes",
    "peak_open_nodes",
    "seconds",
    "found_by",
    "found_after",
    "method",
    "warnings",
];

fn small() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 9 -k 3 -n 60 --rho 0.7 --snr 2 --out s.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

fn fields(json: &Value) -> Vec<&str> {
    json.as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn the_json_object_has_its_fields_in_order() {
    let json = small().json("fit s.csv --target b -k 3 --json");
    assert_eq!(fields(&json), FIELDS);
    assert_eq!(json["status"], "optimal");
    assert_eq!(json["k"], 3);
    assert_eq!(json["loss"], "quadratic");
    assert_eq!(json["ridge"], 1e-3);
    assert_eq!(json["method"], "best-first");
}

#[test]
fn the_json_object_is_consistent() {
    let sandbox = small();
    for loss in ["quadratic", "huber"] {
        for method in ["best-first", "paper", "exhaustive"] {
            let json = sandbox.json(&format!(
                "fit s.csv --target b -k 3 --loss {loss} --method {method} --json"
            ));
            let (objective, bound) = (number(&json, "objective"), number(&json, "lower_bound"));
            assert_eq!(number(&json, "gap"), (objective - bound).max(0.0));
            assert!(number(&json, "relative_gap") <= 1e-9, "{json}");
            let coefficients = json["coefficients"].as_object().unwrap();
            let keys: Vec<&str> = coefficients.keys().map(String::as_str).collect();
            assert_eq!(keys, support(&json));
            assert_eq!(keys.len(), 3);
            let mut sorted = keys.clone();
            sorted.sort();
            assert_eq!(keys, sorted, "in column order");
            assert!(
                coefficients
                    .values()
                    .all(|value| value.as_f64().unwrap() != 0.0)
            );
        }
    }
}

#[test]
fn the_objective_is_that_of_the_coefficients() {
    let sandbox = small();
    let json = sandbox.json("fit s.csv --target b -k 3 --json --ridge 0.01 --no-standardize");
    let text = String::from_utf8(sandbox.read("s.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let (mut loss, mut rows) = (0.0, 0.0);
    for line in lines {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let mut residual = number(&json, "intercept") - cells[names.len() - 1];
        for (name, cell) in names.iter().zip(&cells) {
            residual += json["coefficients"][*name].as_f64().unwrap_or(0.0) * cell;
        }
        loss += residual * residual / 2.0;
        rows += 1.0;
    }
    let coefficients = json["coefficients"].as_object().unwrap();
    let squares: f64 = coefficients
        .values()
        .map(|value| value.as_f64().unwrap().powi(2))
        .sum();
    assert_close(
        number(&json, "objective"),
        loss / rows + 0.005 * squares,
        1e-12,
    );
}

#[test]
fn every_method_runs_and_the_exact_ones_agree() {
    let sandbox = small();
    let fit = |method: &str| {
        sandbox.json(&format!(
            "fit s.csv --target b -k 3 --json --method {method}"
        ))
    };
    let best = number(&fit("exhaustive"), "objective");
    for method in ["best-first", "paper", "paper --relaxation sga"] {
        let json = fit(method);
        assert_close(number(&json, "objective"), best, 1e-9);
        assert_eq!(json["status"], "optimal", "{method}");
    }
    for method in ["paper --no-warm-start", "paper --no-pruning"] {
        assert_close(number(&fit(method), "objective"), best, 1e-9);
    }
    for method in ["omp", "iht", "htp", "diht"] {
        let json = fit(method);
        assert_eq!(json["method"], method);
        assert_eq!(json["status"], "heuristic", "{method}");
        for field in ["lower_bound", "gap", "relative_gap"] {
            assert_eq!(json[field], Value::Null, "{method}: {field}");
        }
        assert!(support(&json).len() <= 3, "{method}");
        assert!(
            number(&json, "objective") >= best * (1.0 - 1e-9),
            "{method}"
        );
    }
}

#[test]
fn the_file_holds_all_that_standard_output_says() {
    let sandbox = small();
    for list in ["", "--top 3"] {
        let json = sandbox.json(&format!(
            "fit s.csv --target b -k 3 --json --out model.json {list}"
        ));
        let text = sandbox.read("model.json");
        let file: Value = serde_json::from_slice(&text).unwrap();
        for (field, value) in json.as_object().unwrap() {
            assert_eq!(&file[field], value, "{field}");
        }
        assert_eq!(&fields(&file)[..3], ["format", "version", "l0star"]);
        assert!(text.ends_with(b"}\n"));
        assert_eq!(sandbox.files(), ["model.json", "s.csv"]);
    }
}

#[test]
fn an_existing_file_is_replaced() {
    let sandbox = small();
    sandbox.write("model.json", "old");
    let json = sandbox.json("fit s.csv --target b -k 2 --json --out model.json");
    let file: Value = serde_json::from_slice(&sandbox.read("model.json")).unwrap();
    assert_eq!(file["objective"], json["objective"]);
}

#[test]
fn quiet_is_quiet() {
    let sandbox = small();
    let outcome = sandbox.run("fit s.csv --target b -k 3 --threads 1 --quiet --out model.json");
    assert_eq!(outcome.code, Some(0));
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    let file: Value = serde_json::from_slice(&sandbox.read("model.json")).unwrap();
    let again = sandbox.json("fit s.csv --target b -k 3 --threads 1 --json --quiet");
    for (field, value) in without_seconds(again).as_object().unwrap() {
        assert_eq!(&file[field], value, "{field}");
    }
}

#[test]
fn the_table_says_what_is_proved() {
    let sandbox = small();
    let table = |options: &str| {
        let outcome = sandbox.run(&format!("fit s.csv --target b -k 3 {options}"));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert_eq!(outcome.stderr, "");
        assert!(
            outcome
                .stdout
                .lines()
                .all(|line| line.chars().count() <= 80)
        );
        outcome.stdout
    };
    let exact = table("");
    assert!(exact.starts_with("proved optimal"), "{exact}");
    for word in ["objective", "lower bound", "gap", "node", "seconds", "█"] {
        assert!(exact.contains(word), "{word}: {exact}");
    }
    // The summary of the search is small print after the model.
    let last = exact.lines().rev().nth(2).unwrap();
    assert!(last.trim_start().starts_with("(intercept)"), "{exact}");
    assert!(!table("--no-intercept").contains("(intercept)"));

    let heuristic = table("--method omp");
    assert!(heuristic.starts_with("found by omp: nothing is proved"));
    assert!(!heuristic.contains("lower bound"));
}

#[test]
fn names_are_whole_where_no_terminal_is_too_narrow() {
    let name = "a_very_long_name_".repeat(8);
    let text = format!("{name},b,y\n1,2,3\n2,1,5\n4,3,8\n3,5,7\n");
    let sandbox = Sandbox::with("d.csv", text);
    for command in [
        "fit d.csv --target y -k 2 --top 2 --prices",
        "path d.csv --target y -k 2",
        "inspect d.csv",
    ] {
        let outcome = sandbox.run(command);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.stdout.contains(&name), "{command}: {outcome:?}");
        assert!(!outcome.stdout.contains('…'), "{command}: {outcome:?}");
    }
}

#[test]
fn tables_with_wide_characters_align() {
    let text = "身長,年齢指数,w,y\n1,2,3,3\n2,1,5,5\n4,3,1,8\n3,5,2,7\n5,5,4,1\n6,1,2,2\n";
    let sandbox = Sandbox::with("d.csv", text);
    // Returns where the numbers after the names begin, in columns of a terminal.
    let ends = |table: &str, names: &[&str]| -> Vec<usize> {
        let line = |name: &&str| {
            let found = table.lines().find(|line| line.contains(*name));
            let line = found.unwrap_or_else(|| panic!("no {name} in {table}"));
            let number = line[line.find(*name).unwrap() + name.len()..].trim_start();
            let before = &line[..line.len() - number.len()];
            let wide = |c: char| if c.is_ascii() { 1 } else { 2 };
            before.chars().map(wide).sum::<usize>()
        };
        names.iter().map(line).collect()
    };
    let inspected = sandbox.run("inspect d.csv").stdout;
    let found = ends(&inspected, &["身長", "年齢指数", "w "]);
    assert!(found.iter().all(|at| *at == found[0]), "{inspected}");
}

#[test]
fn the_effect_of_a_standard_deviation_goes_with_every_coefficient() {
    // With weights; by hand, the deviation of a over (1, 2, 4, 3) with the weights (1, 1, 2, 0) is √(27/16).
    let text = "a,b,w,y\n1,20,1,3\n2,10,1,5\n4,30,2,8\n3,5000,0,7\n";
    let sandbox = Sandbox::with("d.csv", text);
    for options in ["", "--standardize"] {
        let fit = format!("fit d.csv --target y --weights w -k 2 --json --out m.json {options}");
        let json = sandbox.json(&fit);
        let (own, coefficients) = (&json["per_sd"], &json["coefficients"]);
        assert_eq!(own.as_object().unwrap().len(), 2);
        assert_close(
            number(own, "a"),
            number(coefficients, "a") * (27f64 / 16.0).sqrt(),
            1e-12,
        );
        assert_close(
            number(own, "b"),
            number(coefficients, "b") * (1100f64 / 16.0).sqrt(),
            1e-12,
        );
        let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
        assert_eq!(&file["per_sd"], own);
        let path = sandbox.json(&format!(
            "path d.csv --target y --weights w -k 2 --json {options}"
        ));
        assert_close(
            number(&path["path"][2]["per_sd"], "a"),
            number(own, "a"),
            1e-6,
        );
    }
}

#[test]
fn columns_that_are_in_for_free_have_an_effect_too() {
    let sandbox = small();
    let json = sandbox.json("fit s.csv --target b -k 2 --include-free x9 --json");
    let names =
        |field: &str| -> Vec<String> { json[field].as_object().unwrap().keys().cloned().collect() };
    assert!(names("coefficients").contains(&"x9".to_owned()));
    assert_eq!(names("per_sd"), names("coefficients"));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = small();
    let mut command = sandbox.command("fit s.csv --target b -k 3");
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
