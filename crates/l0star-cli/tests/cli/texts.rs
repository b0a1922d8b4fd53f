//! Text columns as features: indicators of their categories, in the fit and in predictions.

use serde_json::{Value, json};

use crate::common::{Sandbox, assert_close, number, support};

/// Returns rows with five cities, two of them rare, two sexes, and a number.
fn rows() -> Vec<(f64, &'static str, &'static str, f64)> {
    let cities = ["Rome", "Paris", "Oslo"];
    let mut rows = Vec::new();
    for i in 0..42usize {
        let a = ((i * 37) % 11) as f64 / 3.0 - 1.5;
        let city = match i {
            5 | 20 => "Lima",
            33 => "Bern",
            _ => cities[(i * i + i / 5) % 3],
        };
        let sex = if (i * 13) % 7 < 3 { "f" } else { "m" };
        let noise = ((i * 29) % 17) as f64 / 40.0;
        let effect = match city {
            "Rome" => -2.0,
            "Paris" => 1.0,
            "Oslo" => 2.5,
            _ => 0.5,
        };
        let y = a + effect + if sex == "m" { 0.8 } else { 0.0 } + noise;
        rows.push((a, city, sex, y));
    }
    rows
}

fn csv(rows: &[(f64, &str, &str, f64)]) -> String {
    let line = |(a, city, sex, y): &(f64, &str, &str, f64)| format!("{a},{city},{sex},{y}\n");
    "a,city,sex,y\n".to_owned() + &rows.iter().map(line).collect::<String>()
}

/// Returns the rows with indicators made by hand.
fn by_hand(rows: &[(f64, &str, &str, f64)]) -> String {
    let mut text = "a,Oslo,Paris,Rome,other,m,y\n".to_owned();
    for (a, city, sex, y) in rows {
        let is = |name: &str| u8::from(*city == name);
        let other = u8::from(!["Oslo", "Paris", "Rome"].contains(city));
        text += &format!(
            "{a},{},{},{},{other},{},{y}\n",
            is("Oslo"),
            is("Paris"),
            is("Rome"),
            u8::from(*sex == "m")
        );
    }
    text
}

const FIT: &str = "fit d.csv --target y --json";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("d.csv", csv(&rows()));
    sandbox.write("hand.csv", by_hand(&rows()));
    sandbox
}

#[test]
fn levels_are_a_group_of_indicators() {
    let sandbox = sandbox();
    let group = "--group city=Oslo,Paris,Rome,other";
    for k in 1..=3 {
        for options in ["", "--standardize", "--loss huber"] {
            let json = sandbox.json(&format!("{FIT} -k {k} {options}"));
            let hand = format!("fit hand.csv --target y --json {group} -k {k} {options}");
            let hand = sandbox.json(&hand);
            assert_close(number(&json, "objective"), number(&hand, "objective"), 1e-9);
            let names = support(&hand).into_iter().map(|name| match name {
                "a" => "a".to_owned(),
                "m" => "sex=m".to_owned(),
                "other" => "city=(other)".to_owned(),
                city => format!("city={city}"),
            });
            assert_eq!(support(&json), names.collect::<Vec<_>>());
        }
    }
    let json = sandbox.json(&format!("{FIT} -k 1"));
    let columns = ["city=Oslo", "city=Paris", "city=Rome", "city=(other)"];
    assert_eq!(support(&json), columns);
    let groups = json!([{"name": "city", "columns": columns}]);
    assert_eq!(json["constraints"]["groups"], groups);
}

#[test]
fn predictions_know_the_levels() {
    let sandbox = sandbox();
    sandbox.json(&format!("{FIT} -k 3 --out m.json"));
    sandbox
        .run("fit hand.csv --target y -k 3 --group c=Oslo,Paris,Rome,other --out h.json --quiet");
    let predicted = |arguments: &str| -> Vec<f64> {
        let outcome = sandbox.run(arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        let lines = outcome.stdout.lines().skip(1);
        lines.map(|line| line.parse().unwrap()).collect()
    };
    let (own, hand) = (
        predicted("predict m.json d.csv"),
        predicted("predict h.json hand.csv"),
    );
    assert_eq!(own.len(), 42);
    for (own, hand) in own.iter().zip(&hand) {
        assert!((own - hand).abs() < 1e-7, "{own} and {hand}");
    }
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    let other = file["indicators"].as_array().unwrap().iter();
    let other: Vec<&Value> = other.filter(|own| own["level"] == "(other)").collect();
    assert_eq!(other[0]["others"], json!(["Bern", "Lima"]));
    assert_eq!(other[0]["column"], "city");

    // An unseen city counts as `(other)`; an unseen sex matches no category.
    sandbox.write(
        "new.csv",
        "a,city,sex\n1,Lima,m\n1,Kyoto,m\n1,Rome,f\n1,Rome,x\n1,Oslo,y\n",
    );
    let outcome = sandbox.run("predict m.json new.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome
            .stderr
            .starts_with("warning: 2 rows have a text in 'sex'"),
        "{outcome:?}"
    );
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[1], lines[2]);
    assert_eq!(lines[3], lines[4]);
    sandbox.write("gap.csv", "a,city,sex\n1,,m\n");
    sandbox.refuses("predict m.json gap.csv", 3, &["'city'", "line 2"]);
    sandbox.write("less.csv", "a,sex\n1,m\n");
    sandbox.refuses("predict m.json less.csv", 3, &["'city'"]);
}

#[test]
fn rare_levels_are_up_to_the_user() {
    let sandbox = sandbox();
    let names = |options: &str| -> Vec<String> {
        let json = sandbox.json(&format!("{FIT} -k 1 --include city {options}"));
        support(&json)
            .iter()
            .map(|name| name["city=".len()..].to_owned())
            .collect()
    };
    assert_eq!(names("--rare 0"), ["Bern", "Lima", "Oslo", "Paris", "Rome"]);
    assert_eq!(
        names("--rare 2"),
        ["Lima", "Oslo", "Paris", "Rome", "(other)"]
    );
    assert_eq!(
        names("--rare 1 --exclude city=Lima"),
        ["Bern", "Oslo", "Paris", "Rome"]
    );
    let all_rare = format!("{FIT} -k 1 --rare 40 --exclude sex");
    sandbox.refuses(
        &all_rare,
        3,
        &["d.csv", "'city'", "40 rows", "--rare", "--drop"],
    );
}

#[test]
fn missing_texts_are_refused_dropped_or_a_level() {
    let mut with_gaps = rows();
    for i in [3, 17, 30] {
        with_gaps[i].1 = "NA";
    }
    let sandbox = Sandbox::with("d.csv", csv(&with_gaps));
    sandbox.refuses(
        &format!("{FIT} -k 1"),
        3,
        &["'city'", "line 5", "3 in all: city (3)"],
    );

    let dropped = sandbox.json(&format!("{FIT} -k 1 --drop-missing"));
    let left: Vec<_> = with_gaps
        .iter()
        .filter(|row| row.1 != "NA")
        .copied()
        .collect();
    sandbox.write("left.csv", csv(&left));
    let expected = sandbox.json("fit left.csv --target y --json -k 1");
    assert_eq!(dropped["objective"], expected["objective"]);

    let level = sandbox.json(&format!("{FIT} -k 1 --impute mean --out m.json"));
    assert_eq!(support(&level).last(), Some(&"city=(missing)"));
    sandbox.write("new.csv", "city\nNA\nOslo\n");
    let outcome = sandbox.run("predict m.json new.csv");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let own = level["coefficients"]["city=(missing)"].as_f64().unwrap();
    let first: f64 = outcome.stdout.lines().nth(1).unwrap().parse().unwrap();
    assert_close(first, number(&level, "intercept") + own, 1e-12);
}

#[test]
fn what_text_cannot_be() {
    let sandbox = sandbox();
    sandbox.refuses(
        &format!("{FIT} -k 1 --interactions"),
        3,
        &["city", "'Rome'", "--drop city,sex"],
    );
    sandbox.refuses(
        &format!("{FIT} -k 1 --exclude city=Room"),
        3,
        &["did you mean 'city=Rome'"],
    );
    let mut text = "name,y\n".to_owned();
    (0..303).for_each(|i| text += &format!("n{},{i}\n", i % 101));
    sandbox.write("many.csv", text);
    let fit = "fit many.csv --target y -k 1";
    sandbox.refuses(
        &format!("{fit} --rare 3"),
        3,
        &["101 categories", "--rare", "--drop"],
    );
    sandbox.write("taken.csv", "city,city=x,y\nx,1,2\nz,2,3\nw,4,1\n");
    sandbox.refuses(
        "fit taken.csv --target y -k 1 --rare 1",
        3,
        &["both named 'city=x'"],
    );
}

#[test]
fn a_path_and_cross_validation_take_text() {
    let sandbox = sandbox();
    let path = sandbox.json("path d.csv --target y --json");
    assert_eq!(path["path"].as_array().unwrap().len(), 4, "three features");
    let cv = sandbox.json("cv d.csv --target y --json -k 3");
    assert_eq!(number(&cv, "k"), 3.0);
    assert_eq!(support(&cv["model"]).len(), 6);
}

#[test]
fn a_text_in_for_free() {
    let sandbox = sandbox();
    let json = sandbox.json(&format!("{FIT} -k 1 --include-free city"));
    assert_eq!(support(&json), ["a"]);
    assert_eq!(json["coefficients"].as_object().unwrap().len(), 5);
    let included = sandbox.json(&format!("{FIT} -k 2 --include city"));
    assert_close(
        number(&json, "objective"),
        number(&included, "objective"),
        1e-9,
    );
}

#[test]
fn explain_says_what_became_of_text() {
    let sandbox = sandbox();
    sandbox.json(&format!("{FIT} -k 3 --out m.json"));
    let said = sandbox.run("explain m.json").stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "at most 3 of 3 features",
        "'city' is categorical",
        "(other) stands for 2 rare categories",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
