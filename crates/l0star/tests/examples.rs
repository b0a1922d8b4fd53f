//! The examples print the files in `examples/output`; their Python versions are compared with the same files.

// Every example includes the data module.
#![allow(clippy::duplicate_mod)]

use std::error::Error;
use std::fs;
use std::io::Write;

/// The example as a module: its `main` prints what `run` writes.
macro_rules! example {
    ($name:ident, $file:literal) => {
        #[path = $file]
        #[allow(dead_code)]
        mod $name;

        #[test]
        fn $name() {
            agrees(stringify!($name), $name::run);
        }
    };
}

example!(first_fit, "../examples/first_fit.rs");
example!(path, "../examples/path.rs");
example!(best_models, "../examples/best_models.rs");
example!(constraints, "../examples/constraints.rs");
example!(watched, "../examples/watched.rs");

type Example = fn(&mut dyn Write) -> Result<(), Box<dyn Error>>;

fn agrees(name: &str, run: Example) {
    let file = format!("{}/examples/output/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let mut out = Vec::new();
    run(&mut out).unwrap();
    let printed = String::from_utf8(out).unwrap();
    // After an intended change: L0STAR_WRITE_EXAMPLES=1 cargo test -p l0star --test examples
    if std::env::var_os("L0STAR_WRITE_EXAMPLES").is_some() {
        fs::write(&file, &printed).unwrap();
    }
    assert_eq!(printed, fs::read_to_string(&file).unwrap(), "{file}");
}
