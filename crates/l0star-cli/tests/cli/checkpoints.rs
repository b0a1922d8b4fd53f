//! A search that is stopped, however that happens, goes on from its checkpoint; nothing else is taken for one.

use std::fs;
use std::process::{Child, Stdio};

use l0star::{Checkpoint, PathCheckpoint};
use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support, without_seconds};

/// A search of some seconds.
pub fn seconds() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 60 -k 10 -n 80 --rho 0.9 --snr 1 --out a.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

const FIT: &str = "fit a.csv --target b -k 10 --ridge 5e-3 --json";

/// A small one that is stopped in between, with its checkpoint in `c`.
fn stopped() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 30 -k 5 -n 30 --rho 0.9 --snr 1 --out s.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let outcome = sandbox.run(&format!("{SMALL} --checkpoint c --node-limit 20"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    sandbox
}

const SMALL: &str = "fit s.csv --target b -k 5 --threads 1 --json";

/// Waits until the checkpoint has been replaced, or the command has ended (false).
pub fn wait_for_change(sandbox: &Sandbox, child: &mut Child, known: &mut Vec<u8>) -> bool {
    loop {
        if let Ok(bytes) = fs::read(sandbox.path("c"))
            && bytes != *known
        {
            *known = bytes;
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::yield_now();
    }
}

/// Kills a search so many times in the middle and lets it go on: it finds what it would have found.
fn survives(sandbox: &Sandbox, fit: &str, every: &str, kills: usize) {
    let truth = sandbox.json(fit);
    let mut known = Vec::new();
    let mut source = "--checkpoint";
    for kill in 0..kills {
        // One thread and two in turn.
        let threads = 1 + kill % 2;
        let fit = format!("{fit} {source} c --checkpoint-every {every} --threads {threads}");
        let mut child = sandbox
            .command(&fit)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The first may have been made before anything was searched, the second has not.
        let alive = (0..2).all(|_| wait_for_change(sandbox, &mut child, &mut known));
        assert!(alive, "it was over after {kill} kills");
        child.kill().unwrap();
        child.wait().unwrap();
        source = "--resume";
    }
    let found = sandbox.json(&format!("{fit} --resume c"));
    assert_eq!(found["status"], "optimal");
    assert_eq!(support(&found), support(&truth));
    let objective = number(&truth, "objective");
    assert_close(number(&found, "objective"), objective, 1e-12);
    assert!(number(&found, "lower_bound") <= objective);
    // What a kill in the middle of writing left behind is gone.
    assert_eq!(sandbox.files(), ["a.csv", "c"]);
}

#[test]
fn killed_again_and_again_it_finds_the_same_optimum() {
    survives(&seconds(), FIT, "20ms", 22);
}

/// Products with their factors, a group, bounds, and a feature that is in.
fn ruled() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 12 -k 3 -n 60 --rho 0.7 --snr 1 --out a.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

const RULED: &str = "fit a.csv --target b -k 6 --interactions --heredity --include x2 --group g=x3,x4 \
                     --bounds x1=-1:1 --nonnegative x5 --json";

#[test]
fn killed_with_constraints_it_finds_the_same_optimum() {
    survives(&ruled(), RULED, "5ms", 10);
}

const WIDE: &str = "fit a.csv --target b -k 3 --ridge 0.05 --json";

#[test]
fn killed_while_wide_data_are_screened_it_goes_on_there() {
    let sandbox = Sandbox::new();
    sandbox.run("generate ar -d 3100 -k 3 -n 60 --out a.csv");
    let truth = sandbox.json(WIDE);
    let (mut known, mut bound) = (Vec::new(), 0.0);
    let mut source = "--checkpoint";
    // The first steps of the ascent prove nothing: one that began anew every time would stay there.
    for kills in 0.. {
        assert!(kills < 50, "no progress");
        let fit = format!("{WIDE} {source} c --checkpoint-every 1ms");
        let command = &mut sandbox.command(&fit);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        // The first may have a model alone.
        assert!((0..2).all(|_| wait_for_change(&sandbox, &mut child, &mut known)));
        child.kill().unwrap();
        child.wait().unwrap();
        source = "--resume";
        let kept = format!("{WIDE} --resume c --checkpoint d --time-limit 0");
        let kept = sandbox.run(&kept);
        assert_eq!(kept.code, Some(4), "{kept:?}");
        let low = number(&kept.json(), "lower_bound");
        assert!(low >= bound, "{low} after {bound}");
        bound = low;
        if bound > 0.0 {
            break;
        }
    }
    for from in ["c", "d"] {
        let found = sandbox.json(&format!("{WIDE} --resume {from}"));
        assert_eq!(found["status"], "optimal");
        assert_eq!(support(&found), support(&truth));
        let objective = number(&truth, "objective");
        assert_close(number(&found, "objective"), objective, 1e-12);
        assert!(number(&found, "lower_bound") <= objective);
    }
}

/// Kills a fit again and again in the middle of one thing, until it is through with that: each run goes on where the last was,
/// and one that began anew, or made its steps again, never would be through. What each of them left behind.
fn kills(sandbox: &Sandbox, fit: &str, stage: &str) -> Vec<Checkpoint> {
    let truth = sandbox.json(fit);
    let mut left = Vec::new();
    for run in 0.. {
        assert!(run < 100, "no progress");
        let source = match left.is_empty() {
            true => "--checkpoint",
            false => "--resume",
        };
        let fit = format!("{fit} {source} c --checkpoint-every 1ms");
        let command = &mut sandbox.command(&fit);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        // What comes before a step, or is needed to see that it was the last, is done again: now and then it may go further.
        let (mut known, mut steps) = (fs::read(sandbox.path("c")).unwrap_or_default(), 1 + run % 5);
        while steps > 0 && wait_for_change(sandbox, &mut child, &mut known) {
            steps -= usize::from(is_at(&Checkpoint::decode(&known).unwrap(), stage));
        }
        let is_through = steps > 0;
        child.kill().unwrap();
        child.wait().unwrap();
        if !is_through {
            left.push(Checkpoint::decode(&sandbox.read("c")).unwrap());
        } else if !left.is_empty() {
            break;
        }
    }
    let found = sandbox.json(&format!("{fit} --resume c"));
    assert_eq!(found["status"], "optimal");
    assert_eq!(support(&found), support(&truth));
    let objective = number(&truth, "objective");
    assert_close(number(&found, "objective"), objective, 1e-12);
    assert!(number(&found, "lower_bound") <= objective);
    left
}

/// Whether a checkpoint was made in the middle of something.
fn is_at(checkpoint: &Checkpoint, what: &str) -> bool {
    format!("{checkpoint:?}").contains(what)
}

fn generated(what: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&format!("generate {what} --out a.csv"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

#[test]
fn killed_while_the_gram_matrix_is_made_it_keeps_the_bands() {
    let sandbox = generated("ar -d 1000 -k 3 -n 1000 --snr 50");
    let fit = "fit a.csv --target b -k 3 --ridge 0.5 --threads 1 --json";
    let left = kills(&sandbox, fit, "rows: [None");
    // The last bands are made first.
    let sizes: Vec<usize> = left.iter().map(|left| left.encode().len()).collect();
    assert!(sizes.is_sorted_by(|a, b| a <= b), "{sizes:?}");
}

#[test]
fn killed_while_the_root_is_relaxed_it_goes_on_there() {
    let sandbox = generated("logistic -d 300 -k 3 -n 2000");
    let rules = "--loss logistic --nonnegative x1 --ridge 1e-5";
    let fit = format!("fit a.csv --target b -k 3 {rules} --threads 1 --json");
    kills(&sandbox, &fit, "Some(Point {");
}

#[test]
fn killed_before_there_is_a_model_it_goes_on_there() {
    let sandbox = generated("ar -d 60 -k 4 -n 2000 --snr 50");
    let rules = "--nonnegative x1,x2,x3 --group g=x4,x5";
    let fit = format!("fit a.csv --target b -k 5 {rules} --threads 1 --json");
    kills(&sandbox, &fit, "heuristic: Some(Greedy");
}

#[test]
fn resumed_with_constraints_it_keeps_them() {
    let sandbox = ruled();
    let whole = sandbox.json(&format!("{RULED} --threads 1"));
    let names = support(&whole);
    assert!(names.contains(&"x2"), "{names:?}");
    let fit = format!("{RULED} --threads 1 --node-limit 40");
    assert_eq!(sandbox.run(&format!("{fit} --checkpoint c")).code, Some(4));
    assert_eq!(sandbox.run(&format!("{fit} --resume c")).code, Some(4));
    let found = sandbox.json(&format!("{RULED} --threads 1 --resume c"));
    assert!(number(&found, "nodes") > 80.0);
    for field in ["status", "support", "coefficients", "objective"] {
        assert_eq!(found[field], whole[field], "{field}");
    }
    // The same file under other rules is another search.
    for (rule, other) in [
        ("--heredity", ""),
        ("--include x2", "--include x6"),
        ("--group g=x3,x4", "--group g=x3,x5"),
        ("--bounds x1=-1:1", "--bounds x1=-1:2"),
        ("--nonnegative x5", ""),
    ] {
        let fit = RULED.replace(rule, other);
        sandbox.refuses(
            &format!("{fit} --resume c"),
            3,
            &["c: the checkpoint", "other"],
        );
    }
}

#[test]
fn resumed_on_one_thread_it_prints_what_it_would_have_printed() {
    let sandbox = stopped();
    let whole = without_seconds(sandbox.json(SMALL));
    let found = without_seconds(sandbox.json(&format!("{SMALL} --resume c")));
    for field in ["status", "support", "coefficients", "objective", "k"] {
        assert_eq!(found[field], whole[field], "{field}");
    }
    assert!(number(&found, "nodes") > 20.0);
    // Now it is finished, and says the same again.
    let again = without_seconds(sandbox.json(&format!("{SMALL} --resume c --node-limit 0")));
    assert_eq!(again, found);
}

#[test]
fn another_file_may_take_the_further_checkpoints() {
    let sandbox = stopped();
    let before = sandbox.read("c");
    let fit = format!("{SMALL} --resume c --checkpoint d --node-limit 5");
    assert_eq!(sandbox.run(&fit).code, Some(4));
    assert_eq!(sandbox.read("c"), before);
    let (one, other) = ("--resume c --checkpoint e", "--resume d");
    let [one, other] = [one, other].map(|from| sandbox.json(&format!("{SMALL} {from}")));
    assert_eq!(number(&one, "objective"), number(&other, "objective"));
}

#[test]
fn two_hundred_damaged_checkpoints_are_refused() {
    damaged_ones_are_refused(&stopped(), SMALL);
}

#[test]
fn two_hundred_damaged_gram_matrices_are_refused() {
    let sandbox = stopped();
    let small = sandbox.read("c").len();
    // So short an interval that the matrix is worth keeping.
    let fit = format!("{SMALL} --resume c --checkpoint-every 0s --node-limit 5");
    assert_eq!(sandbox.run(&fit).code, Some(4));
    assert!(sandbox.read("c").len() > small + 8 * 30 * 31 / 2 - 500);
    damaged_ones_are_refused(&sandbox, SMALL);
}

#[test]
fn two_hundred_damaged_prices_are_refused() {
    let sandbox = stopped();
    let outcome = sandbox.run(&format!("{SMALL} --prices --resume c --node-limit 5"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    let left = Checkpoint::decode(&sandbox.read("c")).unwrap();
    assert!(is_at(&left, "prices: Some"));
    damaged_ones_are_refused(&sandbox, SMALL);
}

pub fn damaged_ones_are_refused(sandbox: &Sandbox, command: &str) {
    let whole = sandbox.read("c");
    let refused = |bytes: &[u8], what: &str| {
        sandbox.write("d", bytes);
        let outcome = sandbox.run(&format!("{command} --resume d"));
        assert_eq!(outcome.code, Some(3), "{what}: {outcome:?}");
        assert_eq!(outcome.stdout, "", "{what}");
        assert!(
            outcome.stderr.starts_with("error: d: the checkpoint"),
            "{what}: {outcome:?}"
        );
        assert_eq!(sandbox.read("d"), bytes, "{what}: the file was touched");
    };
    for i in 0..100 {
        let at = whole.len() * i / 100;
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (i % 8);
        refused(&damaged, &format!("a bit of byte {at}"));
        refused(&whole[..at], &format!("{at} bytes"));
    }
    refused(b"a,b\n1,2\n", "a table");
}

/// `o.csv` is `s.csv` but for one digit of one number.
pub fn write_other_data(sandbox: &Sandbox) {
    let table = String::from_utf8(sandbox.read("s.csv")).unwrap();
    let at = table.rfind(|c: char| ('1'..='8').contains(&c)).unwrap();
    let mut other = table.into_bytes();
    other[at] += 1;
    sandbox.write("o.csv", other);
}

#[test]
fn another_search_is_refused() {
    let sandbox = stopped();
    write_other_data(&sandbox);
    sandbox.run("generate ar -d 31 -k 5 -n 30 --out w.csv");
    for (fit, code, words) in [
        (
            "fit o.csv --target b -k 5",
            3,
            ["c: the checkpoint", "other data"],
        ),
        ("fit w.csv --target b -k 5", 2, ["columns = 30", "it is 31"]),
        (
            "fit s.csv --target b -k 6",
            2,
            ["c: the checkpoint was made with k = 5", "it is 6"],
        ),
        (
            "fit s.csv --target b -k 5 --ridge 0.1",
            3,
            ["other data", "ridge"],
        ),
        (
            "fit s.csv --target b -k 5 --no-intercept",
            3,
            ["other data", "columns"],
        ),
        (
            "fit s.csv --target b -k 5 --loss huber",
            2,
            ["loss = quadratic", "huber"],
        ),
        (
            "fit s.csv --target b -k 5 --gap 0.5",
            2,
            ["gap = 0", "it is 0.5"],
        ),
        (
            "fit s.csv --target b -k 5 --method paper",
            2,
            ["--resume", "best-first"],
        ),
    ] {
        sandbox.refuses(&format!("{fit} --json --resume c"), code, &words);
    }
    sandbox.refuses(
        &format!("{SMALL} --resume nothing"),
        3,
        &["nothing", "cannot read"],
    );
}

#[test]
fn files_that_cannot_be_are_refused() {
    let sandbox = stopped();
    for (options, words) in [
        ("--checkpoint s.csv", ["s.csv", "overwrite"]),
        ("--checkpoint m --out m", ["'m'", "overwrite"]),
        ("--checkpoint nowhere/c", ["nowhere/c", "create the folder"]),
        (
            "--checkpoint-every 5s",
            ["--checkpoint-every", "--checkpoint FILE"],
        ),
        (
            "--checkpoint d --method omp",
            ["--checkpoint", "best-first"],
        ),
    ] {
        sandbox.refuses(&format!("{SMALL} {options}"), 2, &words);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_a_checkpoint() {
    let sandbox = seconds();
    let fit = format!("{FIT} --checkpoint c --checkpoint-every 20ms");
    let mut child = sandbox
        .command(&fit)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut known = Vec::new();
    assert!(wait_for_change(&sandbox, &mut child, &mut known));
    crate::common::signal(&child, "INT");
    let outcome: crate::common::Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    let stopped: Value = outcome.json();
    assert_eq!(stopped["status"], "interrupted");
    let resumed = sandbox.run(&format!("{FIT} --resume c --node-limit 0"));
    assert_eq!(resumed.json()["nodes"], stopped["nodes"]);
    assert_close(
        number(&resumed.json(), "lower_bound"),
        number(&stopped, "lower_bound"),
        1e-12,
    );
}

/// Frames are lifted as they were: what is left to do does not grow by stopping.
#[test]
fn stopped_again_and_again_it_looks_at_no_more_nodes() {
    let sandbox = seconds();
    let fit = format!("{FIT} --threads 1");
    let truth = sandbox.json(&fit);
    let mut source = "--checkpoint";
    let (mut runs, mut found) = (0, Value::Null);
    while found["status"] != "optimal" {
        let outcome = sandbox.run(&format!("{fit} {source} c --node-limit 3000"));
        found = outcome.json();
        source = "--resume";
        runs += 1;
    }
    assert!(runs > 3, "{runs} runs");
    assert_eq!(support(&found), support(&truth));
    let (found, truth) = (number(&found, "nodes"), number(&truth, "nodes"));
    // Warm starts are rounded on the way.
    assert!((found - truth).abs() <= 0.02 * truth, "{found} for {truth}");
}

/// A path of some seconds, whose last sizes take long.
const PATH: &str = "path a.csv --target b -k 10 --ridge 5e-3 --json";

/// A small one that is stopped in between, with its checkpoint in `c`.
fn stopped_path() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 30 -k 5 -n 30 --rho 0.9 --snr 1 --out s.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let outcome = sandbox.run(&format!("{SMALL_PATH} --checkpoint c --node-limit 10"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    sandbox
}

const SMALL_PATH: &str = "path s.csv --target b -k 6 --threads 1 --json";

/// Asserts that two paths found and chose the same.
fn assert_same_path(found: &Value, truth: &Value) {
    assert_eq!(found["chosen_k"], truth["chosen_k"]);
    let sizes = |path: &Value| path["path"].as_array().unwrap().clone();
    let (found, truth) = (sizes(found), sizes(truth));
    assert_eq!(found.len(), truth.len());
    for (found, truth) in found.iter().zip(&truth) {
        assert_eq!(found["status"], "optimal");
        assert_eq!(support(found), support(truth));
        let objective = number(truth, "objective");
        assert_close(number(found, "objective"), objective, 1e-12);
        assert_close(number(found, "ebic"), number(truth, "ebic"), 1e-12);
        assert!(number(found, "lower_bound") <= objective);
    }
}

#[test]
fn a_path_killed_again_and_again_loses_nothing() {
    let sandbox = seconds();
    let truth = sandbox.json(PATH);
    let mut known = Vec::new();
    let mut source = "--checkpoint";
    let (mut nodes, mut finished) = (0, Vec::new());
    for kill in 0..15 {
        let threads = 1 + kill % 2;
        let path = format!("{PATH} {source} c --checkpoint-every 20ms --threads {threads}");
        let command = &mut sandbox.command(&path);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        // The first may have been made before anything was searched, the second has not.
        let alive = (0..2).all(|_| wait_for_change(&sandbox, &mut child, &mut known));
        assert!(alive, "it was over after {kill} kills");
        child.kill().unwrap();
        child.wait().unwrap();
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
    assert_same_path(&found, &truth);
    // What was done is not done again: about the nodes of one path, and no size twice.
    let count = |path: &Value| -> f64 {
        let sizes = path["path"].as_array().unwrap();
        sizes.iter().map(|size| number(size, "nodes")).sum()
    };
    assert!(
        count(&found) <= 1.5 * count(&truth) + 300.0,
        "{} for {}",
        count(&found),
        count(&truth)
    );
    assert_eq!(sandbox.files(), ["a.csv", "c"]);
}

#[test]
fn a_path_goes_on_where_limits_stopped_it() {
    let sandbox = stopped_path();
    let truth = sandbox.json(SMALL_PATH);
    assert_same_path(
        &sandbox.json(&format!("{SMALL_PATH} --resume c --checkpoint d")),
        &truth,
    );
    // Another criterion is no other path, and what is finished is there at once.
    let again = sandbox.json(&format!(
        "{SMALL_PATH} --resume d --node-limit 0 --criterion aic"
    ));
    let aic = sandbox.json(&format!("{SMALL_PATH} --criterion aic"));
    assert_same_path(&again, &aic);
}

#[test]
fn two_hundred_damaged_paths_are_refused() {
    damaged_ones_are_refused(&stopped_path(), SMALL_PATH);
}

#[test]
fn another_path_is_refused() {
    let sandbox = stopped_path();
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
    sandbox.refuses(&format!("{SMALL_PATH} {options}"), 2, &["'m'", "overwrite"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_a_checkpoint_of_a_path() {
    let sandbox = seconds();
    for (source, signal) in [("--checkpoint", "INT"), ("--resume", "TERM")] {
        let path = format!("{PATH} {source} c --checkpoint-every 20ms");
        let command = &mut sandbox.command(&path);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut known = fs::read(sandbox.path("c")).unwrap_or_default();
        assert!(wait_for_change(&sandbox, &mut child, &mut known));
        crate::common::signal(&child, signal);
        let outcome: crate::common::Outcome = child.wait_with_output().unwrap().into();
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        // The file has what was printed.
        let sizes = outcome.json()["path"].as_array().unwrap().clone();
        let nodes: f64 = sizes.iter().map(|size| number(size, "nodes")).sum();
        let left = PathCheckpoint::decode(&sandbox.read("c")).unwrap();
        assert_eq!(left.nodes() as f64, nodes);
    }
}
