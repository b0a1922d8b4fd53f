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
        // The R² of each response follows from its predictions.
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

/// With all features in, each response has the model of its own fit, whatever the units.
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
fn a_copy_of_a_column_is_named() {
    let sandbox = sandbox();
    let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let x3 = column(&data, "x3");
    let mut lines = data.lines().map(str::to_owned);
    let head = lines.next().unwrap() + ",inches\n";
    let rows = lines
        .zip(x3)
        .map(|(line, x)| format!("{line},{}\n", x / 2.54));
    let copied: String = std::iter::once(head).chain(rows).collect();
    sandbox.write("copied.csv", &copied);
    let fit = "fit copied.csv --target b1,b2,b3 -k 2";
    let text = sandbox.run(fit).stdout;
    assert!(text.contains("'inches' could stand for 'x3'"), "{text}");
    let fit = sandbox.json(&format!("{fit} --json"));
    assert_eq!(fit["twins"], json!({ "x3": ["inches"] }));
}

#[test]
fn what_is_for_one_target_is_refused() {
    let sandbox = sandbox();
    for (line, code, words) in [
        (
            format!("cv {FIT} -k 2 --score accuracy"),
            2,
            "use r2, mse or mae",
        ),
        (
            format!("fit {FIT} -k 2 --loss huber"),
            2,
            "the loss 'huber' fits one",
        ),
        (
            format!("fit {FIT} -k 2 --offset x1,x2"),
            2,
            "--offset names 2 columns, and there are 3 targets",
        ),
        (
            "fit data.csv --target b1 --offset x1,x2 -k 2".to_owned(),
            2,
            "there is one target",
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
    sandbox.refuses(
        "export m.json --to sql --expression",
        3,
        &["a score for each response"],
    );
}

/// Scores are means over the responses; with all features in, those of each response are as in its own run.
#[test]
fn cross_validation_scores_the_mean_over_responses() {
    let sandbox = sandbox();
    for score in ["r2", "mse", "mae"] {
        let own = |target: &str, others: &str| -> Vec<f64> {
            let line = format!(
                "cv data.csv --target {target} --drop {others} -k 8,8 --score {score} --json"
            );
            let found = sandbox.json(&line);
            assert_eq!(found["score"], score);
            list(&found["candidates"][0]["scores"])
        };
        let each = [own("b1", "b2,b3"), own("b2", "b1,b3"), own("b3", "b1,b2")];
        let together = list(
            &sandbox.json(&format!("cv {FIT} -k 8,8 --score {score} --json"))["candidates"][0]["scores"],
        );
        assert_eq!(together.len(), 5);
        for (fold, mean) in together.iter().enumerate() {
            let expected = each.iter().map(|own| own[fold]).sum::<f64>() / 3.0;
            assert!((mean - expected).abs() < 1e-6 * expected.abs(), "{score}");
        }
    }
    let chosen = sandbox.json(&format!(
        "cv {FIT} -k 4 --out m.json --report page.html --json"
    ));
    assert_eq!(chosen["k"], 2);
    assert_eq!(chosen["model"]["support"], json!(["x3", "x7"]));
    assert_eq!(chosen["model"]["responses"], json!(["b1", "b2", "b3"]));
    let run = sandbox.run(&format!("cv {FIT} -k 4 --checkpoint c.ckpt --quiet"));
    assert_eq!(run.code, Some(0));
    let resumed = sandbox.json(&format!("cv {FIT} -k 4 --resume c.ckpt --json"));
    assert_eq!(resumed["candidates"], chosen["candidates"]);
}

/// A feature has one frequency, and a spread for each response.
#[test]
fn stability_has_a_spread_for_each_response() {
    let sandbox = sandbox();
    let line = format!("stability {FIT} -k 2 --resamples 20");
    let found = sandbox.json(&format!("{line} --out m.json --report page.html --json"));
    let own = &found["stability"];
    assert_eq!(
        (&own["resamples"], &own["proved"]),
        (&json!(20), &json!(20))
    );
    assert_eq!(own["features"][0]["frequency"], 1.0);
    let names: Vec<&str> = own["coefficients"].as_array().unwrap()[..3]
        .iter()
        .map(|spread| spread["output"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["b1", "b2", "b3"]);
    for (r, name) in names.iter().enumerate() {
        let feature = own["coefficients"][r]["feature"].as_str().unwrap();
        assert_eq!(feature, own["features"][0]["feature"]);
        let fitted = list(&found["coefficients"][feature])[r];
        let spread = &own["coefficients"][r];
        let (lower, upper) = (&spread["lower"], &spread["upper"]);
        let (lower, upper) = (lower.as_f64().unwrap(), upper.as_f64().unwrap());
        assert!(lower <= fitted && fitted <= upper, "{name}: {spread}");
    }
    let table = sandbox.run(&line).stdout;
    assert!(table.contains("b2") && table.contains("b3"), "{table}");
    let run = sandbox.run(&format!("{line} --checkpoint s.ckpt --quiet"));
    assert_eq!(run.code, Some(0));
    let resumed = sandbox.json(&format!("{line} --resume s.ckpt --json"));
    assert_eq!(resumed["stability"]["coefficients"], own["coefficients"]);
}

#[test]
fn a_query_has_a_column_for_each_response() {
    let sandbox = sandbox();
    sandbox.run(&format!("fit {FIT} -k 2 --out m.json"));
    let query = sandbox.run("export m.json --to sql --table trials").stdout;
    for name in ["b1", "b2", "b3"] {
        assert!(
            query.contains(&format!(" AS \"{name}_prediction\"")),
            "{query}"
        );
    }
    let module = sandbox.run("export m.json --to python").stdout;
    assert!(
        module.contains("RESPONSES = [\"b1\", \"b2\", \"b3\"]"),
        "{module}"
    );
}

/// Offsets are subtracted from the responses and added to predictions.
#[test]
fn each_response_has_its_offset() {
    let sandbox = sandbox();
    let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let (head, rows) = data.split_once('\n').unwrap();
    let place = |name: &str| head.split(',').position(|own| own == name).unwrap();
    let offset = |r: usize, row: usize| ((row * (r + 3)) % 7) as f64;
    let moved = rows.lines().enumerate().map(|(row, line)| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        for (r, name) in ["b1", "b2", "b3"].into_iter().enumerate() {
            let cell = &mut cells[place(name)];
            *cell = (cell.parse::<f64>().unwrap() + offset(r, row)).to_string();
        }
        let offsets = (0..3).map(|r| offset(r, row).to_string());
        cells.extend(offsets);
        cells.join(",")
    });
    let rows: Vec<String> = moved.collect();
    sandbox.write(
        "moved.csv",
        format!("{head},o1,o2,o3\n{}\n", rows.join("\n")),
    );
    let plain = sandbox.json(&format!("fit {FIT} -k 2 --json"));
    let line = "moved.csv --target b1,b2,b3 --offset o1,o2,o3 -k 2";
    let fit = sandbox.json(&format!("fit {line} --out m.json --json"));
    assert_eq!(fit["status"], "optimal");
    assert_eq!(fit["support"], plain["support"]);
    let (x3, moved) = (
        list(&fit["coefficients"]["x3"]),
        list(&plain["coefficients"]["x3"]),
    );
    for (own, other) in x3.iter().zip(moved) {
        assert!((own - other).abs() < 1e-8 * (1.0 + other.abs()));
    }
    let saved: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(saved["offsets"], json!(["o1", "o2", "o3"]));
    let out = sandbox.run("predict m.json moved.csv --residuals").stdout;
    let rest = column(&out, "b2_residual");
    let all: f64 = rest.iter().map(|r| r * r).sum();
    let said = &fit["metrics"]["training"]["responses"][1];
    let rmse = said["rmse"].as_f64().unwrap();
    assert!((rmse * rmse * rest.len() as f64 - all).abs() < 1e-9 * all);
    let told = sandbox.run("explain m.json").stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("'o2' to that of 'b2'"), "{told}");
    let query = sandbox.run("export m.json --to sql").stdout;
    assert!(
        query.contains("CAST(\"o3\" AS DOUBLE PRECISION)"),
        "{query}"
    );
    let one = sandbox.json(&format!("cv {FIT} -k 2,2 --score mse --json"));
    let other = sandbox.json(&format!(
        "cv {} -k 2,2 --score mse --json",
        &line[..line.len() - 5]
    ));
    let mean = |found: &Value| found["candidates"][0]["mean"].as_f64().unwrap();
    assert!((mean(&one) - mean(&other)).abs() < 1e-8 * mean(&one));
    sandbox.json(&format!("fit {line} --holdout 25% --json"));
}

/// Coefficients without the ridge and their standard errors are those of each response's own fit.
#[test]
fn standard_errors_are_those_of_each_response() {
    let sandbox = sandbox();
    let all = sandbox.json(&format!("fit {FIT} -k 2 --refit --out m.json --json"));
    assert_eq!(all["refit"], true);
    let own = all["inference"]["coefficients"].as_array().unwrap();
    assert_eq!(own.len(), 9);
    for (r, name) in ["b1", "b2", "b3"].iter().enumerate() {
        let alone = sandbox.json(&format!(
            "fit data.csv --target {name} --include x3,x7 -k 2 --drop {} --refit --json",
            ["b2,b3", "b1,b3", "b1,b2"][r]
        ));
        let other = alone["inference"]["coefficients"].as_array().unwrap();
        for (one, two) in own[3 * r..3 * r + 3].iter().zip(other) {
            assert_eq!(
                (&one["feature"], &one["output"]),
                (&two["feature"], &json!(name))
            );
            for field in ["standard_error", "lower", "upper"] {
                let (one, two) = (one[field].as_f64().unwrap(), two[field].as_f64().unwrap());
                assert!(
                    (one - two).abs() < 1e-8 * (1.0 + two.abs()),
                    "{field}: {one} {two}"
                );
            }
        }
    }
    let table = sandbox.run("explain m.json --table").stdout;
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "response coefficient std. error",
        "without the ridge",
        "57 degrees of freedom",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
}
