//! `fit --prices`: the cost of each choice of features.

use l0star::Checkpoint;
use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support};
#[cfg(unix)]
use crate::stopped::Listened;
use crate::stopped::{aborted_again_and_again, assert_same_model};

const FIT: &str = "fit s.csv --target b";

fn sandbox() -> Sandbox {
    Sandbox::generated("ar -d 6 -k 3 -n 50 --rho 0.6 --snr 2 --out s.csv")
}

fn prices(json: &Value) -> &Vec<Value> {
    json["prices"].as_array().unwrap()
}

#[test]
fn each_is_a_fit_with_one_choice_made_otherwise() {
    let sandbox = sandbox();
    let json = sandbox.json(&format!("{FIT} -k 2 --prices --json --out m.json"));
    assert_eq!(prices(&json).len(), 6);
    for price in prices(&json) {
        let name = price["feature"].as_str().unwrap();
        let chosen = price["chosen"].as_bool().unwrap();
        assert_eq!(chosen, support(&json).contains(&name));
        let option = if chosen { "--exclude" } else { "--include" };
        let other = sandbox.json(&format!("{FIT} -k 2 --json {option} {name}"));
        assert_close(
            number(price, "objective"),
            number(&other, "objective"),
            1e-9,
        );
        assert_eq!(support(price), support(&other));
        assert_eq!(price["status"], "optimal");
        let cost = number(&other, "objective") - number(&json, "objective");
        assert!((number(price, "cost") - cost).abs() < 1e-9);
        assert!(number(price, "cost_lower") <= number(price, "cost"));
        assert!(number(price, "cost") <= number(price, "cost_upper"));
        assert!(number(price, "lower_bound") <= number(price, "objective"));
    }
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(file["prices"], json["prices"]);
    let plain = sandbox.json(&format!("{FIT} -k 2 --json"));
    assert_eq!(plain.get("prices"), None);
}

#[test]
fn groups_have_one_price_and_what_cannot_be_has_none() {
    let sandbox = sandbox();
    let json = sandbox.json(&format!("{FIT} -k 1 --group g=x1,x2 --prices --json"));
    let names: Vec<&str> = prices(&json)
        .iter()
        .map(|p| p["feature"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["g", "x3", "x4", "x5", "x6"]);
    let json = sandbox.json(&format!(
        "{FIT} -k 2 --interactions --heredity --prices --json"
    ));
    let product = prices(&json)
        .iter()
        .find(|price| price["feature"] == "x1:x2");
    let product = product.unwrap();
    assert_eq!(product["cost"], Value::Null, "it needs three places");
}

#[test]
fn the_table_and_the_page_show_them() {
    let sandbox = sandbox();
    let outcome = sandbox.run(&format!("{FIT} -k 2 --prices --report p.html"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let table = outcome
        .stdout
        .split_once("what each choice costs")
        .unwrap()
        .1;
    assert_eq!(table.matches("without x").count(), 2, "{table}");
    assert_eq!(table.matches("with    x").count(), 4, "{table}");
    let page = String::from_utf8(sandbox.read("p.html")).unwrap();
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(prices(&data).len(), 6);
    assert_eq!(prices(&data)[0]["chosen"], true);
}

#[test]
fn a_limit_leaves_bounds() {
    let sandbox = Sandbox::new();
    sandbox.run("generate huber -d 60 -k 6 -n 60 --out s.csv");
    let fit = "fit s.csv --target b --loss huber -k 6 --no-intercept --ridge 1e-4 --prices --json";
    let outcome = sandbox.run(&format!("{fit} --node-limit 1 --threads 1"));
    let json = outcome.json();
    assert_eq!(outcome.code, Some(4), "{json}");
    for price in prices(&json) {
        assert!(number(price, "cost_lower") <= number(price, "cost_upper"));
    }
    assert!(
        prices(&json)
            .iter()
            .any(|price| price["status"] == "node_limit")
    );
}

#[test]
fn limits_leave_intervals_that_hold_the_truth() {
    let sandbox = searched();
    let fit = format!("{FIT} -k 5 --prices");
    let truth = sandbox.json(&format!("{fit} --json"));
    let known = |name: &Value| {
        let price = prices(&truth).iter().find(|own| own["feature"] == *name);
        price.expect("the same features")
    };
    let objective = number(&truth, "objective");
    let mut unproved = 0;
    for limit in [
        "time-limit 0",
        "node-limit 0",
        "node-limit 3",
        "node-limit 30",
    ] {
        let outcome = sandbox.run(&format!("{fit} --json --threads 1 --{limit}"));
        let json = outcome.json();
        let found = number(&json, "objective");
        let stopped = prices(&json).iter().any(|own| own["status"] != "optimal");
        let is_early = stopped || json["status"] != "optimal";
        assert_eq!(outcome.code, Some(if is_early { 4 } else { 0 }), "{json}");
        for price in prices(&json) {
            // The known price is relative to the best model; the model found may be worse, or choose other features.
            let own = known(&price["feature"]);
            let (lower, upper) = (number(price, "cost_lower"), number(price, "cost_upper"));
            assert!(lower <= upper, "{limit}: {price}");
            assert!(number(price, "lower_bound") <= number(price, "objective"));
            if own["chosen"] == price["chosen"] {
                let best = number(own, "objective");
                let room = 1e-9 * best;
                assert!(number(price, "lower_bound") <= best + room, "{price} {own}");
                assert!(best <= number(price, "objective") + room, "{price} {own}");
            }
            if own["chosen"] == price["chosen"] && found <= objective * (1.0 + 1e-9) {
                let cost = number(own, "cost");
                let room = 1e-9 * objective;
                assert!(
                    lower <= cost + room && cost <= upper + room,
                    "{price} {own}"
                );
            }
            unproved += usize::from(price["status"] != "optimal");
        }
    }
    assert!(unproved > 0, "nothing was stopped");
    let said = sandbox.run(&format!("{fit} --time-limit 0"));
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(said.stdout.contains(", stopped at the "), "{said:?}");
    assert!(
        said.stdout.contains("stopped at the time limit"),
        "{said:?}"
    );
}

#[test]
fn heuristics_have_no_prices() {
    sandbox().refuses(
        &format!("{FIT} -k 2 --prices --method omp"),
        2,
        &["--prices", "'omp'"],
    );
}

#[test]
fn a_path_has_a_page_too() {
    let sandbox = sandbox();
    let outcome = sandbox.run("path s.csv --target b -k 4 --report p.html --out m.json --quiet");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    let page = String::from_utf8(sandbox.read("p.html")).unwrap();
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["path"]["points"].as_array().unwrap().len(), 5);
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(data["path"]["chosen"], file["k"]);
    sandbox.refuses(
        "path s.csv --target b --report s.csv",
        2,
        &["--report", "overwrite the data"],
    );
}

/// Generates data whose prices take some searches.
fn searched() -> Sandbox {
    Sandbox::generated("ar -d 25 -k 5 -n 40 --rho 0.8 --snr 1 --out s.csv")
}

const SEARCHED: &str = "fit s.csv --target b -k 5 --json";

fn same(found: &Value, truth: &Value) {
    assert_same_model(found, truth);
    let objective = number(truth, "objective");
    assert_eq!(prices(found).len(), prices(truth).len());
    for (found, truth) in prices(found).iter().zip(prices(truth)) {
        assert_eq!(found["feature"], truth["feature"]);
        assert_same_model(found, truth);
        assert!((number(found, "cost") - number(truth, "cost")).abs() <= 1e-12 * objective);
    }
}

/// Whether the checkpoint contains prices.
fn has_prices(sandbox: &Sandbox) -> bool {
    let checkpoint = Checkpoint::decode(&sandbox.read("c")).unwrap();
    format!("{checkpoint:?}").contains("prices: Some")
}

#[test]
fn aborted_again_and_again_they_go_on() {
    let sandbox = Sandbox::generated("ar -d 12 -k 3 -n 20 --rho 0.9 --snr 1 --out s.csv");
    for threads in [1, 2] {
        let fit = format!("fit s.csv --target b -k 3 --json --threads {threads}");
        let truth = sandbox.json(&format!("{fit} --prices"));
        let mut priced = 0;
        let (found, _) = aborted_again_and_again(&sandbox, &format!("{fit} --prices"), |_| {
            priced += usize::from(has_prices(&sandbox));
            // The search is over. Resumed with or without prices, it loses none of the prices in the checkpoint.
            if priced == 3 {
                let plain = sandbox.json(&format!("{fit} --resume c --node-limit 0"));
                assert_eq!(plain["status"], "optimal");
                assert_eq!(plain.get("prices"), None);
                let again = sandbox.json(&format!("{fit} --resume c"));
                assert_eq!(plain["nodes"], again["nodes"]);
                assert!(has_prices(&sandbox), "the prices are gone");
            }
        });
        same(&found, &truth);
        std::fs::remove_file(sandbox.path("c")).unwrap();
        if threads == 1 {
            assert!(priced > 5, "{priced}");
        }
    }
}

#[test]
fn stopped_at_a_limit_they_go_on() {
    let sandbox = searched();
    let truth = sandbox.json(&format!("{SEARCHED} --prices"));
    let mut source = "--checkpoint";
    for run in 0.. {
        assert!(run < 200, "no progress");
        let fit = format!("{SEARCHED} --prices {source} c --node-limit 3 --threads 1");
        let outcome = sandbox.run(&fit);
        source = "--resume";
        if outcome.code == Some(0) {
            assert!(run > 1, "{run} runs");
            same(&outcome.json(), &truth);
            break;
        }
        assert_eq!(outcome.code, Some(4), "{outcome:?}");
    }
}

#[test]
fn they_may_be_asked_for_after_the_search() {
    let sandbox = searched();
    let truth = sandbox.json(&format!("{SEARCHED} --prices --threads 1"));
    let search = sandbox.json(&format!("{SEARCHED} --checkpoint c --threads 1"));
    let found = sandbox.json(&format!("{SEARCHED} --prices --resume c --threads 1"));
    assert_eq!(found["nodes"], search["nodes"]);
    same(&found, &truth);
    // Finished prices are not searched for again.
    let again = format!("{SEARCHED} --prices --resume c --node-limit 0 --threads 1");
    same(&sandbox.json(&again), &truth);
}

#[cfg(unix)]
#[test]
fn interrupted_they_are_written_as_far_as_they_are_known_and_go_on() {
    let sandbox = searched();
    let priced = format!("{SEARCHED} --prices --threads 1");
    let truth = sandbox.json(&priced);
    sandbox.json(&format!("{SEARCHED} --checkpoint c"));
    let held = Listened::held(&sandbox, &format!("{priced} --out m.json"), "hold after 20");
    assert!(has_prices(&sandbox));
    let outcome = held.interrupted("INT");
    let stopped = outcome.json();
    // The search was over, so every price has an interval.
    assert_same_model(&stopped, &truth);
    assert_eq!(prices(&stopped).len(), prices(&truth).len());
    let room = 1e-9 * number(&truth, "objective");
    for (stopped, truth) in prices(&stopped).iter().zip(prices(&truth)) {
        assert_eq!(stopped["feature"], truth["feature"]);
        let cost = number(truth, "cost");
        assert!(number(stopped, "cost_lower") <= cost + room, "{stopped}");
        assert!(cost <= number(stopped, "cost_upper") + room, "{stopped}");
    }
    let open = |price: &Value| price["status"] == "interrupted";
    assert!(prices(&stopped).iter().any(open));
    let file: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
    assert_eq!(file["prices"], stopped["prices"]);
    assert_eq!(file["objective"], stopped["objective"]);
    assert_eq!(sandbox.files(), ["c", "m.json", "s.csv"]);
    // No finished price is lost, and the search is not repeated.
    let found = sandbox.json(&format!("{priced} --resume c"));
    assert_eq!(found["nodes"], stopped["nodes"]);
    same(&found, &truth);
}
