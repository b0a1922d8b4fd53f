use super::*;
use crate::names::Feature;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|j| format!("x{j}")).collect()
}

fn word(text: &str) -> Feature {
    Feature::Word(text.into())
}

fn of_columns(columns: &[usize]) -> Vec<Feature> {
    columns.iter().map(|j| Feature::Column(*j)).collect()
}

#[test]
fn words_stand_for_features_groups_and_texts() {
    let names = ["a", "city=P", "city=L", "b"].map(String::from);
    let texts = [Group {
        name: "city".into(),
        columns: vec!["city=P".into(), "city=L".into()],
    }];
    let known = Known {
        names: &names,
        texts: &texts,
        factors: &[],
    };
    let request = Request {
        include: vec![word("city")],
        nonnegative: Nonnegative::These(vec![word("g")]),
        groups: vec![Together {
            name: Some("g".into()),
            columns: vec![word("a"), word("b")],
        }],
        ..Request::default()
    };
    let rules = Rules::new(&request, &known).unwrap();
    let asked = rules.asked().unwrap();
    assert_eq!(asked.include, ["city"]);
    assert_eq!(asked.nonnegative, ["g"]);
    let groups: Vec<&str> = asked.groups.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(groups, ["g", "city"]);
    assert_eq!((rules.name(0), rules.name(2)), ("g", "city"));
    assert_eq!((rules.feature_count(), rules.included_count()), (2, 1));
    assert_eq!(rules.clash(), None);
    for (name, request) in [
        (
            "city",
            Request {
                groups: vec![Together {
                    name: Some("city".into()),
                    columns: vec![word("a")],
                }],
                ..Request::default()
            },
        ),
        (
            "none",
            Request {
                include: vec![word("none")],
                ..Request::default()
            },
        ),
    ] {
        assert!(Rules::new(&request, &known).is_err(), "{name}");
    }
}

#[test]
fn free_levels_and_regrouped_levels_are_no_group() {
    let names = ["a", "t=1", "t=2"].map(String::from);
    let texts = [Group {
        name: "t".into(),
        columns: vec!["t=1".into(), "t=2".into()],
    }];
    let known = Known {
        names: &names,
        texts: &texts,
        factors: &[],
    };
    let free = Request {
        include_free: vec![word("t")],
        ..Request::default()
    };
    let rules = Rules::new(&free, &known).unwrap();
    assert!(rules.asked().unwrap().groups.is_empty());
    assert_eq!(
        (rules.feature_count(), rules.columns(&[0])),
        (1, vec![0, 1, 2])
    );
    let regrouped = Request {
        groups: vec![Together {
            name: Some("all".into()),
            columns: vec![word("a"), word("t")],
        }],
        ..Request::default()
    };
    let rules = Rules::new(&regrouped, &known).unwrap();
    assert_eq!(rules.asked().unwrap().groups.len(), 1);
    assert_eq!(rules.feature_count(), 1);
}

#[test]
fn counts_follow_groups_exclusions_and_requirements() {
    let names = names(6);
    let known = Known::plain(&names);
    let request = Request {
        include: of_columns(&[0]),
        include_free: of_columns(&[5]),
        exclude: of_columns(&[3]),
        groups: vec![Together {
            name: None,
            columns: of_columns(&[1, 3, 4]),
        }],
        requires: vec![Requires {
            feature: Feature::Column(0),
            needs: of_columns(&[4]),
        }],
        ..Request::default()
    };
    let rules = Rules::new(&request, &known).unwrap();
    // 0, 2 and the group of 1 and 4; the first one brings in the group.
    assert_eq!((rules.feature_count(), rules.included_count()), (3, 2));
    let group = &rules.asked().unwrap().groups[0];
    assert_eq!((group.name.as_str(), group.columns.len()), ("x1", 2));
    // A feature that requires an excluded one is excluded as well.
    let out = Request {
        exclude: of_columns(&[2]),
        requires: vec![Requires {
            feature: Feature::Column(1),
            needs: of_columns(&[2]),
        }],
        ..Request::default()
    };
    assert_eq!(Rules::new(&out, &known).unwrap().feature_count(), 4);
}

#[test]
fn what_is_said_twice_is_found() {
    let names = names(3);
    let known = Known::plain(&names);
    let clash = |request: Request| {
        let rules = Rules::new(&request, &known).unwrap();
        rules.clash().map(|clash| format!("{clash:?}"))
    };
    let both = Request {
        include: of_columns(&[1]),
        include_free: of_columns(&[1]),
        ..Request::default()
    };
    assert_eq!(clash(both).unwrap(), "CountedAndFree(\"x1\")");
    let factor = |factor| RidgeFactor {
        feature: Feature::Column(2),
        factor,
    };
    let factors = Request {
        ridge_factors: vec![factor(2.0), factor(3.0)],
        ..Request::default()
    };
    assert_eq!(clash(factors).unwrap(), "TwoFactors(\"x2\")");
    let group = |name: &str, columns: &[usize]| Together {
        name: Some(name.into()),
        columns: of_columns(columns),
    };
    let groups = Request {
        groups: vec![group("g", &[0, 1]), group("h", &[1, 2])],
        ..Request::default()
    };
    let found = clash(groups).unwrap();
    assert!(found.contains("\"x1\"") && found.contains("\"g\"") && found.contains("\"h\""));
    assert_eq!(clash(Request::default()), None);
}
