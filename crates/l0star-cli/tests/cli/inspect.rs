//! `inspect`: its findings about a file.

use crate::common::Sandbox;

const MIXED: &str = "\
id,x,copy,huge,city,ok,one,gap,y
1,0.5,0.5,1e6,Rome,true,7,1,no
2,1.5,1.5,-2e6,Oslo,false,7,,yes
3,2.5,2.5,3e6,Rome,true,7,inf,no
4,0.25,0.25,4e6,Bern,true,7,2,no
";

#[test]
fn the_object_tells_types_gaps_scales_and_copies() {
    let sandbox = Sandbox::with("d.csv", MIXED);
    let json = sandbox.json("inspect d.csv --target y --json");
    assert_eq!((&json["rows"], &json["columns"]), (&4.into(), &9.into()));
    assert_eq!(json["format"], "csv");
    assert_eq!(json["labels"], serde_json::json!({"no": 3, "yes": 1}));
    let variables = json["variables"].as_array().unwrap();
    let of = |name: &str| variables.iter().find(|v| v["name"] == name).unwrap();
    for (name, kind) in [
        ("id", "integer"),
        ("x", "number"),
        ("huge", "integer"),
        ("city", "text"),
        ("ok", "boolean"),
        ("y", "text"),
    ] {
        assert_eq!(of(name)["type"], kind, "{name}");
    }
    assert_eq!(of("copy")["duplicate_of"], "x");
    assert_eq!(of("x")["duplicate_of"], serde_json::Value::Null);
    assert_eq!(of("one")["constant"], true);
    assert_eq!(
        (&of("gap")["missing"], &of("gap")["infinite"]),
        (&1.into(), &1.into())
    );
    assert_eq!(of("city")["levels"], 3);
    assert_eq!(
        (&of("x")["min"], &of("x")["max"]),
        (&0.25.into(), &2.5.into())
    );
    assert_eq!(of("id")["mean"], 2.5);
    let warnings = json["warnings"].to_string();
    for word in [
        "'gap' has missing values",
        "'gap' has infinite values",
        "'city' has no category of 5 rows",
        "'one' is constant",
        "'copy' repeats",
    ] {
        assert!(warnings.contains(word), "{word}: {warnings}");
    }
}

#[test]
fn the_table_is_plain_and_whole_when_piped() {
    let sandbox = Sandbox::with("d.csv", MIXED);
    let outcome = sandbox.run("inspect d.csv --target y");
    assert_eq!(outcome.code, Some(0));
    assert_eq!(outcome.stderr, "");
    let text = &outcome.stdout;
    assert!(!text.contains('\x1b'));
    assert!(!text.contains('…'), "{text}");
    for word in [
        "4 rows",
        "9 columns",
        "same as x",
        "1 infinite; 1: 1, 2: 1",
        "constant",
        "labels of 'y'",
        "75.0 %",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn of_many_columns_the_notable_ones_are_shown() {
    let names: Vec<String> = (1..=1200).map(|j| format!("x{j}")).collect();
    let row = |i: usize| {
        let cells = (1..=1200).map(|j| {
            if j == 700 {
                "5".into()
            } else {
                (i * j).to_string()
            }
        });
        cells.collect::<Vec<String>>().join(",")
    };
    let sandbox = Sandbox::with(
        "d.csv",
        format!("{}\n{}\n{}\n", names.join(","), row(1), row(2)),
    );
    let short = sandbox.run("inspect d.csv").stdout;
    assert!(
        short.contains("x700") && short.contains("1199 more columns"),
        "{short}"
    );
    assert!(short.lines().count() < 20, "{short}");
    let long = sandbox.run("inspect d.csv --all").stdout;
    assert!(long.lines().count() > 1200);
}

#[test]
fn wrong_usage_is_told() {
    let sandbox = Sandbox::with("d.csv", MIXED);
    sandbox.refuses("inspect d.csv --target Y", 3, &["no column 'Y'", "'y'"]);
    sandbox.refuses("inspect no.csv", 3, &["cannot read 'no.csv'"]);
    sandbox.refuses("inspect", 2, &["DATA"]);
    let help = sandbox.run("inspect --help");
    assert!(help.stdout.contains("Examples:") && help.stdout.contains("Parquet"));
}

#[test]
fn sparse_and_unnamed_files_are_shown() {
    let sandbox = Sandbox::with("d.svm", "1 1:2 3:1\n-1 2:4\n");
    let json = sandbox.json("inspect d.svm --target b --json");
    assert_eq!(
        (&json["format"], &json["has_names"]),
        (&"libsvm".into(), &false.into())
    );
    assert_eq!(json["labels"], serde_json::json!({"-1": 1, "1": 1}));
    assert_eq!(json["variables"][1]["mean"], 2.0);
    sandbox.write("n.csv", "1.5,2\n2.5,7\n");
    let text = sandbox.run("inspect n.csv").stdout;
    assert!(
        text.contains("has no header") && text.contains("c2"),
        "{text}"
    );
}
