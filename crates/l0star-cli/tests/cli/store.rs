//! `l0star convert`, and uses of the column stores that it writes.

use std::fmt::Write;
use std::fs;

use l0star_data::store::{Precision, Shape};
use l0star_data::{ColumnStore, DataError};
use serde_json::Value;

use crate::common::{Outcome, Sandbox, number};

/// Numbers, some of them missing, categories, dates, labels and amounts.
fn rows(from: usize, to: usize) -> String {
    let mut text = String::from("id,a,b,c,city,day,flag,w,y,count,died\n");
    for i in from..to {
        let noise = |j: usize| ((i * 7919 + j * 104_729) as f64 * 0.618_033_988_75).fract() - 0.5;
        let (a, b) = (1e4 + noise(1), 5.0 * noise(2));
        let city = ["Oslo", "Rome", "Bonn", "Paris"][i % 4];
        let gap = if i % 50 == 7 {
            String::new()
        } else {
            noise(3).to_string()
        };
        let y = 3.0 * (a - 1e4) - 0.4 * b + f64::from(i % 4 == 1) + 0.3 * noise(4);
        let died = if y + noise(5) > 0.3 { "yes" } else { "no" };
        let (count, w) = ((2.0 * (0.4 * y).exp()).floor(), 1 + i % 3);
        let (day, flag) = (1 + i % 28, i % 7 / 4 == 1);
        let _ = writeln!(
            text,
            "r{i},{a},{b},{gap},{city},2024-03-{day:02},{flag},{w},{y},{count},{died}"
        );
    }
    text
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("all.csv", rows(0, 600));
    sandbox.write("one.csv", rows(0, 150));
    sandbox.write("two.csv", rows(150, 600));
    sandbox
}

const READ: &str = "--drop id --dates days --impute mean";

/// Asserts equality of what must not depend on where the columns are stored.
fn same(one: &Value, other: &Value) {
    assert_eq!(one["status"], other["status"]);
    assert_eq!(one["support"], other["support"]);
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-8 * b.abs().max(1e-9), "{a} {b}");
    for field in ["objective", "lower_bound", "intercept"] {
        close(number(one, field), number(other, field));
    }
    for (name, value) in one["coefficients"].as_object().unwrap() {
        close(
            value.as_f64().unwrap(),
            number(&other["coefficients"], name),
        );
    }
    assert!(number(one, "lower_bound") <= number(other, "objective"));
}

#[test]
fn fits_of_a_store_are_those_of_its_rows() {
    let sandbox = sandbox();
    let made = sandbox.json(&format!(
        "convert all.csv all.l0d --target died {READ} --json"
    ));
    assert_eq!(
        (made["rows"].as_u64(), made["precision"].as_str()),
        (Some(600), Some("f64"))
    );
    let columns: Vec<&str> = made["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own.as_str().unwrap())
        .collect();
    assert_eq!(columns[..4], ["a", "b", "c", "city=Bonn"]);
    assert_eq!(columns.last(), Some(&"died"));
    let parts = sandbox.run(&format!(
        "convert one.csv two.csv parts.l0d --target died {READ} --quiet"
    ));
    assert_eq!((parts.code, parts.stdout.as_str()), (Some(0), ""));
    for options in [
        "--target y --drop died,count",
        "--target y --drop died,count --loss huber --weights w",
        "--target count --drop died,y --loss poisson --no-standardize",
        "--target died --drop count,y --loss logistic --nonnegative a",
    ] {
        let common = format!("{options} -k 3 --json");
        let drop = options
            .split("--drop ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap();
        let of_rows = common.replace(&format!("--drop {drop}"), &format!("--drop id,{drop}"));
        let rows = sandbox.json(&format!("fit all.csv {of_rows} --dates days --impute mean"));
        same(&sandbox.json(&format!("fit all.l0d {common}")), &rows);
        same(&sandbox.json(&format!("fit parts.l0d {common}")), &rows);
    }
}

#[test]
fn what_the_store_knows_reaches_the_model() {
    let sandbox = sandbox();
    sandbox.json(&format!(
        "convert all.csv all.l0d --target died {READ} --json"
    ));
    // The store knows the target and its labels.
    let fit = "--drop count,y -k 3 --loss logistic --exclude city=Bonn --out";
    let done = sandbox.run(&format!("fit all.l0d {fit} model.json"));
    assert_eq!(done.code, Some(0), "{done:?}");
    let model: Value = serde_json::from_slice(&sandbox.read("model.json")).unwrap();
    assert_eq!(model["labels"], serde_json::json!(["no", "yes"]));
    // The model predicts raw rows, with text, dates and gaps.
    let predicted = sandbox.run("predict model.json two.csv --out scores.csv");
    assert_eq!(predicted.code, Some(0), "{predicted:?}");
    assert_eq!(
        fs::read_to_string(sandbox.path("scores.csv"))
            .unwrap()
            .lines()
            .count(),
        451
    );
}

#[test]
fn paths_folds_and_resamples_are_those_of_the_rows() {
    let sandbox = sandbox();
    let kept = "--features a,b,c,y --drop-missing";
    sandbox.json(&format!("convert all.csv all.l0d {kept} --json"));
    for (command, fields) in [
        ("path {} --target y -k 3 --loss huber", &["path"][..]),
        (
            "cv {} --target y -k 1-3 --loss huber --folds 3",
            &["k", "best"],
        ),
        (
            "stability {} --target y -k 2 --loss huber --resamples 6",
            &["support"],
        ),
    ] {
        let rows = command.replace("{}", "all.csv");
        let rows = sandbox.json(&format!("{rows} --features a,b,c --drop-missing --json"));
        let store = sandbox.json(&format!("{} --json", command.replace("{}", "all.l0d")));
        for field in fields {
            let supports = |json: &Value| match &json[*field] {
                Value::Array(list) if list.iter().any(Value::is_object) => {
                    Value::Array(list.iter().map(|own| own["support"].clone()).collect())
                }
                other => other.clone(),
            };
            assert!(!supports(&store).is_null(), "{command} {field}: {store}");
            assert_eq!(supports(&store), supports(&rows), "{command} {field}");
        }
    }
    // Other commands read the store like any other file.
    let seen = sandbox.json("inspect all.l0d --json");
    assert_eq!(seen["rows"], 588);
    let sums = sandbox.json("moments all.l0d --target y --out all.l0m --json");
    assert_eq!(sums["rows"], 588);
}

#[test]
fn several_targets_are_those_of_the_rows() {
    let sandbox = sandbox();
    sandbox.json("convert all.csv all.l0d --features a,b,y,count --json");
    let fit = "--target y,count -k 1 --json";
    let rows = sandbox.json(&format!("fit all.csv {fit} --features a,b"));
    let store = sandbox.json(&format!("fit all.l0d {fit}"));
    assert_eq!(store["status"], "optimal");
    assert_eq!(store["support"], rows["support"]);
    let [one, other] = [&store, &rows].map(|json| number(json, "objective"));
    assert!((one - other).abs() <= 1e-9 * other, "{one} {other}");
}

#[test]
fn single_precision_is_that_of_the_numbers_as_stored() {
    let sandbox = sandbox();
    let kept = "--features a,b,y";
    sandbox.json(&format!("convert all.csv double.l0d {kept} --json"));
    let made = sandbox.json(&format!("convert all.csv single.l0d {kept} --f32 --json"));
    assert_eq!(made["precision"], "f32");
    let size = |name: &str| fs::metadata(sandbox.path(name)).unwrap().len();
    assert!(size("single.l0d") < size("double.l0d"));
    let [single, double] = ["single.l0d", "double.l0d"]
        .map(|file| sandbox.json(&format!("fit {file} --target y -k 1 --loss huber --json")));
    assert_eq!(
        (&single["status"], &single["support"]),
        (&double["status"], &double["support"])
    );
    // The values of a are about 10,000, with three decimals in single precision.
    let [one, other] = [&single, &double].map(|json| number(json, "objective"));
    assert!(
        (one - other).abs() < 1e-2 * other && one != other,
        "{one} {other}"
    );
    // The fit uses exactly the stored numbers: doubles of the same numbers give the same result.
    sandbox.json("convert single.l0d again.l0d --json");
    let again = sandbox.json("fit again.l0d --target y -k 1 --loss huber --json");
    same(&single, &again);
}

#[test]
fn what_a_store_cannot_do_is_said() {
    let sandbox = sandbox();
    sandbox.json("convert all.csv all.l0d --features a,b,y --json");
    let fit = "fit all.l0d -k 2";
    for (arguments, code, words) in [
        (
            format!("{fit} --target y --impute mean"),
            2,
            &["--impute", "l0star convert"][..],
        ),
        (
            format!("{fit} --target y --interactions"),
            2,
            &["--interactions", "l0star convert"],
        ),
        (
            format!("{fit} --target y --holdout 20%"),
            2,
            &["held out", "--weights"],
        ),
        (fit.to_owned(), 2, &["--target is missing"]),
        (
            format!("{fit} --target yy"),
            3,
            &["all.l0d", "no column 'yy'", "did you mean 'y'"],
        ),
        (
            format!("{fit} --target y --weights v"),
            3,
            &["no column 'v'"],
        ),
        (format!("{fit} --target y --drop c"), 3, &["no column 'c'"]),
        ("convert all.csv".to_owned(), 2, &["OUT"]),
        ("convert - out.l0d".to_owned(), 2, &["-: ", "read twice"]),
        ("convert all.csv out.csv".to_owned(), 2, &[".l0d"]),
        ("convert all.csv out.l0d".to_owned(), 3, &["--drop id"]),
        (
            "convert all.csv out.l0d --features c".to_owned(),
            3,
            &["all.csv", "'c'", "--impute mean"],
        ),
        (
            "convert all.csv out.l0d --features a --target city".to_owned(),
            3,
            &["'city'", "4 different texts"],
        ),
        (
            "convert all.l0d all.l0d".to_owned(),
            2,
            &["overwrite the data"],
        ),
    ] {
        sandbox.refuses(&arguments, code, words);
    }
    assert!(!sandbox.files().contains(&"out.l0d".to_owned()));
}

#[test]
fn damage_is_refused() {
    let sandbox = sandbox();
    sandbox.json("convert all.csv all.l0d --features a,b,y --json");
    let whole = sandbox.read("all.l0d");
    sandbox.write("cut.l0d", &whole[..whole.len() - 4000]);
    sandbox.write("head.l0d", &whole[..9]);
    let mut flipped = whole.clone();
    let at = whole.len() - 600 * 8;
    flipped[at] ^= 4;
    sandbox.write("flipped.l0d", &flipped);
    let mut other = whole.clone();
    other[8] = 2;
    sandbox.write("other.l0d", &other);
    for command in [
        "fit {} --target y -k 1",
        "inspect {}",
        "moments {} --target y --out m.l0m",
    ] {
        for (file, word) in [
            ("cut.l0d", "cut short"),
            ("head.l0d", "cut short"),
            ("flipped.l0d", "column 'y' is damaged"),
            ("other.l0d", "version 2"),
        ] {
            sandbox.refuses(&command.replace("{}", file), 3, &[file, word]);
        }
    }
}

/// Converts, fits and cross-validates a matrix of four times the memory that the process may use. Reading it into
/// memory would fail.
#[cfg(target_os = "linux")]
#[test]
fn data_of_four_times_the_memory_are_fitted() {
    /// Kilobytes of writable memory, heaps and stacks; mapped files do not count.
    const MEMORY: usize = 40 * 1024;
    let (rows, columns) = (41_000, 512);
    assert!(rows * columns * 8 >= 4 * MEMORY * 1024);
    let sandbox = Sandbox::new();
    large(&sandbox, rows, columns);
    let limited = |arguments: &str| {
        let script = format!("ulimit -d {MEMORY} && exec \"$0\" \"$@\"");
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(sandbox.path(""));
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_l0star")]);
        shell.args(arguments.split_whitespace());
        Outcome::from(shell.output().expect("start sh"))
    };
    let in_memory = limited("inspect x.l0d");
    assert_ne!(in_memory.code, Some(0), "the limit does not bite");
    let fit = "--target y --loss logistic -k 2 --threads 1 --json";
    let done = limited(&format!("fit x.l0d {fit}"));
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = done.json();
    assert_eq!(done["status"], "optimal");
    assert_eq!(done["support"], serde_json::json!(["x3", "x77"]));
    let made = limited("convert x.l0d single.l0d --f32 --json");
    assert_eq!(made.code, Some(0), "{made:?}");
    let validated = limited(&format!("cv single.l0d {fit} --folds 2").replace("-k 2", "-k 1-2"));
    assert_eq!(validated.code, Some(0), "{validated:?}");
    assert_eq!(validated.json()["k"], 2);
}

/// Writes columns of noise, and labels that two of them almost determine.
fn large(sandbox: &Sandbox, rows: usize, columns: usize) {
    let mut state = 1_u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    };
    let mut names: Vec<String> = (1..columns).map(|j| format!("x{j}")).collect();
    names.push("y".into());
    let shape = Shape {
        names: &names,
        rows,
        precision: Precision::Double,
        note: "",
    };
    const PIECE: usize = 1000;
    ColumnStore::write(sandbox.path("x.l0d"), &shape, |file| {
        for _ in 0..rows / PIECE {
            let column = |_| (0..PIECE).map(|_| draw()).collect();
            let mut piece: Vec<Vec<f64>> = (0..columns).map(column).collect();
            let (features, last) = piece.split_at_mut(columns - 1);
            for (i, label) in last[0].iter_mut().enumerate() {
                let score = features[2][i] - features[76][i] + 0.5 * *label;
                *label = f64::from(score > 0.0);
            }
            file.append(&piece.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        Ok::<(), DataError>(())
    })
    .expect("write the matrix");
}
