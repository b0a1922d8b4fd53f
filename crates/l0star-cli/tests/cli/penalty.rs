//! `--l0-penalty`, `--l0-factor` and `--assume-max-coefficient`: results as from the engine, and their messages.

use l0star::problem::Builder;
use l0star::{Design, Problem, Settings};
use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support};

const FIT: &str = "fit s.csv --target b --json";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 6 -k 3 -n 50 --rho 0.6 --snr 2 --out s.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

/// Returns the objective that the engine finds for the same data.
fn objective(sandbox: &Sandbox, ask: impl Fn(Builder) -> Builder) -> f64 {
    let table = l0star_data::load(sandbox.path("s.csv")).unwrap();
    let (features, response) = table.into_table().unwrap().take_column("b").unwrap();
    let (_, rows, values) = features.into_parts();
    let design = Design::dense(rows, 6, values).unwrap();
    let builder = ask(Problem::builder(design, response).intercept(true));
    let problem = builder.build().unwrap();
    l0star::solve(&problem, &Settings::default())
        .unwrap()
        .objective
}

#[test]
fn a_price_is_that_of_the_engine_and_k_may_be_left_out() {
    let sandbox = sandbox();
    type Ask = fn(Builder) -> Builder;
    let asked: [(&str, Ask); 5] = [
        ("--l0-penalty 0.05", |b| b.l0_penalty(0.05)),
        ("-k 2 --l0-penalty 0.01", |b| b.k(2).l0_penalty(0.01)),
        ("--l0-penalty 0.05 --l0-factor x1=4,x2=0", |b| {
            b.l0_penalty(0.05).l0_factor(0, 4.0).l0_factor(1, 0.0)
        }),
        ("--l0-penalty 0.05 --group g=x1,x2 --l0-factor g=2", |b| {
            let grouped = b.groups(vec![vec![0, 1]]);
            grouped.l0_penalty(0.05).l0_factor(0, 2.0)
        }),
        ("--l0-penalty 0.05 --include x6", |b| {
            b.l0_penalty(0.05).include(5)
        }),
    ];
    for (options, ask) in asked {
        let json = sandbox.json(&format!("{FIT} {options}"));
        assert_eq!(json["status"], "optimal", "{options}");
        assert_close(number(&json, "objective"), objective(&sandbox, ask), 1e-9);
    }
    let json = sandbox.json(&format!("{FIT} --l0-penalty 0.05"));
    assert_eq!((&json["l0_penalty"], &json["k"]), (&0.05.into(), &6.into()));
    let cost = 0.05 * support(&json).len() as f64;
    let without = number(&json, "objective_without_penalty");
    assert_close(number(&json, "objective"), without + cost, 1e-9);
    // At this price no feature is worthwhile.
    let none = sandbox.json(&format!("{FIT} --l0-penalty 1e6"));
    assert!(support(&none).is_empty());
    let free = sandbox.json(&format!("{FIT} -k 3 --l0-penalty 0"));
    let plain = sandbox.json(&format!("{FIT} -k 3"));
    assert_eq!(free["objective"], plain["objective"]);
    assert_eq!(
        (&plain["l0_penalty"], &plain["objective_without_penalty"]),
        (&0.0.into(), &Value::Null)
    );
}

#[test]
fn a_path_and_cross_validation_take_a_price() {
    let sandbox = sandbox();
    let path = sandbox.json("path s.csv --target b -k 3 --l0-penalty 0.02 --json");
    for size in path["path"].as_array().unwrap() {
        let k = size["k"].as_u64().unwrap() as usize;
        let own = objective(&sandbox, |b| b.k(k).l0_penalty(0.02));
        assert_close(number(size, "objective"), own, 1e-9);
    }
    let cv = sandbox.json("cv s.csv --target b -k 3 --l0-penalty 0.02 --json");
    assert_eq!(cv["model"]["l0_penalty"], 0.02);
}

#[test]
fn what_is_wrong_with_a_price_is_said() {
    let sandbox = sandbox();
    for (options, code, words) in [
        ("", 2, "-k"),
        ("--l0-penalty -1", 2, "--l0-penalty"),
        ("-k 2 --l0-factor x1=2", 2, "--l0-penalty"),
        ("--l0-penalty 1 --l0-factor none=2", 3, "none"),
        (
            "--l0-penalty 1 --l0-factor x1=2,x1=3",
            2,
            "two factors in --l0-factor",
        ),
        ("--l0-penalty 1 --method paper", 2, "l0 penalty"),
        (
            "-k 2 --assume-max-coefficient 0",
            2,
            "--assume-max-coefficient",
        ),
    ] {
        sandbox.refuses(&format!("fit s.csv --target b {options}"), code, &[words]);
    }
}

#[test]
fn an_assumption_is_in_every_face_of_the_result() {
    let sandbox = sandbox();
    let json = sandbox.json(&format!(
        "{FIT} -k 3 --assume-max-coefficient 0.4 --out m.json --report r.html"
    ));
    assert_eq!(json["status"], "optimal");
    assert_eq!(json["assumption"]["max_coefficient"], 0.4);
    assert_eq!(json["assumption"]["standardized"], true);
    for (_, effect) in json["per_sd"].as_object().unwrap() {
        assert!(
            effect.as_f64().unwrap().abs() <= 0.4 * (1.0 + 1e-12),
            "{effect}"
        );
    }
    let raw = sandbox.json(&format!(
        "{FIT} -k 3 --assume-max-coefficient 0.4 --no-standardize"
    ));
    assert_eq!(raw["assumption"]["standardized"], false);
    for (_, value) in raw["coefficients"].as_object().unwrap() {
        assert!(value.as_f64().unwrap().abs() <= 0.4, "{value}");
    }
    let words = "under the assumption |coefficient|";
    let table = sandbox.run("fit s.csv --target b -k 3 --assume-max-coefficient 0.4");
    assert!(
        table.stdout.contains(&format!("proved optimal {words}")),
        "{}",
        table.stdout
    );
    let explained = sandbox.run("explain m.json");
    assert!(
        explained.stdout.contains("not proved"),
        "{}",
        explained.stdout
    );
    let page = String::from_utf8(sandbox.read("r.html")).unwrap();
    assert!(page.contains(&format!("proved optimal {words}")));
    // A coefficient at the limit means that the assumption affects the model.
    assert!(
        json["warnings"].to_string().contains("assumed limit"),
        "{}",
        json["warnings"]
    );
}

/// The expected breakpoints are the lower hull of the best models of all sizes, computed here.
#[test]
fn the_path_over_prices_has_the_breakpoints_of_the_best_models_of_all_sizes() {
    let sandbox = sandbox();
    let path = sandbox.json("path s.csv --target b -k 6 --json");
    let sizes: Vec<(f64, f64)> = path["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| {
            (
                size["support"].as_array().unwrap().len() as f64,
                number(size, "objective"),
            )
        })
        .collect();
    let over = sandbox.json("path s.csv --target b --l0-penalty-path --json");
    let pieces = over["l0_penalty_path"].as_array().unwrap();
    let best = |price: f64| {
        let values = sizes.iter().map(|(size, value)| value + price * size);
        values.fold(f64::INFINITY, f64::min)
    };
    let mut last = 0.0;
    for piece in pieces {
        assert_eq!(piece["status"], "optimal");
        let from = number(piece, "from");
        assert_close(from, last, 1e-12);
        let to = piece["to"].as_f64().unwrap_or(2.0 * from);
        for price in [from, 0.5 * (from + to), to] {
            let own = number(piece, "objective_without_penalty") + price * number(piece, "weight");
            assert_close(own, best(price), 1e-8);
        }
        last = to;
    }
    assert!(pieces.len() > 2 && pieces.last().unwrap()["to"].is_null());
    assert!(support(pieces.last().unwrap()).is_empty());
    let table = sandbox.run("path s.csv --target b --l0-penalty-path");
    assert!(
        table
            .stdout
            .contains("at every price of a feature, each proved optimal"),
        "{}",
        table.stdout
    );
    let priced = sandbox.run("path s.csv --target b --l0-penalty-path --l0-factor x1=3 --json");
    assert_eq!(priced.code, Some(0), "{priced:?}");
    assert_eq!(
        sandbox
            .run("path s.csv --target b --l0-penalty-path --l0-penalty 1")
            .code,
        Some(2)
    );
}
