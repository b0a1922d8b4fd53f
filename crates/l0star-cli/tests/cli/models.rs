//! The model file: its contents, and the files that are refused as models.

use serde_json::{Value, json};

use crate::common::Sandbox;

const DATA: &str = "\
a,b,c,w,o,y
1,0.5,2,1,0.5,3.1
2,-1,1,1,0.1,1.8
3,0.2,5,2,0.3,6.4
4,2,3,1,0.9,12.2
5,-0.3,4,1,0.2,9.1
6,1,1,1,0.4,14.7
";

fn model(options: &str) -> (Sandbox, Value) {
    let sandbox = Sandbox::with("d.csv", DATA);
    let outcome = sandbox.run(&format!(
        "fit d.csv --target y --out m.json --quiet {options}"
    ));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    (sandbox, json)
}

#[test]
fn it_names_what_it_came_from() {
    let (_, json) = model("-k 2 --weights w --offset o --threads 1 --time-limit 1m");
    assert_eq!(json["format"], "l0star-model");
    assert_eq!(json["version"], 1);
    assert_eq!(json["l0star"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["target"], "y");
    assert_eq!(
        (&json["weights"], &json["offset"]),
        (&json!("w"), &json!("o"))
    );
    assert_eq!(json["features"], json!(["a", "b", "c"]));
    assert_eq!(json["fit_intercept"], true);
    assert_eq!(json["standardize"], true);
    assert_eq!(json["huber_delta"], Value::Null);
    assert_eq!(json["settings"]["threads"], 1);
    assert_eq!(json["settings"]["time_limit"], 60.0);
    assert_eq!(json["settings"]["gap"], 0.0);
    assert_eq!(json["data"]["file"], "d.csv");
    assert_eq!(
        (&json["data"]["rows"], &json["data"]["columns"]),
        (&json!(6), &json!(3))
    );
    assert_eq!(json["data"]["hash"].as_str().unwrap().len(), 64);
    assert_eq!(json["command"][0], "fit");
    let (_, huber) = model("-k 2 --loss huber --huber-delta 2");
    assert_eq!(huber["huber_delta"], 2.0);
}

#[test]
fn the_hash_is_that_of_the_numbers_that_were_used() {
    let hash = |text: &str, name: &str, options: &str| {
        let sandbox = Sandbox::with(name, text);
        let outcome = sandbox.run(&format!(
            "fit {name} --target y -k 1 --out m.json --quiet {options}"
        ));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let json: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
        json["data"]["hash"].as_str().unwrap().to_owned()
    };
    let base = hash(DATA, "d.csv", "--drop w,o");
    assert_eq!(
        base,
        hash(DATA, "other.txt", "--drop w,o"),
        "the name is nothing"
    );
    assert_eq!(base, hash(&DATA.replace(',', ";"), "d.csv", "--drop w,o"));
    assert_eq!(
        base,
        hash(&DATA.replace("0.5,3.1", "7,3.1"), "d.csv", "--drop w,o")
    );
    assert_eq!(base, hash(DATA, "d.csv", "--drop w,o --standardize"));
    assert_ne!(
        base,
        hash(&DATA.replace("3.1\n", "3.2\n"), "d.csv", "--drop w,o")
    );
    assert_ne!(
        base,
        hash(&DATA.replace("6,1,1", "6,1,2"), "d.csv", "--drop w,o")
    );
    assert_ne!(base, hash(DATA, "d.csv", "--drop o --weights w"));
    assert_ne!(base, hash(DATA, "d.csv", "--drop o"));
}

#[test]
fn files_that_are_no_models_are_refused() {
    let (sandbox, json) = model("-k 2");
    let refuses = |content: &str, words: &[&str]| {
        sandbox.write("bad.json", content);
        for command in ["explain bad.json", "predict bad.json d.csv"] {
            sandbox.refuses(command, 3, &[&["bad.json"], words].concat());
        }
    };
    refuses("", &["ends in the middle"]);
    refuses("a,b\n1,2\n", &["no model file"]);
    refuses("{}", &["no field \"format\""]);
    refuses("[1,2]", &["no model file"]);
    refuses("{\"format\": \"other\"}", &["'other'", "l0star-model"]);
    refuses("{\"format\": \"l0star-model\"}", &["without a version"]);
    refuses(
        "{\"format\": \"l0star-model\", \"version\": 99}",
        &["version 99", "up to 1", "update"],
    );
    refuses(
        "{\"format\": \"l0star-model\", \"version\": 1}",
        &["no model file", "missing field"],
    );
    let text = json.to_string();
    for share in [2, 3, 10] {
        refuses(
            &text[..text.len() * (share - 1) / share],
            &["ends in the middle"],
        );
    }
    let mut broken = json.clone();
    broken["support"] = json!(["a", "c"]);
    refuses(&broken.to_string(), &["'support'", "'coefficients'"]);
    let mut broken = json.clone();
    broken["intercept"] = json!("many");
    refuses(&broken.to_string(), &["no model file"]);
    sandbox.refuses("explain no.json", 3, &["cannot read 'no.json'"]);
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.refuses("explain folder", 3, &["'folder' is a folder"]);
}

#[test]
fn fields_of_later_versions_are_passed_over() {
    let (sandbox, mut json) = model("-k 2");
    json["something_new"] = json!([1, 2, 3]);
    sandbox.write("m.json", json.to_string());
    assert_eq!(sandbox.run("explain m.json").code, Some(0));
}
