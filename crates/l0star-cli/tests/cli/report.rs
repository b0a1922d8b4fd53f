//! `fit --report`: a self-contained page.

use serde_json::Value;

use crate::common::{Sandbox, number};

/// Returns the page and the data of its charts.
fn page(sandbox: &Sandbox, options: &str) -> (String, Value) {
    let outcome = sandbox.run(&format!("fit {options} --report page.html --quiet"));
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    let html = String::from_utf8(sandbox.read("page.html")).unwrap();
    let (_, data) = html
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data = serde_json::from_str(data).unwrap();
    (html, data)
}

fn generated(family: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&format!("generate {family} --out s.csv"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

#[test]
fn a_regression_shows_its_model_its_proof_and_its_residuals() {
    let sandbox = generated("ar -d 9 -k 3 -n 60 --rho 0.7 --snr 2");
    let (html, data) = page(&sandbox, "s.csv --target b -k 3");
    for words in [
        "<!doctype html>",
        "A model of &#39;b&#39; with 3 features",
        "proved optimal",
        "What is proved",
        "(intercept)",
        "class=\"bar\"",
        ">per SD</th>",
        "how much the prediction changes with one standard deviation",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert_eq!(data["residuals"]["points"].as_array().unwrap().len(), 60);
    let bins = data["residuals"]["bins"].as_array().unwrap();
    let rows: f64 = bins.iter().map(|bin| number(bin, "count")).sum();
    assert_eq!(rows, 60.0);
    assert_eq!(data.get("labels"), None);
    assert_eq!(data.get("models"), None);
    for outside in ["src=", "href=\"http", "@import", "fetch("] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn labels_show_roc_and_calibration() {
    let sandbox = generated("logistic -d 10 -k 3 -n 120");
    let (_, data) = page(&sandbox, "s.csv --target b --loss logistic -k 3");
    let roc = data["labels"]["roc"].as_array().unwrap();
    assert_eq!(roc[0], serde_json::json!([0.0, 0.0, null]));
    let bins = data["labels"]["calibration"].as_array().unwrap();
    let rows: f64 = bins.iter().map(|bin| number(bin, "rows")).sum();
    assert_eq!(rows, 120.0);
    let (_, data) = page(&sandbox, "s.csv --target b --loss squared-hinge -k 3");
    assert_eq!(data["labels"]["calibration"], Value::Null);
}

#[test]
fn lists_become_a_grid() {
    let sandbox = generated("ar -d 9 -k 3 -n 60 --rho 0.7 --snr 2");
    let (_, data) = page(&sandbox, "s.csv --target b -k 3 --top 12");
    let models = data["models"]["models"].as_array().unwrap();
    assert_eq!(models.len(), 12);
    assert_eq!(number(&models[0], "above"), 0.0);
    let features = data["models"]["features"].as_array().unwrap();
    for model in models {
        for name in model["coefficients"].as_object().unwrap().keys() {
            assert!(features.contains(&Value::from(name.as_str())), "{name}");
        }
    }
}

#[test]
fn the_search_is_drawn_when_there_was_one() {
    let sandbox = generated("huber -d 100 -k 10 -n 100");
    let options = "s.csv --target b --loss huber -k 10 --no-intercept --ridge 1e-4 --node-limit 40";
    let (html, data) = page(&sandbox, options);
    let trace = data["trace"]["points"].as_array().unwrap();
    assert!(trace.len() > 1);
    let bounds: Vec<f64> = trace
        .iter()
        .map(|point| number(point, "lower_bound"))
        .collect();
    assert!(
        bounds.windows(2).all(|pair| pair[0] <= pair[1]),
        "{bounds:?}"
    );
    assert!(html.contains("status loud") || html.contains("status good"));
}

#[test]
fn bars_are_what_a_standard_deviation_does() {
    // The column with the larger coefficient varies little.
    let rows = (0..40).map(|i| {
        let (a, b) = (f64::from(i), 1e-3 * f64::from(i * 7 % 40));
        format!("{a},{b},{}\n", a + 100.0 * b)
    });
    let text = format!("a,b,y\n{}", rows.collect::<String>());
    let sandbox = Sandbox::with("d.csv", text);
    let (html, _) = page(&sandbox, "d.csv --target y -k 2 --ridge 1e-9");
    let width = |name: &str| -> f64 {
        let (_, row) = html.split_once(&format!("<tr><td>{name}</td>")).unwrap();
        let (_, width) = row.split_once("style=\"width:").unwrap();
        width.split_once('%').unwrap().0.parse().unwrap()
    };
    assert_eq!(width("a"), 100.0);
    assert!((width("b") - 10.0).abs() < 1.0, "{}", width("b"));
}

#[test]
fn a_proof_at_the_root_does_not_look_open() {
    let sandbox = generated("ar -d 9 -k 3 -n 60 --rho 0.7 --snr 2");
    let (_, data) = page(&sandbox, "s.csv --target b -k 9");
    assert_eq!(data["trace"]["flat"], "bound and objective met at the root");
}

#[test]
fn names_from_the_file_stay_text() {
    let text = "</script><b>,\"a & 'b'\",y\n1,2,3\n2,1,5\n4,3,8\n3,5,7\n5,5,1\n";
    let sandbox = Sandbox::with("d.csv", text);
    let (html, data) = page(&sandbox, "d.csv --target y -k 2 --top 2");
    assert!(html.contains("&lt;/script&gt;&lt;b&gt;"), "{html}");
    assert!(!html.contains("</script><b>"));
    assert!(html.contains("a &amp; &#39;b&#39;"));
    let features = data["models"]["features"].as_array().unwrap();
    assert!(features.contains(&Value::from("</script><b>")));
}

#[test]
fn where_it_cannot_be_written() {
    let sandbox = generated("ar -d 4 -k 2 -n 20");
    let fit = "fit s.csv --target b -k 1 --report";
    sandbox.refuses(
        &format!("{fit} p.html --checkpoint p.html"),
        2,
        &["a checkpoint in", "overwrite the report"],
    );
    sandbox.refuses(
        &format!("{fit} no/page.html"),
        2,
        &["no/page.html", "create the folder"],
    );
    sandbox.refuses(
        &format!("{fit} s.csv"),
        2,
        &["--report", "overwrite the data"],
    );
    sandbox.refuses(
        &format!("{fit} m.json --out m.json"),
        2,
        &["overwrite the model"],
    );
}
