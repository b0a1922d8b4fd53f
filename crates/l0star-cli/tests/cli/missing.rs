//! Missing values: counted and refused, filled in, or dropped.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support};

const DATA: &str = "\
a,b,flag,w,y
1,0.5,true,1,3.1
2,NA,false,1,1.8
,0.2,true,1,6.4
4,2,,1,12.2
5,-0.3,true,1,
6,1,false,,14.7
7,0.1,true,1,13.9
3,0.4,false,1,5.5
";

#[test]
fn they_are_counted_by_column_and_refused() {
    let sandbox = Sandbox::with("d.csv", DATA);
    sandbox.refuses(
        "fit d.csv --target y -k 1 --weights w",
        3,
        &[
            "d.csv: column 'a', line 4",
            "5 in all: a (1), b (1), flag (1), y (1), w (1)",
            "--impute mean",
            "--drop-missing",
        ],
    );
    // Unused columns may have gaps.
    sandbox.refuses(
        "fit d.csv --target y -k 1 --features b --weights w",
        3,
        &["3 in all: b (1), y (1), w (1)"],
    );
}

#[test]
fn means_are_filled_in_and_kept() {
    let data = DATA.replace("-0.3,true,1,", "-0.3,true,1,9");
    let data = data.replace("6,1,false,,", "6,1,false,1,");
    let filled = data
        .replace("2,NA", "2,0.5571428571428572")
        .replace("\n,0.2", "\n4,0.2")
        .replace("4,2,,", "4,2,0.5714285714285714,")
        .replace("true", "1")
        .replace("false", "0");
    let fit = "fit d.csv --target y -k 2 --drop w --json";
    let expected = Sandbox::with("d.csv", &filled).json(fit);
    let sandbox = Sandbox::with("d.csv", &data);
    let json = sandbox.json(&format!("{fit} --impute mean --out m.json"));
    assert_eq!(support(&json), support(&expected));
    assert_close(
        number(&json, "objective"),
        number(&expected, "objective"),
        1e-12,
    );

    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_close(file["imputed"]["a"].as_f64().unwrap(), 4.0, 1e-14);
    assert_close(file["imputed"]["flag"].as_f64().unwrap(), 4.0 / 7.0, 1e-14);
    // New rows are filled with the means of the fitted rows, not with their own.
    sandbox.write("new.csv", "a,b,flag\n100,0.5,true\n,0.5,true\n4,0.5,true\n");
    let outcome = sandbox.run("predict m.json new.csv");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[2], lines[3], "{outcome:?}");
}

#[test]
fn rows_are_dropped() {
    let whole = "a,b,flag,w,y\n1,0.5,true,1,3.1\n7,0.1,true,1,13.9\n3,0.4,false,1,5.5\n";
    let fit = "fit d.csv --target y -k 1 --weights w --json";
    let expected = Sandbox::with("d.csv", whole).json(fit);
    let sandbox = Sandbox::with("d.csv", DATA);
    let json = sandbox.json(&format!("{fit} --drop-missing --out m.json"));
    assert_eq!(json["objective"], expected["objective"]);
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(file["data"]["rows_dropped"], 5);
    assert_eq!(file["data"]["rows"], 3);

    let both = sandbox.json(&format!("{fit} --drop-missing --impute mean --out m.json"));
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(
        file["data"]["rows_dropped"], 2,
        "only target and weights are missing"
    );
    assert_ne!(both["objective"], json["objective"]);
}

#[test]
fn what_is_no_feature_is_not_filled_in() {
    Sandbox::with("d.csv", DATA).refuses(
        "fit d.csv --target y -k 1 --impute mean",
        3,
        &[
            "'y'",
            "line 6",
            "2 in all: w (1), y (1)".trim_start_matches("2 in all: w (1), "),
        ],
    );
}

#[test]
fn a_label_may_be_missing_where_rows_are_dropped() {
    let data = "a,y\n1,no\n2,yes\n3,\n4,no\n5,yes\n6,NA\n";
    let sandbox = Sandbox::with("d.csv", data);
    let fit = "fit d.csv --target y -k 1 --loss logistic";
    sandbox.refuses(fit, 3, &["line 4", "2 in all: y (2)"]);
    let json = sandbox.json(&format!("{fit} --drop-missing --json"));
    assert_eq!(json["positive_label"], "yes");
}

#[test]
fn nothing_left() {
    let sandbox = Sandbox::with("d.csv", "a,b,y\n1,,3\n,2,5\n");
    sandbox.refuses(
        "fit d.csv --target y -k 1 --drop-missing",
        3,
        &["d.csv", "every row"],
    );
    let sandbox = Sandbox::with("d.csv", "a,b,y\n1,,3\n2,NA,5\n");
    sandbox.refuses(
        "fit d.csv --target y -k 1 --impute mean",
        3,
        &["column 'b'", "no mean"],
    );
}

#[test]
fn later_messages_name_the_lines_of_the_file() {
    let data = "a,w,y\n,1,3\n2,1,5\nNA,1,6\n4,-1,8\n";
    Sandbox::with("d.csv", data).refuses(
        "fit d.csv --target y -k 1 --weights w --drop-missing",
        3,
        &["'w'", "line 5", "negative"],
    );
}
