//! Standard output, standard error, and checks that files can be written.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use l0star_data::counted;
use l0star_report::text::printable;
use serde::Serialize;

use crate::failure::Failure;

/// Prints `object` as one line of JSON.
pub fn print_json(object: &impl Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string(object).expect("a result has no keys but strings");
    print(&(json + "\n"))
}

/// Prints warnings on standard error.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        tell("warning", warning);
    }
}

/// Prints a line on standard error. Names in it come from files, so control characters are made harmless.
pub fn tell(kind: &str, message: &str) {
    // A message that cannot be written must not end the run.
    let _ = writeln!(io::stderr(), "{kind}: {}", printable(message));
}

/// Prints a message of several lines on standard error.
pub fn tell_lines(kind: &str, lines: &[String]) {
    if let Some((first, rest)) = lines.split_first() {
        tell(kind, first);
        for line in rest {
            let _ = writeln!(io::stderr(), "{}", printable(line));
        }
    }
}

/// Writes to standard output. A closed pipe (`| head`) is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes bytes to standard output, as [`print`] does.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(reason) if reason.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output {
            what: "to standard output".into(),
            reason,
            advice: "use --out to write to a file",
        }),
        _ => Ok(()),
    }
}

/// Refuses an output that cannot be written, before any work is spent on it.
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

/// Refuses a model or report file that cannot be written, or that would overwrite another file.
pub fn check_files(
    out: &Option<PathBuf>,
    report: &Option<PathBuf>,
    data: &Path,
) -> Result<(), Failure> {
    for (option, file) in [("--out", out), ("--report", report)] {
        let Some(file) = file else { continue };
        check_writable(file)?;
        check_distinct(option, file, "the data", data)?;
    }
    match (out, report) {
        (Some(out), Some(report)) => check_distinct("--report", report, "the model", out),
        _ => Ok(()),
    }
}

/// Refuses to write `out` over `other`; `kind` says in the message what `other` is.
pub fn check_distinct(what: &str, out: &Path, kind: &str, other: &Path) -> Result<(), Failure> {
    let same = match (fs::canonicalize(out), fs::canonicalize(other)) {
        (Ok(one), Ok(two)) => one == two,
        // A file that does not exist yet can only be compared by its name.
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

/// Returns the note on dropped rows that follows the number of rows, empty if there are none.
pub fn dropped(rows: usize) -> String {
    match rows {
        0 => String::new(),
        _ => format!(", {} dropped for missing values", counted(rows, "row")),
    }
}
