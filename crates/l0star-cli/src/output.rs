//! The JSON object, standard output and files.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use l0star::{Method, Solution, Status};
use l0star_data::write_atomically;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::ready::Job;

/// The result as scripts read it; the fields and their order are a contract.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    status: Status,
    objective: f64,
    lower_bound: Option<f64>,
    gap: Option<f64>,
    relative_gap: Option<f64>,
    k: usize,
    loss: &'a str,
    ridge: f64,
    intercept: f64,
    support: Vec<&'a str>,
    coefficients: Map<String, Value>,
    solver_calls: u64,
    nodes: u64,
    peak_open_nodes: u64,
    seconds: f64,
    method: Method,
    #[serde(skip_serializing_if = "Option::is_none")]
    positive_label: Option<&'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    list: Option<List<'a>>,
}

/// The models of `--top` and `--within`.
#[derive(Debug, Serialize)]
struct List<'a> {
    solutions: Vec<Listed<'a>>,
    /// A bound of every model that is not listed.
    rest_bound: Option<f64>,
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    objective: f64,
    intercept: f64,
    support: Vec<&'a str>,
    coefficients: Map<String, Value>,
}

/// The names of a support, and its coefficients by name.
fn named<'a>(
    names: &'a [String],
    support: &[usize],
    coefficients: &[f64],
) -> (Vec<&'a str>, Map<String, Value>) {
    let columns = support.iter();
    let values = columns
        .clone()
        .map(|j| (names[*j].clone(), Value::from(coefficients[*j])));
    (
        columns.map(|j| names[*j].as_str()).collect(),
        values.collect(),
    )
}

impl<'a> Report<'a> {
    pub fn new(job: &'a Job, solution: &Solution) -> Self {
        let names = job.problem.names();
        let (support, coefficients) = named(names, &solution.support, &solution.coefficients);
        let listed = solution.solutions.iter().map(|model| {
            let (support, coefficients) = named(names, &model.support, &model.coefficients);
            Listed {
                objective: model.objective,
                intercept: model.intercept,
                support,
                coefficients,
            }
        });
        let list = job.lists.then(|| List {
            solutions: listed.collect(),
            rest_bound: solution.rest_bound,
            truncated: solution.truncated,
        });
        Self {
            status: solution.status,
            objective: solution.objective,
            lower_bound: solution.lower_bound,
            gap: solution.gap(),
            relative_gap: solution.relative_gap(),
            k: job.problem.k(),
            loss: job.problem.loss().name(),
            ridge: job.ridge,
            intercept: solution.intercept,
            support,
            coefficients,
            solver_calls: solution.solver_calls,
            nodes: solution.nodes,
            peak_open_nodes: solution.peak_open_nodes,
            seconds: solution.seconds,
            method: solution.method,
            positive_label: job.positive_label.as_deref(),
            list,
        }
    }

    /// One line of JSON.
    pub fn to_line(&self) -> String {
        let json = serde_json::to_string(self).expect("a report has no keys but strings");
        json + "\n"
    }

    /// The same object, indented, in a file.
    pub fn save(&self, path: &Path) -> Result<(), Failure> {
        write_atomically(path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })?;
        Ok(())
    }
}

/// Writes to standard output; a reader that has gone away (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(reason) if reason.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output {
            what: "to standard output".into(),
            reason,
            advice: "use --out to write to a file",
        }),
        _ => Ok(()),
    }
}

/// Refuses an output that could not be written, before any work is spent on it.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let refuse = |reason: io::Error| {
        let advice = match reason.kind() {
            io::ErrorKind::NotFound => "create the folder first",
            _ => "choose a file in a folder that you may write to",
        };
        Failure::Output {
            what: format!("'{}'", path.display()),
            reason,
            advice,
        }
    };
    let target = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(Failure::Usage(format!(
                "'{}' is a folder; give the path of a file",
                path.display()
            )));
        }
        // The rename at the end would replace a device such as /dev/null.
        Ok(found) if !found.is_file() => {
            return Err(Failure::Usage(format!(
                "'{}' is not a regular file; give the path of a file",
                path.display()
            )));
        }
        Ok(_) => fs::canonicalize(path).map_err(refuse)?,
        Err(_) => path.to_path_buf(),
    };
    let probe = probe_beside(&target).map_err(refuse)?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&probe)
        .and_then(|_| fs::remove_file(&probe))
        .map_err(refuse)
}

fn probe_beside(target: &Path) -> io::Result<PathBuf> {
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.probe", std::process::id()));
    Ok(target.with_file_name(hidden))
}

/// Refuses to replace `other`, which is `kind`, by something else.
pub fn check_distinct(what: &str, out: &Path, kind: &str, other: &Path) -> Result<(), Failure> {
    let same = match (fs::canonicalize(out), fs::canonicalize(other)) {
        (Ok(one), Ok(two)) => one == two,
        // A file that does not exist yet has only its name.
        _ => out == other,
    };
    if !same {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{what} '{}' would overwrite {kind}; choose another file",
        out.display()
    )))
}
