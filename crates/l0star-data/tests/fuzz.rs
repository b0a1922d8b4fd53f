//! Damaged files of every format: whatever they contain, a reader returns a table or an error. It does not
//! panic, does not hang, and does not take memory that the file does not justify.

use std::panic;
use std::path::Path;

use l0star_data::generate::rng::Stream;
use l0star_data::{Format, ReadOptions, Summary, parse};

#[path = "samples/damage.rs"]
mod damage;
mod samples;

use damage::mutate;

/// Mutations of every file; there are 21 files.
const ROUNDS: usize = 1200;

/// Returns the peak memory of this process, where the system reports it.
fn peak_megabytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1000)
}

#[test]
fn no_damaged_file_brings_a_reader_down() {
    // The readers of Arrow and Parquet panic on some files. The panic is caught and becomes an
    // error, so it is not printed.
    panic::set_hook(Box::new(|_| {}));
    let corpus = samples::files();
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
    // Both outcomes occur.
    assert!(
        read > 1000 && refused > 1000,
        "{read} read, {refused} refused"
    );
    if let Some(peak) = peak_megabytes() {
        assert!(peak < 1000, "{peak} MB for files of a few kilobytes");
    }
}

/// Reads the file in its detected format, or in a format that it does not have; returns
/// whether that yields a table.
fn look(round: usize, name: &str, bytes: &[u8]) -> bool {
    let path = Path::new(name);
    let mut options = ReadOptions::default();
    if round % 7 == 3 {
        let word = Format::WORDS[round / 7 % Format::WORDS.len()];
        options.format = Some(word.parse().unwrap());
    }
    match parse(path, bytes, &options) {
        Ok(table) => {
            Summary::of(&table);
            // Both outcomes are valid; neither may panic.
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
