//! The wheel and the source distribution of the Python package, each installed in an empty environment and tested there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::at_most;
use xtask::python;
use xtask::step::{root, run, run_in};

/// Requirements for packing and checking; Zig's compiler knows old versions of glibc.
const REQUIREMENTS: &str = "xtask/src/release/requirements.txt";

/// Size limit of the wheel in megabytes.
const MOST: u64 = 8;

/// Script that measures the seconds of importing the package, without those of its dependencies.
const IMPORT: &str = "\
import subprocess, sys
report = subprocess.run([sys.executable, '-X', 'importtime', '-c', 'import l0star'], capture_output=True, text=True, check=True).stderr
own = sum(int(line.split('|')[0].split(':')[1]) for line in report.splitlines()[1:] if line.split('|')[2].strip().split('.')[0] == 'l0star')
print(f'import: {own / 1e6:.3f} s of its own')
assert own < 300_000, report";

/// Packs, checks and tests both.
pub fn make(dist: &Path, notes: &mut Vec<String>) -> Result<(), String> {
    let tools = python::environment_for("release-python", REQUIREMENTS, &[])?;
    for old in found(dist, &["whl", "gz"])? {
        if is_of_python(&name(&old)) {
            fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
        }
    }
    // Maturin looks for the compiler in the first Python on the path.
    let own = tools.parent().unwrap_or(Path::new(".")).to_path_buf();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([own].into_iter().chain(env::split_paths(&others)))
        .map_err(|error| error.to_string())?;
    let maturin = |what: &str, arguments: &[&str]| {
        let mut command = Command::new(&tools);
        command.args(["-m", "maturin"]).args(arguments);
        command.arg("--out").arg(dist).env("PATH", &path);
        run_in(&root().join("python"), what, &mut command)
    };
    maturin("release: source distribution", &["sdist"])?;
    maturin(
        "release: wheel for manylinux",
        &[
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--zig",
            "--compatibility",
            "manylinux_2_17",
        ],
    )?;
    let packages = found(dist, &["whl", "gz"])?;
    let wheel = packages.iter().find(|path| name(path).ends_with(".whl"));
    let wheel = wheel.ok_or("maturin left no wheel")?;
    let source = packages
        .iter()
        .find(|path| name(path) == format!("l0star-{}.tar.gz", env!("CARGO_PKG_VERSION")));
    let source = source.ok_or("maturin left no source distribution")?;
    if !name(wheel).contains("abi3-manylinux") {
        return Err(format!("{} is not for manylinux and abi3", name(wheel)));
    }
    at_most(wheel, MOST)?;
    run(
        "release: twine check",
        Command::new(&tools)
            .args(["-m", "twine", "check", "--strict"])
            .args([wheel, source]),
    )?;
    for (kind, file) in [("wheel", wheel), ("sdist", source)] {
        try_out(kind, file)?;
    }
    notes.push("the wheel is for this processor alone; the workflow makes the others".to_owned());
    Ok(())
}

/// Installs a file and its declared dependencies in an empty environment, then runs the tests.
fn try_out(kind: &str, file: &Path) -> Result<(), String> {
    let folder = root().join("target").join(format!("release-{kind}"));
    let python = python::create(&folder)?;
    run(
        &format!("release: install the {kind}"),
        python::pip(&python).arg(file),
    )?;
    let first = "\
from sklearn.datasets import load_diabetes
from l0star import SparseRegressor
data = load_diabetes()
model = SparseRegressor(k=5).fit(data.data, data.target)
assert model.status_ == 'optimal', model.status_";
    for script in [first, IMPORT] {
        run(
            &format!("release: the {kind} alone"),
            Command::new(&python).args(["-c", script]),
        )?;
    }
    run(
        &format!("release: what the tests of the {kind} need"),
        python::pip(&python).args(["--requirement", "python/requirements-dev.txt"]),
    )?;
    run(
        &format!("release: tests of the {kind}"),
        Command::new(&python).args([
            "-m",
            "pytest",
            "--quiet",
            "--config-file=python/pyproject.toml",
            "--rootdir=python",
            "python/tests",
        ]),
    )
}

/// Whether a file is a wheel or a source distribution. The archive of the command has a similar name with its target.
fn is_of_python(name: &str) -> bool {
    name.starts_with("l0star-") && !name.contains("-linux-")
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Returns the files of the given kinds.
fn found(dist: &Path, kinds: &[&str]) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(dist).map_err(|error| format!("{}: {error}", dist.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths
        .filter(|path| {
            path.extension()
                .is_some_and(|kind| kinds.iter().any(|k| kind == *k))
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::is_of_python;

    #[test]
    fn the_archive_of_the_command_stays() {
        assert!(is_of_python(
            "l0star-0.1.0-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
        ));
        assert!(is_of_python("l0star-0.1.0.tar.gz"));
        assert!(!is_of_python(
            "l0star-0.1.0-x86_64-unknown-linux-gnu.tar.gz"
        ));
        assert!(!is_of_python(
            "l0star-0.1.0-x86_64-unknown-linux-musl.tar.gz"
        ));
    }
}
