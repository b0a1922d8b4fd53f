//! Names from files cannot control the terminal: invisible characters are spelt out wherever names are shown.

use std::path::Path;

use crate::common::{Outcome, Sandbox};

/// A name with an escape for red, a mark that reverses the text, and a line that looks like one of our errors.
const NAME: &str = "a\x1b[31m\u{202e}\nerror: z";
const SHOWN: &str = r"a\u{1b}[31m\u{202e}\nerror: z";

fn sandbox() -> Sandbox {
    let mut text = format!("\"{NAME}\",x2,x3,\"y\u{2066}\"\n");
    for i in 0..24 {
        let (a, b, c) = (i % 5, i * i % 7, i % 3);
        let label = if a + b > 4 { "yes\u{9b}" } else { "no\t!" };
        text += &format!("{a},{b},{c},\"{label}\"\n");
    }
    Sandbox::with("d\u{200f}.csv", text)
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    let mut command = sandbox.command("");
    command.args(arguments);
    let outcome: Outcome = command.output().expect("start the command").into();
    for text in [&outcome.stdout, &outcome.stderr] {
        let hidden = |c: char| {
            (c.is_control() && c != '\n') || matches!(c, '\u{200f}' | '\u{202e}' | '\u{2066}')
        };
        assert!(!text.contains(hidden), "{arguments:?}: {text:?}");
        assert!(!text.contains("\nerror: z"), "{arguments:?}: {text:?}");
    }
    outcome
}

const TASK: [&str; 5] = [
    "d\u{200f}.csv",
    "--target",
    "y\u{2066}",
    "--loss",
    "logistic",
];

fn with<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command], &TASK[..], more].concat()
}

#[test]
fn no_command_shows_what_cannot_be_seen() {
    let sandbox = sandbox();
    let fit = [
        "-k", "2", "--top", "3", "--prices", "--log", "--out", "m.json",
    ];
    let fit = run(&sandbox, &with("fit", &fit));
    assert_eq!(fit.code, Some(0), "{fit:?}");
    assert!(fit.stdout.contains(SHOWN) && fit.stdout.contains(r"label 'yes\u{9b}'"));
    let path = run(&sandbox, &with("path", &["-k", "2"]));
    assert!(path.stdout.contains(SHOWN), "{path:?}");
    run(&sandbox, &with("cv", &["-k", "1,2", "--folds", "2"]));
    let explained = run(&sandbox, &["explain", "m.json"]);
    assert!(
        explained.stdout.contains(r"Data: d\u{200f}.csv"),
        "{explained:?}"
    );
    let inspected = run(&sandbox, &["inspect", "d\u{200f}.csv"]);
    assert!(
        inspected.stdout.starts_with(r"d\u{200f}.csv: "),
        "{inspected:?}"
    );
}

#[test]
fn no_error_and_no_warning_shows_what_cannot_be_seen() {
    let sandbox = sandbox();
    let refused = |arguments: &[&str], code: i32, words: &str| {
        let outcome = run(&sandbox, arguments);
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        assert!(outcome.stderr.contains(words), "{outcome:?}");
    };
    refused(&["inspect", "\x1b[2J.csv"], 3, r"'\u{1b}[2J.csv'");
    refused(&["inspect", "--delimiter", "\x1b[2J", "x"], 2, r"\u{1b}[2J");
    refused(&["\u{202e}fit"], 2, r"\u{202e}fit");
    refused(
        &with("fit", &["-k", "1", "--include", "\x1bx2"]),
        3,
        r"'\u{1b}x2'",
    );
    refused(
        &with("fit", &["-k", "1", "--group", "g\x07=x2,x2"]),
        2,
        "error",
    );
    // The engine's errors name columns too.
    let bounds = format!("{NAME}=1:2");
    refused(
        &with("fit", &["-k", "1", "--bounds", &bounds]),
        2,
        r"\u{1b}[31m",
    );
}

#[test]
fn json_and_model_files_keep_names_as_they_are() {
    let sandbox = sandbox();
    let fit = with(
        "fit",
        &["-k", "1", "--include", "x2", "--json", "--out", "m.json"],
    );
    let json = run_json(&sandbox, &fit);
    assert_eq!(json["positive_label"], "yes\u{9b}");
    let model: serde_json::Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(model["features"][0], NAME);
    assert!(Path::new(model["data"]["file"].as_str().unwrap()).ends_with("d\u{200f}.csv"));
}

fn run_json(sandbox: &Sandbox, arguments: &[&str]) -> serde_json::Value {
    let mut command = sandbox.command("");
    command.args(arguments);
    let outcome: Outcome = command.output().expect("start the command").into();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}
