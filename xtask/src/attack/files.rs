//! Damaged files of every format, models and checkpoints; and files that unpack to far more than their size.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::write::GzEncoder;
use l0star_data::generate::rng::Stream;
use serde_json::Value;

use super::{Finding, Ground};

#[path = "../../../crates/l0star-data/tests/samples/damage.rs"]
mod damage;
#[path = "../../../crates/l0star-data/tests/samples/mod.rs"]
mod samples;

use damage::mutate;

/// The files to be damaged: data, and a model and a checkpoint that belong to the first of them.
#[derive(Default)]
pub struct Originals {
    data: Vec<Sample>,
    model: Vec<u8>,
    checkpoint: Vec<u8>,
}

struct Sample {
    name: String,
    bytes: Vec<u8>,
    /// The contents of its columns, if a checksum protects them.
    columns: Option<BTreeSet<String>>,
}

/// Command of the search that leaves a checkpoint and resumes from it.
const SEARCH: [&str; 6] = ["fit", "a.csv", "--target", "b", "-k", "2"];

impl Originals {
    pub fn new(ground: &Ground) -> Result<Originals, Finding> {
        let mut data = Vec::new();
        for (name, bytes) in samples::files() {
            ground.put(&name, &bytes)?;
            let checked = [".gz", ".zst", ".npz"];
            let columns = if checked.iter().any(|end| name.ends_with(end)) {
                let ran = ground
                    .program
                    .run(&ground.folder, &["inspect", &name, "--json"])?;
                Some(columns(&ran.stdout)?)
            } else {
                None
            };
            data.push(Sample {
                name,
                bytes,
                columns,
            });
        }
        let kept = ["--out", "model.json", "--checkpoint", "run.ckpt", "--quiet"];
        let arguments: Vec<&str> = SEARCH.iter().chain(&kept).copied().collect();
        ground.program.run(&ground.folder, &arguments)?;
        let read = |name: &str| {
            fs::read(ground.folder.join(name)).map_err(|error| format!("no {name}: {error}"))
        };
        Ok(Originals {
            data,
            model: read("model.json")?,
            checkpoint: read("run.ckpt")?,
        })
    }

    fn csv(&self) -> &[u8] {
        &self.data[0].bytes
    }
}

/// Runs a command that reads a damaged file.
pub fn damaged(ground: &Ground, seed: u64) -> Result<(), Finding> {
    let mut random = Stream::new(seed);
    let originals = &ground.files;
    let other = &originals.data[random.below(originals.data.len())].bytes;
    match random.below(8) {
        0 => {
            let bytes = mutate(&mut random, &originals.model, other);
            ground.put("a.csv", originals.csv())?;
            model(ground, &mut random, &bytes)
        }
        1 => {
            let bytes = mutate(&mut random, &originals.checkpoint, other);
            ground.put("a.csv", originals.csv())?;
            checkpoint(ground, &bytes)
        }
        _ => {
            let sample = &originals.data[random.below(originals.data.len())];
            let bytes = mutate(&mut random, &sample.bytes, other);
            data(ground, &mut random, sample, &bytes)
        }
    }
}

fn data(
    ground: &Ground,
    random: &mut Stream,
    sample: &Sample,
    bytes: &[u8],
) -> Result<(), Finding> {
    let name = sample.name.as_str();
    ground.put(name, bytes)?;
    let run = |arguments: &[&str]| ground.program.run(&ground.folder, arguments);
    match random.below(4) {
        0 => {
            let limits = ["--time-limit", "2s", "--threads", "1", "--json"];
            let task = ["fit", name, "--target", "b", "-k", "2"];
            let ran = run(&[&task[..], &limits[..]].concat())?;
            if ran.code == 0 || ran.code == 4 {
                json(&ran.stdout)?;
            }
        }
        1 => {
            ground.put("model.json", &ground.files.model)?;
            run(&["predict", "model.json", name])?;
        }
        2 => {
            run(&["inspect", name])?;
        }
        _ => {
            let ran = run(&["inspect", name, "--json"])?;
            // Without its first bytes it is another kind of file, such as a table of text.
            if ran.code == 0
                && bytes.starts_with(&sample.bytes[..2])
                && let Some(known) = &sample.columns
                && let Some(other) = columns(&ran.stdout)?.difference(known).next()
            {
                return Err(format!(
                    "{name}: damage that a checksum shows was read as a column {other}"
                ));
            }
        }
    }
    Ok(())
}

fn model(ground: &Ground, random: &mut Stream, bytes: &[u8]) -> Result<(), Finding> {
    ground.put("model.json", bytes)?;
    let run = |arguments: &[&str]| ground.program.run(&ground.folder, arguments);
    match random.below(2) {
        0 => run(&["explain", "model.json"])?,
        _ => run(&["predict", "model.json", "a.csv", "--residuals"])?,
    };
    Ok(())
}

/// Checks that every changed checkpoint is refused, because it has a hash.
fn checkpoint(ground: &Ground, bytes: &[u8]) -> Result<(), Finding> {
    ground.put("run.ckpt", bytes)?;
    let resumed = ["--resume", "run.ckpt", "--time-limit", "2s", "--json"];
    let arguments: Vec<&str> = SEARCH.iter().chain(&resumed).copied().collect();
    let ran = ground.program.run(&ground.folder, &arguments)?;
    let is_refused = ran.code == 2 || ran.code == 3;
    if is_refused || bytes == ground.files.checkpoint {
        Ok(())
    } else {
        Err("a damaged checkpoint was resumed".into())
    }
}

/// Returns the numbers that `inspect` reports for each column, without its name.
fn columns(stdout: &str) -> Result<BTreeSet<String>, Finding> {
    let report = json(stdout)?;
    let variables = report["variables"].as_array().into_iter().flatten();
    Ok(variables
        .map(|column| ["missing", "min", "mean", "max", "sd"].map(|of| &column[of]))
        .map(|facts| format!("{facts:?}"))
        .collect())
}

fn json(stdout: &str) -> Result<Value, Finding> {
    serde_json::from_str(stdout).map_err(|error| format!("--json wrote no JSON: {error}"))
}

/// Checks that a small file that unpacks to gigabytes is refused, or is read within the memory limit.
pub fn bomb(ground: &Ground, seed: u64) -> Result<(), Finding> {
    let mut random = Stream::new(seed);
    let pieces: [&[u8]; 7] = [b"\0", b"1\n", b"1,2\n", b",", b"\n", b"a", b"\"x\ny\" "];
    let piece = pieces[random.below(pieces.len())];
    let name = ["bomb.csv.gz", "bomb.csv.zst", "bomb.npz"][random.below(3)];
    let block = piece.repeat((1 << 20) / piece.len());
    let megabytes = 300 + 700 * random.below(4);
    let say = |error: std::io::Error| error.to_string();
    let path = ground.folder.join(name);
    pack(&path, &block, megabytes).map_err(say)?;
    ground
        .program
        .run(&ground.folder, &["inspect", name, "--json"])
        .map_err(|finding| format!("{megabytes} MB of {piece:?}: {finding}"))?;
    Ok(())
}

fn pack(path: &Path, block: &[u8], times: usize) -> std::io::Result<()> {
    let file = fs::File::create(path)?;
    let write = |out: &mut dyn Write| -> std::io::Result<()> {
        (0..times).try_for_each(|_| out.write_all(block))
    };
    match path.extension().and_then(|last| last.to_str()) {
        Some("gz") => {
            let mut out = GzEncoder::new(file, flate2::Compression::fast());
            write(&mut out)?;
            out.finish()?;
        }
        Some("zst") => {
            let mut out = zstd::Encoder::new(file, 1)?;
            write(&mut out)?;
            out.finish()?;
        }
        _ => {
            let mut out = zip::ZipWriter::new(file);
            let options = zip::write::SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Deflated)
                .large_file(true);
            out.start_file("x.npy", options)?;
            write(&mut out)?;
            out.finish()?;
        }
    }
    Ok(())
}
