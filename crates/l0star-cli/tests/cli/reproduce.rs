//! `l0star reproduce`: the paper's statements on a few instances, and results from which a later run continues.

use std::collections::HashMap;

use crate::common::Sandbox;

/// A row of a CSV file, by column name.
type Row = HashMap<String, String>;

fn rows(sandbox: &Sandbox, name: &str) -> Vec<Row> {
    let text = String::from_utf8(sandbox.read(name)).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells = line.split(',').map(str::to_owned);
        names
            .iter()
            .map(|name| (*name).to_owned())
            .zip(cells)
            .collect()
    };
    lines.map(row).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column]
        .parse()
        .unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

fn same_instance(one: &Row, two: &Row) -> bool {
    ["panel", "x", "seed"]
        .iter()
        .all(|column| one[*column] == two[*column])
}

/// Asserts that the exact searches find the same objective and that no method finds a lower one.
fn nobody_beats_the_exact_searches(rows: &[Row]) {
    let exact = rows.iter().filter(|row| row["method"] == "BFS (paper)");
    let mut compared = 0;
    for bfs in exact.filter(|row| row["status"] == "optimal") {
        let least = number(bfs, "objective");
        for other in rows.iter().filter(|row| same_instance(row, bfs)) {
            let objective = number(other, "objective");
            assert!(objective >= least - 1e-12, "{other:?} beats {bfs:?}");
            if other["method"] == "l0star" {
                assert!(
                    objective - least <= 1e-9 * least,
                    "{other:?} is worse than {bfs:?}"
                );
            }
            compared += 1;
        }
    }
    assert!(compared > 0);
}

fn mean_calls(rows: &[Row], method: &str) -> f64 {
    let calls: Vec<f64> = rows
        .iter()
        .filter(|row| row["method"] == method)
        .map(|row| number(row, "solver_calls"))
        .collect();
    assert!(!calls.is_empty(), "{method}");
    calls.iter().sum::<f64>() / calls.len() as f64
}

#[test]
fn the_papers_statements_hold_on_three_instances() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("reproduce all --instances 3 --out . --quiet");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for name in ["cost", "recovery", "recovery-strong", "real"] {
        nobody_beats_the_exact_searches(&rows(&sandbox, &format!("{name}.csv")));
    }

    let real = rows(&sandbox, "real.csv");
    let bfs = real.iter().filter(|row| row["method"] == "BFS (paper)");
    let large: Vec<&Row> = bfs.filter(|row| number(row, "x") >= 4e-6).collect();
    assert_eq!(large.len(), 8);
    assert!(
        large.iter().all(|row| row["solver_calls"] == "1"),
        "{large:?}"
    );

    let ascents = rows(&sandbox, "sga-pdal.csv");
    let [pdal, sga] =
        ["BFS-PDAL (paper)", "BFS-SGA (paper)"].map(|name| mean_calls(&ascents, name));
    assert!(pdal < sga, "{pdal} calls with PDAL, {sga} with SGA");

    let page = String::from_utf8(sandbox.read("reproduce.html")).unwrap();
    let markdown = String::from_utf8(sandbox.read("reproduce.md")).unwrap();
    for name in [
        "cost",
        "recovery",
        "recovery-strong",
        "real",
        "sga-pdal",
        "ablation",
    ] {
        assert!(page.contains(&format!("src=\"{name}.svg\"")));
        assert!(markdown.contains(&format!("({name}.svg)")));
        assert!(sandbox.read(&format!("{name}.svg")).starts_with(b"<svg"));
        assert!(sandbox.read(&format!("{name}.png")).starts_with(b"\x89PNG"));
    }
    assert!(markdown.contains("MIP was skipped"));
}

#[test]
fn a_second_run_keeps_what_is_there() {
    let sandbox = Sandbox::new();
    let run = |arguments: &str| {
        let outcome = sandbox.run(&format!(
            "reproduce real --instances 1 --out out {arguments}"
        ));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        sandbox.read("out/real.csv")
    };
    let first = run("");
    assert_eq!(run(""), first);

    sandbox.refuses(
        "reproduce real --instances 1 --out out --search-time-limit 7s",
        2,
        &[
            "time limit in seconds was 60.0 and is 7.0",
            "--out",
            "--restart",
        ],
    );
    assert_eq!(sandbox.read("out/real.csv"), first);
    assert_ne!(run("--search-time-limit 7s --restart"), first);
}

/// The page and the figures depend only on the results, so they are the same on another day.
#[test]
fn the_same_results_make_the_same_page() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("reproduce real --instances 1 --out .");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let made = ["reproduce.md", "reproduce.html", "real.svg", "real.png"];
    let before = made.map(|name| sandbox.read(name));

    let configuration = String::from_utf8(sandbox.read("real.json")).unwrap();
    let page = String::from_utf8(before[0].clone()).unwrap();
    let begun = configuration.split("\"begun\": \"").nth(1).unwrap();
    let day = begun.split('"').next().unwrap();
    let said = format!("Begun on {day}.");
    assert!(page.contains(&said), "{page}");
    sandbox.write("real.json", configuration.replace(day, "2001-02-03"));
    for name in made {
        std::fs::remove_file(sandbox.path(name)).unwrap();
    }

    let outcome = sandbox.run("reproduce real --instances 1 --out .");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for (name, before) in made.iter().zip(before) {
        let before = if name.ends_with("g") {
            before
        } else {
            String::from_utf8(before)
                .unwrap()
                .replace(&said, "Begun on 2001-02-03.")
                .into_bytes()
        };
        assert!(sandbox.read(name) == before, "{name} is another one");
    }
}

#[test]
fn a_run_that_is_cut_off_is_marked_and_counts() {
    let sandbox = Sandbox::new();
    let outcome =
        sandbox.run("reproduce cost --instances 1 --out . --search-time-limit 0s --threads 1");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.stdout.contains("were cut off at the limit of 0 s"),
        "{}",
        outcome.stdout
    );
    let results = rows(&sandbox, "cost.csv");
    let cut = results.iter().filter(|row| row["status"] == "time_limit");
    assert!(cut.count() >= 12);
    let page = String::from_utf8(sandbox.read("reproduce.md")).unwrap();
    assert!(page.contains("(1 cut off)"));

    // The page of a later run includes the earlier experiments.
    let outcome =
        sandbox.run("reproduce real --instances 1 --out . --search-time-limit 0s --threads 1");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let page = String::from_utf8(sandbox.read("reproduce.md")).unwrap();
    assert!(page.contains("(cost.svg)") && page.contains("(real.svg)"));
}
