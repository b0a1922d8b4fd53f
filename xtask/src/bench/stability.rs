//! `cargo xtask bench stability`: the best models of 500 resamples of the diabetes data with interactions, all proved.

use std::process::Command;

use super::table::{header, row};
use xtask::step::{cargo, root, run};

const OPTIONS: &str = "stability data/diabetes.csv --target target -k 10 --interactions --resamples 500 --json --quiet";

/// Prints seconds and nodes of all resamples together, on one thread and on one per core.
pub fn stability() -> Result<(), String> {
    run(
        "the command, in the release profile",
        &mut cargo(&["build", "--release", "--package", "l0star-cli"]),
    )?;
    let program = root().join("target").join("release").join("l0star");
    header(&[
        "threads",
        "resamples",
        "proved",
        "different models",
        "nodes",
        "seconds",
    ]);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = vec![1, cores];
    counts.dedup();
    for threads in counts {
        let output = Command::new(&program)
            .current_dir(root())
            .args(OPTIONS.split_whitespace())
            .args(["--threads", &threads.to_string()])
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let found: serde_json::Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        let own = &found["stability"];
        let number = |name: &str| own[name].to_string();
        let seconds = own["seconds"].as_f64().unwrap_or(f64::NAN);
        row(&[
            threads.to_string(),
            number("resamples"),
            number("proved"),
            number("distinct"),
            number("nodes"),
            format!("{seconds:.2}"),
        ]);
    }
    Ok(())
}
