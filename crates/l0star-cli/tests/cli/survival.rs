//! Cox's proportional hazards through every command.

use serde_json::{Value, json};

use crate::common::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::generated("cox -d 8 -k 2 -n 150 --out data.csv")
}

const FIT: &str = "data.csv --target b --event event --loss cox";

fn number(value: &Value, place: &str) -> f64 {
    let found = value.pointer(place).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{place}: {value}"))
}

/// Returns a column of a CSV file by name.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|own| own == name);
    let at = at.unwrap_or_else(|| panic!("no column {name}"));
    lines
        .map(|line| line.split(',').nth(at).unwrap().parse().unwrap())
        .collect()
}

/// Joins the words of a text into one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_fit_is_proved_and_its_predictions_are_hazards() {
    let sandbox = sandbox();
    let fit = sandbox.json(&format!(
        "fit {FIT} -k 2 --out m.json --report page.html --json"
    ));
    assert_eq!(fit["status"], "optimal");
    assert_eq!(fit["loss"], "cox");
    assert_eq!(fit["intercept"], json!(0.0));
    assert_eq!(fit["support"], json!(["x3", "x7"]));
    for (name, value) in fit["coefficients"].as_object().unwrap() {
        let ratio = number(&fit["hazard_ratios"], &format!("/{name}"));
        assert!((ratio - value.as_f64().unwrap().exp()).abs() < 1e-12);
    }
    let data = String::from_utf8(sandbox.read("data.csv")).unwrap();
    let (times, events) = (column(&data, "b"), column(&data, "event"));
    let out = sandbox.run("predict m.json data.csv --horizon 0.5").stdout;
    let scores = column(&out, "score");
    let (x3, x7) = (column(&data, "x3"), column(&data, "x7"));
    for (row, score) in scores.iter().enumerate() {
        let own =
            number(&fit, "/coefficients/x3") * x3[row] + number(&fit, "/coefficients/x7") * x7[row];
        assert!((score - own).abs() < 1e-12);
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    for (ratio, score) in column(&out, "hazard_ratio").iter().zip(&scores) {
        assert!((ratio / (score - mean).exp() - 1.0).abs() < 1e-12);
    }
    // Breslow's estimator; no two times are equal.
    let hazard: f64 = (0..times.len())
        .filter(|i| events[*i] == 1.0 && times[*i] <= 0.5)
        .map(|i| {
            let at_risk = (0..times.len()).filter(|j| times[*j] >= times[i]);
            1.0 / at_risk.map(|j| (scores[j] - mean).exp()).sum::<f64>()
        })
        .sum();
    for (survival, score) in column(&out, "survival").iter().zip(&scores) {
        let expected = (-hazard * (score - mean).exp()).exp();
        assert!((survival - expected).abs() < 1e-12, "{survival} {expected}");
    }
    // The measures by their definitions.
    let (mut right, mut pairs, mut loss, mut null) = (0.0, 0.0, 0.0, 0.0);
    for i in (0..times.len()).filter(|i| events[*i] == 1.0) {
        for j in (0..times.len()).filter(|j| times[*j] > times[i]) {
            pairs += 1.0;
            right += f64::from(scores[i] > scores[j]);
        }
        let at_risk: Vec<usize> = (0..times.len()).filter(|j| times[*j] >= times[i]).collect();
        let sum: f64 = at_risk.iter().map(|j| scores[*j].exp()).sum();
        loss += (sum.ln() - scores[i]) / times.len() as f64;
        null += (at_risk.len() as f64).ln() / times.len() as f64;
    }
    let training = &fit["metrics"]["training"];
    assert!((number(training, "/concordance") - right / pairs).abs() < 1e-12);
    assert!((number(training, "/deviance") - 2.0 * loss).abs() < 1e-9);
    assert!((number(training, "/deviance_explained") - (1.0 - loss / null)).abs() < 1e-9);
    assert!(training.get("r2").is_none());
    let told = words(&sandbox.run("explain m.json").stdout);
    for expected in [
        "hazard ×",
        "the logarithm of the hazard at 'b'",
        "the negative log partial likelihood (ties by Efron), divided by the number of rows",
        "which 'event' tells",
        "concordance",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let table = sandbox.run("explain m.json --table").stdout;
    assert!(
        table.contains("hazard ratio") && table.contains("std. error"),
        "{table}"
    );
    assert!(!table.contains("(intercept)"), "{table}");
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("\"survival\":{\"groups\":[") && page.contains("highest third"));
    assert!(page.contains("\"calibration\":{\"horizon\":"));
    let module = sandbox.run("export m.json --to python").stdout;
    assert!(module.contains("logarithm of the hazard"), "{module}");
    sandbox.refuses(
        "predict m.json data.csv --residuals",
        2,
        &["--residuals", "cox"],
    );
    sandbox.refuses("predict m.json data.csv --horizon -1", 2, &["--horizon"]);
}

#[test]
fn paths_folds_and_resamples_know_the_likelihood() {
    let sandbox = sandbox();
    let path = sandbox.json(&format!("path {FIT} -k 3 --json"));
    assert!(path.to_string().contains("\"bic\""), "{path}");
    let cv = sandbox.json(&format!("cv {FIT} -k 3 --folds 4 --json"));
    assert_eq!(cv["score"], "deviance", "{cv}");
    assert!(number(&cv, "/k") >= 1.0);
    let cv = format!("cv {FIT} -k 2 --folds 3");
    let scored = sandbox.json(&format!("{cv} --score concordance --json"));
    assert_eq!(scored["score"], "concordance");
    sandbox.refuses(
        &format!("{cv} --score r2"),
        2,
        &["r2", "cox", "concordance"],
    );
    let quadratic = "cv data.csv --target b -k 2 --folds 3 --score concordance";
    sandbox.refuses(quadratic, 2, &["concordance", "quadratic"]);
    let stability = format!("stability {FIT} -k 2 --resamples 6 --json");
    assert!(sandbox.json(&stability).is_object());
    for method in ["omp", "iht", "htp"] {
        let fit = sandbox.json(&format!("fit {FIT} -k 2 --method {method} --json"));
        assert_eq!(fit["support"], json!(["x3", "x7"]), "{method}");
    }
    for method in ["paper", "diht"] {
        let fit = format!("fit {FIT} -k 2 --method {method}");
        sandbox.refuses(&fit, 2, &[method, "cox", "best-first"]);
    }
    let held = sandbox.json(&format!("fit {FIT} -k 2 --holdout 30% --json"));
    let holdout = &held["metrics"]["holdout"];
    assert!(
        (0.5..=1.0).contains(&number(holdout, "/concordance")),
        "{holdout}"
    );
    assert!(number(holdout, "/deviance") > 0.0);
}

#[test]
fn lists_prices_groups_and_checkpoints_go_with_times() {
    let sandbox = sandbox();
    let fit = format!("fit {FIT} -k 2 --ridge 0.05");
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
    let other = sandbox.run(&format!("{fit} --ties breslow --resume c.bin"));
    assert_ne!(other.code, Some(0), "{other:?}");
}

/// Strata and events given as text, entry times, ties.
#[test]
fn strata_entries_and_values_of_events() {
    let mut rows = "x,z,site,since,days,status\n".to_owned();
    for i in 0..60 {
        let (x, z) = (f64::from(i % 7), f64::from(i * 5 % 11));
        let days = 30 - (i % 7) * 3 + i % 4;
        let status = if i % 5 == 0 { "alive" } else { "dead" };
        let site = ["north", "south"][i as usize % 2];
        rows += &format!("{x},{z},{site},{},{days},{status}\n", i % 3);
    }
    let sandbox = Sandbox::with("d.csv", rows);
    let fit = "fit d.csv --target days --loss cox --event status --event-value dead -k 1";
    let plain = sandbox.json(&format!("{fit} --drop site,since --json"));
    let strata = sandbox.json(&format!(
        "{fit} --strata site --entry since --out m.json --json"
    ));
    assert_eq!(strata["support"], json!(["x"]));
    assert_ne!(plain["objective"], strata["objective"]);
    let breslow = sandbox.json(&format!(
        "{fit} --strata site --entry since --ties breslow --json"
    ));
    assert!(number(&breslow, "/objective") > number(&strata, "/objective"));
    let told = words(&sandbox.run("explain m.json").stdout);
    for expected in [
        "by 'dead'",
        "the same 'site' only",
        "at risk from 'since' on",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let out = sandbox.run("predict m.json d.csv --horizon 25").stdout;
    assert!(
        column(&out, "survival")
            .iter()
            .all(|s| (0.0..=1.0).contains(s))
    );
    // Without `--horizon` the strata are not needed.
    sandbox.write("new.csv", "x\n1\n2\n");
    let out = sandbox.run("predict m.json new.csv").stdout;
    assert_eq!(column(&out, "score").len(), 2);
    sandbox.write("new.csv", "x,site\n1,west\n");
    sandbox.refuses(
        "predict m.json new.csv --horizon 25",
        3,
        &["line 2", "'west'"],
    );
}

#[test]
fn what_cannot_be_is_refused_in_its_place() {
    let with = |status: [&str; 4], days: [&str; 4]| {
        let rows = status.iter().zip(days).enumerate();
        let rows =
            rows.map(|(i, (status, days))| format!("{i},{},{status},{days},1\n", (i * i) % 3));
        "a,b,status,days,since\n".to_owned() + &rows.collect::<String>()
    };
    let times = ["4", "5", "6", "7"];
    let sandbox = Sandbox::with("d.csv", with(["1", "2", "1", "2"], times));
    let fit = "fit d.csv --target days --loss cox -k 1";
    sandbox.refuses(fit, 2, &["--event"]);
    let event = format!("{fit} --event status");
    sandbox.refuses(&event, 3, &["line 3", "'status'", "2", "--event-value"]);
    let known = sandbox.json(&format!("{event} --event-value 2 --json"));
    assert_eq!(known["status"], "optimal");
    sandbox.refuses(&format!("{event} --event-value 7"), 3, &["'7'", "'1', '2'"]);
    sandbox.write("d.csv", with(["0", "0", "0", "0"], times));
    sandbox.refuses(&event, 3, &["no row", "event"]);
    sandbox.write("d.csv", with(["0", "1", "0", "1"], ["4", "-5", "6", "7"]));
    sandbox.refuses(&event, 3, &["line 3", "'days'", "-5"]);
    sandbox.write("d.csv", with(["0", "1", "0", "1"], ["4", "5", "1", "7"]));
    sandbox.refuses(&format!("{event} --entry since"), 3, &["line 4", "'since'"]);
    sandbox.write("d.csv", with(["yes", "no", "yes", "no"], times));
    sandbox.refuses(&event, 3, &["'status'", "--event-value"]);
    let quadratic = "fit d.csv --target days -k 1 --event status";
    sandbox.refuses(quadratic, 2, &["--event", "quadratic", "cox"]);
    sandbox.refuses(
        &format!("{event} --strata status"),
        2,
        &["'status'", "--strata"],
    );
    sandbox.write("d.csv", with(["0", "1", "0", "1"], times));
    sandbox.refuses(
        &format!("cv {} --folds 3", &event["fit ".len()..]),
        3,
        &["2 events", "3 folds"],
    );
}
