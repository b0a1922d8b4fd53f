//! Damaged model files: whatever they contain, the reader returns a model or an error. It does not panic.

#[path = "../../l0star-data/tests/samples/damage.rs"]
mod damage;

use std::path::Path;

use l0star_data::generate::rng::Stream;
use l0star_record::Model;

/// Mutations of the file.
const ROUNDS: usize = 3000;

const MODEL: &str = r#"{"format":"l0star-model","version":1,"l0star":"0.1.0","status":"optimal",
"objective":0.5,"lower_bound":0.5,"gap":0.0,"relative_gap":0.0,"k":2,"loss":"logistic","ridge":0.001,
"intercept":-1.5,"support":["x1","a:b"],"coefficients":{"x1":2.0,"a:b":-1e-3},"solver_calls":3,"nodes":1,
"peak_open_nodes":1,"seconds":0.1,"method":"best-first","warnings":[],"target":"b","labels":["0","1"],
"weights":null,"offset":null,"huber_delta":null,"fit_intercept":true,"standardize":false,
"products":[{"name":"a:b","factors":["x2","x3"]}],"features":["x1","x2"],"settings":{"gap":0.0,
"relative_gap":0.0,"top":null,"within":null,"time_limit":null,"node_limit":null,"memory_limit":null,
"threads":1},"data":{"file":"a.csv","rows":9,"columns":2,"rows_dropped":0,"hash":"00"},"command":[]}"#;

#[test]
fn no_damaged_model_brings_the_reader_down() {
    let mut random = Stream::new(20);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..ROUNDS {
        let bytes = damage::mutate(&mut random, MODEL.as_bytes(), MODEL.as_bytes());
        match Model::parse(Path::new("model.json"), &bytes) {
            Ok(model) => {
                assert!(model.columns().len() <= 2 * model.fitted.coefficients.0.len() + 1);
                read += 1;
            }
            Err(error) => {
                assert!(error.to_string().contains("model.json"), "{error}");
                refused += 1;
            }
        }
    }
    // Both outcomes occur.
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}
