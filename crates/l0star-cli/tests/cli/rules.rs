//! `--include`, `--bounds`, `--group` and other constraints: results as from the engine, and refused options.

use l0star::problem::Builder;
use l0star::{Design, Problem, Settings, Solution};
use serde_json::{Value, json};

use crate::common::{Sandbox, assert_close, number, support};

const FIT: &str = "fit s.csv --target b --json";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 6 -k 3 -n 50 --rho 0.6 --snr 2 --out s.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

/// Returns a builder of the same problem in the engine.
fn builder(sandbox: &Sandbox) -> Builder {
    let table = l0star_data::load(sandbox.path("s.csv")).unwrap();
    let (features, response) = table.into_table().unwrap().take_column("b").unwrap();
    let (_, rows, values) = features.into_parts();
    let design = Design::dense(rows, 6, values).unwrap();
    Problem::builder(design, response).intercept(true)
}

fn solve(builder: Builder) -> Solution {
    l0star::solve(&builder.build().unwrap(), &Settings::default()).unwrap()
}

/// Asserts that the command gives the same result as the engine.
fn assert_same(json: &Value, expected: &Solution) {
    assert_eq!(json["status"], "optimal");
    assert_close(number(json, "objective"), expected.objective, 1e-9);
    let names: Vec<String> = expected
        .support
        .iter()
        .map(|j| format!("x{}", j + 1))
        .collect();
    assert_eq!(support(json), names);
    for (name, value) in json["coefficients"].as_object().unwrap() {
        let j: usize = name[1..].parse().unwrap();
        let (value, expected) = (value.as_f64().unwrap(), expected.coefficients[j - 1]);
        assert!(
            (value - expected).abs() <= 1e-6,
            "{name}: {value} and {expected}"
        );
    }
}

#[test]
fn every_rule_is_that_of_the_engine() {
    let sandbox = sandbox();
    type Rule = fn(Builder) -> Builder;
    let rules: [(&str, Rule); 8] = [
        ("-k 2 --include x6", |b| b.k(2).include(5)),
        ("-k 2 --include x6,x5", |b| b.k(2).include(5).include(4)),
        ("-k 1 --include-free x6", |b| b.k(1).include_free(5)),
        ("-k 6 --nonnegative", |b| b.k(6).nonnegative(0..6)),
        ("-k 6 --nonnegative x4,x5", |b| b.k(6).nonnegative(3..5)),
        ("-k 3 --bounds x1=-0.1:0.1,x2=:0.05,x3=-0.2:", |b| {
            let infinity = f64::INFINITY;
            b.k(3)
                .bounds(0, -0.1, 0.1)
                .bounds(1, -infinity, 0.05)
                .bounds(2, -0.2, infinity)
        }),
        ("-k 1 --group one=x1,x4 --group two=x2,x3", |b| {
            b.k(1).groups(vec![vec![0, 3], vec![1, 2]])
        }),
        ("-k 3 --ridge-factor x1=1e5,x2=0.5", |b| {
            b.k(3).ridge_factor(0, 1e5).ridge_factor(1, 0.5)
        }),
    ];
    let plain = |k| solve(builder(&sandbox).k(k)).objective;
    for (options, rule) in rules {
        let json = sandbox.json(&format!("{FIT} {options}"));
        let expected = solve(rule(builder(&sandbox)));
        assert_same(&json, &expected);
        // A constraint that changed nothing would test nothing.
        assert_ne!(
            expected.objective,
            plain(number(&json, "k") as usize),
            "{options}"
        );
        assert!(json["constraints"].is_object(), "{options}");
    }
    let plain = sandbox.json(&format!("{FIT} -k 3"));
    assert_eq!(plain.get("constraints"), None);
}

#[test]
fn what_is_free_has_a_coefficient_and_is_not_counted() {
    let sandbox = sandbox();
    let json = sandbox.json(&format!(
        "{FIT} -k 1 --include-free x6 --no-standardize --out m.json"
    ));
    assert_eq!(support(&json).len(), 1);
    let coefficients = json["coefficients"].as_object().unwrap();
    assert_eq!(coefficients.len(), 2);
    let predicted = sandbox.run("predict m.json s.csv --residuals");
    assert_eq!(predicted.code, Some(0), "{predicted:?}");
    let residuals = predicted.stdout.lines().skip(1).map(|line| {
        let cell = line.rsplit(',').next().unwrap();
        cell.parse::<f64>().unwrap()
    });
    let loss = residuals.map(|r| r * r / 2.0).sum::<f64>() / 50.0;
    let squares = coefficients.values().map(|x| x.as_f64().unwrap().powi(2));
    let objective = loss + 0.5e-3 * squares.sum::<f64>();
    assert_close(objective, number(&json, "objective"), 1e-9);
}

#[test]
fn bounds_are_those_of_the_data_with_standardize() {
    let sandbox = sandbox();
    let fit = format!("{FIT} -k 2");
    let free = sandbox.json(&fit);
    let name = support(&free)[0].to_owned();
    let value = free["coefficients"][&name].as_f64().unwrap();
    let bound = value / 2.0;
    let range = if value > 0.0 {
        format!("0:{bound}")
    } else {
        format!("{bound}:0")
    };
    let bounded = sandbox.json(&format!("{fit} --include {name} --bounds {name}={range}"));
    assert_eq!(bounded["coefficients"][&name].as_f64(), Some(bound));
    assert!(number(&bounded, "objective") > number(&free, "objective"));
    // A bound that the free coefficient satisfies changes nothing.
    let loose = format!(
        "{fit} --bounds {name}={}:{}",
        -2.0 * value.abs(),
        2.0 * value.abs()
    );
    assert_close(
        number(&sandbox.json(&loose), "objective"),
        number(&free, "objective"),
        1e-9,
    );
}

#[test]
fn heredity_keeps_products_with_their_factors() {
    let sandbox = sandbox();
    let fit = format!("{FIT} --interactions --heredity");
    for k in 1..=4 {
        let json = sandbox.json(&format!("{fit} -k {k}"));
        let chosen = support(&json);
        for name in &chosen {
            let factors: Vec<&str> = match name.strip_suffix("^2") {
                Some(factor) => vec![factor],
                None => name.split(':').collect(),
            };
            assert!(
                factors.iter().all(|factor| chosen.contains(factor)),
                "{chosen:?}"
            );
        }
        let free = sandbox.json(&format!("{FIT} --interactions -k {k}"));
        assert!(number(&json, "objective") >= number(&free, "objective") * (1.0 - 1e-9));
    }
    let json = sandbox.json(&format!("{fit} -k 3 --include x1:x2"));
    assert_eq!(support(&json), ["x1", "x2", "x1:x2"]);
    // Without one of its factors a product is excluded.
    let json = sandbox.json(&format!("{fit} -k 9 --exclude x1"));
    assert!(
        support(&json).iter().all(|name| !name.contains("x1")),
        "{json}"
    );
    sandbox.refuses(
        "fit s.csv --target b -k 2 --heredity",
        2,
        &["--heredity", "--interactions"],
    );
}

#[test]
fn a_path_starts_with_what_is_included() {
    let sandbox = sandbox();
    let path = "path s.csv --target b --json --include x5,x6 --group g=x1,x2";
    let json = sandbox.json(path);
    let sizes: Vec<u64> = json["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["k"].as_u64().unwrap())
        .collect();
    // Two columns form one feature, so there are five features.
    assert_eq!(sizes, [2, 3, 4, 5]);
    for row in json["path"].as_array().unwrap() {
        assert!(support(row).ends_with(&["x5", "x6"]), "{row}");
        let k = number(row, "k") as usize;
        let groups = vec![vec![0, 1]];
        let expected = solve(builder(&sandbox).k(k).include(4).include(5).groups(groups));
        assert_close(number(row, "objective"), expected.objective, 1e-9);
        assert_eq!(row.get("constraints"), None);
    }
    assert_eq!(json["constraints"]["include"], json!(["x5", "x6"]));
}

#[test]
fn cross_validation_keeps_to_the_rules() {
    let sandbox = sandbox();
    let cv = "cv s.csv --target b --json -k 4 --include x6 --nonnegative --out m.json";
    let json = sandbox.json(cv);
    let candidates = json["candidates"].as_array().unwrap();
    assert_eq!(number(&candidates[0], "k"), 1.0);
    assert_eq!(candidates.len(), 4);
    let k = number(&json, "k") as usize;
    let expected = solve(builder(&sandbox).k(k).include(5).nonnegative(0..6));
    assert_same(&json["model"], &expected);
}

#[test]
fn the_model_file_keeps_what_was_asked_and_explain_says_it() {
    let sandbox = sandbox();
    let asked = "--include x6 --include-free x5 --nonnegative x1 --bounds x2=-1:2,x3=:4 --group g=x1,x2 --ridge-factor x4=3";
    sandbox.json(&format!("{FIT} -k 2 {asked} --out m.json"));
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(
        file["constraints"],
        json!({
            "include": ["x6"],
            "include_free": ["x5"],
            "nonnegative": ["x1"],
            "bounds": [
                {"feature": "x2", "lower": -1.0, "upper": 2.0},
                {"feature": "x3", "lower": null, "upper": 4.0},
            ],
            "groups": [{"name": "g", "columns": ["x1", "x2"]}],
            "ridge_factors": {"x4": 3.0},
        })
    );
    let said = sandbox.run("explain m.json").stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "at most 2 of 4 features",
        "The 2 columns of 'g' are in or out together",
        "In every model, and counted: 'x6'.",
        "In every model, and not counted: 'x5'.",
        "may not be negative: 'x1'.",
        "The coefficient of 'x2' has to be between -1 and 2.",
        "The coefficient of 'x3' has to be at most 4.",
        "The ridge of 'x4' is multiplied by 3.",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn groups_go_by_their_names() {
    let sandbox = sandbox();
    let fit = format!("{FIT} -k 2 --group g=x5,x6");
    let json = sandbox.json(&format!(
        "{fit} --include g --bounds g=0:0.01 --ridge-factor g=2"
    ));
    let expected = builder(&sandbox)
        .k(2)
        .groups(vec![vec![4, 5]])
        .include(4)
        .bounds(4, 0.0, 0.01)
        .bounds(5, 0.0, 0.01)
        .ridge_factor(4, 2.0)
        .ridge_factor(5, 2.0);
    assert_same(&json, &solve(expected));
}

#[test]
fn rules_that_cannot_be() {
    let sandbox = sandbox();
    for (options, code, words) in [
        (
            "-k 1 --include x11",
            3,
            vec!["s.csv: there is no column 'x11'", "did you mean 'x1'"],
        ),
        (
            "-k 1 --bounds z=0:1",
            3,
            vec!["s.csv: there is no column 'z'"],
        ),
        (
            "-k 1 --nonnegative x1,zz",
            3,
            vec!["s.csv: there is no column 'zz'"],
        ),
        (
            "-k 1 --group g=x1,q",
            3,
            vec!["s.csv: there is no column 'q'"],
        ),
        (
            "-k 1 --ridge-factor q=2",
            3,
            vec!["s.csv: there is no column 'q'"],
        ),
        (
            "-k 1 --include x1,x2",
            2,
            vec!["2 features are included", "k = 1"],
        ),
        (
            "-k 1 --include x1 --exclude x1",
            3,
            vec!["s.csv: there is no column 'x1'"],
        ),
        (
            "-k 1 --include x1 --include-free x1",
            2,
            vec!["'x1'", "choose one"],
        ),
        (
            "-k 1 --bounds x1=1:2",
            2,
            vec!["--bounds", "0 must be between"],
        ),
        ("-k 1 --bounds x1", 2, vec!["name=lower:upper"]),
        ("-k 1 --group x1", 2, vec!["name=a,b"]),
        (
            "-k 1 --group x1=x2,x3",
            2,
            vec!["'x1'", "a name of its own"],
        ),
        (
            "-k 1 --group g=x1 --group g=x2",
            2,
            vec!["'g'", "a name of its own"],
        ),
        (
            "-k 1 --group g=x1,x2 --group h=x2,x3",
            2,
            vec!["'x2'", "'g'", "'h'"],
        ),
        (
            "-k 1 --group g=x1,x2 --include-free x1",
            2,
            vec!["'x1'", "in a group"],
        ),
        ("-k 1 --ridge-factor x1=0", 2, vec!["greater than 0"]),
        (
            "-k 1 --ridge-factor x1=1,x1=2",
            2,
            vec!["'x1'", "two factors"],
        ),
        (
            "-k 1 --nonnegative --method omp",
            2,
            vec!["'omp'", "bounds", "best-first"],
        ),
    ] {
        sandbox.refuses(&format!("fit s.csv --target b {options}"), code, &words);
    }
    sandbox.refuses(
        "path s.csv --target b -k 1 --include x1,x2",
        2,
        &["2 features are included"],
    );
    sandbox.refuses(
        "cv s.csv --target b -k 1 --include x1,x2",
        2,
        &["2 features are included"],
    );
}
