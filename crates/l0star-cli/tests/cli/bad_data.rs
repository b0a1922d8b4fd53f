//! Data that form no valid problem: exit code 3, and a message that names the place.

use crate::common::Sandbox;

const GOOD: &str = "a,b,y\n1,2,3\n2,1,5\n4,3,8\n3,5,7\n";

fn refuses(content: impl AsRef<[u8]>, words: &[&str]) {
    Sandbox::with("d.csv", content).refuses("fit d.csv --target y -k 1", 3, words);
}

fn refuses_labels(content: &str, words: &[&str]) {
    let arguments = "fit d.csv --target y -k 1 --loss logistic";
    Sandbox::with("d.csv", content).refuses(arguments, 3, words);
}

#[test]
fn a_missing_cell() {
    for cell in ["NaN", "", "NA"] {
        let text = format!("a,b,y\n1,2,3\n2,{cell},5\n");
        refuses(text, &["d.csv", "'b'", "line 3", &format!("'{cell}'")]);
    }
}

#[test]
fn an_infinite_cell() {
    refuses(
        "a,b,y\n1,2,3\n2,1,5\n-inf,1,5\n",
        &["d.csv", "'a'", "line 4", "'-inf'", "not finite"],
    );
}

#[test]
fn text_among_numbers() {
    refuses(
        "a,b,y\n1,2,3\n2,high,5\n3,7,5\n",
        &["'b'", "line 3", "'high'", "--as-number b"],
    );
}

#[test]
fn text_in_the_target() {
    refuses("a,y\n1,3\n2,high\n", &["'y'", "line 3", "'high'"]);
}

#[test]
fn two_labels_where_numbers_are_needed() {
    let labels = "a,y\n1,malignant\n2,benign\n3,benign\n4,malignant\n";
    let words = [
        "d.csv: the target 'y' has two labels, 'benign' and 'malignant'",
        "use --loss logistic",
    ];
    let sandbox = Sandbox::with("d.csv", labels);
    for command in [
        "fit d.csv --target y -k 1",
        "path d.csv --target y",
        "cv d.csv --target y",
    ] {
        sandbox.refuses(command, 3, &words);
    }
    sandbox.refuses(
        "fit d.csv --target y -k 1 --loss huber",
        3,
        &["the loss 'huber' needs numbers"],
    );
    sandbox.json("fit d.csv --target y -k 1 --loss logistic --json --quiet");
    // Booleans count as numbers.
    let truths = Sandbox::with("d.csv", "a,y\n1,true\n2,false\n3,false\n4,true\n");
    truths.json("fit d.csv --target y -k 1 --json --quiet");
}

#[test]
fn a_ragged_row() {
    refuses(
        "a,b,y\n1,2,3\n2,1\n4,3,8\n",
        &["d.csv", "line 3", "2 cells", "3"],
    );
}

#[test]
fn a_target_that_is_not_there() {
    let text = "age,height,Weight\n1,2,3\n2,1,5\n";
    Sandbox::with("d.csv", text).refuses(
        "fit d.csv --target weight -k 1",
        3,
        &[
            "d.csv: there is no column 'weight'",
            "did you mean 'Weight'",
            "age, height, Weight",
        ],
    );
}

#[test]
fn a_target_without_features() {
    refuses("y\n1\n2\n", &["d.csv", "'y'", "no features"]);
}

#[test]
fn a_constant_target() {
    refuses(
        "a,b,y\n1,2,3\n2,1,3\n4,3,3\n",
        &["d.csv", "'y'", "is 3 in every row"],
    );
}

#[test]
fn a_target_that_varies_only_where_the_weight_is_zero() {
    let text = "a,w,y\n1,1,3\n2,0,9\n4,1,3\n";
    Sandbox::with("d.csv", text).refuses(
        "fit d.csv --target y -k 1 --weights w",
        3,
        &["'y'", "is 3 in every row"],
    );
}

#[test]
fn one_label() {
    refuses_labels(
        "a,y\n1,yes\n2,yes\n3,yes\n",
        &["d.csv: column 'y'", "'yes'", "two labels"],
    );
}

#[test]
fn one_label_where_the_weight_is_positive() {
    let text = "a,w,y\n1,1,no\n2,0,yes\n3,1,no\n";
    Sandbox::with("d.csv", text).refuses(
        "fit d.csv --target y -k 1 --loss logistic --weights w",
        3,
        &["d.csv", "'y'", "'no'", "positive weight"],
    );
}

#[test]
fn three_labels() {
    refuses_labels(
        "a,y\n1,red\n2,blue\n3,green\n",
        &["d.csv: column 'y'", "3 labels", "blue, green, red"],
    );
}

#[test]
fn a_missing_label() {
    refuses_labels("a,y\n1,yes\n2,\n3,no\n", &["'y'", "line 3"]);
}

#[test]
fn an_empty_file() {
    refuses("", &["d.csv", "empty"]);
}

#[test]
fn a_header_without_rows() {
    refuses("a,b,y\n", &["d.csv", "no rows"]);
}

#[test]
fn a_file_without_a_header() {
    refuses(
        "1.5,2,3\n4,5,6\n",
        &["no column 'y'", "c1, c2, c3", "has no names"],
    );
}

#[test]
fn a_folder() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.refuses("fit folder --target y -k 1", 3, &["'folder'", "folder"]);
}

#[test]
fn a_file_that_is_not_there() {
    let sandbox = Sandbox::new();
    sandbox.refuses("fit no.csv --target y -k 1", 3, &["cannot read 'no.csv'"]);
}

#[test]
fn binary_junk() {
    let junk: Vec<u8> = (0..2000u32).map(|i| (i * 167 % 256) as u8).collect();
    refuses(&junk, &["d.csv", "not a text file"]);
    Sandbox::with("d.npy", &junk).refuses("fit d.npy --target b -k 1", 3, &["d.npy"]);
}

#[test]
fn a_negative_weight() {
    let text = "a,w,y\n1,1,3\n2,-0.5,5\n4,1,8\n";
    Sandbox::with("d.csv", text).refuses(
        "fit d.csv --target y -k 1 --weights w",
        3,
        &["d.csv", "'w'", "line 3", "-0.5", "negative"],
    );
}

#[test]
fn weights_that_are_all_zero() {
    let text = "a,w,y\n1,0,3\n2,0,5\n";
    Sandbox::with("d.csv", text).refuses(
        "fit d.csv --target y -k 1 --weights w",
        3,
        &["d.csv", "positive weight"],
    );
}

#[test]
fn columns_of_weights_offset_and_exclusions_that_are_not_there() {
    let sandbox = Sandbox::with("d.csv", GOOD);
    for option in [
        "--weights wt",
        "--offset wt",
        "--exclude wt",
        "--exclude a,wt",
    ] {
        let arguments = format!("fit d.csv --target y -k 1 {option}");
        sandbox.refuses(
            &arguments,
            3,
            &["d.csv: there is no column 'wt'", "a, b, y"],
        );
    }
    sandbox.refuses(
        "fit d.csv --target y -k 1 --interactions --exclude a:c",
        3,
        &["d.csv: there is no column 'a:c'", "a:b"],
    );
}

#[test]
fn numbers_that_overflow() {
    refuses(
        "a,y\n1e300,3\n1e200,5\n",
        &["row 1", "column 'a'", "leave the range of double precision"],
    );
    let text = "a,b,y\n1e200,1e200,3\n1,2,5\n";
    Sandbox::with("d.csv", text).refuses(
        "fit d.csv --target y -k 1 --interactions",
        3,
        &["d.csv: column 'a:b'", "row 1", "'inf'"],
    );
}
