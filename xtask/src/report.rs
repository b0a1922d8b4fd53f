//! `cargo xtask report`: checks the pages of `--report` in a real browser, and takes their pictures for `docs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{self, root, run};
use crate::tools;

/// Folder of the pages, relative to the root, as they show the names of their files.
const FOLDER: &str = "target/report";

/// Widths that every page has to fit: two phones, a tablet, a desktop.
const WIDTHS: [u32; 4] = [360, 390, 768, 1280];

/// A page: its data and command, the panels that it must show, and the text that it must contain.
struct Page {
    name: &'static str,
    data: Data,
    command: &'static str,
    options: &'static str,
    panels: &'static [&'static str],
    says: &'static str,
}

/// Source of the rows of a page.
enum Data {
    /// A data file of the project.
    File(&'static str),
    /// Data from `l0star generate`.
    Generated(&'static str),
    /// Text columns, very long names, and names of wide characters.
    Names,
}

const DIABETES: Data = Data::File("data/diabetes.csv");

const PAGES: [Page; 16] = [
    Page {
        name: "root",
        data: DIABETES,
        command: "fit",
        options: "--target target -k 10",
        panels: &["trace", "residuals"],
        says: "bound and objective met at the root",
    },
    Page {
        name: "regression",
        data: DIABETES,
        command: "fit",
        options: "--target target -k 5 --top 20",
        panels: &["trace", "models", "residuals"],
        says: "proved optimal",
    },
    Page {
        name: "labels",
        data: Data::Generated("logistic -d 60 -k 6 -n 250"),
        command: "fit",
        options: "--target b --loss logistic -k 6",
        panels: &["trace", "labels"],
        says: "log-odds",
    },
    Page {
        name: "wide",
        data: Data::Generated("ar -d 1000 -k 10 -n 2000"),
        command: "fit",
        options: "--target b -k 10",
        panels: &["trace", "residuals"],
        says: "proved optimal",
    },
    Page {
        name: "prices",
        data: DIABETES,
        command: "fit",
        options: "--target target -k 5 --prices --interactions --heredity",
        panels: &["prices", "residuals"],
        says: "What each choice costs",
    },
    Page {
        name: "path",
        data: DIABETES,
        command: "path",
        options: "--target target",
        panels: &["path", "residuals"],
        says: "More and fewer features",
    },
    Page {
        name: "names",
        data: Data::Names,
        command: "fit",
        options: "--target y -k 4 --top 100 --prices --group pair=高さ,w",
        panels: &["models", "prices", "residuals"],
        says: "columns of &#39;pair&#39; are in or out together",
    },
    Page {
        name: "path-of-names",
        data: Data::Names,
        command: "path",
        options: "--target y",
        panels: &["path", "residuals"],
        says: "hash",
    },
    Page {
        name: "heuristic",
        data: DIABETES,
        command: "fit",
        options: "--target target -k 5 --method omp",
        panels: &["residuals"],
        says: "Nothing is proved",
    },
    Page {
        name: "stopped",
        data: Data::Generated("huber -d 100 -k 10 -n 100"),
        command: "fit",
        options: "--target b --loss huber -k 10 --no-intercept --ridge 1e-4 --node-limit 5",
        panels: &["trace", "residuals"],
        says: "status loud",
    },
    Page {
        name: "cv",
        data: DIABETES,
        command: "cv",
        options: "--target target -k 8 --ridge 1e-3,0.1",
        panels: &["cv", "residuals"],
        says: "Scores on rows held out",
    },
    Page {
        name: "cv-of-names",
        data: Data::Names,
        command: "cv",
        options: "--target y -k 3",
        panels: &["cv", "residuals"],
        says: "How good it is",
    },
    Page {
        name: "stability",
        data: DIABETES,
        command: "stability",
        options: "--target target -k 6 --interactions --resamples 100",
        panels: &["stability", "residuals"],
        says: "How stable the choice is",
    },
    Page {
        name: "stability-of-names",
        data: Data::Names,
        command: "stability",
        options: "--target y -k 3 --resamples 20 --resampling half",
        panels: &["stability", "residuals"],
        says: "half-samples",
    },
    Page {
        name: "holdout",
        data: DIABETES,
        command: "fit",
        options: "--target target -k 5 --holdout 20% --refit --prices",
        panels: &["prices", "residuals"],
        says: "88 rows, held out",
    },
    Page {
        name: "holdout-labels",
        data: Data::Generated("logistic -d 40 -k 5 -n 300"),
        command: "fit",
        options: "--target b --loss logistic -k 5 --holdout 25%",
        panels: &["labels"],
        says: "odds ratio",
    },
];

/// The pictures: file, page, size, and whether it is in dark mode.
const PICTURES: [(&str, &str, &str, bool); 3] = [
    ("report-light.png", "regression", "900,776", false),
    ("report-dark.png", "labels", "900,1200", true),
    ("report-phone.png", "regression", "500,1500", false),
];

/// Creates the pages, checks them and takes the pictures.
pub fn pictures() -> Result<(), String> {
    let browser = tools::chromium()?;
    let folder = pages(&browser)?;
    for (picture, page, size, is_dark) in PICTURES {
        let file = root().join("docs").join(picture);
        let mut command = browser_command(&browser, &folder);
        command
            .arg(format!("--screenshot={}", file.display()))
            .arg(format!("--window-size={size}"))
            .arg("--hide-scrollbars");
        if is_dark {
            command.arg("--blink-settings=preferredColorScheme=0");
        }
        // The browser's messages about missing buses are irrelevant here.
        let command = command.stderr(Stdio::null());
        run(picture, command.arg(address(&folder, page)))?;
    }
    Ok(())
}

/// Checks the pages of the command.
pub fn check() -> Result<(), String> {
    with_browser(|browser| pages(browser).map(|_| ()))
}

/// Checks a page made by the Python package installed for `python`.
pub fn check_python(python: &Path) -> Result<(), String> {
    with_browser(|browser| {
        let folder = folder()?;
        let script = "\
import sys
from l0star import solve
from sklearn.datasets import load_breast_cancer
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
solve(X, y, 4, loss='logistic', standardize=True, top=5, prices=True).report(sys.argv[1])";
        run(
            "a page of the Python package",
            Command::new(python)
                .args(["-c", script])
                .arg(folder.join("python.html")),
        )?;
        let panels = ["trace", "models", "prices", "labels"];
        look(
            browser,
            &folder,
            "python",
            &panels,
            "l0star.solve(X, y, k=4",
        )
    })
}

/// Runs a check that needs a browser. Without one, a developer is told that it is skipped; in CI that is an error.
fn with_browser(check: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    match tools::chromium() {
        Ok(browser) => check(&browser),
        Err(why) if tools::is_ci() => Err(why),
        Err(why) => {
            eprintln!("==> the report is not looked at: {why}");
            Ok(())
        }
    }
}

/// Creates and checks every page.
fn pages(browser: &Path) -> Result<PathBuf, String> {
    let folder = folder()?;
    let program = step::command("report", false)?;
    let l0star = |words: &str, option, file: &Path| l0star(&program, words, option, file);
    for page in PAGES {
        let own = Path::new(FOLDER).join(format!("{}.csv", page.name));
        let data = match page.data {
            Data::File(file) => file.into(),
            Data::Generated(family) => {
                l0star(&format!("generate {family} --quiet"), "--out", &own)?;
                own
            }
            Data::Names => {
                fs::write(root().join(&own), names())
                    .map_err(|error| format!("{}: {error}", own.display()))?;
                own
            }
        };
        let file = Path::new(FOLDER).join(format!("{}.html", page.name));
        let words = format!(
            "{} {} {} --quiet",
            page.command,
            data.display(),
            page.options
        );
        l0star(&words, "--report", &file)?;
        look(browser, &folder, page.name, page.panels, page.says)?;
    }
    Ok(folder)
}

fn folder() -> Result<PathBuf, String> {
    let folder = root().join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Returns rows with a text column and names too long for any line.
fn names() -> String {
    let endless = "an_unbroken_name_without_end_".repeat(12);
    let spoken = "a name of many words ".repeat(12);
    let wide = "身長と体重の比".repeat(8);
    let mut text = format!("region,{endless},{spoken},{wide},高さ,w,y\n");
    for i in 0..60 {
        let part = |factor: f64| (factor * f64::from(i)).sin();
        let region = ["north", "south", "a region far away from everything else"][i as usize % 3];
        let (a, b, c, d) = (part(1.7), part(2.3), part(3.1), part(4.7));
        let y = 3.0 * a - 2.0 * c + d + f64::from(i % 3) + 0.3 * part(9.1);
        text += &format!("{region},{a},{b},{c},{d},{},{y}\n", part(5.9));
    }
    text
}

/// Runs the command; a stopped search is a valid result.
fn l0star(program: &Path, words: &str, option: &str, file: &Path) -> Result<(), String> {
    const STOPPED: i32 = 4;
    eprintln!("==> {words}");
    let mut command = Command::new(program);
    command.args(words.split(' ')).arg(option).arg(file);
    let status = command
        .current_dir(root())
        .status()
        .map_err(|error| format!("{words}: {error}"))?;
    match status.code() {
        Some(0 | STOPPED) => Ok(()),
        _ => Err(format!("{words} failed ({status})")),
    }
}

/// Checks a page at every width: its panels are drawn, nothing is too wide or cut off, and it logs nothing.
fn look(
    browser: &Path,
    folder: &Path,
    name: &str,
    panels: &[&str],
    says: &str,
) -> Result<(), String> {
    let refuse = |what: &str| Err(format!("the page '{name}' {what}"));
    let file = |name: &str| folder.join(format!("{name}.html"));
    let page = fs::read_to_string(file(name))
        .map_err(|error| format!("{}: {error}", file(name).display()))?;
    if !page.contains(says) {
        return refuse(&format!("does not say '{says}'"));
    }
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    let frames = WIDTHS.map(|width| {
        format!("<iframe width=\"{width}\" height=\"9000\" style=\"border:0\" srcdoc=\"{quoted}\"></iframe>")
    });
    let looked_at = format!("{name}.looked-at");
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><pre id=\"faults\" data-panels=\"{}\"></pre><script>{}</script>{}",
        panels.join(" "),
        include_str!("report.js"),
        frames.concat()
    );
    fs::write(file(&looked_at), html)
        .map_err(|error| format!("{}: {error}", file(&looked_at).display()))?;
    let output = browser_command(browser, folder)
        .args(["--enable-logging=stderr", "--dump-dom", "--hide-scrollbars"])
        .arg(address(folder, &looked_at))
        .output()
        .map_err(|error| format!("{}: {error}", browser.display()))?;
    let (html, log) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if let Some(line) = log.lines().find(|line| line.contains("CONSOLE")) {
        return refuse(&format!("complains: {line}"));
    }
    let found = html.split_once("<pre id=\"faults\"").and_then(|(_, rest)| {
        let (_, rest) = rest.split_once('>')?;
        Some(rest.split_once("</pre>")?.0)
    });
    match found {
        Some("none") => {}
        Some(faults) if !faults.is_empty() => return refuse(&format!("looks bad:\n{faults}")),
        _ => return refuse("could not be looked at"),
    }
    eprintln!("==> page '{name}' looked at");
    Ok(())
}

fn address(folder: &Path, page: &str) -> String {
    format!("file://{}/{page}.html", folder.display())
}

fn browser_command(browser: &Path, folder: &Path) -> Command {
    let mut command = Command::new(browser);
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("browser").display()
        ));
    command
}
