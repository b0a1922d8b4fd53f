//! `--standardize`: one ridge for columns of every scale.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support};

/// Columns of very different scales; the sparse one is mostly zero.
const ROWS: [(f64, f64, f64, f64); 8] = [
    (1.0, 5200.0, 0.0, 3.1),
    (2.0, -1100.0, 0.001, 1.8),
    (3.0, 200.0, 0.0, 6.4),
    (4.0, 2300.0, 0.0, 12.2),
    (5.0, -300.0, 0.0, 9.1),
    (6.0, 1000.0, 0.002, 14.7),
    (7.0, 900.0, 0.0, 13.9),
    (2.5, 50.0, 0.0, 5.2),
];

fn csv(scale: [f64; 3]) -> String {
    let line = |(a, b, c, y): &(f64, f64, f64, f64)| {
        format!("{},{},{},{y}\n", a * scale[0], b * scale[1], c * scale[2])
    };
    "a,b,c,y\n".to_owned() + &ROWS.iter().map(line).collect::<String>()
}

fn fit(data: &str, options: &str) -> Value {
    Sandbox::with("d.csv", data).json(&format!(
        "fit d.csv --target y -k 2 --ridge 0.1 --json {options}"
    ))
}

#[test]
fn the_scale_of_a_column_does_not_matter() {
    let one = fit(&csv([1.0; 3]), "--standardize");
    let other = fit(&csv([1024.0, 0.0625, 8.0]), "--standardize");
    assert_eq!(support(&one), support(&other));
    assert_close(
        number(&one, "objective"),
        number(&other, "objective"),
        1e-12,
    );
    for (name, factor) in [("a", 1024.0), ("b", 0.0625), ("c", 8.0)] {
        if let Some(value) = one["coefficients"][name].as_f64() {
            let scaled = other["coefficients"][name].as_f64().unwrap();
            assert_close(value, scaled * factor, 1e-9);
        }
    }
    assert_ne!(
        number(&fit(&csv([1.0; 3]), "--no-standardize"), "objective"),
        number(&one, "objective")
    );
}

#[test]
fn it_is_the_fit_to_columns_divided_by_their_deviations() {
    let sd = |of: fn(&(f64, f64, f64, f64)) -> f64| {
        let mean = ROWS.iter().map(of).sum::<f64>() / 8.0;
        (ROWS.iter().map(|row| (of(row) - mean).powi(2)).sum::<f64>() / 8.0).sqrt()
    };
    let scales = [sd(|row| row.0), sd(|row| row.1), sd(|row| row.2)];
    let standardized = fit(&csv([1.0; 3]), "--standardize");
    let divided = fit(&csv(scales.map(|sd| 1.0 / sd)), "--no-standardize");
    assert_eq!(support(&standardized), support(&divided));
    assert_close(
        number(&standardized, "objective"),
        number(&divided, "objective"),
        1e-9,
    );
    for (name, sd) in ["a", "b", "c"].iter().zip(scales) {
        if let Some(value) = standardized["coefficients"][name].as_f64() {
            let scaled = divided["coefficients"][name].as_f64().unwrap();
            assert_close(value, scaled / sd, 1e-8);
        }
    }
}

#[test]
fn sparse_files_agree_with_dense_ones() {
    let mut libsvm = String::new();
    for (a, b, c, y) in ROWS {
        libsvm += &format!("{y} 1:{a} 2:{b}");
        if c != 0.0 {
            libsvm += &format!(" 3:{c}");
        }
        libsvm += "\n";
    }
    let sandbox = Sandbox::with("d.svm", libsvm);
    let sparse = sandbox.json("fit d.svm --target b -k 2 --ridge 0.1 --json --standardize");
    let dense = fit(&csv([1.0; 3]), "--standardize");
    assert_close(
        number(&sparse, "objective"),
        number(&dense, "objective"),
        1e-12,
    );
}

#[test]
fn the_model_predicts_on_the_scale_of_the_data() {
    let sandbox = Sandbox::with("d.csv", csv([1.0; 3]));
    let json = sandbox
        .json("fit d.csv --target y -k 2 --ridge 0.1 --json --standardize --top 2 --out m.json");
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(file["standardize"], true);
    let scales = file["scales"].as_object().unwrap();
    assert_eq!(scales.len(), support(&json).len());
    assert_eq!(
        json["solutions"][0]["coefficients"], json["coefficients"],
        "lists are on the same scale"
    );
    let outcome = sandbox.run("predict m.json d.csv --residuals");
    let residual = |line: &str| line.split(',').next_back().unwrap().parse::<f64>().unwrap();
    let sum: f64 = outcome.stdout.lines().skip(1).map(residual).sum();
    assert!(sum.abs() < 1e-9, "an intercept leaves no mean: {sum}");
}

#[test]
fn a_constant_column_is_left_as_it_is() {
    let data = csv([1.0; 3]).replace(",y", ",d,y").replace('\n', ",7\n");
    let data = data.replace("d,y,7", "y,d");
    let json = Sandbox::with("d.csv", data)
        .json("fit d.csv --target y -k 4 --ridge 0.1 --json --standardize");
    assert_eq!(json["status"], "optimal");
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(warning.contains("column 'd' is constant"), "{warning}");
}
