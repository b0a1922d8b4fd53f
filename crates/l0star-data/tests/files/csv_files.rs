//! The CSV reader's results for good files and its messages about bad ones.

use std::fs;
use std::path::Path;

use l0star_data::{DataError, Decimal, RawColumn, RawTable, ReadOptions, parse_csv, read_csv};

fn parse(text: &str) -> Result<RawTable, DataError> {
    parse_csv(Path::new("data.csv"), text.as_bytes())
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn values(text: &str) -> Vec<f64> {
    parse(text).unwrap().into_table().unwrap().values().to_vec()
}

#[test]
fn every_dialect_gives_the_same_table() {
    for text in [
        "a,b\n1,2\n3,4\n",
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\r1,2\r3,4\r",
        "\u{feff}a,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4\n",
        "a|b\n1|2\n3|4\n",
        "a b\n1 2\n3 4\n",
        "  a   b\n 1 \t 2 \n   \n3 4",
        "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
        "\n\na, b\n\n 1 , 2\n\n3,+4\n\n",
    ] {
        let table = parse(text).unwrap().into_table().unwrap();
        assert_eq!(table.names(), ["a", "b"], "{text:?}");
        assert_eq!(table.values(), [1.0, 3.0, 2.0, 4.0], "{text:?}");
    }
}

#[test]
fn a_text_column_is_an_error_only_where_it_is_used() {
    let raw = parse("id,x,city\n1,0.5,Rome\n2,1.5,Paris\n").unwrap();
    assert_eq!(raw.rows(), 2);
    assert_eq!(
        raw.numeric(&["x", "id"]).unwrap().values(),
        [0.5, 1.5, 1.0, 2.0]
    );
    let used = raw.numeric(&["x", "city"]).unwrap_err().to_string();
    assert_eq!(
        used,
        "data.csv: column 'city', line 2: 'Rome' is not a number; \
         drop the column with --exclude city or encode it as numbers"
    );
    let target = raw.number("city").unwrap_err().to_string();
    assert!(target.contains("choose another or encode it"), "{target}");
    assert_eq!(raw.number("x").unwrap(), [0.5, 1.5]);
    let RawColumn::Text { levels, codes } = raw.column("city").unwrap() else {
        panic!("a text column")
    };
    assert_eq!(levels, &["Rome", "Paris"]);
    assert_eq!(codes, &[0, 1]);
}

#[test]
fn missing_and_infinite_values_are_told_apart() {
    for missing in ["", "NA", "NaN", "n/a", "null"] {
        let raw = parse(&format!("a,b\n1,2\n3,{missing}\n")).unwrap();
        assert!(raw.numeric(&["a"]).is_ok());
        let message = raw.numeric(&["b"]).unwrap_err().to_string();
        let expected = format!("data.csv: column 'b', line 3: missing value ('{missing}')");
        assert!(message.starts_with(&expected), "{message}");
    }
    for infinite in ["inf", "-inf", "1e999"] {
        let raw = parse(&format!("a,b\n1,{infinite}\n3,4\n")).unwrap();
        let message = raw.numeric(&["b"]).unwrap_err().to_string();
        let expected = format!("data.csv: column 'b', line 2: '{infinite}' is not finite");
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn text_outranks_a_gap_above_it() {
    let raw = parse("a,city\n1,NA\n2,5\n3,Oslo\n4,Bern\n").unwrap();
    let message = raw.numeric(&["city"]).unwrap_err().to_string();
    assert!(
        message.contains("line 4: 'Oslo' is not a number"),
        "{message}"
    );
}

#[test]
fn a_decimal_comma_gets_its_own_advice() {
    let message = parse("a;b\n1,5;2\n")
        .unwrap()
        .into_table()
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("'1,5' is not a number; write decimals with a point"),
        "{message}"
    );
}

#[test]
fn lines_are_those_of_an_editor() {
    for text in [
        "a,b\n1,2\n\n\"x\ny\",2\n3,z\n",
        "a,b\r\n1,2\r\n\r\n\"x\r\ny\",2\r\n3,z\r\n",
    ] {
        let raw = parse(text).unwrap();
        let message = raw.numeric(&["b"]).unwrap_err().to_string();
        assert!(message.contains("line 6: 'z'"), "{text:?}: {message}");
        let message = raw.numeric(&["a"]).unwrap_err().to_string();
        assert!(message.contains("line 4: 'x"), "{text:?}: {message}");
    }
}

#[test]
fn ragged_rows_are_counted() {
    for text in ["a,b\n1,2\n3\n", "a,b\r\n1,2\r\n3\r\n"] {
        assert!(refused(text).starts_with("data.csv: line 3 has 1 cells but the header has 2"));
    }
    assert!(refused("a,b\n1,2,3\n").contains("line 2 has 3 cells"));
}

#[test]
fn a_blank_line_in_a_single_column_is_a_missing_value() {
    for text in ["a\n1\n\n2\n", "a\r\n1\r\n\r\n2\r\n"] {
        assert!(
            refused(text).contains("column 'a', line 3: missing value"),
            "{text:?}"
        );
    }
    assert_eq!(values("a\r\n1\r\n2\r\n\r\n"), [1.0, 2.0]);
}

#[test]
fn empty_files_and_headers_alone_are_refused() {
    for text in ["", "\n\n", "\u{feff}", "  \n"] {
        assert!(refused(text).contains("'data.csv' is empty"), "{text:?}");
    }
    for text in ["a,b", "a,b\n", "a,b\r\n\r\n"] {
        assert!(
            refused(text).contains("has a header but no rows"),
            "{text:?}"
        );
    }
}

#[test]
fn bad_headers_are_refused() {
    let table = parse("a,b,a\n1,2,3\n").unwrap();
    assert_eq!(table.names(), ["a", "b", "a_2"]);
    assert!(
        table.notes()[0].contains("column 3 'a' is now 'a_2'"),
        "{:?}",
        table.notes()
    );
    let table = parse("a,,c\n1,2,3\n").unwrap();
    assert_eq!(table.names(), ["a", "c2", "c"]);
    assert!(
        table.notes()[0].contains("has no name"),
        "{:?}",
        table.notes()
    );
    assert_eq!(values("0,1\n5,6\n"), [5.0, 6.0], "names of a data frame");
    assert_eq!(values("\"7\",\"3\"\n5,6\n"), [5.0, 6.0], "names in quotes");
}

#[test]
fn a_first_line_of_numbers_is_no_header() {
    let raw = parse("\n0.5,1.5\n1,x\n").unwrap();
    assert_eq!(raw.names(), ["c1", "c2"]);
    assert!(!raw.has_names());
    assert_eq!(raw.number("c1").unwrap(), [0.5, 1.0]);
    let message = raw.number("c2").unwrap_err().to_string();
    assert!(message.contains("column 'c2', line 3: 'x'"), "{message}");
    let message = raw.number("y").unwrap_err().to_string();
    assert!(
        message.ends_with("the columns are c1, c2 (the file has no names)"),
        "{message}"
    );
}

#[test]
fn the_reader_can_be_told() {
    let read = |text: &str, options: ReadOptions| {
        l0star_data::parse(Path::new("data.csv"), text.as_bytes(), &options)
    };
    let table = |text: &str, options: ReadOptions| read(text, options).unwrap().into_table();
    let header = |header: bool| ReadOptions {
        header: Some(header),
        ..ReadOptions::default()
    };
    let named = table("2010,2020\n1,2\n", header(true)).unwrap();
    assert_eq!(named.names(), ["2010", "2020"]);
    let unnamed = table("1,2\n3,4\n", header(false)).unwrap();
    assert_eq!(unnamed.names(), ["c1", "c2"]);
    assert_eq!(unnamed.values(), [1.0, 3.0, 2.0, 4.0]);
    let delimited = |delimiter: u8, decimal_comma: bool| ReadOptions {
        delimiter: Some(delimiter),
        decimal: if decimal_comma {
            Decimal::Comma
        } else {
            Decimal::Point
        },
        ..ReadOptions::default()
    };
    let odd = table("a:b\n1:2\n", delimited(b':', false)).unwrap();
    assert_eq!(odd.values(), [1.0, 2.0]);
    let comma = table("a;b\n1,5;-2,25e1\n3;4.5\n", delimited(b';', true)).unwrap();
    assert_eq!(comma.values(), [1.5, 3.0, -22.5, 4.5]);
    for bad in [b'1', b'e', b'.', b'-', b'"', b'\n', 0, 200] {
        let message = read("a\n1\n", delimited(bad, false)).unwrap_err();
        assert!(message.to_string().contains("delimiter"), "{message}");
    }
    let message = read("a,b\n1,2\n", delimited(b',', true)).unwrap_err();
    assert!(
        message.to_string().contains("decimals have a comma too"),
        "{message}"
    );
}

#[test]
fn a_quote_that_is_never_closed_is_an_error() {
    for (text, line) in [
        ("a,b\n1,2\n3,\"4\n5,6\n", 3),
        ("a,\"b\n1,2\n", 1),
        ("a,b\n\"1,2\n", 2),
    ] {
        let message = refused(text);
        let expected = format!("the quote that opens on line {line} is never closed");
        assert!(message.contains(&expected), "{text:?}: {message}");
    }
}

/// Texts of several blocks, so that records are cut, parsed in parallel and joined again.
mod large {
    use super::*;

    const ROWS: usize = 120_000;

    fn text(cell: impl Fn(usize) -> String) -> String {
        let mut text = String::from("id,x,mixed\n");
        for row in 0..ROWS {
            text += &format!("{row},{}.5,{}\n", row % 1000, cell(row));
        }
        assert!(text.len() > 5 << 18);
        text + &"\n".repeat(3 << 20)
    }

    #[test]
    fn every_row_arrives_in_order() {
        let raw = parse(&text(|row| format!("\"{}\"", row % 7))).unwrap();
        assert_eq!(raw.rows(), ROWS);
        let table = raw.into_table().unwrap();
        let expected: Vec<f64> = (0..ROWS).map(|row| row as f64).collect();
        assert_eq!(table.column(0), expected);
        let expected: Vec<f64> = (0..ROWS).map(|row| (row % 7) as f64).collect();
        assert_eq!(table.column(2), expected);
    }

    #[test]
    fn text_that_comes_late_keeps_the_spelling_of_what_stands_above_it() {
        let late = |row: usize| match row {
            119_000 => "Oslo".to_string(),
            _ => "007".to_string(),
        };
        let raw = parse(&text(late)).unwrap();
        let RawColumn::Text { levels, codes } = raw.column("mixed").unwrap() else {
            panic!("a text column")
        };
        assert_eq!(levels, &["007", "Oslo"]);
        assert_eq!(codes.iter().position(|code| *code == 1), Some(119_000));
        let message = raw.number("mixed").unwrap_err().to_string();
        assert!(message.contains("line 119002: 'Oslo'"), "{message}");
        assert_eq!(raw.number("id").unwrap().len(), ROWS);
    }

    #[test]
    fn lines_and_gaps_are_counted_across_blocks() {
        let wrapped = |row: usize| match row {
            60_000 => "\"1\n\n2\"".to_string(),
            _ => "a".to_string(),
        };
        let raw = parse(&text(wrapped).replace("\n110000,0.5,", "\n110000,NA,")).unwrap();
        let message = raw.number("x").unwrap_err().to_string();
        assert!(
            message.contains("column 'x', line 110004: missing value ('NA')"),
            "{message}"
        );
    }

    #[test]
    fn an_error_far_below_names_its_line() {
        let wide = |row: usize| match row {
            115_000 => "1,2".to_string(),
            _ => "1".to_string(),
        };
        let message = refused(&text(wide));
        assert!(message.contains("line 115002 has 4 cells"), "{message}");
    }

    #[test]
    fn a_header_may_be_longer_than_a_block() {
        let names: Vec<String> = (0..400_000).map(|j| format!("column{j}")).collect();
        let row = vec!["1"; names.len()].join(",");
        let raw = parse(&format!("{}\n{row}\n{row}\n", names.join(","))).unwrap();
        assert_eq!((raw.rows(), raw.names().len()), (2, 400_000));
    }
}

#[test]
fn binary_junk_is_no_text() {
    let junk = |bytes: &[u8]| {
        parse_csv(Path::new("a.xlsx"), bytes)
            .unwrap_err()
            .to_string()
    };
    assert!(
        junk(b"PK\x03\x04\0\0").contains("'a.xlsx' is not a text file (a zero byte at offset 4)")
    );
    assert!(junk(b"caf\xe9,b\n1,2\n").contains("no UTF-8 at byte offset 3"));
}

#[test]
fn folders_and_absent_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        read_csv(folder.path()),
        Err(DataError::IsFolder { .. })
    ));
    let absent = folder.path().join("absent.csv");
    let message = read_csv(&absent).unwrap_err().to_string();
    assert!(
        message.contains("cannot read") && message.contains("absent.csv"),
        "{message}"
    );
    assert!(message.ends_with("check the path"), "{message}");
    let there = folder.path().join("there.txt");
    fs::write(&there, "a,b\n1,2\n").unwrap();
    assert_eq!(read_csv(&there).unwrap().file(), there);
}

#[test]
fn unknown_columns_get_a_suggestion() {
    let raw = parse("age,target\n1,2\n").unwrap();
    let message = raw.number("taget").unwrap_err().to_string();
    assert_eq!(
        message,
        "data.csv: there is no column 'taget' (did you mean 'target'?); the columns are age, target"
    );
}

#[test]
fn any_two_labels_make_a_binary_target() {
    let labels = |text: &str| parse(text).unwrap().labels("y");
    let (signs, names) = labels("x,y\n1,no\n2,yes\n3,no\n").unwrap();
    assert_eq!(
        (signs, names),
        (vec![-1.0, 1.0, -1.0], ["no".into(), "yes".into()])
    );
    let (signs, names) = labels("x,y\n1,10\n2,9.0\n3,10.0\n").unwrap();
    assert_eq!(
        (signs, names),
        (vec![1.0, -1.0, 1.0], ["9".into(), "10".into()])
    );
    let (_, names) = labels("x,y\n1,0\n2,yes\n").unwrap();
    assert_eq!(names, ["0", "yes"]);
}

#[test]
fn other_numbers_of_labels_are_refused() {
    let refused = |text: &str| parse(text).unwrap().labels("y").unwrap_err().to_string();
    assert!(refused("x,y\n1,yes\n2,yes\n").contains("column 'y' has the single label 'yes'"));
    assert!(refused("x,y\n1,1\n2,1.0\n").contains("single label '1'"));
    let many = refused("x,y\n1,a\n1,b\n1,c\n1,d\n1,e\n1,f\n1,g\n");
    assert!(
        many.contains("column 'y' has 7 labels (a, b, c, d, e, …)"),
        "{many}"
    );
    let missing = refused("x,y\n1,a\n1,b\n1,\n");
    assert!(
        missing.contains("column 'y', line 4: missing value"),
        "{missing}"
    );
    let missing = refused("x,y\n1,0\n1,1\n1,NA\n");
    assert!(
        missing.contains("column 'y', line 4: missing value ('NA')"),
        "{missing}"
    );
    assert!(refused("x,z\n1,0\n").contains("no column 'y'"));
}
