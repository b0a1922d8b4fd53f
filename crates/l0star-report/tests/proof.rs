//! Claims about a result follow from its status and its certified bound: every status in every face.

use std::path::Path;

use l0star::Status;
use l0star_record::Model;
use l0star_record::fields::Priced;
use l0star_report::page::{self, Page, PathChart, PathPoint};
use l0star_report::proof::{self, Cost, Proof};
use l0star_report::{Face, explain};
use serde_json::{Value, json};

/// Returns a result as a model file stores it.
fn model(status: &str, k: usize, objective: f64, bound: Option<f64>) -> Value {
    let method = match status {
        "heuristic" => "omp",
        _ => "best-first",
    };
    json!({
        "format": "l0star-model", "version": 1, "l0star": "0.1.0",
        "status": status, "objective": objective, "lower_bound": bound,
        "gap": bound.map(|bound| objective - bound),
        "relative_gap": bound.map(|bound| (objective - bound) / objective),
        "k": k, "loss": "quadratic", "ridge": 1e-3, "intercept": 0.5,
        "support": ["a"], "coefficients": {"a": 2.0},
        "solver_calls": 3, "nodes": 1, "peak_open_nodes": 1, "seconds": 0.25, "method": method,
        "target": "y", "labels": null, "weights": null, "offset": null, "huber_delta": null,
        "fit_intercept": true, "standardize": false, "features": ["a", "b", "c"],
        "settings": {"gap": 0.0, "relative_gap": 0.0, "threads": 1},
        "data": {"file": "d.csv", "rows": 9, "columns": 3, "rows_dropped": 0, "hash": "77c1"},
        "command": ["fit", "d.csv", "--target", "y"],
    })
}

fn parsed(value: &Value) -> Model {
    Model::parse(Path::new("m.json"), value.to_string().as_bytes()).unwrap()
}

/// Returns all words of `l0star explain` and of Python.
fn explained(model: &Model, face: Face) -> String {
    let sections = explain::sections(model, face);
    let words = sections.iter().map(|section| {
        let paragraphs = section.paragraphs.join(" ");
        format!("{}: {paragraphs} ", section.title)
    });
    words.collect()
}

/// Returns the text of the page, without its script.
fn page(model: &Model, path: Option<PathChart>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let page = Page {
        path,
        ..Page::new(Face::Command, model)
    };
    page::save(&file, &page).unwrap();
    let html = std::fs::read_to_string(file).unwrap();
    let (html, _) = html.split_once("\"use strict\"").unwrap();
    html.replace("&#39;", "'")
}

/// Claims that only a proof of optimality allows.
const OPTIMAL: [&str; 4] = [
    "proved optimal",
    "is better.",
    "features is better",
    "feature is better",
];

/// Claims that only a complete proof allows.
const COMPLETE: [&str; 3] = ["How it was proved", "to prove that", "The proof is about"];

const HOLDS: &str = "The bound holds; a better model may exist, but not by more than the gap.";

/// Returns the headline and two sentences of the explanation, for the objective 1 and the bound 0.98.
fn expected(status: Status) -> [&'static str; 3] {
    match status {
        Status::Optimal => [
            "proved optimal: no model with at most 3 features is better",
            "Status optimal: the gap is closed to the accuracy that l0star guarantees",
            "The proof is about this objective on these rows: no model with at most 3 features is better. It does not say",
        ],
        Status::GapReached => [
            "within the allowed gap: at most 2.1 % above the optimum",
            "Status gap_reached: the search stopped as soon as the gap was within the error allowed.",
            "no model with at most 3 features is better by more than the gap. It does not say",
        ],
        Status::Precision => [
            "stopped at the limit of double precision: at most 2.1 % above the optimum",
            "Status precision: the search is complete, but double precision cannot prove more on these data.",
            "It does not say that these features are the best, or the true ones",
        ],
        Status::TimeLimit => [
            "stopped at the time limit: at most 2.1 % above the optimum",
            "Status time_limit: the search was stopped at the time limit before the proof was complete.",
            "It does not say that these features are the best, or the true ones",
        ],
        Status::NodeLimit => [
            "stopped at the node limit: at most 2.1 % above the optimum",
            "Status node_limit: the search was stopped at the node limit before the proof was complete.",
            "It does not say that these features are the best, or the true ones",
        ],
        Status::MemoryLimit => [
            "stopped at the memory limit: at most 2.1 % above the optimum",
            "Status memory_limit: the search was stopped at the memory limit before the proof was complete.",
            "It does not say that these features are the best, or the true ones",
        ],
        Status::Interrupted => [
            "interrupted: at most 2.1 % above the optimum",
            "Status interrupted: the search was interrupted before the proof was complete.",
            "It does not say that these features are the best, or the true ones",
        ],
        Status::Heuristic => [
            "found by omp: nothing is proved",
            "Nothing is proved: 'omp' is a heuristic, and a better model with at most 3 features may exist.",
            "Nothing says that these features are the best, or the true ones",
        ],
    }
}

#[test]
fn every_status_claims_what_it_has_proved_in_every_face() {
    for word in Status::WORDS {
        let status: Status = word.parse().unwrap();
        let bound = (status != Status::Heuristic).then_some(0.98);
        let model = parsed(&model(word, 3, 1.0, bound));
        let [headline, meaning, limits] = expected(status);
        let proof = Proof::of(&model.fitted);
        assert_eq!(proof.headline(), headline);
        let (is_optimal, is_complete) = (
            status == Status::Optimal,
            matches!(status, Status::Optimal | Status::GapReached),
        );
        assert_eq!(
            (proof.is_optimal(), proof.is_complete()),
            (is_optimal, is_complete)
        );

        let page = page(&model, None);
        assert!(page.contains(headline), "{word}: {page}");
        let class = if is_complete { "good" } else { "loud" };
        assert!(
            page.contains(&format!("class=\"status {class}\"")),
            "{word}"
        );
        let faces = [
            explained(&model, Face::Command),
            explained(&model, Face::Python),
            page,
        ];
        for text in faces {
            for sentence in [meaning, limits] {
                assert!(text.contains(sentence), "{word}: no {sentence:?} in {text}");
            }
            // "Better by more than the gap" is a different claim.
            let text = text.replace("is better by more than", "");
            let claims =
                |words: &[&'static str]| words.iter().find(|own| text.contains(**own)).copied();
            if !is_optimal {
                assert_eq!(claims(&OPTIMAL), None, "{word}: {text}");
            }
            assert_eq!(claims(&COMPLETE).is_some(), is_complete, "{word}: {text}");
            assert_eq!(text.contains(HOLDS), status.falls_short(), "{word}: {text}");
            // Only proved facts are called proved.
            assert_eq!(
                text.contains("(the lower bound), so this one is at most 0.0200 above the optimum (2.1 % of the optimum)."),
                bound.is_some(),
                "{word}: {text}"
            );
        }
    }
}

#[test]
fn a_claim_needs_a_certificate_whatever_the_status_says() {
    for word in Status::WORDS.iter().chain(&["new_in_a_later_version"]) {
        let model = parsed(&model(word, 3, 1.0, None));
        let proof = Proof::of(&model.fitted);
        assert!(proof.headline().ends_with("nothing is proved"), "{word}");
        assert!(!proof.is_complete() && proof.gap().is_none());
        let text = explained(&model, Face::Command);
        assert!(text.contains("Nothing is proved"), "{text}");
        for claim in OPTIMAL.iter().chain(&COMPLETE) {
            assert!(!text.contains(claim), "{word}: {claim:?} in {text}");
        }
    }
}

#[test]
fn a_bound_of_zero_proves_nothing() {
    let none = parsed(&model("node_limit", 5, 1457.7, Some(0.0)));
    let proof = Proof::of(&none.fitted);
    assert_eq!(
        proof.headline(),
        "stopped at the node limit: the lower bound is still 0"
    );
    assert_eq!(proof.gap().unwrap(), "1458 (100 % of the objective)");
    for text in [explained(&none, Face::Command), page(&none, None)] {
        assert!(text.contains("Nothing is proved yet"), "{text}");
        assert!(!text.contains(HOLDS), "{text}");
    }
}

#[test]
fn a_small_bound_is_told_as_a_share_of_the_objective() {
    let far = model("time_limit", 1, 0.343, Some(0.0119));
    let far = parsed(&far);
    let proof = Proof::of(&far.fitted);
    assert_eq!(
        proof.headline(),
        "stopped at the time limit: the lower bound has reached 3.4 % of the objective"
    );
    assert_eq!(proof.gap().unwrap(), "0.331 (97 % of the objective)");
    let text = explained(&far, Face::Command);
    assert!(
        text.contains("so this one is at most 0.331 above the optimum. The bound has reached 3.4 % of the objective."),
        "{text}"
    );
    for words in [text, page(&far, None)] {
        assert!(
            !words.contains("within 97") && !words.contains("e2 %"),
            "{words}"
        );
        assert!(!words.contains("1 features"), "{words}");
    }
    // At half of the objective, the model is at most twice the optimum.
    let headline = |bound| Proof::new("interrupted", 1, 1.0, Some(bound), "").headline();
    assert_eq!(
        headline(0.5),
        "interrupted: at most 100 % above the optimum"
    );
    assert_eq!(
        headline(0.499),
        "interrupted: the lower bound has reached 49 % of the objective"
    );
    assert_eq!(headline(0.0), "interrupted: the lower bound is still 0");
    let nothing = parsed(&model("interrupted", 1, 1.0, Some(0.0)));
    let text = explained(&nothing, Face::Command);
    assert!(
        text.contains("Nothing is proved yet: the lower bound is still 0."),
        "{text}"
    );
    assert!(!text.contains("100 %"), "{text}");
}

#[test]
fn one_feature_is_singular() {
    let model = parsed(&model("optimal", 1, 1.0, Some(1.0)));
    let proof = Proof::of(&model.fitted);
    assert_eq!(
        proof.headline(),
        "proved optimal: no model with at most 1 feature is better"
    );
    let text = explained(&model, Face::Command) + &page(&model, None);
    for words in [
        "No model with at most 1 feature has an objective below",
        "1 node of its tree",
        "A model of 'y' with 1 feature<",
    ] {
        assert!(text.contains(words), "{words:?}: {text}");
    }
    for noun in ["features", "rows", "nodes", "models"] {
        assert!(!text.contains(&format!(" 1 {noun}")), "{noun}: {text}");
    }
}

#[test]
fn a_list_is_complete_only_when_it_is_proved() {
    let listed = |status: &str, rest: Option<f64>| {
        let mut value = model(status, 3, 1.0, Some(0.98));
        let one = json!({"objective": 1.0, "intercept": 0.5, "support": ["a"], "coefficients": {"a": 2.0}});
        value["solutions"] = json!([one, one]);
        value["rest_bound"] = json!(rest);
        value["truncated"] = json!(false);
        explained(&parsed(&value), Face::Command)
    };
    let text = listed("optimal", Some(1.5));
    assert!(
        text.contains(
            "The file lists the 2 best models; every other one has an objective of at least 1.5"
        ),
        "{text}"
    );
    let text = listed("optimal", None);
    assert!(text.contains("lists all 2 models that there are"), "{text}");
    for status in ["precision", "time_limit", "interrupted"] {
        let text = listed(status, Some(0.5));
        assert!(!text.contains("best models"), "{text}");
        assert!(
            text.contains("lists 2 models. It is not proved that no other belongs there; every other model has an objective of at least 0.5"),
            "{text}"
        );
    }
}

#[test]
fn a_path_says_how_many_sizes_are_proved() {
    let of = |status: &'static str| Proof::new(status, 1, 1.0, Some(0.9), "best-first");
    assert_eq!(
        proof::path([of("optimal"), of("optimal")]),
        "the best model of every size, each proved optimal"
    );
    assert_eq!(
        proof::path([of("optimal"), of("precision"), of("gap_reached")]),
        "the best models found of 3 sizes, 1 of them proved optimal"
    );
    let support = ["a".to_owned()];
    let point = |k, status| PathPoint {
        k,
        objective: 1.0,
        status,
        lower_bound: Some(0.9),
        aic: Some(1.0),
        bic: Some(1.5),
        ebic: Some(2.0),
        support: &support,
    };
    let chart = PathChart {
        criterion: "EBIC",
        chosen: 1,
        points: vec![point(0, "optimal"), point(1, "time_limit")],
    };
    let page = page(
        &parsed(&model("time_limit", 1, 1.0, Some(0.9))),
        Some(chart),
    );
    assert!(
        page.contains("The best models found of 2 sizes, 1 of them proved optimal. EBIC is smallest at 1 feature, the model above."),
        "{page}"
    );
}

#[test]
fn a_cost_is_exact_only_when_both_objectives_are() {
    let price = |status: &str, lower: f64, upper: f64| Priced {
        feature: "a".into(),
        chosen: true,
        cost: Some(0.5),
        cost_lower: Some(lower),
        cost_upper: Some(upper),
        objective: Some(1.5),
        lower_bound: Some(1.4),
        status: status.into(),
        support: Vec::new(),
    };
    assert_eq!(
        proof::cost(&price("optimal", 0.5 - 1e-9, 0.5 + 1e-9)),
        Cost::Exact(0.5)
    );
    let why = |status: &str| match proof::cost(&price(status, 0.4, 0.6)) {
        Cost::Between(_, _, why) => why,
        other => panic!("{status}: {other:?}"),
    };
    let words = [
        ("optimal", "the model itself is not proved optimal"),
        ("gap_reached", "within the allowed gap"),
        ("precision", "stopped at the limit of double precision"),
        ("time_limit", "stopped at the time limit"),
        ("node_limit", "stopped at the node limit"),
        ("memory_limit", "stopped at the memory limit"),
        ("interrupted", "interrupted"),
        ("heuristic", "not proved"),
        ("other", "not proved"),
    ];
    for (status, expected) in words {
        assert_eq!(why(status), expected);
    }
    let impossible = Priced {
        cost: None,
        ..price("optimal", 0.0, 0.0)
    };
    assert_eq!(proof::cost(&impossible), Cost::Impossible);
}

/// The assumption accompanies every claim, in every face.
#[test]
fn nothing_is_proved_without_the_words_of_an_assumption() {
    let words = "under the assumption |coefficient| per standard deviation <= 2.5";
    for status in Status::WORDS {
        let bound = (*status != "heuristic").then_some(0.98);
        let mut value = model(status, 3, 1.0, bound);
        value["assumption"] = json!({"max_coefficient": 2.5, "standardized": true});
        let model = parsed(&value);
        let headline = Proof::of(&model.fitted).headline();
        assert_eq!(headline.contains(words), bound.is_some(), "{headline}");
        for face in [Face::Command, Face::Python] {
            let text = explained(&model, face);
            assert!(!text.contains("features is better"), "{text}");
            assert_eq!(
                text.contains("which was given and is not proved"),
                bound.is_some()
            );
            assert!(
                text.contains("Assumed and not proved: |coefficient|"),
                "{text}"
            );
        }
        let point = PathPoint {
            k: 3,
            objective: 1.0,
            status,
            lower_bound: bound,
            aic: None,
            bic: None,
            ebic: Some(1.0),
            support: &[],
        };
        let chart = PathChart {
            criterion: "EBIC",
            chosen: 3,
            points: vec![point],
        };
        let html = page(&model, Some(chart)).replace("&lt;", "<");
        for (at, _) in html.match_indices("proved optimal") {
            let rest = &html[at + "proved optimal".len()..];
            assert!(
                rest.starts_with(" under the assumption"),
                "{status}: {}",
                &rest[..80]
            );
        }
    }
    let mut plain = model("optimal", 3, 1.0, Some(1.0));
    plain["assumption"] = json!({"max_coefficient": 4.0, "standardized": false});
    let headline = Proof::of(&parsed(&plain).fitted).headline();
    assert!(
        headline.contains("under the assumption |coefficient| <= 4:"),
        "{headline}"
    );
}

/// With prices, the claim is about the penalised objective, and explanations state the cost of features.
#[test]
fn a_price_is_part_of_what_is_said() {
    let mut value = model("optimal", 3, 1.0, Some(1.0));
    value["l0_penalty"] = json!(0.25);
    value["objective_without_penalty"] = json!(0.75);
    value["constraints"] = json!({"l0_factors": {"b": 2.0}});
    let model = parsed(&value);
    let headline = Proof::of(&model.fitted).headline();
    let claim = "no model with at most 3 features has a lower penalised objective";
    assert_eq!(headline, format!("proved optimal: {claim}"));
    let text = explained(&model, Face::Command);
    for words in [
        claim,
        "plus a price of 0.25 for each feature",
        "The price of 'b' is multiplied by 2.",
        "The penalised objective of the model is 1.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
