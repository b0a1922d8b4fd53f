//! A saved table loads unchanged, bit for bit, and a file appears whole or not at all.

use std::fs;
use std::io::{self, Write};

use l0star_data::{DataError, Table, load, read_csv, read_npy, save, write_atomically};
use proptest::prelude::*;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn finite() -> impl Strategy<Value = f64> {
    any::<u64>()
        .prop_map(f64::from_bits)
        .prop_filter("finite", |value| value.is_finite())
}

fn tables() -> impl Strategy<Value = Table> {
    let names = prop::collection::hash_set("[a-z][ -~;|\t\n]{0,6}[a-z]", 1..6);
    (names, 1..8usize).prop_flat_map(|(names, rows)| {
        let names: Vec<String> = names.into_iter().collect();
        prop::collection::vec(finite(), names.len() * rows)
            .prop_map(move |values| Table::new(names.clone(), rows, values).unwrap())
    })
}

proptest! {
    #[test]
    fn csv_is_bit_exact(table in tables()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        save(&path, &table).unwrap();
        let back = load(&path).unwrap().into_table().unwrap();
        prop_assert_eq!(back.names(), table.names());
        prop_assert_eq!(bits(back.values()), bits(table.values()));
    }

    #[test]
    fn npy_is_bit_exact(table in tables()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.NPY");
        save(&path, &table).unwrap();
        let back = load(&path).unwrap().into_table().unwrap();
        prop_assert_eq!(back.rows(), table.rows());
        prop_assert_eq!(back.names().last().map(String::as_str), Some("b"));
        prop_assert_eq!(bits(back.values()), bits(table.values()));
    }

    #[test]
    fn no_bytes_make_the_readers_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = l0star_data::parse_csv("junk".as_ref(), &bytes);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a0,;\"\r\n\t .-]{0,60}") {
        let raw = l0star_data::parse_csv("junk".as_ref(), text.as_bytes());
        if let Ok(raw) = raw {
            for name in raw.names() {
                let _ = raw.labels(name);
                let _ = raw.number(name);
            }
            let _ = raw.into_table();
        }
    }
}

fn small() -> Table {
    Table::new(
        vec!["u".into(), "v".into(), "y".into()],
        2,
        vec![1., 2., 3., 4., 5., 6.],
    )
    .unwrap()
}

#[test]
fn npy_names_are_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    save(&path, &small()).unwrap();
    assert_eq!(read_npy(&path).unwrap().names(), ["x1", "x2", "b"]);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(
        bytes.len(),
        128 + 6 * 8,
        "numbers start at a multiple of 64 bytes"
    );
}

#[test]
fn npy_errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    save(&path, &small()).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 8;
    bytes[last..].copy_from_slice(&f64::NAN.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let message = load(&path).unwrap().number("b").unwrap_err().to_string();
    assert!(
        message.contains("t.npy: column 'b', row 2: missing value ('NaN')"),
        "{message}"
    );
    fs::write(&path, &bytes[..last]).unwrap();
    let message = load(&path).unwrap_err().to_string();
    assert!(
        message.contains("t.npy' cannot be read as a NumPy matrix"),
        "{message}"
    );
    assert!(matches!(
        load(folder.path().join("no.npy")),
        Err(DataError::Io { .. })
    ));
}

#[test]
fn only_known_extensions_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.xlsx", "t"] {
        let message = save(folder.path().join(name), &small())
            .unwrap_err()
            .to_string();
        assert!(message.contains(".csv, .npy"), "{message}");
    }
    let text = folder.path().join("t.data");
    fs::write(&text, "a b;c\n1;2\n").unwrap();
    assert_eq!(load(&text).unwrap().names(), ["a b", "c"]);
}

#[test]
fn an_unwritable_place_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let message = save(folder.path().join("no/t.csv"), &small())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("cannot write") && message.contains("t.csv"),
        "{message}"
    );
    assert!(message.contains("os error") && message.ends_with("create the folder first"));
    let taken = folder.path().join("folder.csv");
    fs::create_dir(&taken).unwrap();
    assert!(matches!(
        save(&taken, &small()),
        Err(DataError::IsFolder { .. })
    ));
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    save(&path, &small()).unwrap();
    let before = fs::read(&path).unwrap();
    let failed = write_atomically(&path, |out| {
        out.write_all(b"half a fi")?;
        Err(io::Error::other("disk full"))
    });
    assert!(failed.unwrap_err().to_string().contains("disk full"));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("t.csv"), folder.path().join("link.csv"));
    fs::write(&path, "old").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    save(&link, &small()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read_csv(&path).unwrap().names(), ["u", "v", "y"]);
}
