//! Damaged files of every format: whatever stands in them, a reader answers with a table or an error. It does not
//! panic, does not hang, and does not take memory that the file does not justify.

use std::panic;
use std::path::Path;

use l0star_data::generate::rng::Stream;
use l0star_data::{Format, Model, ReadOptions, Summary, parse};

#[path = "samples/damage.rs"]
mod damage;
mod samples;

use damage::mutate;

/// Mutations of every file; there are 22 files.
const ROUNDS: usize = 1200;

/// A small file of every format, under a name for messages.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let mut files = samples::files();
    files.push(("model.json".into(), MODEL.into()));
    files
}

const MODEL: &str = r#"{"format":"l0star-model","version":1,"l0star":"0.1.0","status":"optimal",
"objective":0.5,"lower_bound":0.5,"gap":0.0,"relative_gap":0.0,"k":2,"loss":"logistic","ridge":0.001,
"intercept":-1.5,"support":["x1","a:b"],"coefficients":{"x1":2.0,"a:b":-1e-3},"solver_calls":3,"nodes":1,
"peak_open_nodes":1,"seconds":0.1,"method":"best-first","warnings":[],"target":"b","labels":["0","1"],
"weights":null,"offset":null,"huber_delta":null,"fit_intercept":true,"standardize":false,
"products":[{"name":"a:b","factors":["x2","x3"]}],"features":["x1","x2"],"settings":{"gap":0.0,
"relative_gap":0.0,"top":null,"within":null,"time_limit":null,"node_limit":null,"memory_limit":null,
"threads":1},"data":{"file":"a.csv","rows":9,"columns":2,"rows_dropped":0,"hash":"00"},"command":[]}"#;

/// Peak memory of this process, where the system tells.
fn peak_megabytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1000)
}

#[test]
fn no_damaged_file_brings_a_reader_down() {
    // The readers of Arrow and Parquet panic on some files, which is caught and becomes an error: keep it silent.
    panic::set_hook(Box::new(|_| {}));
    let corpus = corpus();
    let mut random = Stream::new(20);
    let (mut read, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        for (name, original) in &corpus {
            let other = &corpus[random.below(corpus.len())].1;
            let bytes = mutate(&mut random, original, other);
            let is_ok = panic::catch_unwind(|| look(round, name, &bytes)).unwrap_or_else(|_| {
                let _ = panic::take_hook();
                let kept = std::env::temp_dir().join(format!("l0star-fuzz-{round}-{name}"));
                std::fs::write(&kept, &bytes).unwrap();
                panic!("a panic in round {round}; the file is {}", kept.display());
            });
            *(if is_ok { &mut read } else { &mut refused }) += 1;
        }
    }
    let _ = panic::take_hook();
    assert_eq!(read + refused, ROUNDS * corpus.len());
    // Both answers are exercised.
    assert!(
        read > 1000 && refused > 1000,
        "{read} read, {refused} refused"
    );
    if let Some(peak) = peak_megabytes() {
        assert!(peak < 1000, "{peak} MB for files of a few kilobytes");
    }
}

/// Reads the file by what it looks like, or as a format that it is not; whether that is a table.
fn look(round: usize, name: &str, bytes: &[u8]) -> bool {
    let path = Path::new(name);
    if name.ends_with(".json") {
        return Model::parse(path, bytes).is_ok();
    }
    let mut options = ReadOptions::default();
    if round % 7 == 3 {
        let word = Format::WORDS[round / 7 % Format::WORDS.len()];
        options.format = Some(word.parse().unwrap());
    }
    match parse(path, bytes, &options) {
        Ok(table) => {
            Summary::of(&table);
            // Both answers are fine; neither may be a panic.
            let _ = table.labels(&table.names()[0].clone());
            let _ = table.into_table();
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}
