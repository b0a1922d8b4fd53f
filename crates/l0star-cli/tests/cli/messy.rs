//! Real-world tables: encodings, decimal commas, dates, amounts, identifiers, repeated names.

use serde_json::Value;

use crate::common::{Sandbox, number, support};

/// Returns forty rows with one problem per option; the columns are named after the problems.
fn messy() -> String {
    let mut text = "id;visit;price;height;dose;site;salt;age;clinic;y\n".to_owned();
    for i in 0..40usize {
        let (age, salt) = (30 + (i * 17) % 41, (i * 29) % 13);
        let dose = match i {
            9 => "low".to_owned(),
            _ => ((i * 7) % 9).to_string(),
        };
        let salt = if i == 4 {
            String::new()
        } else {
            format!("{salt}")
        };
        let height = format!("1,{:02}", 50 + (i * 11) % 45);
        let price = format!("$1,{:03}.50", (i * 37) % 1000);
        let clinic = ["north", "south"][(i * i / 3) % 2];
        let y = age as f64
            + 0.01 * ((i * 37) % 1000) as f64
            + (i % 3) as f64
            + if clinic == "north" { 4.0 } else { 0.0 };
        text += &format!(
            "P{i:03};2024-{:02}-{:02};{price};{height};{dose};A;{salt};{age};{clinic};{y}\n",
            1 + i / 28,
            1 + i % 28
        );
    }
    text
}

const ALL: &str = "--drop id,site --as-number price,dose --decimal , --dates days --impute mean";

#[test]
fn all_problem_columns_are_named_at_once_with_their_options() {
    let sandbox = Sandbox::with("d.csv", messy());
    sandbox.refuses(
        "fit d.csv --target y -k 2",
        3,
        &[
            "error: d.csv: 7 columns need a decision\n",
            "  id      looks like an identifier: 40 different texts, such as 'P000': --drop id\n",
            "  visit   holds dates, such as '2024-01-01': --dates days or --dates drop\n",
            "  price   holds numbers with signs or separators, such as '$1,000.50': --as-number price\n",
            "  height  has decimal commas, such as '1,50': --decimal ,\n",
            "  dose    holds numbers, and other text in 1 row, the first 'low' on line 11: --as-number dose (other text is missing) or --as-text dose\n",
            "  site    is constant, 'A': --drop site\n",
            "  salt    has 1 missing value, the first on line 6: --impute mean or --drop-missing\n",
            &format!("to handle all of them, add: {ALL}\n"),
        ],
    );
    // The options that the message suggests are sufficient.
    let json = sandbox.json(&format!("fit d.csv --target y -k 3 {ALL} --json"));
    assert_eq!(json["status"], "optimal");
    let warnings = json["warnings"].to_string();
    assert!(
        warnings
            .contains("1 cell is not a number in column 'dose' and counts as missing: 'low' (1)"),
        "{warnings}"
    );
}

#[test]
fn the_model_reads_new_files_in_the_same_way() {
    let sandbox = Sandbox::with("d.csv", messy());
    sandbox.json(&format!(
        "fit d.csv --target y -k 8 {ALL} --out m.json --json"
    ));
    let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    let dates = serde_json::json!([{"column": "visit", "order": "ymd"}]);
    assert_eq!(model["reading"]["dates"], dates);
    assert_eq!(model["reading"]["decimal_comma"], true);
    // The same rows with commas between cells, decimal points and plain amounts.
    let plain: String = messy()
        .lines()
        .map(|line| {
            let mut cells: Vec<String> = line.split(';').map(str::to_owned).collect();
            if cells[1].starts_with("2024-") {
                cells[2] = cells[2].replace(['$', ','], "");
                cells[3] = cells[3].replace(',', ".");
            }
            cells.join(",") + "\n"
        })
        .collect();
    sandbox.write("plain.csv", plain);
    let (one, two) = (
        sandbox.run("predict m.json d.csv"),
        sandbox.run("predict m.json plain.csv"),
    );
    assert_eq!((one.code, one.stderr.as_str()), (Some(0), ""));
    assert_eq!(one.stdout, two.stdout);
    sandbox.write("late.csv", messy().replace("2024-01-05", "soon"));
    sandbox.refuses(
        "predict m.json late.csv",
        3,
        &["'visit'", "line 6", "'soon'", "date"],
    );
}

#[test]
fn dates_are_days_or_gone() {
    let mut text = "when,x,y\n".to_owned();
    for i in 0..24 {
        text += &format!(
            "{}/{}/2024,{},{}\n",
            1 + i % 12,
            1 + i % 12,
            (i * i) % 7,
            2 * i
        );
    }
    let sandbox = Sandbox::with("d.csv", text);
    let json = sandbox.json("fit d.csv --target y -k 1 --dates drop --json");
    assert_eq!(support(&json), ["x"]);
    sandbox.refuses(
        "fit d.csv --target y -k 1 --features when --dates drop",
        2,
        &["leaves no features"],
    );
    let text = "when,x,y\n1/2/2024,1,5\n3/4/2024,2,7\n5/6/2024,4,2\n7/8/2024,8,6\n";
    sandbox.write("a.csv", text);
    sandbox.refuses(
        "fit a.csv --target y -k 1",
        3,
        &["'when' holds dates, such as '1/2/2024', day or month first; --dates days --date-order dmy (or mdy)"],
    );
    sandbox.refuses(
        "fit a.csv --target y -k 1 --dates days",
        2,
        &["'when'", "--date-order dmy or --date-order mdy"],
    );
    let fit = "fit a.csv --target y -k 2 --dates days --json --out m.json";
    let of = |order: &str| {
        number(
            &sandbox.json(&format!("{fit} --date-order {order}")),
            "intercept",
        )
    };
    assert_ne!(of("dmy"), of("mdy"));
    let plain = "when,x,y\n19754,1,5\n19816,2,7\n19879,4,2\n19942,8,6\n";
    sandbox.write("days.csv", plain);
    let days = sandbox.json("fit days.csv --target y -k 2 --json");
    assert_eq!(number(&days, "intercept"), of("dmy"));
    let texts = sandbox.json("fit a.csv --target y -k 2 --as-text when --rare 1 --json");
    assert!(support(&texts)[0].starts_with("when="), "{texts}");
}

#[test]
fn texts_of_every_encoding_are_found() {
    let text = "größe;ort;y\n1,5;Köln;1\n2,5;Nîmes;3\n4;Köln;5\n3;Nîmes;4\n";
    let utf16 = |unit: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        let text = format!("{mark}{text}");
        text.encode_utf16().flat_map(unit).collect()
    };
    let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    let sandbox = Sandbox::with("utf8.csv", text);
    sandbox.write("le.csv", utf16(u16::to_le_bytes, "\u{feff}"));
    sandbox.write("be.csv", utf16(u16::to_be_bytes, "\u{feff}"));
    sandbox.write("bare.csv", utf16(u16::to_le_bytes, ""));
    sandbox.write("latin.csv", &latin);
    let options = "--target y -k 2 --decimal , --rare 1 --json";
    let expected = sandbox.json(&format!("fit utf8.csv {options}"));
    assert_eq!(support(&expected), ["größe", "ort=Nîmes"]);
    for file in [
        "le.csv",
        "be.csv",
        "bare.csv",
        "latin.csv --encoding latin-1",
        "le.csv --encoding utf-16",
        "be.csv --encoding utf-16",
    ] {
        let json = sandbox.json(&format!("fit {file} {options}"));
        for field in ["support", "coefficients", "objective", "warnings"] {
            assert_eq!(json[field], expected[field], "{file}: {field}");
        }
    }
    let found = sandbox.json(&format!("fit latin.csv {options}"));
    assert_eq!(found["coefficients"], expected["coefficients"]);
    assert!(
        found["warnings"].to_string().contains("read as Latin-1"),
        "{found}"
    );
    sandbox.refuses(
        "fit latin.csv --encoding utf-8 --target y -k 1",
        3,
        &["latin.csv", "no UTF-8 at byte offset 2"],
    );
    sandbox.refuses(
        "fit utf8.csv --encoding klingon --target y -k 1",
        2,
        &["utf-16"],
    );

    let mut damaged = utf16(u16::to_le_bytes, "\u{feff}");
    damaged.pop();
    sandbox.write("cut.csv", &damaged);
    sandbox.refuses(
        "fit cut.csv --target y -k 1",
        3,
        &["'cut.csv'", "damaged UTF-16 at byte offset"],
    );
    damaged.splice(60..60, [0x00, 0xd8]);
    sandbox.write("half.csv", &damaged);
    sandbox.refuses("inspect half.csv", 3, &["half of a letter is missing"]);
    let mixed = [text.as_bytes(), b"3;K\xf6ln;2\n"].concat();
    sandbox.write("mixed.csv", mixed);
    sandbox.refuses(
        "fit mixed.csv --target y -k 1",
        3,
        &[
            "line 1 has letters in UTF-8 and line 6 in another encoding",
            "--encoding latin-1",
        ],
    );
}

#[test]
fn repeated_names_are_numbered() {
    let sandbox = Sandbox::with("d.csv", "a,a,,y\n1,2,1,3\n2,1,0,5\n4,3,1,8\n");
    let json = sandbox.json("fit d.csv --target y -k 1 --include a_2 --json");
    assert_eq!(support(&json), ["a_2"]);
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("column 2 'a' is now 'a_2'"), "{warnings}");
    assert!(
        warnings.contains("no name and is called by its place: 'c3'"),
        "{warnings}"
    );
    let header = vec!["=cmd|' /C calc'!A0"; 10_000].join(",");
    let row = |shift: usize| {
        let cells = (0..10_000).map(|j| ((j * 7 + shift * shift) % 11).to_string());
        cells.collect::<Vec<_>>().join(",")
    };
    sandbox.write(
        "wide.csv",
        format!("{header},y\n{},1\n{},2\n{},4\n", row(1), row(2), row(3)),
    );
    let outcome = sandbox.run("fit wide.csv --target y -k 1 --json");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("!A0_10000"), "the last of them");
}

#[test]
fn amounts_and_codes_are_what_the_user_says() {
    let mut text = "amount;zip;y\n".to_owned();
    for i in 0..30 {
        text += &format!(
            "{}.{:03},{} €;0{};{}\n",
            1 + i % 4,
            (i * 91) % 1000,
            i % 10,
            1 + i % 3,
            i + 5 * (i % 3)
        );
    }
    let sandbox = Sandbox::with("d.csv", &text);
    let json = sandbox
        .json("fit d.csv --target y -k 2 --as-number amount --as-text zip --json --out m.json");
    assert_eq!(support(&json), ["amount", "zip=1", "zip=2", "zip=3"]);
    let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    let numbers = serde_json::json!([{"column": "amount", "decimal_comma": true}]);
    assert_eq!(model["reading"]["numbers"], numbers);
    sandbox.write("new.csv", "amount;zip\n1.091,1 €;02\n1091.1;2\n");
    let outcome = sandbox.run("predict m.json new.csv");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[1], lines[2], "{outcome:?}");
    sandbox.refuses(
        "fit d.csv --target y -k 1 --as-number zip --as-text zip",
        2,
        &["'zip' is both"],
    );
    sandbox.refuses(
        "fit d.csv --target y -k 1 --as-number no*",
        3,
        &["'no*' chooses no column"],
    );
    // A target with amounts is reported and read in the same way.
    sandbox.refuses(
        "fit d.csv --target amount -k 1",
        3,
        &[
            "column 'amount' holds numbers with signs",
            "--as-number amount",
        ],
    );
    sandbox.json("fit d.csv --target amount -k 1 --as-number amount --json --out t.json");
    let residuals = sandbox.run("predict t.json d.csv --residuals");
    assert!(
        residuals.stdout.lines().nth(1).unwrap().contains(",1000,"),
        "{residuals:?}"
    );
}

#[test]
fn interactions_of_chosen_columns() {
    let mut text = "a,b1,b2,c,city,y\n".to_owned();
    for i in 0..40i32 {
        let city = ["Rome", "Oslo", "Bern"][(i % 3) as usize];
        text += &format!(
            "{},{},{},{},{city},{}\n",
            i % 7,
            i % 5,
            (i * i) % 11,
            i % 2,
            (i % 7) * (i % 5) + i % 3
        );
    }
    let sandbox = Sandbox::with("d.csv", &text);
    sandbox.json("fit d.csv --target y -k 1 --json --out m.json --interactions a,b*");
    let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(
        model["features"],
        serde_json::json!([
            "a",
            "b1",
            "b2",
            "c",
            "city=Bern",
            "city=Oslo",
            "city=Rome",
            "a:b1",
            "a:b2",
            "b1:b2",
            "a^2",
            "b1^2",
            "b2^2"
        ])
    );
    assert_eq!(model["support"], serde_json::json!(["a:b1"]));
    let outcome = sandbox.run("predict m.json d.csv");
    assert_eq!(outcome.stdout.lines().count(), 41);
    let all = sandbox.json("fit d.csv --target y -k 1 --interactions --drop city --json");
    assert_eq!(support(&all), ["a:b1"]);
    let heredity = sandbox
        .json("fit d.csv --target y -k 3 --interactions=a,b1 --heredity --include a:b1 --json");
    assert_eq!(support(&heredity), ["a", "b1", "a:b1"]);
    let excluded = sandbox
        .json("fit d.csv --target y -k 1 --interactions a,b1 --exclude a:b1,city=Rome --json");
    assert_ne!(support(&excluded), ["a:b1"]);
    sandbox.refuses(
        "fit d.csv --target y -k 1 --interactions city,a",
        3,
        &["'city' holds text, such as 'Rome', which has no products; --drop city"],
    );
    sandbox.refuses(
        "fit d.csv --target y -k 1 --interactions a,y",
        2,
        &["'y' is in --interactions and is no feature"],
    );
    sandbox.refuses(
        "fit d.csv --target y -k 1 --interactions z*",
        3,
        &["'z*' chooses no column"],
    );
}

#[test]
fn inspect_flags_them_and_prints_the_command_to_copy() {
    let sandbox = Sandbox::with("d.csv", messy());
    let json = sandbox.json("inspect d.csv --target y --json");
    let variables = json["variables"].as_array().unwrap();
    let looks = |name: &str| {
        let found = variables.iter().find(|own| own["name"] == name).unwrap();
        found["looks_like"].clone()
    };
    for (name, word) in [
        ("id", "identifier"),
        ("visit", "date"),
        ("price", "amount"),
        ("height", "decimal_comma"),
        ("dose", "mixed"),
    ] {
        assert_eq!(looks(name), word, "{name}");
    }
    assert_eq!((looks("age"), looks("clinic")), (Value::Null, Value::Null));
    let line = format!("l0star fit d.csv --target y -k 5 {ALL}");
    assert_eq!(json["fit"], line);
    let text = sandbox.run("inspect d.csv --target y").stdout;
    assert!(text.ends_with(&format!("\nto fit: {line}\n")), "{text}");
    for words in [
        "'visit' holds dates",
        "'id' looks like an identifier",
        "identifier?; 40 levels",
        "('site', 'clinic') hold text",
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words}: {text}");
    }
    let fitted = sandbox.run(&line["l0star ".len()..]);
    assert_eq!(fitted.code, Some(0), "{fitted:?}");
    // Labels get a loss for labels, and unusual names are quoted.
    sandbox.write(
        "odd.csv",
        "row;it's,odd;$(rm x);y\n1;7;A1;no\n2;7;A2;yes\n3;7;A3;no\n4;7;A4;yes\n",
    );
    let json = sandbox.json("inspect odd.csv --target y --json");
    assert_eq!(
        json["fit"],
        "l0star fit odd.csv --target y -k 1 --loss logistic --drop '\"it'\\''s,odd\",\"$(rm x)\"'"
    );
}
