//! The Python package: its own virtual environment, its wheel, its tests and linters.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::report;
use crate::step::{self, root, run, run_in};

/// Names of interpreters, tried in this order after `PYTHON`, if it is set.
const PROGRAMS: &[&str] = &[
    "python3",
    "python",
    "python3.14",
    "python3.13",
    "python3.12",
    "python3.11",
    "python3.10",
];

const OLDEST: (u32, u32) = (3, 10);

/// Python files outside the package that follow its rules.
const ELSEWHERE: &[&str] = &[
    "--config=python/pyproject.toml",
    "docs/notebooks",
    "xtask/src",
];

/// Checks format, lints and types, then installs the package and runs its tests and the examples of its documentation.
pub fn test() -> Result<(), String> {
    let python = environment()?;
    let step = |name: &str, arguments: &[&str]| {
        run(
            &format!("python: {name}"),
            Command::new(&python).arg("-m").args(arguments),
        )
    };
    step(
        "format",
        &["ruff", "format", "--quiet", "--check", "python"],
    )?;
    step("lints", &["ruff", "check", "--quiet", "python"])?;
    step(
        "format of notebooks and scripts",
        &[&["ruff", "format", "--quiet", "--check"][..], ELSEWHERE].concat(),
    )?;
    step(
        "lints of notebooks and scripts",
        &[
            // Text cells are long comments, and a notebook has no docstring.
            &["ruff", "check", "--quiet", "--ignore", "D,E501,I001"][..],
            ELSEWHERE,
        ]
        .concat(),
    )?;
    step(
        "tests of bench/peers",
        &["pytest", "--quiet", "-p", "no:cacheprovider", "bench/peers"],
    )?;
    let config = "--config-file=python/pyproject.toml";
    step("types", &["mypy", config, "python/l0star"])?;
    install_for_tests(&python)?;
    step("stubs", &["mypy.stubtest", "l0star._core"])?;
    step(
        "tests",
        &[
            "pytest",
            "--quiet",
            "--config-file=python/pyproject.toml",
            "--rootdir=python",
            "--doctest-modules",
            "python/tests",
            "--pyargs",
            "l0star",
        ],
    )?;
    report::check_python(&python)
}

/// Builds the wheel, a single one for every Python from 3.10 on.
pub fn wheel() -> Result<(), String> {
    let wheel = build(&environment()?)?;
    eprintln!("==> {}", wheel.display());
    Ok(())
}

/// Returns the interpreter of the test environment, with the current package installed.
pub fn installed() -> Result<PathBuf, String> {
    let python = environment()?;
    install_in(&python)?;
    Ok(python)
}

/// Installs the current package in another environment.
pub fn install_in(python: &Path) -> Result<(), String> {
    install(python, &build(&environment()?)?)
}

/// Returns the interpreter of the test environment, which is created if necessary.
pub fn environment() -> Result<PathBuf, String> {
    environment_for("python", "python/requirements-dev.txt", &[])
}

/// Returns the interpreter of the virtual environment `target/NAME`, which is created if necessary.
///
/// It has the pinned `requirements`, and the packages `alone`, whose own requirements are not installed.
pub fn environment_for(name: &str, requirements: &str, alone: &[&str]) -> Result<PathBuf, String> {
    let (program, version) = interpreter()?;
    let requirements = root().join(requirements);
    let wanted = fs::read_to_string(&requirements)
        .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
    // The contents of the environment; another interpreter or other requirements need a new one.
    let wanted = format!("{program} {version}\n{wanted}\n{}", alone.join("\n"));

    let folder = root().join("target").join(name);
    let stamp = folder.join("stamp");
    let python = python_of(&folder);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) && python.is_file() {
        return Ok(python);
    }
    create(&folder)?;
    run(
        &format!("{name}: requirements (once)"),
        pip(&python).arg("--requirement").arg(&requirements),
    )?;
    if !alone.is_empty() {
        run(
            &format!("{name}: {} (once)", alone.join(", ")),
            pip(&python).arg("--no-deps").args(alone),
        )?;
    }
    fs::write(&stamp, wanted)
        .map_err(|error| format!("cannot write {}: {error}", stamp.display()))?;
    Ok(python)
}

/// Creates an empty virtual environment and returns its interpreter.
pub fn create(folder: &Path) -> Result<PathBuf, String> {
    let (program, _) = interpreter()?;
    run(
        "python: virtual environment",
        Command::new(&program)
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )?;
    Ok(python_of(folder))
}

fn python_of(environment: &Path) -> PathBuf {
    if cfg!(windows) {
        environment.join("Scripts").join("python.exe")
    } else {
        environment.join("bin").join("python")
    }
}

/// Returns the first interpreter that is new enough.
pub fn interpreter() -> Result<(String, String), String> {
    let asked = std::env::var("PYTHON").ok();
    let programs = asked
        .into_iter()
        .chain(PROGRAMS.iter().map(|name| (*name).to_owned()));
    for program in programs {
        let script = "import sys; print(*sys.version_info[:3], sep='.')";
        let Ok(output) = Command::new(&program).args(["-c", script]).output() else {
            continue;
        };
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let mut numbers = version.split('.').map_while(|part| part.parse().ok());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next())
            && (major, minor) >= OLDEST
        {
            return Ok((program, version));
        }
    }
    Err("no Python 3.10 or later found: install one, or name it in the variable PYTHON".to_owned())
}

/// Returns the command `pip install` of an environment.
pub fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    command
}

/// Builds the wheel and returns its path.
fn build(python: &Path) -> Result<PathBuf, String> {
    let out = root().join("target").join("wheels");
    // A wheel of another version must not be mistaken for this one.
    if out.exists() {
        fs::remove_dir_all(&out)
            .map_err(|error| format!("cannot empty {}: {error}", out.display()))?;
    }
    run_in(
        &root().join("python"),
        "python: wheel, release profile",
        Command::new(python)
            .args(["-m", "maturin", "build", "--quiet", "--release", "--locked"])
            .arg("--interpreter")
            .arg(python)
            .arg("--out")
            .arg(&out),
    )?;
    let wheels = fs::read_dir(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut wheels = wheels.flatten().map(|entry| entry.path());
    wheels
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| format!("maturin left no wheel in {}", out.display()))
}

/// Installs what a wheel would install, with the bindings of the dev profile.
///
/// These share what the Rust tests have built and check more, whereas a wheel takes minutes to build.
/// `cargo xtask release --dry-run` tests the real one.
fn install_for_tests(python: &Path) -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        // Linking an extension needs options that maturin knows.
        return install(python, &build(python)?);
    }
    let library = step::bindings()?;
    let site = site_packages(python)?;
    let say = |error: std::io::Error| format!("{}: {error}", site.display());
    for entry in fs::read_dir(&site).map_err(say)?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "l0star" || (name.starts_with("l0star-") && name.ends_with(".dist-info")) {
            fs::remove_dir_all(entry.path()).map_err(say)?;
        }
    }
    run_in(
        &root().join("python"),
        "python: install the package with these bindings",
        Command::new(python)
            .args(["-m", "maturin", "pep517", "write-dist-info"])
            .arg("--metadata-directory")
            .arg(&site)
            .arg("--interpreter")
            .arg(python)
            .stdout(Stdio::null()),
    )?;
    let package = site.join("l0star");
    fs::create_dir(&package).map_err(say)?;
    let mut files = vec!["l0star/_core.abi3.so".to_owned()];
    fs::copy(library, package.join("_core.abi3.so")).map_err(say)?;
    for entry in fs::read_dir(root().join("python").join("l0star")).map_err(say)? {
        let path = entry.map_err(say)?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_file() {
            fs::copy(&path, package.join(name)).map_err(say)?;
            files.push(format!("l0star/{}", name.to_string_lossy()));
        }
    }
    // With a list of its files, pip can replace the package with a wheel.
    let version = env!("CARGO_PKG_VERSION");
    let record: String = files.iter().map(|file| format!("{file},,\n")).collect();
    fs::write(
        site.join(format!("l0star-{version}.dist-info"))
            .join("RECORD"),
        record,
    )
    .map_err(say)
}

/// Returns the folder of the packages of an environment.
fn site_packages(python: &Path) -> Result<PathBuf, String> {
    let script = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let output = Command::new(python)
        .args(["-c", script])
        .output()
        .map_err(|error| format!("{}: {error}", python.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}

fn install(python: &Path, wheel: &Path) -> Result<(), String> {
    run(
        "python: install the wheel",
        pip(python)
            .args(["--no-deps", "--force-reinstall"])
            .arg(wheel),
    )
}
