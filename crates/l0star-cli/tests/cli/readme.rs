//! The README and the guide show what the command prints: each of their `$ l0star …` lines is run, in order, in a
//! folder with the project's data. Lines that begin with `error:` or `warning:` are compared with standard error.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Sandbox;

/// A command with the output that the document shows below it.
struct Shown {
    command: String,
    output: String,
}

fn transcript(readme: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut is_inside = false;
    let mut is_ours = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            is_inside = line == "```console";
            is_ours = false;
        } else if let (Some(command), true) = (line.strip_prefix("$ "), is_inside) {
            let command = command.replace("cargo run --release -- ", "l0star ");
            is_ours = command.starts_with("l0star ");
            if is_ours {
                shown.push(Shown {
                    command,
                    output: String::new(),
                });
            }
        } else if let (Some(last), true) = (shown.last_mut(), is_ours) {
            last.output += line;
            last.output.push('\n');
        }
    }
    shown
}

/// Compares two texts, ignoring line breaks: words must match exactly, numbers to six digits. Times may be any numbers.
fn say_the_same(one: &str, other: &str) -> Result<(), String> {
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let (one, other) = (words(one), words(other));
    if one.len() != other.len() {
        return Err(format!("{} words and {}", one.len(), other.len()));
    }
    let number = |word: &str| {
        let trimmed = word.trim_matches(['(', ')', ',', ';', ':', '.']);
        trimmed.parse::<f64>().ok()
    };
    for (at, (a, b)) in one.iter().zip(&other).enumerate() {
        let beside = [at.checked_sub(1), Some(at + 1)];
        let is_time = beside.iter().any(|at| {
            at.and_then(|at| one.get(at))
                .is_some_and(|word| word == "seconds")
        });
        let is_same = match (number(a), number(b)) {
            (Some(x), Some(y)) => is_time || (x - y).abs() <= 1e-6 * x.abs().max(1.0),
            _ => a == b,
        };
        if !is_same {
            return Err(format!("'{a}' and '{b}'"));
        }
    }
    Ok(())
}

/// Option that makes a search repeatable: further threads join after a moment and may process other nodes.
const ONE_THREAD: &str = " --threads 1";

/// Returns the command on one thread, without the quotes, which are for a shell.
fn repeatable(arguments: &str) -> String {
    let arguments = arguments.replace('\'', "");
    let word = arguments.split_whitespace().next();
    match word {
        Some("fit" | "path" | "cv" | "stability") => format!("{arguments}{ONE_THREAD}"),
        _ => arguments,
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Creates a sandbox with the project's data.
fn with_data() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("data")).unwrap();
    for entry in fs::read_dir(root().join("data")).unwrap() {
        let entry = entry.unwrap();
        let copy = sandbox.path("data").join(entry.file_name());
        fs::copy(entry.path(), copy).unwrap();
    }
    sandbox
}

/// Runs the commands that a document shows. Returns how many there were.
fn replay(document: &str) -> usize {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let sandbox = with_data();
    let shown = transcript(&text);
    let count = shown.len();
    for Shown { command, output } in shown {
        let arguments = command.strip_prefix("l0star ").unwrap();
        let outcome = sandbox.run(&repeatable(arguments));
        let (is_error, is_warning) = (output.starts_with("error:"), output.starts_with("warning:"));
        let code = if is_error { 3 } else { 0 };
        assert_eq!(
            outcome.code,
            Some(code),
            "{document}: {command}: {outcome:?}"
        );
        let printed = if is_error || is_warning {
            &outcome.stderr
        } else {
            &outcome.stdout
        };
        // A document may omit the output.
        if !output.is_empty() {
            // A model records the command that made it.
            let [printed, output] = [printed, &output].map(|text| {
                let words: Vec<&str> = text.split_whitespace().collect();
                words.join(" ").replace(ONE_THREAD, "")
            });
            let same = say_the_same(&printed, &output);
            assert_eq!(same, Ok(()), "{document}: {command}:\n{printed}");
        }
    }
    count
}

/// Returns the pages in a folder, as paths from the root.
fn pages(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn the_readme_shows_what_the_command_prints() {
    assert!(replay("README.md") > 0);
}

/// Returns the commands of the README's table, `| to | run |`, in order, for the project's data.
fn table_of_commands(readme: &str) -> Vec<String> {
    let rows = readme.lines().skip_while(|line| *line != "| to | run |");
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let command = row.rsplit("`l0star ").next().unwrap();
        let (command, _) = command.split_once('`').unwrap();
        command
            .replace("data.csv", "data/diabetes.csv")
            .replace("new.csv", "data/diabetes.csv")
            .replace("--target y", "--target target")
    })
    .collect()
}

#[test]
fn the_commands_of_the_readmes_table_run_one_after_the_other() {
    let commands = table_of_commands(&fs::read_to_string(root().join("README.md")).unwrap());
    assert!(commands.len() > 8, "{commands:?}");
    let sandbox = with_data();
    for command in commands {
        let outcome = sandbox.run(&command);
        assert_eq!(outcome.code, Some(0), "l0star {command}: {outcome:?}");
        assert!(!outcome.stdout.is_empty(), "l0star {command}");
    }
    assert!(sandbox.path("page.html").is_file());
}

#[test]
fn the_guide_shows_what_the_command_prints() {
    let pages = pages("docs/guide");
    let count: usize = pages.iter().map(|page| replay(page)).sum();
    assert!(count > 25, "{count} commands in {pages:?}");
}

#[test]
fn the_tutorial_shows_what_the_command_prints() {
    assert!(replay("docs/tutorial.md") > 5);
}
