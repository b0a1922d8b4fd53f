//! Searches that are complete but prove less than was asked for, at the limit of double precision.

use crate::common::{Sandbox, number};

/// A common mean of 1e9 without an intercept: the residuals of two features are lost in the rounding of the bounds.
const BADLY_SCALED: &str = "a,b,c,y\n\
    1000000001,1000000003,1000000002,1000000004\n\
    1000000005,999999998,1000000007,1000000001\n\
    999999997,1000000004,999999996,1000000000\n\
    1000000002,1000000001,1000000009,999999996\n\
    999999994,1000000006,1000000001,1000000005\n\
    1000000008,999999995,999999998,1000000003\n";

#[test]
fn the_limit_of_double_precision_is_no_proof() {
    let sandbox = Sandbox::with("d.csv", BADLY_SCALED);
    let data = "d.csv --target y --no-intercept --no-standardize -k 2";
    // No gap is reached, neither zero nor one that is asked for.
    for options in ["", "--gap 1", "--top 2", "--method paper"] {
        let outcome = sandbox.run(&format!("fit {data} {options} --json"));
        assert_eq!(outcome.code, Some(4), "{options}: {outcome:?}");
        let json = outcome.json();
        assert_eq!(json["status"], "precision", "{options}");
        assert!(number(&json, "lower_bound") < number(&json, "objective"));
    }
    let json = sandbox.json(&format!("fit {data} --gap 1000 --json"));
    assert_eq!(json["status"], "gap_reached");

    let outcome = sandbox.run(&format!("fit {data} --prices --out m.json --report p.html"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    let stop = "stopped at the limit of double precision";
    assert!(outcome.stdout.starts_with(stop), "{outcome:?}");
    assert!(outcome.stdout.contains(&format!(", {stop}")), "{outcome:?}");
    let page = String::from_utf8(sandbox.read("p.html")).unwrap();
    let words = sandbox.run("explain m.json").stdout;
    assert!(page.contains(stop) && page.contains("status loud"));
    assert!(words.contains("Status precision"), "{words}");
    for text in [outcome.stdout, page, words] {
        assert!(!text.contains("proved optimal"), "{text}");
    }
    let outcome = sandbox.run(&format!("path {data}"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    assert!(outcome.stdout.contains("of 3 sizes"), "{outcome:?}");
    let outcome = sandbox.run(&format!("cv {data} --folds 2"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
}
