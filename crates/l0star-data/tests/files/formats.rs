//! Every format: a saved table loads unchanged, whatever the name of the file; damage
//! is an error, never a panic.

use std::fs;
use std::path::Path;

use l0star_data::{DataError, Format, RawColumn, ReadOptions, Table, load, load_with, parse, save};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Returns every extension that is written, with its format.
fn kinds() -> Vec<(&'static str, Format)> {
    let mut kinds = vec![
        ("csv", Format::Csv),
        ("tsv", Format::Csv),
        ("csv.gz", Format::Csv),
        ("tsv.zst", Format::Csv),
        ("npy", Format::Npy),
        ("npz", Format::Npz),
        ("libsvm", Format::Libsvm),
        ("svm.gz", Format::Libsvm),
    ];
    if cfg!(feature = "parquet") {
        kinds.extend([("parquet", Format::Parquet), ("arrow", Format::Arrow)]);
    }
    kinds
}

fn small() -> Table {
    let names = ["x1", "x2", "x3", "b"].map(str::to_string).to_vec();
    let values = vec![
        0.1, -2.5e-7, 1e300, 4.0, 0.0, 0.0, 3.0, 0.0, 5.0, 6.0, 7.0, 8.5, 1.0, -1.0, 1.0, 2.0,
    ];
    Table::new(names, 4, values).unwrap()
}

fn saved(extension: &str, table: &Table) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("t.{extension}"));
    save(&path, table).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn every_format_gives_back_the_table() {
    for (extension, format) in kinds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("t.{extension}"));
        save(&path, &small()).unwrap();
        let raw = load(&path).unwrap();
        assert_eq!(raw.format(), format, "{extension}");
        assert_eq!(raw.into_table().unwrap(), small(), "{extension}");
    }
}

#[test]
fn the_content_decides_whatever_the_name_says() {
    let folder = tempfile::tempdir().unwrap();
    for (extension, format) in kinds() {
        let bytes = saved(extension, &small());
        for name in ["t", "t.csv", "t.parquet", "t.npy", "t.data.gz", "t.svm"] {
            let path = folder.path().join(name);
            fs::write(&path, &bytes).unwrap();
            let raw = load(&path).unwrap_or_else(|error| panic!("{extension} as {name}: {error}"));
            assert_eq!(raw.format(), format, "{extension} as {name}");
            assert_eq!(raw.into_table().unwrap(), small(), "{extension} as {name}");
        }
    }
}

#[test]
fn a_forced_format_is_tried_and_refused() {
    let csv = saved("csv", &small());
    for format in [
        Format::Npy,
        Format::Npz,
        Format::Parquet,
        Format::Arrow,
        Format::Libsvm,
    ] {
        let options = ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        };
        let refused = parse(Path::new("t.csv"), &csv, &options).unwrap_err();
        assert!(refused.to_string().contains("t.csv"), "{format}: {refused}");
    }
    let options = ReadOptions {
        delimiter: Some(b';'),
        ..ReadOptions::default()
    };
    let message = parse(Path::new("t.npy"), &saved("npy", &small()), &options).unwrap_err();
    assert!(message.to_string().contains("no delimiter"), "{message}");
}

#[test]
fn files_that_are_nothing_say_both_what_they_are_and_what_they_should_be() {
    let refused = |name: &str, bytes: &[u8]| {
        parse(Path::new(name), bytes, &ReadOptions::default())
            .unwrap_err()
            .to_string()
    };
    for name in ["a.csv", "a.npy", "a.npz", "a.parquet", "a.arrow", "a.svm"] {
        assert!(refused(name, b"").contains("is empty"), "{name}");
    }
    for (name, expected) in [
        ("a.npy", "named like a NumPy matrix"),
        ("a.npz", "named like a NumPy archive"),
        ("a.parquet", "named like a Parquet file"),
        ("a.feather", "named like an Arrow file"),
        ("a.csv", "not a text file"),
    ] {
        let message = refused(name, b"\x01\x02\x00\xff\xfe");
        assert!(message.contains(expected), "{message}");
    }
    assert!(refused("a.csv", b"BZh91AY").contains("bzip2"));
    assert!(refused("a.csv", b"\xfd7zXZ\0").contains("xz -d"));
    assert!(refused("a.csv", b"\x89HDF\r\n\x1a\n").contains("HDF5"));
    assert!(refused("a.csv", b"\xff\xfea\0,").contains("UTF-16"));
    assert!(refused("a.csv.gz", b"\x1f\x8b\x08").contains("as a gzip file"));
}

#[test]
fn text_under_a_binary_name_is_read_as_text() {
    let raw = parse(
        Path::new("a.parquet"),
        b"u,y\n1,2\n",
        &ReadOptions::default(),
    )
    .unwrap();
    assert_eq!(raw.names(), ["u", "y"]);
}

#[test]
fn folders_and_absent_files_are_refused_under_every_name() {
    let folder = tempfile::tempdir().unwrap();
    for (extension, _) in kinds() {
        let path = folder.path().join(format!("f.{extension}"));
        assert!(matches!(load(&path), Err(DataError::Io { .. })));
        fs::create_dir(&path).unwrap();
        assert!(matches!(load(&path), Err(DataError::IsFolder { .. })));
    }
}

#[test]
fn only_text_is_compressed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.npy.gz", "t.parquet.zst", "t.npz.gz", "t.gz"] {
        let refused = save(folder.path().join(name), &small());
        assert!(
            matches!(refused, Err(DataError::UnknownFormat { .. })),
            "{name}"
        );
    }
}

/// A file that is cut short or has changed bytes yields an error or some table, and never a panic.
#[test]
fn damage_is_never_a_panic() {
    for (extension, _) in kinds() {
        let whole = saved(extension, &small());
        let name = format!("t.{extension}");
        let read = |bytes: &[u8]| {
            let raw = parse(Path::new(&name), bytes, &ReadOptions::default());
            raw.and_then(|raw| raw.into_table())
        };
        for end in 0..whole.len() {
            let cut = read(&whole[..end]);
            // Text may be cut after a whole number.
            if !matches!(extension, "csv" | "tsv" | "libsvm") {
                assert!(cut.is_err(), "{extension} cut at {end}");
            }
        }
        // A fixed congruential generator: the same damage in every run.
        let mut state = 12345u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..1 + next(4) {
                let at = next(bytes.len());
                bytes[at] = next(256) as u8;
            }
            if let Err(error) = read(&bytes) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn readers_agree_about_gaps_text_and_truths() {
    let csv = "x,city,ok,b\n1,Rome,true,1\n,Oslo,false,2\n3,,true,3\n";
    let raw = parse(Path::new("t.csv"), csv.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(raw.columns()[0].missing(), 1);
    assert_eq!(raw.columns()[1].missing(), 1);
    assert!(raw.columns()[2].is_boolean());
    assert_eq!(raw.number("ok").unwrap(), [1.0, 0.0, 1.0]);
    let (signs, labels) = raw.labels("ok").unwrap();
    assert_eq!(
        (signs, labels),
        (vec![1.0, -1.0, 1.0], ["false".into(), "true".into()])
    );
}

#[test]
fn libsvm_stays_sparse() {
    // A dense table would take 80 GB.
    let text = "1 1:1 5:2\n-1 1000000:3\n".repeat(5000);
    let raw = parse(Path::new("t.svm"), text.as_bytes(), &ReadOptions::default()).unwrap();
    assert!(raw.is_sparse());
    assert_eq!((raw.rows(), raw.names().len()), (10_000, 1_000_001));
    assert!(raw.bytes() < 1 << 20);
    let features: Vec<&String> = raw.names().iter().filter(|name| *name != "b").collect();
    let sparse = raw.sparse(&features).unwrap();
    assert_eq!(sparse.entries(), 15_000);
    assert_eq!(sparse.column(999_999).1, vec![3.0; 5000]);
    assert!(matches!(raw.column("x2").unwrap(), RawColumn::Sparse { rows, .. } if rows.is_empty()));
}

fn finite() -> impl Strategy<Value = f64> {
    any::<u64>()
        .prop_map(f64::from_bits)
        .prop_filter("finite", |value| value.is_finite())
}

fn tables() -> impl Strategy<Value = Table> {
    (1..6usize, 1..9usize).prop_flat_map(|(columns, rows)| {
        let value = prop_oneof![Just(0.0), finite(), (-1e3..1e3f64)];
        prop::collection::vec(value, columns * rows).prop_map(move |values| {
            let mut names: Vec<String> = (1..columns).map(|j| format!("x{j}")).collect();
            names.push("b".into());
            Table::new(names, rows, values).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn round_trips_are_exact(table in tables()) {
        let folder = tempfile::tempdir().unwrap();
        for (extension, format) in kinds() {
            let path = folder.path().join(format!("t.{extension}"));
            save(&path, &table).unwrap();
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            let back = load_with(&path, &options).unwrap().into_table().unwrap();
            // Zeros that are not stored lose their sign, so bits are not compared.
            prop_assert_eq!(&back, &table, "{}", extension);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        magic in prop::sample::select(vec![
            &b""[..], b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff\x10\0\0\0", b"\x93NUMPY\x01\0",
            b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"1 1:2\n",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let bytes = [magic, &rest].concat();
        let _ = parse(Path::new("junk"), &bytes, &ReadOptions::default());
    }
}
