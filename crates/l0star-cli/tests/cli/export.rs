//! Models as SQL and as Python code. Tests in `python/tests` check that databases and Python give the same numbers.

use crate::common::Sandbox;

fn sandbox() -> Sandbox {
    let mut text = "age,clinic,salt,y\n".to_owned();
    for i in 0..40 {
        let clinic = ["north", "it's\"x", "(other) way"][i % 3];
        let clinic = if clinic.contains('"') {
            "\"it's\"\"x\""
        } else {
            clinic
        };
        let salt = if i == 5 {
            String::new()
        } else {
            (i * 7 % 11).to_string()
        };
        text += &format!(
            "{},{clinic},{salt},{}\n",
            20 + i * 13 % 50,
            (i * 13 % 50) + 3 * (i % 3)
        );
    }
    let sandbox = Sandbox::with("d.csv", text);
    let fit = "fit d.csv --target y -k 3 --impute mean --out m.json --json";
    sandbox.json(fit);
    sandbox
}

#[test]
fn a_query_has_every_column_and_quotes_what_users_wrote() {
    let sandbox = sandbox();
    let outcome = sandbox.run("export m.json --to sql --table t\"x");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let text = outcome.stdout;
    for words in [
        "SELECT *,",
        "* CAST(\"age\" AS DOUBLE PRECISION)",
        "COALESCE(CAST(\"salt\" AS DOUBLE PRECISION), ",
        "= 'it''s\"x' THEN ",
        "AS \"prediction\"",
        "FROM \"t\"\"x\";",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let expression = sandbox.run("export m.json --to sqlite --expression").stdout;
    assert!(text.contains(expression.trim_end()), "{expression}");
    assert!(!expression.contains("SELECT"), "{expression}");
}

#[test]
fn a_file_is_written_and_wrong_usage_told() {
    let sandbox = sandbox();
    let outcome = sandbox.run("export m.json --to python --out m.py");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    let code = String::from_utf8(sandbox.read("m.py")).unwrap();
    assert!(
        code.contains("def predict(row):") && code.contains("\"it's\\\"x\""),
        "{code}"
    );
    sandbox.refuses("export m.json --to cobol", 2, &["sqlite"]);
    sandbox.refuses(
        "export m.json --to python --expression",
        2,
        &["--expression is for SQL"],
    );
    sandbox.refuses(
        "export m.json --to sql --out m.json",
        2,
        &["would overwrite the model"],
    );
    sandbox.refuses("export d.csv --to sql", 3, &["no model file"]);
}

#[test]
fn names_cannot_leave_their_place() {
    let sandbox = Sandbox::with(
        "d.csv",
        "\"a\n; DROP TABLE t; --\",b,\"y\n) evil\"\n1,2,3\n2,1,5\n4,3,8\n3,5,1\n",
    );
    let outcome = sandbox.run("inspect d.csv --json").json();
    assert_eq!(outcome["columns"], 3);
    let mut command = sandbox.command("fit d.csv -k 2 --out m.json --quiet");
    let fitted = command.args(["--target", "y\n) evil"]).output().unwrap();
    assert_eq!(fitted.status.code(), Some(0));
    let text = sandbox.run("export m.json --to sql").stdout;
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("-- y\\n) evil by l0star"), "{text}");
    assert!(
        text.lines().skip(1).all(|line| !line.starts_with(") evil")),
        "{text}"
    );
    assert!(
        text.contains("CAST(\"a\n; DROP TABLE t; --\" AS DOUBLE PRECISION)"),
        "{text}"
    );
    let code = sandbox.run("export m.json --to python").stdout;
    assert!(
        code.contains("\"a\\U0000000a; DROP TABLE t; --\""),
        "{code}"
    );
}
