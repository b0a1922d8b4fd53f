//! `l0star explain`: an explanation of a model for users who have to defend it.

use crate::common::Sandbox;

fn explained(options: &str, code: i32) -> String {
    let sandbox = Sandbox::new();
    sandbox.run("generate ar -d 20 -k 3 -n 60 --rho 0.7 --snr 2 --out s.csv");
    let outcome = sandbox.run(&format!(
        "fit s.csv --target b --out m.json --quiet {options}"
    ));
    assert_eq!(outcome.code, Some(code), "{outcome:?}");
    let outcome = sandbox.run("explain m.json");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.stderr, "");
    let too_long = |line: &&str| line.chars().count() > 80 && line.contains(' ');
    assert_eq!(outcome.stdout.lines().find(too_long), None);
    // The position of line breaks depends on the numbers.
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    words.join(" ")
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no {word:?} in {text}");
    }
}

#[test]
fn a_proof_is_put_in_words_and_figures() {
    let text = explained("-k 3", 0);
    says(
        &text,
        &[
            "at most 3 of 20 features",
            "Status optimal",
            "lower bound",
            "1140 ways to choose 3 of 20",
            "C(20, 3)",
            "s.csv, 60 rows and 20 features",
            "hash ",
            "l0star fit s.csv --target b --out m.json --quiet -k 3",
            "0.001/2 times",
        ],
    );
}

#[test]
fn a_model_from_before_deviations_were_written_has_no_bars() {
    let sandbox = Sandbox::new();
    sandbox.run("generate ar -d 20 -k 3 -n 60 --rho 0.7 --snr 2 --out s.csv");
    sandbox.run("fit s.csv --target b --out m.json --quiet -k 3");
    let new = sandbox.run("explain m.json").stdout;
    assert!(new.contains("per SD") && new.contains('█'), "{new}");
    let mut file: serde_json::Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    file.as_object_mut().unwrap().shift_remove("per_sd");
    sandbox.write("old.json", file.to_string());
    let outcome = sandbox.run("explain old.json");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let old = outcome.stdout;
    assert!(old.contains("coefficient"), "{old}");
    assert!(!old.contains("per SD") && !old.contains('█'), "{old}");
}

#[test]
fn a_heuristic_proves_nothing() {
    let text = explained("-k 3 --method omp", 0);
    says(&text, &["Nothing is proved", "'omp' is a heuristic"]);
    claims_nothing(&text);
}

#[test]
fn a_limit_is_no_proof() {
    let text = explained("-k 8 --node-limit 0 --method paper", 4);
    says(&text, &["stopped at the node limit", "may exist"]);
    claims_nothing(&text);
}

/// Asserts that the text claims no proof. The tests of `l0star-report` cover all statuses; this one covers the command.
fn claims_nothing(text: &str) {
    for claim in [
        "no choice is better",
        "is better.",
        "to prove that",
        "How it was proved",
    ] {
        assert!(!text.contains(claim), "{claim:?} in {text}");
    }
}

#[test]
fn one_feature_is_singular() {
    let text = explained("-k 1", 0);
    says(&text, &["No model with at most 1 feature has"]);
    assert!(!text.contains(" 1 features"), "{text}");
}

#[test]
fn lists_gaps_and_preparations_are_told() {
    says(
        &explained("-k 2 --top 4", 0),
        &["lists the 4 best models; every other one has an objective of at least"],
    );
    says(&explained("-k 3 --gap 1", 0), &["Status gap_reached"]);
    says(
        &explained("-k 3 --standardize --loss huber --huber-delta 0.5", 0),
        &["divided by their standard deviations", "up to 0.5"],
    );
}
