//! The effect of each option of `fit` on the problem.

use crate::common::{Sandbox, assert_close, number, support};

/// Six rows in which `y` depends on `a` and `b`; `c` is noise and `t` is text.
const DATA: &str = "\
a,b,c,t,w,o,y
1,0.5,2,u,1,0.5,3.1
2,-1,1,v,1,0.1,1.8
3,0.2,5,u,2,0.3,6.4
4,2,3,v,1,0.9,12.2
5,-0.3,4,u,0,0.2,9.1
6,1,1,u,1,0.4,14.7
";

fn sandbox() -> Sandbox {
    Sandbox::with("d.csv", DATA)
}

#[test]
fn exclude_drops_features_even_columns_of_text() {
    let fit = "fit d.csv --target y --json --exclude";
    let all = sandbox().json(&format!("{fit} t,w,o -k 3"));
    assert_eq!(support(&all), ["a", "b", "c"]);
    let some = sandbox().json(&format!("{fit} t,a --exclude w,o -k 3"));
    assert_eq!(support(&some), ["b", "c"]);
}

#[test]
fn weights_and_offset_are_no_features() {
    let json =
        sandbox().json("fit d.csv --target y --weights w --offset o --exclude t -k 9 --json");
    assert_eq!(support(&json), ["a", "b", "c"]);
}

#[test]
fn a_row_of_weight_two_counts_as_two_rows() {
    let weighted = sandbox().json("fit d.csv --target y --weights w --exclude t,o -k 2 --json");
    let rows: Vec<&str> = DATA.lines().collect();
    let repeated = [
        rows[0], rows[1], rows[2], rows[3], rows[3], rows[4], rows[6],
    ]
    .join("\n");
    let plain =
        Sandbox::with("d.csv", repeated).json("fit d.csv --target y --exclude t,o,w -k 2 --json");
    assert_eq!(support(&weighted), support(&plain));
    assert_close(
        number(&weighted, "objective"),
        number(&plain, "objective"),
        1e-9,
    );
}

#[test]
fn an_offset_shifts_the_predictions() {
    let fit = "fit d.csv --target y --exclude t,w -k 2 --json";
    let shifted = sandbox().json(&format!("{fit} --offset o"));
    // A constant target is fine when the offset varies.
    let text = "a,o,y\n1,1,2\n2,3,2\n4,2,2\n";
    let json = Sandbox::with("c.csv", text).json("fit c.csv --target y --offset o -k 1 --json");
    assert_eq!(support(&json), ["a"]);
    assert_ne!(number(&shifted, "objective"), 0.0);
}

#[test]
fn interactions_come_before_exclusion() {
    let fit = "fit d.csv --target y --weights w --offset o --interactions --json -k 20 --exclude";
    let all = sandbox().json(&format!("{fit} t"));
    let mut names = support(&all);
    assert_eq!(
        names,
        ["a", "b", "c", "a:b", "a:c", "b:c", "a^2", "b^2", "c^2"]
    );
    let some = sandbox().json(&format!("{fit} t,a:b,c^2,b"));
    names.retain(|name| !["a:b", "c^2", "b"].contains(name));
    assert_eq!(support(&some), names);
}

#[test]
fn no_intercept_means_zero() {
    let fit = "fit d.csv --target y --exclude t,w,o -k 2 --json";
    assert_ne!(number(&sandbox().json(fit), "intercept"), 0.0);
    let without = sandbox().json(&format!("{fit} --no-intercept"));
    assert_eq!(without["intercept"], 0.0);
}

#[test]
fn a_k_of_zero_is_the_null_model() {
    let json = sandbox().json("fit d.csv --target y --exclude t,w,o -k 0 --json");
    assert_eq!(support(&json), [""; 0]);
    assert_eq!(json["status"], "optimal");
    assert_close(
        number(&json, "intercept"),
        (3.1 + 1.8 + 6.4 + 12.2 + 9.1 + 14.7) / 6.0,
        1e-9,
    );
}

#[test]
fn a_larger_ridge_shrinks_and_a_larger_k_improves() {
    let fit = |options: &str| {
        let fit = "fit d.csv --target y --exclude t,w,o --json";
        number(&sandbox().json(&format!("{fit} {options}")), "objective")
    };
    assert!(fit("-k 2") <= fit("-k 1"));
    assert!(fit("-k 2 --ridge 1e-3") < fit("-k 2 --ridge 1"));
}

#[test]
fn a_gap_that_is_reached_is_a_success() {
    let fit = "fit d.csv --target y --exclude t,w,o -k 2 --gap 100 --json";
    let json = sandbox().json(fit);
    assert!(json["status"] == "gap_reached" || json["status"] == "optimal");
    assert!(number(&json, "gap") <= 100.0);
}

#[test]
fn any_two_labels_do_and_their_names_are_kept() {
    for (negative, positive) in [("no", "yes"), ("0", "1"), ("-1", "1"), ("2", "10")] {
        let mut text = String::from("a,b,y\n");
        for (a, b, class) in [
            (1.0, 0.3, 0),
            (2.0, -1.0, 0),
            (2.5, 0.7, 1),
            (3.0, 0.1, 0),
            (4.0, -0.4, 1),
            (5.0, 0.9, 1),
        ] {
            let label = [negative, positive][class];
            text += &format!("{a},{b},{label}\n");
        }
        let sandbox = Sandbox::with("d.csv", text);
        for loss in ["logistic", "squared-hinge"] {
            let fit = format!("fit d.csv --target y -k 1 --loss {loss}");
            let json = sandbox.json(&format!("{fit} --json"));
            assert_eq!(json["positive_label"], positive);
            assert_eq!(
                json.as_object().unwrap().keys().next_back().unwrap(),
                "positive_label"
            );
            assert_eq!(support(&json), ["a"]);
            assert!(json["coefficients"]["a"].as_f64().unwrap() > 0.0);
            let table = sandbox.run(&fit);
            assert!(table.stdout.contains(&format!("'{positive}'")), "{table:?}");
        }
    }
}

#[test]
fn the_huber_delta_matters() {
    let fit = |delta: &str| {
        let arguments = format!(
            "fit d.csv --target y --exclude t,w,o -k 1 --loss huber --huber-delta {delta} --json"
        );
        number(&sandbox().json(&arguments), "objective")
    };
    assert!(fit("0.1") < fit("1"));
    let quadratic = "fit d.csv --target y --exclude t,w,o -k 1 --json";
    assert_close(
        fit("1000"),
        number(&sandbox().json(quadratic), "objective"),
        1e-9,
    );
}
