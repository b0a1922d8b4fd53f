//! Completions, manual pages, help and hints.

use crate::common::Sandbox;

/// Returns the commands that the help lists.
fn commands(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.run("--help").stdout;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let names: Vec<String> = list
        .lines()
        .take_while(|line| !line.is_empty())
        // Continuation lines of a description are indented further.
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    assert!(names.len() > 10, "{names:?}");
    names
}

#[cfg(feature = "manual")]
#[test]
fn completions_know_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = sandbox.run(&format!("completions {shell}"));
        assert_eq!(outcome.code, Some(0), "{shell}");
        for word in commands(&sandbox) {
            assert!(outcome.stdout.contains(&word), "{shell}: {word}");
        }
        assert!(outcome.stdout.contains("standardize"), "{shell}");
    }
    sandbox.refuses("completions tcsh", 2, &["'tcsh'", "bash"]);
}

#[cfg(feature = "manual")]
#[test]
fn manual_pages_are_printed_and_written() {
    let sandbox = Sandbox::new();
    let page = sandbox.run("man");
    assert_eq!(page.code, Some(0));
    assert!(page.stdout.contains(".TH l0star 1"), "{}", page.stdout);
    let page = sandbox.run("man fit");
    assert!(page.stdout.contains("standardize"), "{}", page.stdout);
    sandbox.refuses("man fitt", 2, &["'fitt'", "fit, "]);
    assert_eq!(sandbox.run("man --out .").code, Some(0));
    let files = sandbox.files();
    for command in commands(&sandbox) {
        let page = format!("l0star-{command}.1");
        assert!(files.contains(&page), "{page} in {files:?}");
    }
    sandbox.refuses("man --out missing", 2, &["missing"]);
}

#[test]
fn every_command_has_help_with_examples() {
    let sandbox = Sandbox::new();
    for command in commands(&sandbox) {
        let outcome = sandbox.run(&format!("{command} --help"));
        assert_eq!(outcome.code, Some(0), "{command}");
        let example = format!("\n  l0star {command}");
        assert!(
            outcome.stdout.contains(&example),
            "{command}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn the_reference_names_every_command() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/options.md"
    );
    let page = std::fs::read_to_string(page).unwrap();
    let (table, _) = page.split_once("\n## ").unwrap();
    for command in commands(&Sandbox::new()) {
        assert!(table.contains(&format!("`{command}`")), "{command}: {page}");
    }
}

#[test]
fn misspelt_words_get_a_hint() {
    let sandbox = Sandbox::with("d.csv", "age,y\n1,2\n2,3\n");
    sandbox.refuses("generat d.csv", 2, &["'generate'"]);
    sandbox.refuses("fit d.csv --targt y -k 1", 2, &["'--target'"]);
    sandbox.refuses("fit d.csv --target y -k 1 --los huber", 2, &["'--loss'"]);
    sandbox.refuses("fit d.csv --target y -k 1 --loss hubr", 2, &["'huber'"]);
    sandbox.refuses("fit d.csv --target Y -k 1", 3, &["did you mean 'y'?"]);
    sandbox.refuses(
        "fit d.csv --target y -k 1 --drop agee",
        3,
        &["did you mean 'age'?"],
    );
}
