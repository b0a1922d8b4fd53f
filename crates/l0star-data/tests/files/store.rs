//! Column stores: written columns are read unchanged, in bounded pieces, and damage is detected.

use std::fs;
use std::path::Path;

use l0star_data::store::{Entries, Precision, Shape};
use l0star_data::{ColumnStore, DataError, ReadOptions, Wanted, load, stream};

const ROWS: usize = 1003;

fn names() -> Vec<String> {
    ["a", "b c", "ü"].map(String::from).to_vec()
}

/// Numbers that single precision can also represent.
fn entry(row: usize, column: usize) -> f64 {
    (row * 7 % 64) as f64 * 0.25 - column as f64
}

fn write(path: &Path, precision: Precision, piece: usize) -> Result<(), DataError> {
    let names = names();
    let shape = Shape {
        names: &names,
        rows: ROWS,
        precision,
        note: "a note",
    };
    ColumnStore::write(path, &shape, |file| {
        for start in (0..ROWS).step_by(piece) {
            let rows = start..(start + piece).min(ROWS);
            let column = |j: usize| rows.clone().map(|i| entry(i, j)).collect::<Vec<f64>>();
            let columns = [column(0), column(1), column(2)];
            file.append(&columns.each_ref().map(Vec::as_slice))?;
        }
        Ok(())
    })
}

fn open(path: &Path) -> Result<ColumnStore, DataError> {
    ColumnStore::open(path, &|_, _| {})
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::Double, Precision::Single] {
        let mut files = Vec::new();
        for piece in [1, 100, 5000] {
            let path = folder.path().join("a.l0d");
            write(&path, precision, piece).unwrap();
            files.push(fs::read(&path).unwrap());
            let store = open(&path).unwrap();
            assert_eq!((store.rows(), store.names()), (ROWS, &names()[..]));
            assert_eq!((store.note(), store.precision()), ("a note", precision));
            for j in 0..store.columns() {
                let expected: Vec<f64> = (0..ROWS).map(|i| entry(i, j)).collect();
                assert_eq!(store.numbers(j), expected);
                assert_eq!(
                    matches!(store.column(j), Entries::Double(_)),
                    precision == Precision::Double
                );
            }
            store.check_unchanged().unwrap();
        }
        assert!(
            files.windows(2).all(|pair| pair[0] == pair[1]),
            "pieces do not show"
        );
    }
}

#[test]
fn a_store_is_a_file_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("named.csv");
    write(&path, Precision::Single, 100).unwrap();
    let table = load(&path).unwrap();
    assert_eq!(table.names(), names());
    assert_eq!(table.number("ü").unwrap()[999], entry(999, 2));
    let wanted = ["b c".to_owned()];
    let wanted = Wanted {
        columns: Some(&wanted),
        texts: &[],
    };
    let mut rows = Vec::new();
    let mut take = |piece: l0star_data::RawTable| {
        assert_eq!(piece.names(), ["b c"]);
        rows.extend(piece.number("b c")?);
        Ok(true)
    };
    stream(
        &path,
        &ReadOptions::default(),
        &wanted,
        &|_, _| {},
        &mut take,
    )
    .unwrap();
    assert_eq!(rows, (0..ROWS).map(|i| entry(i, 1)).collect::<Vec<f64>>());
}

#[test]
fn every_cut_and_every_flipped_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, bad) = (folder.path().join("a.l0d"), folder.path().join("bad.l0d"));
    write(&path, Precision::Double, 100).unwrap();
    let whole = fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&bad, bytes).unwrap();
        open(&bad).unwrap_err().to_string()
    };
    for length in (0..whole.len()).step_by(37).chain([whole.len() - 1]) {
        let message = refused(&whole[..length]);
        assert!(message.contains("cut short"), "{length}: {message}");
    }
    assert!(refused(&[&whole[..], b"x"].concat()).contains("cut short, or"));
    let start = whole.len() - 3 * (ROWS * 8usize).next_multiple_of(64);
    // The whole header; after it come zeros up to a page, which do not matter.
    let header = whole[..start].iter().rposition(|byte| *byte != 0).unwrap();
    for at in (0..header).chain((start..start + ROWS * 8).step_by(97)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let message = refused(&bytes);
        assert!(
            message.contains("cannot be read as a column store"),
            "{at}: {message}"
        );
    }
    let mut bytes = whole.clone();
    bytes[start + 8 * 500] ^= 1;
    assert!(refused(&bytes).contains("column 'a' is damaged"));
    bytes = whole;
    bytes[8] = 9;
    assert!(refused(&bytes).contains("version 9"));
}

#[test]
fn a_file_that_is_replaced_does_no_harm_and_one_that_is_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.l0d");
    write(&path, Precision::Double, 100).unwrap();
    let store = open(&path).unwrap();
    write(&path, Precision::Single, 100).unwrap();
    assert_eq!(store.numbers(1)[7], entry(7, 1));
    store.check_unchanged().unwrap();
    let store = open(&path).unwrap();
    // A longer file: nothing below the map is touched.
    let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(1 << 20).unwrap();
    let error = store.check_unchanged().unwrap_err().to_string();
    assert!(error.contains("was changed while it was used"), "{error}");
}

#[test]
fn what_cannot_be_stored_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.l0d");
    let names = vec!["a".to_owned()];
    let attempt = |precision: Precision, rows: usize, values: &[f64]| {
        let shape = Shape {
            names: &names,
            rows,
            precision,
            note: "",
        };
        let written = ColumnStore::write(&path, &shape, |file| file.append(&[values]));
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
        written.unwrap_err().to_string()
    };
    let nan = attempt(Precision::Double, 2, &[1.0, f64::NAN]);
    assert!(nan.contains("column 'a', row 2"), "{nan}");
    let large = attempt(Precision::Single, 2, &[1.0, 1e300]);
    assert!(large.contains("single precision"), "{large}");
    for (rows, values) in [(1, &[1.0, 2.0][..]), (3, &[1.0, 2.0]), (0, &[])] {
        let changed = attempt(Precision::Double, rows, values);
        assert!(
            changed.contains("changed while they were read"),
            "{changed}"
        );
    }
    let huge = attempt(Precision::Double, usize::MAX, &[1.0]);
    assert!(huge.contains("too many for a file"), "{huge}");
}
