//! A search that is stopped in any way resumes from its checkpoint; anything else is refused as a checkpoint.

use l0star::Checkpoint;
use l0star_data::Lock;
use serde_json::Value;

use crate::common::{Sandbox, number, support, without_seconds};
#[cfg(unix)]
use crate::stopped::Listened;
use crate::stopped::{
    aborted, aborted_again_and_again, assert_same_model, damaged_ones_are_refused, small,
    write_other_data,
};

/// A fit that a limit stops before it is finished.
const SMALL: &str = "fit s.csv --target b -k 5 --threads 1 --json";

fn stopped() -> Sandbox {
    crate::stopped::stopped(SMALL, 20)
}

fn left(sandbox: &Sandbox) -> Checkpoint {
    Checkpoint::decode(&sandbox.read("c")).unwrap()
}

/// Asserts that a search aborted at many checkpoints gives the same result, with about as many nodes.
fn survives(sandbox: &Sandbox, fit: &str) {
    for threads in [1, 2] {
        let fit = format!("{fit} --threads {threads}");
        let truth = sandbox.json(&fit);
        let (found, aborted) = aborted_again_and_again(sandbox, &fit, |_| {});
        assert_same_model(&found, &truth);
        std::fs::remove_file(sandbox.path("c")).unwrap();
        if threads == 1 {
            // Warm starts are rounded in the checkpoint.
            let [found, truth] = [&found, &truth].map(|of| number(of, "nodes"));
            assert!(found <= 1.05 * truth, "{found} nodes for {truth}");
            // Commands that started anew would be aborted at each of their checkpoints, one per node.
            let aborted = aborted as f64;
            assert!(
                aborted > 5.0 && aborted < 0.5 * truth,
                "{aborted} of {truth}"
            );
        }
    }
}

#[test]
fn aborted_again_and_again_it_finds_the_same_optimum() {
    survives(&small(), "fit s.csv --target b -k 4 --json");
}

/// Generates data for a fit with products, heredity, a group, bounds and an included feature.
fn ruled() -> Sandbox {
    Sandbox::generated("ar -d 12 -k 3 -n 60 --rho 0.7 --snr 1 --out a.csv")
}

const RULED: &str = "fit a.csv --target b -k 6 --interactions --heredity --include x2 --group g=x3,x4 \
                     --bounds x1=-1:1 --nonnegative x5 --json";

#[test]
fn aborted_with_constraints_it_finds_the_same_optimum() {
    survives(&ruled(), &RULED.replace("-k 6", "-k 5"));
}

const WIDE: &str = "fit a.csv --target b -k 4 --ridge 0.05 --json";

#[test]
fn aborted_while_wide_data_are_screened_it_goes_on_there() {
    let sandbox = Sandbox::generated("ar -d 3100 -k 3 -n 60 --snr 20 --out a.csv");
    let truth = sandbox.json(WIDE);
    let mut bound = 0.0;
    // The first steps of the ascent prove nothing, so a run that started anew each time would make no progress.
    for run in 0.. {
        assert!(run < 50, "no progress");
        // A checkpoint is due before the first step of each stage: the first model and the screening.
        assert!(aborted(&sandbox, WIDE, "after 4").is_none());
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
        assert_same_model(&found, &truth);
    }
}

/// Aborts a fit repeatedly within one stage until that stage is finished; returns the checkpoint of each run.
///
/// Each run must resume where the last one stopped: a run that started anew, or repeated its steps, would never finish.
fn aborts(sandbox: &Sandbox, fit: &str, stage: &str) -> Vec<Checkpoint> {
    let truth = sandbox.json(fit);
    let mut states = Vec::new();
    for run in 0.. {
        assert!(run < 100, "no progress");
        // The work before a step is repeated, and so is the check that a step was the last.
        // Some runs may therefore go further.
        let is_over = aborted(sandbox, fit, &format!("after {}", 1 + run % 5)).is_some();
        let state = left(sandbox);
        if !is_over && is_at(&state, stage) {
            states.push(state);
        } else if !states.is_empty() {
            break;
        }
    }
    let found = sandbox.json(&format!("{fit} --resume c"));
    assert_same_model(&found, &truth);
    states
}

/// Whether a checkpoint was written within the stage.
fn is_at(checkpoint: &Checkpoint, what: &str) -> bool {
    format!("{checkpoint:?}").contains(what)
}

#[test]
fn aborted_while_the_gram_matrix_is_made_it_keeps_the_bands() {
    let sandbox = Sandbox::generated("ar -d 1000 -k 3 -n 1000 --snr 50 --out a.csv");
    // The ridge is so small that no screening makes the matrix unnecessary.
    let fit = "fit a.csv --target b -k 3 --ridge 0.01 --threads 1 --json";
    let states = aborts(&sandbox, fit, "rows: [None");
    // The last bands are computed first.
    let sizes: Vec<usize> = states.iter().map(|state| state.encode().len()).collect();
    assert!(sizes.is_sorted_by(|a, b| a <= b), "{sizes:?}");
}

#[test]
fn aborted_before_there_is_a_model_it_goes_on_there() {
    let sandbox = Sandbox::generated("ar -d 60 -k 4 -n 2000 --snr 50 --out a.csv");
    let rules = "--nonnegative x1,x2,x3 --group g=x4,x5";
    let fit = format!("fit a.csv --target b -k 5 {rules} --threads 1 --json");
    aborts(&sandbox, &fit, "heuristic: Some(Greedy");
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
    // The same file with other constraints is another search.
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
    // The search is finished now and repeats its result.
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
    // With so short an interval the matrix is worth saving.
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
    assert!(is_at(&left(&sandbox), "prices: Some"));
    damaged_ones_are_refused(&sandbox, SMALL);
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

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_checkpoint() {
    for signal in ["INT", "TERM"] {
        let sandbox = small();
        let fit = "fit s.csv --target b -k 4 --threads 1 --json";
        let held = Listened::held(&sandbox, fit, "hold after 60");
        let stopped = held.interrupted(signal).json();
        assert_eq!(stopped["status"], "interrupted");
        let resumed = sandbox
            .run(&format!("{fit} --resume c --node-limit 0"))
            .json();
        assert!(number(&resumed, "nodes") > 0.0);
        for field in ["nodes", "objective", "lower_bound"] {
            assert_eq!(resumed[field], stopped[field], "{field}");
        }
    }
}

/// Frames are restored with their lifts, so stopping does not increase the remaining work.
#[test]
fn stopped_again_and_again_it_looks_at_no_more_nodes() {
    let sandbox = Sandbox::generated("ar -d 60 -k 10 -n 80 --rho 0.9 --snr 1 --out a.csv");
    let fit = "fit a.csv --target b -k 10 --ridge 5e-3 --threads 1 --json";
    let truth = sandbox.json(fit);
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
    // Warm starts are rounded in the checkpoint.
    assert!((found - truth).abs() <= 0.02 * truth, "{found} for {truth}");
}

#[test]
fn a_second_run_on_one_checkpoint_is_refused() {
    let sandbox = stopped();
    let before = sandbox.files();
    let held = Lock::of(sandbox.path("c")).unwrap();
    for option in ["--checkpoint", "--resume"] {
        let words = ["'c' is in use by another run", "choose another file"];
        sandbox.refuses(&format!("{SMALL} {option} c"), 2, &words);
    }
    // Resuming from the file without writing to it needs no lock.
    sandbox.json(&format!("{SMALL} --resume c --checkpoint d"));
    drop(held);
    sandbox.json(&format!("{SMALL} --resume c"));
    std::fs::remove_file(sandbox.path("d")).unwrap();
    assert_eq!(sandbox.files(), before);
}
