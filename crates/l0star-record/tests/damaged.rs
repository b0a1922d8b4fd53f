//! Damaged model files: whatever stands in them, the reader answers with a model or an error. It does not panic.

use std::path::Path;

use l0star_data::generate::rng::Stream;
use l0star_record::Model;

/// Mutations of the file.
const ROUNDS: usize = 3000;

/// Words that mean something to the reader.
const TOKENS: [&[u8]; 8] = [
    b"\"",
    b"{",
    b"}",
    b"null",
    b"1e999",
    b"-0",
    b"[]",
    b"\"support\":",
];

const MODEL: &str = r#"{"format":"l0star-model","version":1,"l0star":"0.1.0","status":"optimal",
"objective":0.5,"lower_bound":0.5,"gap":0.0,"relative_gap":0.0,"k":2,"loss":"logistic","ridge":0.001,
"intercept":-1.5,"support":["x1","a:b"],"coefficients":{"x1":2.0,"a:b":-1e-3},"solver_calls":3,"nodes":1,
"peak_open_nodes":1,"seconds":0.1,"method":"best-first","warnings":[],"target":"b","labels":["0","1"],
"weights":null,"offset":null,"huber_delta":null,"fit_intercept":true,"standardize":false,
"products":[{"name":"a:b","factors":["x2","x3"]}],"features":["x1","x2"],"settings":{"gap":0.0,
"relative_gap":0.0,"top":null,"within":null,"time_limit":null,"node_limit":null,"memory_limit":null,
"threads":1},"data":{"file":"a.csv","rows":9,"columns":2,"rows_dropped":0,"hash":"00"},"command":[]}"#;

/// One to six changes: bits, bytes, words, pieces cut, doubled, or taken from another file.
fn mutate(random: &mut Stream, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(16)).min(bytes.len());
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..end, token.iter().copied());
            }
            3 => {
                bytes.drain(at..end);
            }
            4 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            _ => {
                let from = random.below(other.len() + 1);
                let to = (from + random.below(64)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn no_damaged_model_brings_the_reader_down() {
    let mut random = Stream::new(20);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..ROUNDS {
        let bytes = mutate(&mut random, MODEL.as_bytes(), MODEL.as_bytes());
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
    // Both answers are exercised.
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}
