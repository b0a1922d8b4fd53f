//! `cargo xtask report`: the pages of `--report` in a real browser, and the pictures of them in `docs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{cargo, root, run};
use crate::tools;

/// Where the pages go, from the root: they show the names of their files.
const FOLDER: &str = "target/report";

/// What a page is made from, and which panels it has to show.
struct Page {
    name: &'static str,
    generate: Option<&'static str>,
    command: &'static str,
    options: &'static str,
    panels: &'static [&'static str],
}

const PAGES: [Page; 5] = [
    Page {
        name: "regression",
        generate: None,
        command: "fit",
        options: "data/diabetes.csv --target target -k 5 --top 20",
        panels: &["trace", "models", "residuals"],
    },
    Page {
        name: "labels",
        generate: Some("logistic -d 60 -k 6 -n 250"),
        command: "fit",
        options: "--target b --loss logistic -k 6",
        panels: &["trace", "labels"],
    },
    Page {
        name: "wide",
        generate: Some("ar -d 1000 -k 10 -n 2000"),
        command: "fit",
        options: "--target b -k 10",
        panels: &["trace", "residuals"],
    },
    Page {
        name: "prices",
        generate: None,
        command: "fit",
        options: "data/diabetes.csv --target target -k 5 --prices --interactions --heredity",
        panels: &["prices", "residuals"],
    },
    Page {
        name: "path",
        generate: None,
        command: "path",
        options: "data/diabetes.csv --target target",
        panels: &["path", "residuals"],
    },
];

/// The pictures: which page, how large, in the dark or not.
const PICTURES: [(&str, &str, &str, bool); 3] = [
    ("report-light.png", "regression", "900,1500", false),
    ("report-dark.png", "labels", "900,1200", true),
    ("report-phone.png", "regression", "500,1500", false),
];

/// Makes the pages, checks them and writes the pictures.
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
        // What a browser says of buses that it misses is of no interest here.
        let command = command.stderr(Stdio::null());
        run(picture, command.arg(address(&folder, page)))?;
    }
    Ok(())
}

/// Checks the pages. A developer who may not install a browser is told that they are not; elsewhere nothing is left out.
pub fn check() -> Result<(), String> {
    match tools::chromium() {
        Ok(browser) => pages(&browser).map(|_| ()),
        Err(why) if tools::is_ci() => Err(why),
        Err(why) => {
            eprintln!("==> the report is not looked at: {why}");
            Ok(())
        }
    }
}

/// Makes every page and looks at it: its panels are drawn, and it does not complain.
fn pages(browser: &Path) -> Result<PathBuf, String> {
    let folder = root().join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for page in PAGES {
        let mut options = page.options.to_owned();
        if let Some(family) = page.generate {
            let data = Path::new(FOLDER).join(format!("{}.csv", page.name));
            l0star(&format!("generate {family} --quiet"), "--out", &data)?;
            options = format!("{} {options}", data.display());
        }
        let file = Path::new(FOLDER).join(format!("{}.html", page.name));
        let words = format!("{} {options} --quiet", page.command);
        l0star(&words, "--report", &file)?;
        look(browser, &folder, &page)?;
    }
    Ok(folder)
}

fn l0star(words: &str, option: &str, file: &Path) -> Result<(), String> {
    let mut command = cargo(&["run", "--quiet", "--package", "l0star-cli", "--"]);
    command.args(words.split(' ')).arg(option).arg(file);
    run(words, &mut command)
}

fn look(browser: &Path, folder: &Path, page: &Page) -> Result<(), String> {
    let refuse = |what: &str| Err(format!("the page '{}' {what}", page.name));
    let output = browser_command(browser, folder)
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(address(folder, page.name))
        .output()
        .map_err(|error| format!("{}: {error}", browser.display()))?;
    let (html, log) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if let Some(line) = log.lines().find(|line| line.contains("CONSOLE")) {
        return refuse(&format!("complains: {line}"));
    }
    for panel in page.panels {
        let Some((_, section)) = html.split_once(&format!("<section id=\"{panel}\">")) else {
            return refuse(&format!("does not show '{panel}'"));
        };
        let section = section.split("</section>").next().unwrap_or("");
        if !section.contains("<svg") || section.contains("NaN") {
            return refuse(&format!("does not draw '{panel}'"));
        }
    }
    eprintln!("==> page '{}' looked at", page.name);
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
