//! `l0star moments`, and fits of the files it writes.

use std::fmt::Write;

use serde_json::Value;

use crate::common::{Sandbox, number};

/// Returns rows `from` to `to` of one long table with numbers far from zero, a text column, gaps and weights.
fn rows(from: usize, to: usize) -> String {
    let mut text = String::from("id,a,b,c,city,flag,w,y\n");
    for i in from..to {
        let noise = |j: usize| ((i * 7919 + j * 104_729) as f64 * 0.618_033_988_75).fract() - 0.5;
        let (a, b) = (1e6 + noise(1), 5.0 * noise(2));
        let city = ["Oslo", "Rome", "Bonn", "Paris"][i % 4];
        let gap = if i % 50 == 7 {
            String::new()
        } else {
            noise(3).to_string()
        };
        let y = 3.0 * (a - 1e6) - 0.4 * b * b + f64::from(i % 4 == 1) + 0.1 * noise(4);
        let (flag, w) = (i % 3 / 2, 1 + i % 3);
        let _ = writeln!(text, "r{i},{a},{b},{gap},{city},{flag},{w},{y}");
    }
    text
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("all.csv", rows(0, 900));
    sandbox.write("one.csv", rows(0, 350));
    sandbox.write("two.csv", rows(350, 351));
    sandbox.write("three.csv", rows(351, 900));
    sandbox
}

/// Asserts that a fit of moments agrees with one of rows.
fn same(one: &Value, other: &Value) {
    assert_eq!(one["status"], "optimal");
    assert_eq!(one["support"], other["support"]);
    let close =
        |a: f64, b: f64, room: f64| assert!((a - b).abs() <= room * a.abs().max(1e-6), "{a} {b}");
    close(number(one, "objective"), number(other, "objective"), 1e-8);
    close(number(one, "intercept"), number(other, "intercept"), 1e-6);
    for (name, value) in one["coefficients"].as_object().unwrap() {
        close(
            value.as_f64().unwrap(),
            number(&other["coefficients"], name),
            1e-6,
        );
    }
    let measure = |json: &Value, name: &str| number(&json["metrics"]["training"], name);
    for name in ["r2", "rmse", "rows"] {
        close(measure(one, name), measure(other, name), 1e-8);
    }
    assert!(one["metrics"]["training"].get("mae").is_none());
    let errors = |json: &Value| json["inference"]["coefficients"][0]["standard_error"].as_f64();
    close(errors(one).unwrap(), errors(other).unwrap(), 1e-6);
    assert!(number(&one["moments"], "bound_lowered_by") > 0.0);
    assert!(other.get("moments").is_none());
}

#[test]
fn a_fit_of_moments_is_the_fit_of_the_rows() {
    let sandbox = sandbox();
    let common = "--target y --drop id";
    for options in [
        "--drop-missing",
        "--impute mean",
        "--drop-missing --weights w --interactions b,c,flag",
        "--impute mean --weights w --exclude city=Rome",
        "--drop-missing --as-text flag --rare 223",
    ] {
        let rows = sandbox.json(&format!("fit all.csv {common} {options} -k 3 --json"));
        let files = format!("one.csv two.csv three.csv {common} {options}");
        let made = sandbox.json(&format!("moments {files} --out m.l0m --json"));
        assert_eq!(
            made["rows"], rows["metrics"]["training"]["rows"],
            "{options}"
        );
        let fit = sandbox.json("fit m.l0m -k 3 --json");
        same(&fit, &rows);
        assert_eq!(fit["moments"]["rows"], made["rows"]);
    }
}

#[test]
fn moments_merge_in_any_order() {
    let sandbox = sandbox();
    let rows = sandbox.json("fit all.csv --target y --features a,b --json -k 2");
    for name in ["one", "two", "three"] {
        let made = sandbox.run(&format!(
            "moments {name}.csv --target y --features a,b --out {name}.l0m"
        ));
        assert_eq!(made.code, Some(0), "{made:?}");
        assert!(made.stdout.contains("and 2 features for 'y'"), "{made:?}");
    }
    for order in ["one.l0m two.l0m three.l0m", "three.l0m one.l0m two.l0m"] {
        sandbox.json(&format!("moments --merge {order} --out all.l0m --json"));
        same(&sandbox.json("fit all.l0m -k 2 --json"), &rows);
    }
    sandbox.run("moments one.csv --target y --features a,c --drop-missing --out other.l0m");
    sandbox.refuses(
        "moments --merge one.l0m other.l0m --out x.l0m",
        3,
        &["other.l0m", "'b'", "'c'"],
    );
    sandbox.run("moments one.csv --target a --features b --out target.l0m");
    sandbox.refuses(
        "moments --merge one.l0m target.l0m --out x.l0m",
        3,
        &["target.l0m", "the target"],
    );
    sandbox.refuses(
        "moments --merge one.l0m one.csv --out x.l0m",
        3,
        &["one.csv", "no file of moments"],
    );
    assert!(!sandbox.path("x.l0m").exists());
}

#[test]
fn everything_that_needs_no_rows_works() {
    let sandbox = sandbox();
    sandbox.run("moments all.csv --target y --drop id --drop-missing --out m.l0m");
    let shown = sandbox.run("fit m.l0m -k 2 --prices --top 2 --report page.html --out model.json");
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let words = "proved optimal for these moments: no model with at most 2 features is better";
    assert!(shown.stdout.contains(words), "{}", shown.stdout);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("for these moments"));
    let explained = sandbox.run("explain model.json");
    assert!(
        explained
            .stdout
            .contains("The fit is to the moments of 882 rows"),
        "{}",
        explained.stdout
    );
    sandbox.write("new.csv", "a,b,c,city,flag\n1000000,2,0.1,Rome,1\n");
    let predicted = sandbox.run("predict model.json new.csv");
    assert_eq!(predicted.code, Some(0), "{predicted:?}");
    let path = sandbox.run("path m.l0m -k 3");
    assert!(
        path.stdout
            .contains("each proved optimal for these moments"),
        "{}",
        path.stdout
    );
    let grouped =
        sandbox.json("fit m.l0m -k 2 --group ab=a,b --exclude c --nonnegative a --refit --json");
    assert_eq!(grouped["status"], "optimal");
    assert!(grouped["coefficients"].get("c").is_none());
    assert_eq!(sandbox.run("path m.l0m --l0-penalty-path").code, Some(0));
}

#[test]
fn what_needs_rows_is_refused() {
    let sandbox = sandbox();
    sandbox.run("moments all.csv --target y --features a,b --out m.l0m");
    for (arguments, word) in [
        ("fit m.l0m -k 2 --loss huber", "--loss huber"),
        ("fit m.l0m -k 2 --holdout 0.2", "--holdout"),
        ("fit m.l0m -k 2 --weights w", "--weights"),
        ("fit m.l0m -k 2 --interactions", "--interactions"),
        ("fit m.l0m -k 2 --target a", "'y', not 'a'"),
        ("cv m.l0m -k 2", "cv needs the rows"),
        ("stability m.l0m -k 2", "stability needs the rows"),
        ("fit all.csv -k 2", "--target is missing"),
    ] {
        sandbox.refuses(arguments, 2, &[word]);
    }
}

#[test]
fn damaged_files_and_other_columns_are_refused() {
    let sandbox = sandbox();
    sandbox.run("moments all.csv --target y --features a,b --out m.l0m");
    let whole = sandbox.read("m.l0m");
    // A file cut at any length is refused, even if too little is left to recognise it.
    for length in [whole.len() - 1, whole.len() / 2, 8, 7, 0] {
        sandbox.write("cut.l0m", &whole[..length]);
        sandbox.refuses("fit cut.l0m -k 2", 3, &["'cut.l0m' holds", "cut off"]);
        sandbox.refuses("moments --merge cut.l0m --out x.l0m", 3, &["cut off"]);
    }
    let mut damaged = whole;
    damaged[100] ^= 1;
    sandbox.write("damaged.l0m", damaged);
    sandbox.refuses("fit damaged.l0m -k 2", 3, &["damaged.l0m", "checksum"]);
    sandbox.refuses(
        "moments --merge damaged.l0m --out x.l0m",
        3,
        &["damaged.l0m", "checksum"],
    );

    sandbox.write("short.csv", "a,y\n1,2\n3,4\n");
    let two = "moments all.csv short.csv --target y --features a,b --out x.l0m";
    sandbox.refuses(two, 3, &["short.csv", "no column 'id'", "all.csv"]);
    sandbox.write(
        "more.csv",
        rows(0, 9)
            .replace("id,", "id,extra,")
            .replace("\nr", "\nr,"),
    );
    sandbox.refuses(
        "moments all.csv more.csv --target y --features a,b --out x.l0m",
        3,
        &["more.csv", "a column 'extra'"],
    );
    sandbox.write("text.csv", rows(0, 9).replacen("1000000", "many", 1));
    sandbox.refuses(
        "moments all.csv text.csv --target y --features a,b --out x.l0m",
        3,
        &["text.csv", "'a'"],
    );
    sandbox.refuses(
        "moments all.csv --target y --features a,c --out x.l0m",
        3,
        &["all.csv", "'c'", "missing"],
    );
    let weights = "moments all.csv --target y --features a --weights b --out x.l0m";
    sandbox.refuses(weights, 3, &["all.csv", "negative"]);
    assert!(!sandbox.path("x.l0m").exists());
}

/// Text and Parquet files of the same rows have the same moments, read in pieces or whole.
#[cfg(feature = "parquet")]
#[test]
fn every_format_has_the_same_moments() {
    let sandbox = Sandbox::generated("ar -d 6 -k 2 -n 50000 --rho 0.5 --snr 3 --out a.parquet");
    sandbox.run("generate ar -d 6 -k 2 -n 50000 --rho 0.5 --snr 3 --out a.csv");
    sandbox.run("generate ar -d 6 -k 2 -n 50000 --rho 0.5 --snr 3 --out a.arrow");
    let mut found = Vec::new();
    for name in ["a.parquet", "a.csv", "a.arrow"] {
        let made = sandbox.json(&format!("moments {name} --target b --out m.l0m --json"));
        assert_eq!(made["rows"], 50000);
        found.push(sandbox.json("fit m.l0m -k 2 --json"));
    }
    let rows = sandbox.json("fit a.csv --target b -k 2 --json");
    for fit in &found {
        same(fit, &rows);
    }
    // One part has other columns.
    std::fs::copy(sandbox.path("a.parquet"), sandbox.path("part-1.parquet")).unwrap();
    sandbox.run("generate ar -d 5 -k 2 -n 50 --rho 0.5 --snr 3 --out part-2.parquet");
    sandbox.refuses(
        "moments part-1.parquet part-2.parquet --target b --out x.l0m",
        3,
        &["part-2.parquet", "no column 'x6'", "part-1.parquet"],
    );
}

/// A part with other column types is refused before anything is summed; the error names the column and the first part.
#[cfg(feature = "parquet")]
#[test]
fn parts_with_other_types_are_refused() {
    use l0star_data::frame::{Frame, Values};
    use l0star_data::save_frame;

    let sandbox = sandbox();
    let numbers: Vec<f64> = (0..60).map(|i| f64::from(i * i % 17)).collect();
    let digits: Vec<String> = numbers.iter().map(|value| format!("{value}")).collect();
    let texts: Vec<String> = numbers.iter().map(|value| format!("t{value}")).collect();
    let cities = || {
        Values::Texts(
            texts
                .iter()
                .map(|text| ["north", "south"][text.len() % 2].into())
                .collect(),
        )
    };
    let number = || Values::Numbers((&numbers).into());
    let text = |texts: &[String]| Values::Texts(texts.to_vec().into());
    let write = |file: &str, columns: [(&'static str, Values<'_>); 3]| {
        let mut frame = Frame::new(60);
        for (name, values) in columns {
            frame.push(name, values);
        }
        save_frame(sandbox.path(file), &frame).unwrap();
    };
    write(
        "one.parquet",
        [("y", number()), ("a", number()), ("city", cities())],
    );
    write(
        "same.parquet",
        [("y", number()), ("a", number()), ("city", cities())],
    );
    write(
        "a.parquet",
        [("y", number()), ("a", text(&texts)), ("city", cities())],
    );
    write(
        "digits.parquet",
        [("y", number()), ("a", text(&digits)), ("city", cities())],
    );
    write(
        "city.parquet",
        [("y", number()), ("a", number()), ("city", number())],
    );
    write(
        "y.parquet",
        [("y", text(&texts)), ("a", number()), ("city", cities())],
    );
    for (file, words) in [
        ("a.parquet", &["a.parquet", "'a'", "'t0'"][..]),
        ("digits.parquet", &["digits.parquet", "'a'", "'0'"]),
        (
            "city.parquet",
            &[
                "city.parquet",
                "numbers in column 'city'",
                "one.parquet has text",
            ],
        ),
        ("y.parquet", &["y.parquet", "'y'", "'t0'"]),
    ] {
        let parts = format!("one.parquet {file}");
        sandbox.refuses(&format!("moments {parts} --target y --out x.l0m"), 3, words);
        sandbox.refuses(&format!("convert {parts} x.l0d --target y"), 3, words);
        assert!(!sandbox.path("x.l0m").exists());
        assert!(!sandbox.path("x.l0d").exists());
    }
    let made = sandbox.json("moments one.parquet same.parquet --target y --out x.l0m --json");
    assert_eq!(made["rows"], 120);
}

/// Fits and paths of data that do not fit in half of the memory use summed moments.
#[test]
fn what_does_not_fit_into_memory_is_summed_in_a_stream() {
    let sandbox = sandbox();
    let common = "all.csv --target y --drop 1";
    for options in [
        "--drop-missing",
        "--impute mean --interactions b,c,flag --no-standardize",
        "--drop-missing --weights w --exclude city=Rome --features a,b,c,city",
    ] {
        let rows = sandbox.json(&format!("fit {common} {options} -k 3 --json"));
        let small = format!("fit {common} {options} -k 3 --available-memory 40kB --json");
        let streamed = sandbox.json(&small);
        same(&streamed, &rows);
        let note = streamed["warnings"][0].as_str().unwrap();
        assert!(
            note.contains("40.0 kB are available: they are summed in a stream"),
            "{note}"
        );
        let enough = format!("fit {common} {options} -k 3 --available-memory 1GB --json");
        assert!(sandbox.json(&enough).get("moments").is_none());
    }
    let paths = ["40kB", "1GB"].map(|memory| {
        let options = "--drop-missing -k 4 --json --available-memory";
        sandbox.json(&format!("path {common} {options} {memory}"))
    });
    let supports = paths.map(|path| {
        let sizes = path["path"].as_array().unwrap().clone();
        sizes
            .into_iter()
            .map(|size| size["support"].clone())
            .collect::<Vec<_>>()
    });
    assert_eq!(supports[0].len(), 5);
    assert_eq!(supports[0], supports[1]);
}

/// Fits that need single rows still read all of them.
#[test]
fn what_needs_rows_is_not_summed() {
    let sandbox = sandbox();
    let common = "fit all.csv --target y --drop id --drop-missing -k 2 --json --available-memory 1";
    for options in ["--loss huber", "--holdout 20%", "--offset w"] {
        let found = sandbox.json(&format!("{common} {options}"));
        assert!(found.get("moments").is_none(), "{options}");
    }
}

/// Cross-validation of such data sums the moments of every fold, and scores each fold by its own moments.
#[test]
fn what_does_not_fit_into_memory_is_cross_validated_in_a_stream() {
    let sandbox = sandbox();
    let common = "cv all.csv --target y --drop id --impute mean --folds 4 -k 3 --json";
    for options in [
        "",
        "--weights w --score mse",
        "--interactions b,flag --ridge 0.01,0.1",
    ] {
        let rows = sandbox.json(&format!("{common} {options}"));
        let small = format!("{common} {options} --available-memory 40kB");
        let streamed = sandbox.json(&small);
        assert_eq!(
            streamed["fold_rows"],
            serde_json::json!([225, 225, 225, 225])
        );
        assert_eq!(streamed["k"], rows["k"], "{options}");
        assert_eq!(
            streamed["model"]["support"], rows["model"]["support"],
            "{options}"
        );
        let scores = |found: &Value| -> Vec<f64> {
            let candidates = found["candidates"].as_array().unwrap().clone();
            candidates.iter().map(|own| number(own, "mean")).collect()
        };
        let (one, other) = (scores(&streamed), scores(&rows));
        assert_eq!(one.len(), other.len());
        for (a, b) in one.iter().zip(&other) {
            // The folds are dealt differently.
            assert!(
                (a - b).abs() < 0.05 * b.abs().max(1.0),
                "{options}: {a} {b}"
            );
        }
        let again = sandbox.json(&small);
        assert_eq!(again["candidates"], streamed["candidates"], "{options}");
    }
    let mae = sandbox.json(&format!("{common} --score mae --available-memory 40kB"));
    assert!(mae["model"].get("moments").is_none());
    sandbox.write("few.csv", rows(0, 4));
    let few = "cv few.csv --target y --features a,b --folds 5 -k 1 --available-memory 1";
    sandbox.refuses(few, 3, &["4 rows cannot fill 5 folds"]);
}
