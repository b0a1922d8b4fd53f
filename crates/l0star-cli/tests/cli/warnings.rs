//! Warnings about data that a fit can use but that make its result doubtful.

use crate::common::Sandbox;

fn warnings(data: &str, options: &str) -> Vec<String> {
    let sandbox = Sandbox::with("d.csv", data);
    let json = sandbox.json(&format!("fit d.csv --target y --json {options}"));
    let listed = json["warnings"].as_array().unwrap().iter();
    let listed: Vec<String> = listed
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    let outcome = sandbox.run(&format!("fit d.csv --target y {options}"));
    let printed: String = listed
        .iter()
        .map(|text| format!("warning: {text}\n"))
        .collect();
    assert_eq!(outcome.stderr, printed, "on standard error too");
    let quiet = sandbox.run(&format!("fit d.csv --target y --quiet {options}"));
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    listed
}

fn warns(data: &str, options: &str, words: &[&str]) {
    let found = warnings(data, options);
    assert_eq!(found.len(), 1, "{found:?}");
    for word in words {
        assert!(found[0].contains(word), "no {word:?} in {found:?}");
    }
}

const GOOD: &str = "a,b,y\n1,2,3\n2,1,5\n4,3,8\n3,5,7\n";

#[test]
fn good_data_need_no_warning() {
    assert_eq!(warnings(GOOD, "-k 1"), Vec::<String>::new());
}

#[test]
fn scales_far_apart() {
    let data = "a,b,y\n1,2000,3\n2,-9000,5\n4,33000,8\n3,5000,7\n";
    let words = ["'a'", "'b'", "factor of", "--no-standardize"];
    warns(data, "-k 1 --no-standardize", &words);
    assert_eq!(warnings(data, "-k 1"), Vec::<String>::new());
}

#[test]
fn more_features_than_there_are_or_than_rows_can_tell_apart() {
    warns(GOOD, "-k 3", &["k is 3", "number of features (2)"]);
    let data = "a,b,c,y\n1,2,3,4\n2,1,5,1\n4,4,1,9\n";
    warns(data, "-k 3", &["k is 3", "3 rows", "smaller k"]);
}

#[test]
fn copies_and_constants() {
    let data = "a,b,twice,y\n1,2,2,3\n2,1,4,5\n4,3,8,8\n3,5,6,7\n";
    warns(data, "-k 1", &["'a' and 'twice'", "names the alternatives"]);
    let data = "a,b,c,y\n1,2,7,3\n2,1,7,5\n4,3,7,8\n3,5,7,7\n";
    warns(data, "-k 1", &["column 'c' is constant", "--drop"]);
}
