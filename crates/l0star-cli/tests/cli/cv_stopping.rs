//! A cross-validation that ends early reports the complete sizes, and says which are not.

use serde_json::{Value, json};

use crate::common::{Sandbox, number};

/// Generates data with two true features; a search for 20 takes far longer than any test would wait.
fn endless() -> Sandbox {
    Sandbox::generated("ar -d 100 -k 2 -n 240 --rho 0.3 --snr 8 --out a.csv")
}

const ENDLESS: &str = "cv a.csv --target b -k 0,1,2,3,20 --folds 2 --threads 1";

fn small() -> Sandbox {
    Sandbox::generated("ar -d 8 -k 2 -n 60 --rho 0.3 --snr 8 --out s.csv")
}

const SMALL: &str = "cv s.csv --target b -k 3 --folds 3";

fn candidates(json: &Value) -> &[Value] {
    json["candidates"].as_array().expect("a list")
}

fn warnings(json: &Value) -> String {
    json["warnings"].to_string()
}

#[test]
fn the_log_has_a_line_for_every_search() {
    let sandbox = small();
    let outcome = sandbox.run(&format!(
        "{SMALL} --ridge 1e-3,1e-2 --threads 1 --log --json"
    ));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let mut lines = outcome.stderr.lines();
    let header: Vec<&str> = lines.next().expect("a header").split_whitespace().collect();
    let names = [
        "seconds", "done", "k", "ridge", "fold", "score", "nodes", "status",
    ];
    assert_eq!(header, names);
    let mut seen = Vec::new();
    for (line, done) in lines.zip(1..) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        assert_eq!(cells[1], format!("{done}/24"), "{line}");
        assert_eq!(cells[7], "optimal", "{line}");
        seen.push([cells[2], cells[3], cells[4]].join(" "));
    }
    assert_eq!(seen.len(), 24);
    // One size is searched on all folds before the next.
    assert!(seen[..6].iter().all(|search| search.starts_with("0 ")));
    assert!(seen[18..].iter().all(|search| search.starts_with("3 ")));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 24);
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON on standard output");
    assert_eq!(json["status"], "complete");
}

#[test]
fn searches_that_a_limit_of_their_own_stops_are_scored_and_named() {
    let sandbox = small();
    for (limit, status) in [
        ("--node-limit 0 --method paper", "node_limit"),
        ("--search-time-limit 0", "time_limit"),
    ] {
        let cv = format!("{SMALL} --ridge 0.01 {limit}");
        let outcome = sandbox.run(&format!("{cv} --json"));
        assert_eq!(outcome.code, Some(4), "{outcome:?}");
        let json = outcome.json();
        assert_eq!(json["status"], "complete");
        let last = &candidates(&json)[3];
        assert_eq!(last["statuses"], json!([status, status, status]));
        assert!(last["mean"].is_f64(), "{last}");
        let said = "k = 3 in folds 1, 2, 3";
        assert!(warnings(&json).contains(said), "{json}");
        assert!(json["model"]["warnings"].to_string().contains(said));
        let table = sandbox.run(&cv);
        assert_eq!(table.code, Some(4));
        assert!(
            table.stdout.contains("unproved in folds 1, 2, 3"),
            "{table:?}"
        );
        assert!(table.stdout.contains("ended without a proof"), "{table:?}");
    }
}

#[test]
fn a_time_limit_is_for_the_whole_run() {
    let sandbox = small();
    let outcome = sandbox.run(&format!("{SMALL} --time-limit 0 --out m.json"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    for words in [
        "stopped at the time limit: nothing is chosen",
        "0 of 3 folds",
        "no size is complete",
        "--checkpoint",
    ] {
        assert!(outcome.stdout.contains(words), "{words}: {outcome:?}");
    }
    assert_eq!(sandbox.files(), ["s.csv"]);
    let json = sandbox
        .run(&format!("{SMALL} --time-limit 0 --json"))
        .json();
    assert_eq!(json["status"], "time_limit");
    for field in ["k", "ridge", "best", "model"] {
        assert_eq!(json[field], Value::Null, "{field}");
    }
    for candidate in candidates(&json) {
        assert_eq!(candidate["mean"], Value::Null);
        assert_eq!(candidate["scores"], json!([null, null, null]));
    }
    let quiet = sandbox.run(&format!("{SMALL} --time-limit 0 --quiet"));
    assert_eq!(
        (quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()),
        (Some(4), "", "")
    );
    let long = sandbox.json(&format!(
        "{SMALL} --time-limit 1e18 --search-time-limit 1e18 --json"
    ));
    assert_eq!(long["status"], "complete");
}

#[test]
fn prices_are_searched_from_the_highest_and_cut_off_from_the_lowest() {
    let sandbox = small();
    let cv = "cv s.csv --target b --l0-penalty 0.01,10,0.1 --folds 3 --threads 1";
    let outcome = sandbox.run(&format!("{cv} --log --json"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines = outcome
        .stderr
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let prices: Vec<&str> = lines.map(|cells| cells[4]).collect();
    let searched = [["10"; 3], ["0.1"; 3], ["0.01"; 3]].concat();
    assert_eq!(prices, [&["price"][..], &searched].concat());
    let none = sandbox.run(&format!("{cv} --time-limit 0"));
    assert_eq!(none.code, Some(4), "{none:?}");
    assert!(none.stdout.contains("no price is complete"), "{none:?}");
    let stopped = sandbox
        .run(&format!("{cv} --search-time-limit 0 --json"))
        .json();
    let said = "price 0.01 in folds 1, 2, 3";
    assert!(warnings(&stopped).contains(said), "{stopped}");
}

#[cfg(unix)]
mod interrupted {
    use l0star::BatchCheckpoint;

    use super::*;
    use crate::common::Outcome;
    use crate::stopped::Listened;

    /// Runs a command with `--log` and sends the signal when this many searches have ended.
    fn after(sandbox: &Sandbox, arguments: &str, searches: usize, signal: &str) -> Outcome {
        let mut child = Listened::start(sandbox, &format!("{arguments} --log"));
        // The header, and a line for each search.
        for _ in 0..=searches {
            assert_ne!(child.line(), "", "it ended too soon");
        }
        child.interrupted(signal)
    }

    #[test]
    fn an_interrupt_leaves_the_scores_that_are_complete() {
        let sandbox = endless();
        let cv = format!("{ENDLESS} --out m.json");
        let outcome = after(&sandbox, &cv, 8, "INT");
        assert_eq!(outcome.stderr, "");
        let mut lines = outcome.stdout.lines();
        assert_eq!(lines.next(), Some("interrupted: nothing is chosen"));
        let rows: Vec<Vec<&str>> = lines
            .map(|line| line.split_whitespace().collect())
            .filter(|cells: &Vec<&str>| cells.first().is_some_and(|k| k.parse::<usize>().is_ok()))
            .collect();
        assert_eq!(rows.len(), 5);
        for row in &rows[..4] {
            assert!(row.len() == 3 && row[1].parse::<f64>().is_ok(), "{row:?}");
        }
        assert_eq!(rows[4], ["20", "-", "-", "0", "of", "2", "folds"]);
        for words in [
            "cut off 2 of 10 searches",
            "complete: k = 0 to 3",
            "nothing is chosen",
        ] {
            let text = outcome
                .stdout
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            assert!(text.contains(words), "{words}: {outcome:?}");
        }
        assert_eq!(sandbox.files(), ["a.csv"]);
    }

    #[test]
    fn what_an_interrupt_leaves_is_in_json_and_in_the_checkpoint_and_a_choice_can_be_made_of_it() {
        let sandbox = endless();
        let cv = format!("{ENDLESS} --json");
        // The signal comes in the middle of the last complete size.
        let outcome = after(&sandbox, &format!("{cv} --checkpoint c"), 7, "TERM");
        let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!(
            (&json["status"], &json["k"]),
            (&json!("interrupted"), &Value::Null)
        );
        assert_eq!(json["model"], Value::Null);
        assert!(warnings(&json).contains("--resume c"), "{json}");
        for candidate in &candidates(&json)[..3] {
            assert!(candidate["mean"].is_f64(), "{candidate}");
            assert_eq!(candidate["statuses"], json!(["optimal", "optimal"]));
        }
        let left = BatchCheckpoint::decode(&sandbox.read("c")).unwrap();
        let finished = left.finished();
        assert!(
            finished.len() >= 7 && finished.iter().all(|(_, k)| *k < 20),
            "{finished:?}"
        );

        // The other half: sizes with scores are not searched again, and the rest is continued.
        let log = format!("{cv} --resume c");
        let again = after(&sandbox, &log, 8, "INT");
        let again: Value = serde_json::from_str(&again.stdout).expect("JSON");
        for (old, new) in candidates(&json)[..3].iter().zip(candidates(&again)) {
            assert_eq!(old["scores"], new["scores"]);
        }
        let nodes = left.nodes();
        let left = BatchCheckpoint::decode(&sandbox.read("c")).unwrap();
        assert_eq!(left.finished().len(), 8);
        assert!(left.nodes() >= nodes);

        // Without time only the complete sizes count; the true size is smaller than the largest of them.
        let stopped = sandbox.run(&format!("{cv} --resume c --time-limit 0"));
        assert_eq!(stopped.code, Some(4), "{stopped:?}");
        let stopped = stopped.json();
        assert_eq!(
            (&stopped["status"], &stopped["k"]),
            (&json!("time_limit"), &json!(2))
        );
        for (old, new) in candidates(&again).iter().zip(candidates(&stopped)) {
            assert_eq!(old["scores"], new["scores"]);
        }
        assert_eq!(number(&stopped["model"], "k"), 2.0);
        assert!(
            warnings(&stopped).contains("complete: k = 0 to 3"),
            "{stopped}"
        );
        assert!(
            warnings(&stopped).contains("among these sizes only"),
            "{stopped}"
        );
    }
}
