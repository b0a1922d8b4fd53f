//! What the CSV reader promises for good files and says about bad ones.

use std::fs;
use std::path::Path;

use l0star_data::{DataError, RawColumn, RawTable, parse_csv, read_csv};

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
    let RawColumn::Text { values, .. } = raw.column("city").unwrap() else {
        panic!("a text column")
    };
    assert_eq!(values, &["Rome", "Paris"]);
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
        message.ends_with("'1,5' is not a number; write decimals with a point"),
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
    assert!(refused("a,b,a\n1,2,3\n").contains("data.csv: columns 1 and 3 are both named 'a'"));
    assert!(refused("a,,c\n1,2,3\n").contains("data.csv: column 2 has no name"));
    assert!(refused("0.5,1.5\n1,2\n").contains("has no header"));
    assert_eq!(values("0,1\n5,6\n"), [5.0, 6.0], "names of a data frame");
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
        "there is no column 'taget' (did you mean 'target'?); the columns are age, target"
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
