//! Hostile names, labels and file names through every output. A terminal must receive only their visible characters, a
//! page must show them as text, and files and JSON must return them unchanged.

use std::fs;
use std::path::Path;

use l0star_data::generate::rng::Stream;
use l0star_data::{RawColumn, load};
use serde_json::Value;

use super::program::Ran;
use super::{Finding, Ground};

/// Parts of names. The markup uses an element that no page has, so that it is detected wherever it gets through.
const PIECES: [&str; 34] = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x07",
    "\u{8}\u{8}",
    "\u{9b}2J",
    "\u{7f}",
    "\t",
    "\r",
    "\n",
    "\nerror: no",
    "\u{202e}",
    "\u{2066}x\u{2069}",
    "\u{200f}",
    "\u{200b}",
    "\u{feff}",
    "\u{2028}",
    "\u{ad}",
    "\u{e0041}",
    "<l0x onerror=alert(1)>",
    "</script><l0x>",
    "\"><l0x",
    "' onload='l0x",
    "&lt;",
    "{{data}}",
    "\"",
    "'",
    "\\",
    ",;|",
    "=1+1",
    "高さ",
    "e\u{301}\u{323}",
    "עברית",
    "(intercept)",
    "%s{}$(id)`id`*?[x]",
];

/// Start of the element that the markup tries to create.
const MARKUP: &str = "<l0x";

/// Runs one table with hostile names through every command.
pub fn hostile(ground: &Ground, seed: u64) -> Result<(), Finding> {
    let mut random = Stream::new(seed);
    let case = Case::new(&mut random);
    let file = case.file.as_str();
    ground.put(file, case.text.as_bytes())?;
    let run = |arguments: &[&str]| ground.program.run(&ground.folder, arguments);
    let task = [file, "--target", &case.target, "--loss", "logistic"];
    let with = |command: &'static str, more: &[&'static str]| {
        let task = task.iter().copied();
        let words: Vec<&str> = [command]
            .into_iter()
            .chain(task)
            .chain(more.iter().copied())
            .collect();
        let ran = run(&words)?;
        match ran.code {
            0 => Ok(ran),
            code => Err(format!("{words:?}: refused with {code}: {}", ran.stderr)),
        }
    };

    let shown =
        |ran: Ran| seen("standard output", &ran.stdout).and(seen("standard error", &ran.stderr));
    let files = ["--out", "model.json", "--report", "page.html"];
    shown(with(
        "fit",
        &[&["-k", "2", "--log", "--top", "3", "--prices"], &files[..]].concat(),
    )?)?;
    shown(with("path", &["-k", "3", "--report", "path.html"])?)?;
    shown(with("cv", &["-k", "1-2", "--folds", "2"])?)?;
    shown(run(&["inspect", file, "--target", &case.target, "--all"])?)?;
    shown(run(&["explain", "model.json"])?)?;

    let fitted = json(&with("fit", &["-k", "2", "--json"])?)?;
    for name in fitted["support"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        let is_own = case.features.iter().any(|own| {
            own == name
                || name
                    .strip_prefix(own.as_str())
                    .is_some_and(|rest| rest.starts_with('='))
        });
        if !is_own {
            return Err(format!("JSON has a feature {name:?} that the file has not"));
        }
    }
    for page in ["page.html", "path.html"] {
        let text =
            fs::read_to_string(ground.folder.join(page)).map_err(|error| error.to_string())?;
        if let Some(at) = text.to_lowercase().find(MARKUP) {
            let from = text[..at]
                .char_indices()
                .rev()
                .nth(40)
                .map_or(0, |(from, _)| from);
            return Err(format!(
                "{page} has markup from a name: {:?}",
                &text[from..at + 4]
            ));
        }
    }

    // Error messages contain names.
    shown(run(&["predict", "model.json", "lacking.csv"])?)?;
    ground.put("lacking.csv", b"x\n1\n")?;
    let other = case.features[0].as_str();
    shown(run(&["predict", "model.json", "lacking.csv"])?)?;
    shown(run(&[
        "fit",
        file,
        "--target",
        other,
        "--loss",
        "logistic",
        "-k",
        "2",
        "--time-limit",
        "5s",
    ])?)?;
    shown(run(&["fit", other, "--target", &case.target, "-k", "2"])?)?;
    shown(run(&["fit", file, "--target", &case.missing, "-k", "2"])?)?;
    shown(run(&[
        "fit",
        file,
        "--target",
        &case.target,
        "-k",
        &case.missing,
    ])?)?;
    shown(run(&[
        "fit",
        file,
        "--target",
        &case.target,
        "-k",
        "2",
        "--include",
        &case.missing,
    ])?)?;
    shown(run(&[case.missing.as_str()])?)?;

    predictions(ground, &case)
}

/// Checks that labels return unchanged from a file of predictions, and that with `--safe-csv` none starts a formula.
fn predictions(ground: &Ground, case: &Case) -> Result<(), Finding> {
    for (out, safe) in [("plain.csv", &[][..]), ("safe.csv", &["--safe-csv"][..])] {
        let words = [&["predict", "model.json", &case.file, "--out", out], safe].concat();
        let ran = ground.program.run(&ground.folder, &words)?;
        if ran.code != 0 {
            return Err(format!("{words:?}: refused: {}", ran.stderr));
        }
        let levels = levels(&ground.folder.join(out))?;
        for level in levels {
            let is_own = case.labels.contains(&level);
            let is_safe = !level.starts_with(['=', '+', '-', '@']);
            let is_right = if safe.is_empty() {
                is_own
            } else {
                is_safe
                    && case
                        .labels
                        .iter()
                        .any(|label| level.ends_with(label.as_str()))
            };
            if !is_right {
                return Err(format!("{out} has the label {level:?}"));
            }
        }
    }
    Ok(())
}

fn levels(path: &Path) -> Result<Vec<String>, Finding> {
    let table = load(path).map_err(|error| format!("predictions cannot be read: {error}"))?;
    match table.columns().first() {
        Some(RawColumn::Text { levels, .. }) => Ok(levels.clone()),
        _ => Err("the labels of predictions are no text".into()),
    }
}

/// A table whose names are all hostile.
struct Case {
    file: String,
    features: Vec<String>,
    target: String,
    labels: [String; 2],
    /// A name that no column has.
    missing: String,
    text: String,
}

impl Case {
    fn new(random: &mut Stream) -> Case {
        const ROWS: usize = 30;
        let features: Vec<String> = (0..5).map(|_| name(random)).collect();
        let target = name(random);
        let labels = [name(random), name(random)];
        let cities = [name(random), name(random)];
        let mut text = features
            .iter()
            .chain([&target])
            .map(|name| quoted(name))
            .collect::<Vec<_>>()
            .join(",")
            + "\n";
        for row in 0..ROWS {
            let numbers: Vec<f64> = (0..4).map(|_| random.normal()).collect();
            for number in &numbers {
                text += &format!("{number},");
            }
            text += &format!("{},", quoted(&cities[row % 2]));
            let positive = numbers[0] + 0.3 * random.normal() > 0.0;
            // The first rows make sure that both labels occur.
            let positive = if row < 4 { row % 2 == 0 } else { positive };
            text += &format!("{}\n", quoted(&labels[usize::from(positive)]));
        }
        // File systems allow no slash and no long name; a name before the options must not start with a dash.
        let file: String = name(random).replace('/', "_").chars().take(40).collect();
        Case {
            file: format!("f{file}.csv"),
            features,
            target,
            labels,
            missing: format!("m{}", name(random)),
            text,
        }
    }
}

/// Returns a name of one to three pieces and a part that makes it unique; some are very long. Cells are trimmed, so it
/// starts and ends with letters.
fn name(random: &mut Stream) -> String {
    let mut name = String::new();
    for _ in 0..=random.below(3) {
        name += PIECES[random.below(PIECES.len())];
    }
    let id = random.below(1 << 30);
    let long = if random.below(12) == 0 {
        "long ".repeat(200)
    } else {
        String::new()
    };
    let front = if random.below(6) == 0 { "=" } else { "n" };
    format!("{front}{long}{name}{id}")
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

fn json(ran: &Ran) -> Result<Value, Finding> {
    serde_json::from_str(&ran.stdout).map_err(|error| format!("--json wrote no JSON: {error}"))
}

/// Refuses text for a reader that contains invisible characters.
fn seen(place: &str, text: &str) -> Result<(), Finding> {
    let hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    if let Some(line) = text.lines().find(|line| line.contains(hidden)) {
        return Err(format!(
            "{place} has a character that cannot be seen: {line:?}"
        ));
    }
    // A line break in a name could forge a line.
    if text.lines().any(|line| line.starts_with("error: no")) {
        Err(format!("{place} has a line that a name made: {text:?}"))
    } else {
        Ok(())
    }
}
