//! Tests of the module above.

use l0star_data::generate::rng::Stream;
use l0star_data::parse_csv;

use super::*;
use crate::fields::{List, Numbers};

fn model(coefficients: Vec<(String, f64)>) -> Model {
    let names: Vec<String> = coefficients.iter().map(|(name, _)| name.clone()).collect();
    Model {
        format: FORMAT.into(),
        version: VERSION,
        l0star: "0.1.0".into(),
        fitted: Fitted {
            status: "optimal".into(),
            objective: 0.1 + 0.2,
            lower_bound: Some(f64::MIN_POSITIVE),
            gap: Some(0.3),
            relative_gap: Some(1.0),
            k: names.len(),
            loss: "logistic".into(),
            huber_delta: None,
            ridge: 1e-3,
            l0_penalty: 0.0,
            objective_without_penalty: None,
            assumption: None,
            moments: None,
            responses: Vec::new(),
            classes: Vec::new(),
            intercept: Numbers::One(-0.0),
            support: names.clone(),
            per_sd: coefficients.clone().into(),
            coefficients: coefficients.into(),
            odds_ratios: ByName::default(),
            rate_ratios: ByName::default(),
            hazard_ratios: ByName::default(),
            refit: false,
            inference: None,
            twins: Default::default(),
            metrics: Some(Default::default()),
            stability: None,
            solver_calls: u64::MAX,
            nodes: 1,
            peak_open_nodes: 1,
            seconds: 0.5,
            found_by: Some("local-search".into()),
            found_after: Some(0.25),
            method: "best-first".into(),
            warnings: vec!["a \"quoted\" one".into()],
            positive_label: Some("1".into()),
            constraints: None,
            prices: None,
            list: Some(List {
                solutions: Vec::new(),
                rest_bound: None,
                truncated: false,
            }),
        },
        target: "y".into(),
        labels: Some(["0".into(), "1".into()]),
        weights: None,
        offset: None,
        offsets: Vec::new(),
        survival: None,
        fit_intercept: true,
        standardize: true,
        scales: ByName(vec![("a".into(), 1.0 / 3.0)]),
        products: Vec::new(),
        indicators: Vec::new(),
        imputed: ByName::default(),
        reading: Reading::default(),
        features: names,
        settings: Asked::default(),
        data: DataStamp::default(),
        command: Vec::new(),
    }
}

#[test]
fn every_float_comes_back_to_the_bit() {
    let mut random = Stream::new(1);
    let mut word = || (random.below(1 << 32) as u64) << 32 | random.below(1 << 32) as u64;
    let floats: Vec<f64> = std::iter::repeat_with(|| f64::from_bits(word()))
        .filter(|value| value.is_finite())
        .take(2000)
        .chain([0.0, -0.0, 5e-324, f64::MAX, f64::MIN])
        .collect();
    let named = floats.iter().enumerate();
    let model = model(named.map(|(i, value)| (format!("x{i}"), *value)).collect());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    model.save(&path).unwrap();
    let read = Model::load(&path).unwrap();
    assert_eq!(read, model);
    for ((_, value), expected) in read.fitted.coefficients.0.iter().zip(floats) {
        assert_eq!(value.first().to_bits(), expected.to_bits());
    }
    assert!(read.fitted.intercept.first().is_sign_negative());
}

#[test]
fn a_file_from_before_a_field_was_there_is_read() {
    let model = model(vec![("a".into(), 2.0)]);
    let mut json = serde_json::to_value(&model).unwrap();
    assert!(
        json.as_object_mut()
            .unwrap()
            .shift_remove("per_sd")
            .is_some()
    );
    let read = Model::parse(Path::new("m.json"), json.to_string().as_bytes()).unwrap();
    assert!(read.fitted.per_sd.is_empty());
    assert_eq!(read.fitted.coefficients, model.fitted.coefficients);
}

#[test]
fn a_prediction_that_overflows_is_an_error() {
    let model = model(vec![("a".into(), 1e300)]);
    let table = parse_csv(Path::new("t.csv"), b"a,y\n1,2\n1e300,2\n").unwrap();
    let error = model.predict(&table).unwrap_err().to_string();
    assert!(error.contains("row 2"), "{error}");
}

#[test]
fn probabilities_stay_between_zero_and_one() {
    let model = model(Vec::new());
    for score in [-1e308, -745.0, -1.0, 0.0, 1.0, 745.0, 1e308] {
        let probability = model.probability(score).unwrap();
        assert!((0.0..=1.0).contains(&probability), "{score}: {probability}");
        let other = model.probability(-score).unwrap();
        assert!((probability + other - 1.0).abs() < 1e-15);
    }
}
