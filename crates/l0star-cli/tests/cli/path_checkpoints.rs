//! A path that is stopped in any way resumes from its checkpoint.

use l0star::PathCheckpoint;
use serde_json::Value;

use crate::common::{Sandbox, assert_close, number};
#[cfg(unix)]
use crate::stopped::Listened;
use crate::stopped::{
    aborted_again_and_again, assert_same_model, damaged_ones_are_refused, small, write_other_data,
};

/// A path that the tests abort or interrupt.
const PATH: &str = "path s.csv --target b -k 4 --json";

/// A small path that a limit stops before it is finished.
const SMALL: &str = "path s.csv --target b -k 6 --threads 1 --json";

fn stopped() -> Sandbox {
    crate::stopped::stopped(SMALL, 10)
}

/// Asserts that two paths have the same models and the same choice.
fn assert_same(found: &Value, truth: &Value) {
    assert_eq!(found["chosen_k"], truth["chosen_k"]);
    let sizes = |path: &Value| path["path"].as_array().unwrap().clone();
    let (found, truth) = (sizes(found), sizes(truth));
    assert_eq!(found.len(), truth.len());
    for (found, truth) in found.iter().zip(&truth) {
        assert_same_model(found, truth);
        assert_close(number(found, "ebic"), number(truth, "ebic"), 1e-12);
    }
}

fn left(sandbox: &Sandbox) -> PathCheckpoint {
    PathCheckpoint::decode(&sandbox.read("c")).unwrap()
}

/// Returns the nodes of all sizes.
fn nodes(path: &Value) -> f64 {
    let sizes = path["path"].as_array().unwrap();
    sizes.iter().map(|size| number(size, "nodes")).sum()
}

#[test]
fn a_path_aborted_again_and_again_loses_nothing() {
    let sandbox = small();
    for threads in [1, 2] {
        let path = format!("{PATH} --threads {threads}");
        let truth = sandbox.json(&path);
        let (mut known, mut finished) = (0, Vec::new());
        let mut between = 0;
        let (found, _) = aborted_again_and_again(&sandbox, &path, |_| {
            let left = left(&sandbox);
            assert!(left.nodes() >= known, "{} after {known}", left.nodes());
            assert!(finished.iter().all(|k| left.finished().contains(k)));
            (known, finished) = (left.nodes(), left.finished());
            between += usize::from(known > 0 && finished.len() < 5);
        });
        assert_same(&found, &truth);
        std::fs::remove_file(sandbox.path("c")).unwrap();
        // With two threads several sizes run in parallel, each starting from the models found by then.
        if threads == 1 {
            assert!(between > 5, "{between}");
            // Finished work is not repeated, and frames keep their lifts. Warm starts are rounded in the checkpoint.
            let (found, truth) = (nodes(&found), nodes(&truth));
            assert!(found <= 1.05 * truth, "{found} for {truth}");
        }
    }
}

#[test]
fn a_path_goes_on_where_limits_stopped_it() {
    let sandbox = stopped();
    let truth = sandbox.json(SMALL);
    assert_same(
        &sandbox.json(&format!("{SMALL} --resume c --checkpoint d")),
        &truth,
    );
    // Another criterion does not change the path, and finished results are available at once.
    let again = sandbox.json(&format!(
        "{SMALL} --resume d --node-limit 0 --criterion aic"
    ));
    let aic = sandbox.json(&format!("{SMALL} --criterion aic"));
    assert_same(&again, &aic);
}

#[test]
fn two_hundred_damaged_paths_are_refused() {
    damaged_ones_are_refused(&stopped(), SMALL);
}

#[test]
fn another_path_is_refused() {
    let sandbox = stopped();
    write_other_data(&sandbox);
    let sizes = [
        "c: the checkpoint was made with sizes = 0 to 6",
        "it is 0 to 7",
    ];
    for (path, code, words) in [
        ("o.csv -k 6", 3, ["c: the checkpoint", "other data"]),
        ("s.csv -k 7", 2, sizes),
        (
            "s.csv -k 6 --include x1",
            2,
            ["sizes = 0 to 6", "it is 1 to 6"],
        ),
        ("s.csv -k 6 --ridge 0.1", 3, ["other data", "ridge"]),
        ("s.csv -k 6 --loss huber", 2, ["loss = quadratic", "huber"]),
        ("s.csv -k 6 --gap 0.5", 2, ["gap = 0", "it is 0.5"]),
        ("s.csv -k 6 --method paper", 2, ["--resume", "best-first"]),
    ] {
        sandbox.refuses(
            &format!("path {path} --target b --json --resume c"),
            code,
            &words,
        );
    }
    let words = [
        "c: the checkpoint",
        "it belongs to a path, and this is a single search",
    ];
    sandbox.refuses("fit s.csv --target b -k 6 --json --resume c", 3, &words);
    let options = "--checkpoint m --out m";
    sandbox.refuses(&format!("{SMALL} {options}"), 2, &["'m'", "overwrite"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_checkpoint_of_a_path() {
    let sandbox = small();
    let path = format!("{PATH} --threads 1");
    let truth = sandbox.json(&path);
    for signal in ["INT", "TERM"] {
        let held = Listened::held(&sandbox, &path, "hold after 60");
        let before = left(&sandbox).nodes();
        let stopped = held.interrupted(signal).json();
        // The checkpoint agrees with the printed result.
        let left = left(&sandbox);
        assert_eq!(left.nodes() as f64, nodes(&stopped));
        assert!(left.nodes() >= before && before > 0);
        assert!(left.finished().len() < 5);
    }
    assert_same(&sandbox.json(&format!("{path} --resume c")), &truth);
}
