use std::io::Write;
use std::path::Path;

use crate::caps::{LONGEST_RECORD, MOST_COLUMNS};

use super::*;

fn packed(text: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(text).unwrap();
    out.finish().unwrap()
}

fn refused(text: &[u8]) -> String {
    let source = Source::memory(Path::new("a.csv"), text).unwrap();
    let outcome = read(&source, &ReadOptions::default());
    outcome.map(|table| table.rows()).unwrap_err().to_string()
}

#[test]
fn an_error_ends_the_reading_of_a_long_file() {
    let rows = "1,2\n".repeat(5_000_000);
    let ragged = refused(format!("a,b\n1,2,3\n{rows}").as_bytes());
    assert!(ragged.contains("line 2 has 3 cells"), "{ragged}");
    let whole = packed(format!("a,b\n{rows}").as_bytes());
    let cut = refused(&whole[..whole.len() / 2]);
    assert!(cut.contains("damaged or cut short"), "{cut}");
}

#[test]
fn commas_without_end_are_no_table() {
    let commas = refused(",".repeat(MOST_COLUMNS).as_bytes());
    let words = "a.csv: its first line has more than 500000 cells";
    assert!(commas.contains(words), "{commas}");
}

#[test]
fn a_record_without_end_is_refused_with_its_line() {
    let endless = "7".repeat(3 * LONGEST_RECORD);
    let first = refused(&packed(endless.as_bytes()));
    assert!(
        first.contains("a.csv: the record that starts on line 1 has more"),
        "{first}"
    );
    let rows = "1,2\n".repeat(2_000_000);
    let quoted = format!("a,b\n{rows}3,\"{endless}");
    let later = refused(quoted.as_bytes());
    assert!(
        later.contains("the record that starts on line 2000002 has"),
        "{later}"
    );
    assert!(later.contains("a quote that is never closed"), "{later}");
}
