//! A path that is stopped, however that happens, goes on from its checkpoint.

use std::fs;

use l0star::PathCheckpoint;
use serde_json::Value;

use crate::common::{Sandbox, assert_close, number};
use crate::stopped::{
    assert_same_model, damaged_ones_are_refused, kill, seconds, start, wait_for_change,
    write_other_data,
};

/// A path of some seconds, whose last sizes take long.
const PATH: &str = "path a.csv --target b -k 10 --ridge 5e-3 --json";

/// A small one that is stopped in between.
const SMALL: &str = "path s.csv --target b -k 6 --threads 1 --json";

fn stopped() -> Sandbox {
    crate::stopped::stopped(SMALL, 10)
}

/// Asserts that two paths found and chose the same.
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

#[test]
fn a_path_killed_again_and_again_loses_nothing() {
    let sandbox = seconds();
    let truth = sandbox.json(PATH);
    let mut known = Vec::new();
    let mut source = "--checkpoint";
    let (mut nodes, mut finished) = (0, Vec::new());
    for kills in 0..15 {
        let threads = 1 + kills % 2;
        let path = format!("{PATH} {source} c --checkpoint-every 20ms --threads {threads}");
        let mut child = start(&sandbox, &path);
        // The first may have been made before anything was searched, the second has not.
        let alive = (0..2).all(|_| wait_for_change(&sandbox, &mut child, &mut known));
        assert!(alive, "it was over after {kills} kills");
        kill(child);
        source = "--resume";
        let left = PathCheckpoint::decode(&sandbox.read("c")).unwrap();
        assert!(
            left.nodes() >= nodes,
            "{} nodes after {nodes}",
            left.nodes()
        );
        assert!(finished.iter().all(|k| left.finished().contains(k)));
        (nodes, finished) = (left.nodes(), left.finished());
    }
    assert!(
        nodes > 0 && finished.len() > 3,
        "{nodes} nodes, {finished:?}"
    );
    let found = sandbox.json(&format!("{PATH} --resume c"));
    assert_same(&found, &truth);
    // What was done is not done again, and frames keep their lifts: the nodes are those of one path. Warm starts are rounded on
    // the way, and with two threads the sizes that are left begin side by side, from other models than one after the other: a
    // hundredth more or less.
    let count = |path: &Value| -> f64 {
        let sizes = path["path"].as_array().unwrap();
        sizes.iter().map(|size| number(size, "nodes")).sum()
    };
    assert!(
        count(&found) <= 1.05 * count(&truth),
        "{} for {}",
        count(&found),
        count(&truth)
    );
    assert_eq!(sandbox.files(), ["a.csv", "c"]);
}

#[test]
fn a_path_goes_on_where_limits_stopped_it() {
    let sandbox = stopped();
    let truth = sandbox.json(SMALL);
    assert_same(
        &sandbox.json(&format!("{SMALL} --resume c --checkpoint d")),
        &truth,
    );
    // Another criterion is no other path, and what is finished is there at once.
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

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_a_checkpoint_of_a_path() {
    let sandbox = seconds();
    for (source, signal) in [("--checkpoint", "INT"), ("--resume", "TERM")] {
        let path = format!("{PATH} {source} c --checkpoint-every 20ms");
        let mut child = start(&sandbox, &path);
        let mut known = fs::read(sandbox.path("c")).unwrap_or_default();
        assert!(wait_for_change(&sandbox, &mut child, &mut known));
        let outcome = crate::stopped::interrupt(child, signal);
        // The file has what was printed.
        let sizes = outcome.json()["path"].as_array().unwrap().clone();
        let nodes: f64 = sizes.iter().map(|size| number(size, "nodes")).sum();
        let left = PathCheckpoint::decode(&sandbox.read("c")).unwrap();
        assert_eq!(left.nodes() as f64, nodes);
    }
}
