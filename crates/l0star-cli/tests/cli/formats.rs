//! Files of every format through all commands.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::common::{Sandbox, without_seconds};

const KINDS: [&str; 11] = [
    "csv", "tsv", "csv.gz", "csv.zst", "npy", "npz", "parquet", "arrow", "feather", "libsvm",
    "svm.gz",
];

fn is_built(extension: &str) -> bool {
    cfg!(feature = "parquet") || !["parquet", "arrow", "feather"].contains(&extension)
}

fn is_sparse(extension: &str) -> bool {
    ["libsvm", "svm.gz"].contains(&extension)
}

const FIT: &str = "--target b -k 3 --loss huber --method paper --json";

fn from_stdin(sandbox: &Sandbox, arguments: &str, bytes: &[u8]) -> crate::common::Outcome {
    let mut child = sandbox
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the command");
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn the_same_data_give_the_same_result_in_every_format_and_from_a_pipe() {
    let sandbox = Sandbox::new();
    let mut first: Option<Value> = None;
    for extension in KINDS.into_iter().filter(|extension| is_built(extension)) {
        let file = format!("h.{extension}");
        let made = sandbox.run(&format!("generate huber -d 30 -k 3 -n 60 --out {file}"));
        assert_eq!(made.code, Some(0), "{extension}: {made:?}");
        let result = without_seconds(sandbox.json(&format!("fit {file} {FIT}")));
        let expected = first.get_or_insert(result.clone());
        if is_sparse(extension) {
            // Sparse columns are summed in another order, so the last digits differ.
            assert_eq!(result["support"], expected["support"], "{extension}");
            let (found, dense) = (&result["objective"], &expected["objective"]);
            let difference = found.as_f64().unwrap() / dense.as_f64().unwrap() - 1.0;
            assert!(difference.abs() < 1e-12, "{extension}: {difference}");
        } else {
            assert_eq!(result, *expected, "{extension}");
        }
        let piped = from_stdin(&sandbox, &format!("fit - {FIT}"), &sandbox.read(&file));
        assert_eq!(piped.code, Some(0), "{extension}: {piped:?}");
        assert_eq!(without_seconds(piped.json()), result, "{extension} piped");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_every_format() {
    let sandbox = Sandbox::new();
    for extension in KINDS.into_iter().filter(|extension| is_built(extension)) {
        let write = |name: &str| {
            let file = format!("{name}.{extension}");
            sandbox.run(&format!("generate ar -d 9 -k 2 -n 20 --out {file}"));
            sandbox.read(&file)
        };
        assert_eq!(write("one"), write("two"), "{extension}");
    }
}

#[test]
fn a_pipe_that_is_empty_is_refused_by_name() {
    let sandbox = Sandbox::new();
    let outcome = from_stdin(&sandbox, "fit - --target y -k 1", b"");
    assert_eq!(outcome.code, Some(3));
    assert!(
        outcome.stderr.contains("'standard input' is empty"),
        "{outcome:?}"
    );
}

#[test]
fn the_reader_can_be_told() {
    let sandbox = Sandbox::with("d.txt", "1,5;2;3\n2,5;1;5\n4;3;8,5\n3;5;7\n");
    let json =
        sandbox.json("fit d.txt --delimiter ; --decimal-comma --no-header --target c3 -k 1 --json");
    assert_eq!(json["status"], "optimal");
    sandbox.write("e.csv", "2010,2020\n1,2\n2,3\n4,9\n");
    let json = sandbox.json("fit e.csv --header --target 2020 -k 1 --json");
    assert_eq!(json["support"][0], "2010");
    sandbox.refuses(
        "fit e.csv --target 2020 -k 1",
        3,
        &["no column '2020'", "c1, c2", "has no names"],
    );
    sandbox.refuses(
        "fit e.csv --format parquet --target 2020 -k 1",
        3,
        &["e.csv", "as a Parquet file"],
    );
    sandbox.refuses(
        "fit e.csv --format xlsx --target y -k 1",
        2,
        &["'xlsx'", "parquet"],
    );
    sandbox.refuses(
        "fit e.csv --delimiter ab --target y -k 1",
        2,
        &["'ab'", "one ASCII"],
    );
    sandbox.refuses(
        "fit e.csv --delimiter 1 --target y -k 1",
        2,
        &["delimiter", "'1'"],
    );
    sandbox.refuses(
        "fit e.csv --header --no-header --target y -k 1",
        2,
        &["--no-header"],
    );
}

#[test]
fn columns_are_chosen_by_name_pattern_and_number() {
    let text = "id,x1,x2,\"a,b\",z,y\n1,1,2,3,9,3\n2,2,1,5,1,5\n3,4,3,1,4,8\n4,3,5,2,6,7\n";
    let sandbox = Sandbox::with("d.csv", text);
    let features = |options: &[&str]| {
        let mut command = sandbox.command("fit d.csv --target y -k 6 --json");
        let output = command.args(options).output().unwrap();
        let outcome = crate::common::Outcome::from(output);
        assert_eq!(outcome.code, Some(0), "{options:?}: {outcome:?}");
        crate::common::support(&outcome.json()).join(" ")
    };
    assert_eq!(features(&["--features", "x*"]), "x1 x2");
    assert_eq!(features(&["--features", "5,2-3"]), "x1 x2 z");
    assert_eq!(features(&["--features", "\"a,b\",z"]), "a,b z");
    assert_eq!(features(&["--drop", "id,z,4"]), "x1 x2");
    assert_eq!(features(&["--features", "*", "--drop", "x?"]), "id a,b z");
}

#[test]
fn choices_that_mean_nothing_are_refused() {
    let sandbox = Sandbox::with("d.csv", "age,height,y\n1,2,3\n2,1,5\n4,3,8\n");
    for (options, code, words) in [
        (
            "--features hieght",
            3,
            &["no column 'hieght'", "did you mean 'height'"][..],
        ),
        ("--drop q*", 3, &["'q*' chooses no column"]),
        ("--drop 9", 3, &["'9' chooses no column", "from 1 to 3"]),
        ("--features age,y", 2, &["'y'", "--target", "--features"]),
        ("--drop y", 2, &["'y'", "--target", "--drop"]),
        ("--drop *e*", 2, &["leave no features"]),
        ("--features ,", 2, &["names no column"]),
        ("--feature age", 2, &["--feature", "--features"]),
    ] {
        sandbox.refuses(&format!("fit d.csv --target y -k 1 {options}"), code, words);
    }
}

#[test]
fn a_file_that_lies_about_its_kind_is_read_for_what_it_is() {
    let sandbox = Sandbox::with("d.parquet", "a,b,y\n1,2,3\n2,1,5\n4,3,8\n");
    sandbox.json("fit d.parquet --target y -k 1 --json");
    sandbox.write("d.npy", b"\x00\x01");
    sandbox.refuses(
        "fit d.npy --target y -k 1",
        3,
        &[
            "'d.npy'",
            "named like a NumPy matrix",
            "does not start like one",
        ],
    );
}

#[test]
fn a_wide_sparse_file_is_solved_without_its_zeros() {
    // As a dense matrix it would take 64 GB.
    let sandbox = Sandbox::with("d.svm", "1 1:1\n-1 2000000:2\n".repeat(2000));
    let all = sandbox.json("fit d.svm --target b --loss logistic -k 1 --json --no-standardize");
    assert_eq!(all["status"], "optimal");
    assert_eq!(all["support"], serde_json::json!(["x2000000"]));
}

#[cfg(feature = "parquet")]
#[test]
fn a_damaged_file_is_one_error_and_no_panic() {
    let sandbox = Sandbox::new();
    for extension in ["arrow", "parquet"] {
        sandbox.run(&format!("generate ar -d 3 -k 1 -n 4 --out h.{extension}"));
        let whole = sandbox.read(&format!("h.{extension}"));
        for at in (0..whole.len()).step_by(whole.len() / 40) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x7f;
            sandbox.write("d", &bytes);
            let outcome = sandbox.run("inspect d");
            assert!(
                matches!(outcome.code, Some(0 | 3)),
                "{extension} {at}: {outcome:?}"
            );
            assert!(
                outcome.stderr.lines().count() <= 1,
                "{extension} {at}: {outcome:?}"
            );
        }
    }
}
