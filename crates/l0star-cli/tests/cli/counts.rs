//! Poisson and gamma regression through every command.

use serde_json::Value;

use crate::common::Sandbox;

const BOTH: [&str; 2] = ["poisson", "gamma"];

fn sandbox(loss: &str) -> Sandbox {
    Sandbox::generated(&format!("{loss} -d 8 -k 2 -n 150 --out data.csv"))
}

fn number(value: &Value, place: &str) -> f64 {
    let found = value.pointer(place).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{place}: {value}"))
}

/// Returns the names and the columns of a CSV file.
fn columns(text: &str) -> (Vec<&str>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let column = |j: usize| rows.iter().map(|row| row[j]).collect();
    let all = (0..names.len()).map(column).collect();
    (names, all)
}

#[test]
fn a_fit_is_proved_and_its_predictions_are_expectations() {
    for loss in BOTH {
        let sandbox = sandbox(loss);
        let fit = sandbox.json(&format!(
            "fit data.csv --target b --loss {loss} -k 2 --out m.json --report page.html --json"
        ));
        assert_eq!(fit["status"], "optimal", "{loss}");
        assert_eq!(fit["loss"], loss);
        assert_eq!(fit["support"], serde_json::json!(["x3", "x7"]), "{loss}");
        for (name, value) in fit["coefficients"].as_object().unwrap() {
            let ratio = number(&fit["rate_ratios"], &format!("/{name}"));
            assert!((ratio - value.as_f64().unwrap().exp()).abs() < 1e-12);
        }
        // Predictions are means, which are positive.
        // With counts, the score equation of the intercept makes their sum that of the responses.
        let out = sandbox.run("predict m.json data.csv --residuals").stdout;
        let (names, predicted) = columns(&out);
        assert_eq!(names, ["prediction", "target", "residual"]);
        assert!(predicted[0].iter().all(|mean| *mean > 0.0));
        let sums: Vec<f64> = predicted.iter().map(|column| column.iter().sum()).collect();
        if loss == "poisson" {
            assert!((sums[0] / sums[1] - 1.0).abs() < 1e-6, "{sums:?}");
        }
        let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
        let (names, all) = columns(&data);
        let place = |name: &str| names.iter().position(|own| *own == name).unwrap();
        for row in [0, 7, 149] {
            let terms = fit["coefficients"].as_object().unwrap().iter();
            let terms = terms.map(|(name, x)| x.as_f64().unwrap() * all[place(name)][row]);
            let mean = (number(&fit, "/intercept") + terms.sum::<f64>()).exp();
            assert!((predicted[0][row] / mean - 1.0).abs() < 1e-12);
        }
        // The deviance and its share, by their definitions.
        let y = &all[place("b")];
        let deviance = |means: &dyn Fn(usize) -> f64| -> f64 {
            let unit = |(i, y): (usize, &f64)| match loss {
                "poisson" if *y == 0.0 => 2.0 * means(i),
                "poisson" => 2.0 * (y * (y / means(i)).ln() - y + means(i)),
                _ => 2.0 * (y / means(i) - (y / means(i)).ln() - 1.0),
            };
            y.iter().enumerate().map(unit).sum::<f64>() / y.len() as f64
        };
        let own = deviance(&|i| predicted[0][i]);
        let average = y.iter().sum::<f64>() / y.len() as f64;
        let null = deviance(&|_| average);
        let training = &fit["metrics"]["training"];
        assert!((number(training, "/deviance") - own).abs() < 1e-9);
        assert!((number(training, "/deviance_explained") - (1.0 - own / null)).abs() < 1e-9);
        assert!(training.get("r2").is_none() && training.get("rmse").is_some());
        let told = sandbox.run("explain m.json").stdout;
        for words in [
            "expected 'b' ×",
            "the logarithm of the expected 'b'",
            "deviance",
        ] {
            let one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(one_line.contains(words), "{words}: {told}");
        }
        let table = sandbox.run("explain m.json --table").stdout;
        assert!(
            table.contains("rate ratio") && table.contains("std. error"),
            "{table}"
        );
        let page = String::from_utf8(sandbox.read("page.html")).unwrap();
        assert!(page.contains("the logarithm of the expected"));
    }
}

#[test]
fn exposure_is_an_offset_of_fits_and_predictions() {
    let mut rows = "x,z,logt,y\n".to_owned();
    for i in 0..60 {
        let (x, t) = (f64::from(i % 7) / 3.0 - 1.0, 1.0 + f64::from(i % 5));
        let y = (t * (0.5 + 0.8 * x).exp()).round();
        rows += &format!("{x},{},{},{y}\n", f64::from(i % 3), t.ln());
    }
    let sandbox = Sandbox::with("d.csv", rows);
    let fit =
        sandbox.json("fit d.csv --target y --loss poisson --offset logt -k 1 --out m.json --json");
    assert_eq!(fit["support"], serde_json::json!(["x"]));
    assert!((number(&fit, "/coefficients/x") - 0.8).abs() < 0.1, "{fit}");
    let (_, predicted) = columns(&sandbox.run("predict m.json d.csv --residuals").stdout);
    let off: f64 = predicted[2].iter().sum();
    assert!(off.abs() < 1e-6, "{off}");
    let told = sandbox.run("explain m.json").stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("'logt' is added to the logarithm"), "{told}");
    // The exported module also multiplies by the exposure.
    let module = sandbox.run("export m.json --to python").stdout;
    assert!(module.contains("math.exp(score(row))"), "{module}");
    let query = sandbox.run("export m.json --to sql").stdout;
    assert!(query.contains("exp(") && query.contains("logt"), "{query}");
}

#[test]
fn paths_folds_and_resamples_know_the_likelihood() {
    for loss in BOTH {
        let sandbox = sandbox(loss);
        let path = sandbox.json(&format!(
            "path data.csv --target b --loss {loss} -k 4 --json"
        ));
        let points = path["points"].as_array().or(path["path"].as_array());
        assert!(points.is_none_or(|points| !points.is_empty()), "{path}");
        let cv = sandbox.json(&format!(
            "cv data.csv --target b --loss {loss} -k 4 --folds 4 --json"
        ));
        assert_eq!(cv["score"], "deviance", "{cv}");
        assert!(number(&cv, "/k") >= 1.0);
        let cv = format!("cv data.csv --target b --loss {loss} -k 2 --folds 3");
        for score in ["mae", "r2", "deviance"] {
            assert_eq!(
                sandbox.json(&format!("{cv} --score {score} --json"))["score"],
                score
            );
        }
        sandbox.refuses(
            &format!("{cv} --score accuracy"),
            2,
            &["accuracy", loss, "deviance"],
        );
        let quadratic = "cv data.csv --target b -k 2 --folds 3 --score deviance";
        sandbox.refuses(quadratic, 2, &["deviance", "quadratic", "r2"]);
        let stability =
            format!("stability data.csv --target b --loss {loss} -k 2 --resamples 8 --json");
        assert!(sandbox.json(&stability).is_object());
        for method in ["omp", "iht", "htp"] {
            let fit = sandbox.json(&format!(
                "fit data.csv --target b --loss {loss} -k 2 --method {method} --json"
            ));
            assert_eq!(
                fit["support"],
                serde_json::json!(["x3", "x7"]),
                "{loss} {method}"
            );
        }
        let paper = format!("fit data.csv --target b --loss {loss} -k 2 --method paper");
        sandbox.refuses(&paper, 2, &["paper", loss, "best-first"]);
    }
}

#[test]
fn responses_that_cannot_be_are_refused_in_their_place() {
    let with = |y: [&str; 4]| {
        let rows = y.iter().enumerate();
        let rows = rows.map(|(i, y)| format!("{i},{},{y}\n", (i * i) % 3));
        "a,b,y\n".to_owned() + &rows.collect::<String>()
    };
    let sandbox = Sandbox::with("d.csv", with(["1", "0", "-2", "4"]));
    let fit = "fit d.csv --target y -k 1 --loss";
    sandbox.refuses(
        &format!("{fit} poisson"),
        3,
        &["line 4", "'y'", "-2", "poisson"],
    );
    sandbox.refuses(&format!("{fit} gamma"), 3, &["line 3", "'y'", "0", "gamma"]);
    sandbox.write("d.csv", with(["0", "0", "0", "0"]));
    let outcome = sandbox.run(&format!("{fit} poisson"));
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    // Fractions count as counts too.
    sandbox.write("d.csv", with(["0.5", "0", "2.25", "7"]));
    assert_eq!(
        sandbox.json(&format!("{fit} poisson --json"))["status"],
        "optimal"
    );
}

#[test]
fn lists_prices_groups_and_checkpoints_go_with_counts() {
    for loss in BOTH {
        let sandbox = sandbox(loss);
        let fit = format!("fit data.csv --target b --loss {loss} -k 3 --ridge 0.01");
        let one = sandbox.json(&format!("{fit} --json"));
        let all = sandbox.json(&format!(
            "{fit} --top 3 --prices --group g=x1,x2 --nonnegative x3 --json"
        ));
        assert_eq!(all["status"], "optimal");
        assert_eq!(all["solutions"].as_array().unwrap().len(), 3);
        let stopped = sandbox.run(&format!("{fit} --node-limit 0 --checkpoint c.bin --json"));
        assert!(matches!(stopped.code, Some(0 | 4)), "{stopped:?}");
        let resumed = sandbox.json(&format!("{fit} --resume c.bin --json"));
        assert_eq!(resumed["support"], one["support"]);
        assert_eq!(resumed["status"], "optimal");
        let priced = sandbox.json(&format!(
            "fit data.csv --target b --loss {loss} --l0-penalty 0.02 --json"
        ));
        assert_eq!(priced["status"], "optimal");
    }
}
