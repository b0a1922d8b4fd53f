//! The two programs: `trials` runs the commands that `xtask` lists and passes on. These tests also make `cargo test`
//! build `trials`, which `cargo xtask attack` then runs.

use std::process::{Command, Output};

fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

/// Returns the names of the commands that the help of a program lists.
fn commands(program: &str) -> Vec<String> {
    let output = run(program, &["--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, list) = text.split_once("Commands:\n").unwrap();
    list.lines()
        .take_while(|line| !line.is_empty())
        // Continuation lines of a description are indented further.
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn xtask_lists_every_trial() {
    let own = commands(env!("CARGO_BIN_EXE_trials"));
    let all = commands(env!("CARGO_BIN_EXE_xtask"));
    assert_eq!(own, ["bench", "attack", "soak"]);
    for name in own {
        assert!(all.contains(&name), "{name} is not in {all:?}");
    }
}

#[test]
fn an_attack_of_no_case_passes_and_an_unknown_kind_is_refused() {
    let trials = env!("CARGO_BIN_EXE_trials");
    let none = run(trials, &["attack", "--only", "exact", "--cases", "0"]);
    assert!(none.status.success(), "{none:?}");
    assert_eq!(none.stdout, b"0 passed, 0 failed\n");
    let unknown = run(trials, &["attack", "--only", "words"]);
    assert!(!unknown.status.success());
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there is no such attack"));
}
