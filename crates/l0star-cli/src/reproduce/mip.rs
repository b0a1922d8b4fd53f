//! The paper's mixed-integer competitor on the real data, run through the peers of `bench/peers` if they are set up.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use l0star::Status;
use l0star_data::write_npy;
use serde::Deserialize;
use serde_json::json;

use super::experiments::{GAPS, PANELS};
use super::plan::{MIP, REAL_K, RIDGE, Source};
use super::runner::Conditions;
use super::store::{Record, Store};
use crate::failure::Failure;

/// Peer that stands for the paper's MIP: the formulation of Bertsimas et al. 2016.
const PEER: &str = "gurobi-bigm";
/// Exit code of the driver for a peer that is not set up.
const NOT_THERE: i32 = 3;

/// The answer of a peer; its other fields are ignored.
#[derive(Debug, Deserialize)]
struct Answer {
    status: Status,
    objective: f64,
    lower_bound: Option<f64>,
    nodes: u64,
    seconds: f64,
}

/// Runs the missing searches. Returns the reason if the solver is not available.
pub fn run(
    peers: &Path,
    store: &mut Store,
    folder: &Path,
    conditions: &Conditions,
) -> Result<Option<String>, Failure> {
    let driver = peers.join("run.py");
    for (panel, _, source) in PANELS {
        for gap in GAPS {
            if store.has(panel, gap, 1, [MIP].into_iter()) {
                continue;
            }
            if conditions.interrupt.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match solve(&driver, folder, source, gap, conditions.time_limit)? {
                Ok(answer) => store.append(vec![record(panel, gap, &answer)])?,
                Err(reason) => return Ok(Some(reason)),
            }
        }
    }
    Ok(None)
}

fn record(panel: &str, gap: f64, answer: &Answer) -> Record {
    Record {
        panel: panel.to_owned(),
        x: gap,
        seed: 1,
        method: MIP.to_owned(),
        // The tolerance of a floating-point solver is no certificate, so "optimal" is left to our own searches.
        status: match answer.status {
            Status::Optimal => Status::GapReached,
            status => status,
        },
        objective: answer.objective,
        lower_bound: answer.lower_bound,
        seconds: answer.seconds,
        solver_calls: answer.nodes,
        nodes: answer.nodes,
        recovered: None,
    }
}

/// Returns the answer of the peer, or the reason why there is none.
fn solve(
    driver: &Path,
    folder: &Path,
    source: Source,
    gap: f64,
    limit: Duration,
) -> Result<Result<Answer, String>, Failure> {
    if !driver.is_file() {
        return Ok(Err(format!(
            "MIP was skipped: there is no '{}'; name the folder of the peers with --peers",
            driver.display()
        )));
    }
    let matrix = folder.join(".mip.npy");
    let request = folder.join(".mip.json");
    write_npy(&matrix, &source.table()?)?;
    let text = json!({
        "matrix": std::path::absolute(&matrix).unwrap_or_else(|_| matrix.clone()),
        "loss": "quadratic",
        "ridge": RIDGE,
        "k": REAL_K,
        "gap": gap,
        "time_limit": limit.as_secs_f64(),
    });
    l0star_data::write_atomically(&request, |out| Ok(serde_json::to_writer(out, &text)?))?;
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python)
        .arg(driver)
        .args(["solve", PEER])
        .arg(&request)
        .output();
    for file in [&matrix, &request] {
        // Two leftover files in the folder do no harm.
        let _ = std::fs::remove_file(file);
    }
    let output = match output {
        Ok(output) => output,
        Err(reason) => {
            return Ok(Err(format!(
                "MIP was skipped: cannot start '{python}': {reason}"
            )));
        }
    };
    if output.status.success()
        && let Ok(answer) = serde_json::from_slice(&output.stdout)
    {
        return Ok(Ok(answer));
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok(Err(if output.status.code() == Some(NOT_THERE) {
        format!("MIP was skipped: {said}")
    } else {
        format!("MIP was skipped: {PEER} failed: {said}")
    }))
}
