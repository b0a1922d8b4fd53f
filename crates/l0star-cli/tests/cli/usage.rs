//! Wrong usage: exit code 2, before any work.

use crate::common::Sandbox;

const GOOD: &str = "a,b,y\n1,2,3\n2,1,5\n4,3,8\n3,5,7\n";

fn refuses(options: &str, words: &[&str]) {
    let arguments = format!("fit d.csv --target y {options}");
    Sandbox::with("d.csv", GOOD).refuses(&arguments, 2, words);
}

#[test]
fn a_ridge_that_is_not_positive() {
    for ridge in ["0", "-1", "nan", "inf", "much"] {
        let quoted = format!("'{ridge}'");
        refuses(
            &format!("-k 1 --ridge {ridge}"),
            &[&quoted, "--ridge", "greater than 0"],
        );
    }
}

#[test]
fn a_k_that_is_no_count() {
    for k in ["-1", "abc", "1.5"] {
        refuses(
            &format!("-k {k}"),
            &[&format!("'{k}'"), "-k", "whole number"],
        );
    }
}

#[test]
fn a_negative_gap() {
    refuses("-k 1 --gap -1e-3", &["'-1e-3'", "--gap", "zero or more"]);
}

#[test]
fn a_relative_gap_that_is_no_share() {
    for gap in ["-0.1", "1", "nan"] {
        let quoted = format!("'{gap}'");
        refuses(
            &format!("-k 1 --relative-gap {gap}"),
            &[&quoted, "--relative-gap", "less than 1"],
        );
    }
}

#[test]
fn a_number_of_threads_that_is_none() {
    for threads in ["0", "-1", "two"] {
        let quoted = format!("'{threads}'");
        refuses(
            &format!("-k 1 --threads {threads}"),
            &[&quoted, "--threads", "one or more"],
        );
    }
    refuses(
        "-k 1 --threads 2 --method paper",
        &["--threads", "best-first", "'paper'"],
    );
}

#[test]
fn a_huber_delta_that_is_not_positive() {
    refuses(
        "-k 1 --loss huber --huber-delta 0",
        &["'0'", "--huber-delta"],
    );
}

#[test]
fn words_that_name_nothing() {
    refuses("-k 1 --method magic", &["'magic'", "best-first"]);
    refuses("-k 1 --loss cubic", &["'cubic'", "squared-hinge"]);
    refuses("-k 1 --relaxation none", &["'none'", "pdal, sga"]);
    refuses("-k 1 --colour", &["'--colour'"]);
}

#[test]
fn limits_that_are_no_amounts() {
    refuses("-k 1 --time-limit soon", &["'soon'", "30s"]);
    refuses("-k 1 --time-limit -1s", &["'-1s'"]);
    refuses("-k 1 --memory-limit 4apples", &["'4apples'", "4GB"]);
    refuses("-k 1 --node-limit -3", &["'-3'", "--node-limit"]);
}

#[test]
fn what_is_required() {
    let sandbox = Sandbox::with("d.csv", GOOD);
    sandbox.refuses("fit d.csv --target y", 2, &["-k"]);
    sandbox.refuses("fit d.csv -k 1", 2, &["--target"]);
    sandbox.refuses("fit --target y -k 1", 2, &["DATA"]);
    assert_eq!(sandbox.run("").code, Some(2));
}

#[test]
fn an_output_that_cannot_be_written_is_known_before_the_data_are_read() {
    let sandbox = Sandbox::with("d.csv", GOOD);
    let fit = "fit no-such-data.csv --target y -k 1 --out";
    sandbox.refuses(
        &format!("{fit} missing/model.json"),
        2,
        &["missing/model.json", "create the folder"],
    );
    sandbox.refuses(&format!("{fit} d.csv/model.json"), 2, &["d.csv/model.json"]);
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.refuses(&format!("{fit} folder"), 2, &["'folder' is a folder"]);
    sandbox.refuses(
        "generate huber --out missing/h.csv",
        2,
        &["missing/h.csv", "create the folder"],
    );
}

#[cfg(unix)]
#[test]
fn a_device_is_not_replaced_by_a_file() {
    use std::os::unix::fs::FileTypeExt;

    let sandbox = Sandbox::with("d.csv", GOOD);
    sandbox.refuses(
        "fit d.csv --target y -k 1 --out /dev/null",
        2,
        &["'/dev/null' is not a regular file"],
    );
    let kind = std::fs::metadata("/dev/null").unwrap().file_type();
    assert!(kind.is_char_device());
}

#[test]
fn the_data_are_not_overwritten_by_the_model() {
    let sandbox = Sandbox::with("d.csv", GOOD);
    sandbox.refuses(
        "fit d.csv --target y -k 1 --out ./d.csv",
        2,
        &["./d.csv", "overwrite the data"],
    );
    assert_eq!(sandbox.read("d.csv"), GOOD.as_bytes());
}

#[test]
fn one_column_in_two_roles() {
    refuses("-k 1 --weights y", &["'y'", "--target", "--weights"]);
    refuses(
        "-k 1 --weights a --offset a",
        &["'a'", "--weights", "--offset"],
    );
}

#[test]
fn nothing_left_to_choose_from() {
    refuses("-k 1 --exclude a,b", &["--exclude", "no features"]);
}

#[test]
fn switches_of_another_method() {
    for switch in ["--relaxation sga", "--no-warm-start", "--no-pruning"] {
        refuses(&format!("-k 1 {switch}"), &[switch, "--method paper"]);
    }
}

#[test]
fn too_many_supports_for_brute_force() {
    let sandbox = Sandbox::new();
    sandbox.run("generate huber -d 40 -k 10 -n 60 --out h.csv");
    sandbox.refuses(
        "fit h.csv --target b -k 10 --method exhaustive",
        2,
        &["847660528", "exhaustive", "best-first"],
    );
}

#[test]
fn generator_arguments_out_of_range() {
    let sandbox = Sandbox::new();
    for (arguments, word) in [
        ("huber -d 0", "d = 0"),
        ("huber -d 5 -k 6", "k = 6"),
        ("huber -n 0", "n = 0"),
        ("huber -d -4", "'-4'"),
        ("ar --rho 1", "rho = 1"),
        ("ar --snr 0", "snr = 0"),
        ("huber --rho 0.5", "--rho"),
        ("diabetes -d 10", "-d"),
        ("iris", "'iris'"),
        ("huber --seed -1", "'-1'"),
    ] {
        sandbox.refuses(&format!("generate {arguments} --out x.csv"), 2, &[word]);
    }
    sandbox.refuses("generate huber --out x.xlsx", 2, &["x.xlsx", ".csv, .npy"]);
    assert_eq!(sandbox.files(), [""; 0]);
}

#[test]
fn help_and_version_succeed() {
    let sandbox = Sandbox::new();
    for arguments in ["--help", "fit --help", "generate --help"] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stdout.contains("Examples:"), "{arguments}");
        assert_eq!(outcome.stderr, "");
    }
    let version = sandbox.run("--version");
    assert_eq!(version.code, Some(0));
    assert_eq!(
        version.stdout.trim(),
        concat!("l0star ", env!("CARGO_PKG_VERSION"))
    );
}
