//! `l0star stability`: the best model of every resample, and their summary.

use serde_json::Value;

use crate::common::Sandbox;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv");

fn shares(found: &Value) -> Vec<(String, f64)> {
    let features = found["stability"]["features"].as_array().unwrap();
    let pair = |own: &Value| {
        let name = own["feature"].as_str().unwrap().to_owned();
        (name, own["frequency"].as_f64().unwrap())
    };
    features.iter().map(pair).collect()
}

#[test]
fn shares_and_models_add_up_and_do_not_depend_on_threads() {
    let sandbox = Sandbox::new();
    let options = format!("stability {DATA} --target target -k 4 --resamples 40 --json");
    let found = sandbox.json(&format!("{options} --threads 1"));
    let own = &found["stability"];
    assert_eq!(own["status"], "complete");
    assert_eq!(
        (&own["resamples"], &own["proved"]),
        (&40.into(), &40.into())
    );
    // Every model has four features.
    let total: f64 = shares(&found).iter().map(|(_, share)| share).sum();
    assert!((total - 4.0).abs() < 1e-9, "{total}");
    let models = own["models"].as_array().unwrap();
    let won: u64 = models
        .iter()
        .map(|model| model["count"].as_u64().unwrap())
        .sum();
    assert_eq!(won, 40);
    // The rest of the object is the fit to all rows.
    let fit = sandbox.json(&format!(
        "fit {DATA} --target target -k 4 --json --threads 1"
    ));
    assert_eq!(found["coefficients"], fit["coefficients"]);
    let threads = sandbox.json(&format!("{options} --threads 3"));
    assert_eq!(shares(&threads), shares(&found));
    assert_eq!(threads["stability"]["models"], own["models"]);
    let other = sandbox.json(&format!("{options} --seed 2"));
    assert_ne!(other["stability"]["coefficients"], own["coefficients"]);
}

#[test]
fn a_run_that_is_killed_goes_on_from_its_file() {
    let sandbox = Sandbox::new();
    let options =
        format!("stability {DATA} --target target -k 4 --resamples 12 --threads 1 --json");
    let straight = sandbox.json(&options);
    let mut command = sandbox.command(&format!(
        "{options} --checkpoint s.ckpt --checkpoint-every 0s"
    ));
    let killed = command
        .env("L0STAR_TEST_FAULT", "abort after 5")
        .output()
        .unwrap();
    assert!(!killed.status.success());
    let resumed = sandbox.json(&format!("{options} --resume s.ckpt"));
    for field in [
        "features",
        "coefficients",
        "models",
        "pairs",
        "resamples",
        "proved",
    ] {
        assert_eq!(
            resumed["stability"][field], straight["stability"][field],
            "{field}"
        );
    }
    // A run with more resamples, the first of which are known.
    let more = sandbox.json(
        &options
            .replace("12", "20")
            .replace("--json", "--resume s.ckpt --json"),
    );
    assert_eq!(more["stability"]["resamples"], 20);
    sandbox.refuses(
        &format!("stability {DATA} --target target -k 3 --resume s.ckpt"),
        3,
        &["s.ckpt", "other data, options or resamples"],
    );
    sandbox.write("damaged", "{");
    sandbox.refuses(
        &format!("stability {DATA} --target target -k 3 --resume damaged"),
        3,
        &["damaged"],
    );
}

#[test]
fn what_is_done_counts_when_it_is_interrupted_or_out_of_time() {
    let sandbox = Sandbox::new();
    let options = format!("stability {DATA} --target target -k 4 --resamples 12 --threads 1");
    let late = sandbox.run(&format!("{options} --time-limit 0s --json"));
    assert_eq!(late.code, Some(4));
    assert_eq!(late.json()["stability"]["status"], "time_limit");
    let cut = sandbox.run(&format!("{options} --node-limit 1 --interactions --json"));
    let own = &cut.json()["stability"];
    assert_eq!(own["resamples"], 12);
    if own["proved"] != 12 {
        assert_eq!(cut.code, Some(4));
    }
}

#[test]
fn labels_texts_and_the_files() {
    let mut text = String::from("age,city,dose,died\n");
    for i in 0..90 {
        let age = 30 + (i * 37) % 47;
        let city = ["Paris", "Rome", "Oslo"][(i * i / 2) % 3];
        let died = if age + (i * 29) % 23 > 63 {
            "yes"
        } else {
            "no"
        };
        text += &format!("{age},{city},{},{died}\n", (i * 13) % 31);
    }
    let sandbox = Sandbox::with("c.csv", text);
    let shown = sandbox.run(
        "stability c.csv --target died --loss logistic -k 2 --ridge 0.05 --resamples 15 --resampling half --out m.json --report p.html",
    );
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(
        shown
            .stdout
            .starts_with("15 half-samples, the best model of each proved"),
        "{shown:?}"
    );
    assert!(shown.stdout.contains("age"), "{shown:?}");
    let told = sandbox.run("explain m.json").stdout;
    assert!(told.contains("How stable the choice is"), "{told}");
    let page = String::from_utf8(sandbox.read("p.html")).unwrap();
    assert!(page.contains("half-samples") && page.contains("\"together\""));
    let predicted = sandbox.run("predict m.json c.csv");
    assert_eq!(predicted.code, Some(0), "{predicted:?}");
    // A text column is one feature.
    let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    for (name, _) in shares(&model) {
        assert!(!name.contains('='), "{name}");
    }
}
