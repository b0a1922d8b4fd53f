//! `generate`: the files it writes and the summary it prints.

use crate::common::{Sandbox, without_seconds};

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let sandbox = Sandbox::new();
    for family in ["huber", "logistic", "ar", "diabetes", "boston"] {
        for extension in ["csv", "npy"] {
            let write = |name: &str, seed: u64| {
                let file = format!("{name}.{extension}");
                let size = match family {
                    "diabetes" | "boston" => "",
                    _ => "-d 30 -k 3 -n 40",
                };
                let arguments = format!("generate {family} {size} --seed {seed} --out {file}");
                assert_eq!(sandbox.run(&arguments).code, Some(0), "{arguments}");
                sandbox.read(&file)
            };
            let first = write("first", 5);
            assert_eq!(first, write("second", 5), "{family}.{extension}");
            if !matches!(family, "diabetes" | "boston") {
                assert_ne!(first, write("third", 6), "{family}.{extension}");
            }
        }
    }
}

#[test]
fn the_defaults_are_the_papers() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate huber --out h.csv");
    assert_eq!(outcome.code, Some(0));
    assert_eq!(outcome.stderr, "");
    assert!(
        outcome
            .stdout
            .starts_with("wrote h.csv: 460 rows, 100 features and the target 'b'; true support: x"),
        "{}",
        outcome.stdout
    );
    assert_eq!(outcome.stdout.matches(", x").count(), 9);
    assert_eq!(outcome.stdout.lines().count(), 1);
    let same = sandbox.run("generate huber -d 100 -k 10 -n 460 --seed 1 --quiet --out same.csv");
    assert_eq!(same.stdout, "");
    assert_eq!(sandbox.read("h.csv"), sandbox.read("same.csv"));
}

#[test]
fn the_real_data_sets_have_the_papers_sizes() {
    let sandbox = Sandbox::new();
    for (name, size) in [
        ("diabetes", "442 rows, 65 features"),
        ("boston", "506 rows, 103 features"),
    ] {
        let said = sandbox.run(&format!("generate {name} --out r.csv")).stdout;
        assert_eq!(said, format!("wrote r.csv: {size} and the target 'b'\n"));
    }
}

#[test]
fn the_true_support_is_what_a_fit_finds() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("generate ar -d 20 -k 3 -n 400 --rho 0.2 --snr 50 --out a.csv");
    let names = said
        .stdout
        .trim_end()
        .split("true support: ")
        .nth(1)
        .unwrap();
    let fit = sandbox.json("fit a.csv --target b -k 3 --json");
    assert_eq!(crate::common::support(&fit).join(", "), names);
}

#[test]
fn csv_and_npy_of_one_instance_give_the_same_result() {
    let sandbox = Sandbox::new();
    sandbox.run("generate huber -d 30 -k 3 -n 60 --out h.csv");
    sandbox.run("generate huber -d 30 -k 3 -n 60 --out h.npy");
    let fit = |file: &str| {
        let arguments = format!("fit {file} --target b -k 3 --loss huber --method paper --json");
        without_seconds(sandbox.json(&arguments))
    };
    assert_eq!(fit("h.csv"), fit("h.npy"));
}
