//! A cross-validation that is stopped in any way resumes from its checkpoint.

use l0star::BatchCheckpoint;
use serde_json::Value;

use crate::common::{Sandbox, assert_close};
#[cfg(unix)]
use crate::stopped::Listened;
use crate::stopped::{
    aborted_again_and_again, assert_same_model, damaged_ones_are_refused, small, write_other_data,
};

/// Six searches on folds and one on all rows.
const CV: &str = "cv s.csv --target b -k 4,5 --folds 3 --ridge 2e-2 --json";
const ON_FOLDS: usize = 6;

/// Returns small searches that were stopped before they were finished, with their checkpoint in `c`.
fn stopped() -> Sandbox {
    let sandbox = crate::stopped::stopped(SMALL, 5);
    let finished = left(&sandbox).finished().len();
    assert!((1..24).contains(&finished), "{finished}");
    sandbox
}

const SMALL: &str = "cv s.csv --target b -k 0-5 --ridge 0.01,0.02 --folds 2 --threads 1 --json";

fn left(sandbox: &Sandbox) -> BatchCheckpoint {
    BatchCheckpoint::decode(&sandbox.read("c")).unwrap()
}

/// Asserts that two runs have the same scores, choice and model.
fn assert_same(found: &Value, truth: &Value) {
    for field in ["k", "ridge", "rule", "best", "folds", "fold_rows"] {
        assert_eq!(found[field], truth[field], "{field}");
    }
    let candidates = |of: &Value| of["candidates"].as_array().unwrap().clone();
    let (all, expected) = (candidates(found), candidates(truth));
    assert_eq!(all.len(), expected.len());
    for (found, truth) in all.iter().zip(&expected) {
        let scores = |of: &Value| of["scores"].as_array().unwrap().clone();
        let (scores, expected) = (scores(found), scores(truth));
        assert_eq!(scores.len(), expected.len());
        for (score, truth) in scores.iter().zip(&expected) {
            assert_close(score.as_f64().unwrap(), truth.as_f64().unwrap(), 1e-12);
        }
    }
    assert_same_model(&found["model"], &truth["model"]);
}

#[test]
fn a_cross_validation_aborted_again_and_again_loses_nothing() {
    let sandbox = small();
    for threads in [1, 2] {
        let cv = format!("{CV} --threads {threads}");
        let truth = sandbox.json(&format!("{cv} --checkpoint c"));
        let whole = left(&sandbox).nodes();
        std::fs::remove_file(sandbox.path("c")).unwrap();
        let (mut nodes, mut finished) = (0, Vec::new());
        let (mut in_folds, mut in_last) = (0, 0);
        let (found, _) = aborted_again_and_again(&sandbox, &cv, |_| {
            let left = left(&sandbox);
            assert!(left.nodes() >= nodes, "{} after {nodes}", left.nodes());
            assert!(finished.iter().all(|at| left.finished().contains(at)));
            (nodes, finished) = (left.nodes(), left.finished());
            if finished.len() >= ON_FOLDS {
                in_last += 1
            } else {
                in_folds += 1
            }
        });
        assert_same(&found, &truth);
        // With two threads the order of the checkpoints varies.
        if threads == 1 {
            assert!(in_folds > 5 && in_last > 0, "{in_folds}, and {in_last}");
            // Finished work is not repeated. Warm starts are rounded in the checkpoint.
            let nodes = left(&sandbox).nodes();
            assert!(nodes <= whole * 21 / 20, "{nodes} for {whole}");
        }
        std::fs::remove_file(sandbox.path("c")).unwrap();
    }
}

#[test]
fn a_cross_validation_goes_on_where_limits_stopped_it() {
    let sandbox = stopped();
    let truth = sandbox.json(SMALL);
    let found = sandbox.json(&format!("{SMALL} --resume c --checkpoint d"));
    assert_same(&found, &truth);
    // Finished results are available at once.
    let again = sandbox.json(&format!("{SMALL} --resume d --node-limit 0"));
    assert_same(&again, &found);
    assert_eq!(again["candidates"], found["candidates"]);
}

#[test]
fn a_cross_validation_over_prices_goes_on_where_limits_stopped_it() {
    let prices = SMALL.replace("-k 0-5", "--l0-penalty 0.02,0.1,1000");
    let sandbox = crate::stopped::stopped(&prices, 5);
    let finished = left(&sandbox).finished().len();
    assert!((1..12).contains(&finished), "{finished}");
    let truth = sandbox.json(&prices);
    let found = sandbox.json(&format!("{prices} --resume c --checkpoint d"));
    assert_same(&found, &truth);
    assert_eq!(found["l0_penalty"], truth["l0_penalty"]);
    let again = sandbox.json(&format!("{prices} --resume d --node-limit 0"));
    assert_eq!(again["candidates"], found["candidates"]);
    let other = prices.replace("0.02,", "");
    let words = ["with l0_penalty = 0.02,0.1,1000", "it is 0.1,1000:"];
    sandbox.refuses(&format!("{other} --resume c"), 2, &words);
}

#[test]
fn two_hundred_damaged_cross_validations_are_refused() {
    damaged_ones_are_refused(&stopped(), SMALL);
}

#[test]
fn another_cross_validation_is_refused() {
    let sandbox = stopped();
    write_other_data(&sandbox);
    for (from, to, code, words) in [
        (
            "s.csv",
            "o.csv",
            3,
            ["c: the checkpoint cannot be resumed", "other data"],
        ),
        (
            "--folds 2",
            "--folds 3",
            2,
            [
                "c: the checkpoint was made with folds = 2, and now it is 3",
                "",
            ],
        ),
        (
            "-k 0-5",
            "-k 0-4",
            2,
            ["with sizes = 0,1,2,3,4,5", "it is 0,1,2,3,4:"],
        ),
        (
            "0.01,0.02",
            "0.01",
            2,
            ["with ridge = 0.01,0.02", "it is 0.01:"],
        ),
        (
            "--json",
            "--l0-penalty 1",
            2,
            ["with l0_penalty = ", "it is 1:"],
        ),
        ("--json", "--seed 2", 2, ["with seed = 1", "it is 2:"]),
        (
            "--json",
            "--score mae",
            2,
            ["with score = r2", "it is mae:"],
        ),
        (
            "--json",
            "--best",
            2,
            ["with rule = one_standard_error", "it is best:"],
        ),
        (
            "--json",
            "--loss huber",
            2,
            ["with loss = quadratic", "huber"],
        ),
        ("--json", "--gap 0.5", 2, ["with gap = 0", "it is 0.5"]),
        (
            "--json",
            "--no-intercept",
            3,
            ["c: the checkpoint", "other data"],
        ),
        (
            "--json",
            "--method paper",
            2,
            ["--resume belong to --method best-first", "paper"],
        ),
    ] {
        let cv = SMALL.replace(from, to);
        assert_ne!(cv, SMALL);
        sandbox.refuses(&format!("{cv} --resume c"), code, &words);
    }
    let words = [
        "c: the checkpoint",
        "it belongs to many searches (cross-validation), and this is a path",
    ];
    sandbox.refuses("path s.csv --target b -k 4 --json --resume c", 3, &words);
    let options = "--checkpoint m --out m";
    sandbox.refuses(&format!("{SMALL} {options}"), 2, &["'m'", "overwrite"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_checkpoint_of_a_cross_validation() {
    let sandbox = small();
    let cv = format!("{CV} --threads 1");
    let truth = sandbox.json(&cv);
    for signal in ["INT", "TERM"] {
        let held = Listened::held(&sandbox, &cv, "hold after 40");
        let before = left(&sandbox).nodes();
        let outcome = held.interrupted(signal);
        let json = outcome.json();
        assert_eq!(json["status"], "interrupted");
        let advice = "to go on, use --resume c";
        assert!(json["warnings"].to_string().contains(advice), "{json}");
        let left = left(&sandbox);
        assert!(left.finished().len() < ON_FOLDS);
        assert!(left.nodes() >= before && before > 0);
    }
    assert_same(&sandbox.json(&format!("{cv} --resume c")), &truth);
}
