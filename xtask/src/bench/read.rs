//! `cargo xtask bench read`: reads a CSV file of one gigabyte in a separate process.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use l0star_data::generate::rng::Stream;
use l0star_data::load;

use super::table::{header, row, text};
use xtask::step;

const ROWS: usize = 100_000;
const COLUMNS: usize = 1_000;
const REPEATS: usize = 3;

/// Peers that read the file to a dense column-major matrix; each prints seconds and peak memory.
const PEERS: [(&str, &str); 2] = [
    (
        "polars",
        "import polars; a = polars.read_csv(f).to_numpy(order='fortran')",
    ),
    (
        "pyarrow",
        "import numpy, pyarrow.csv; t = pyarrow.csv.read_csv(f); a = numpy.empty(t.shape, order='F'); [numpy.copyto(a[:, j], c) for j, c in enumerate(t.columns)]",
    ),
];

/// Writes the file if it does not exist, reads it several times, and prints how to run the peers.
pub fn read() -> Result<(), String> {
    let path = step::root().join("target/bench/read.csv");
    if !path.exists() {
        eprintln!("==> writing {}", path.display());
        fs::create_dir_all(path.with_file_name("")).map_err(text)?;
        write(&path).map_err(text)?;
    }
    let megabytes = fs::metadata(&path).map_err(text)?.len() as f64 / 1e6;
    header(&["reader", "MB", "seconds", "MB/s", "peak memory (MB)"]);
    let own = std::env::current_exe().map_err(text)?;
    for _ in 0..REPEATS {
        let output = Command::new(&own)
            .arg("read-inner")
            .arg(&path)
            .output()
            .map_err(text)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers: Vec<f64> = said
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [seconds, peak] = numbers[..] else {
            return Err(format!(
                "the reader failed: {said}{}",
                String::from_utf8_lossy(&output.stderr)
            ));
        };
        row(&[
            "l0star".into(),
            format!("{megabytes:.0}"),
            format!("{seconds:.2}"),
            format!("{:.0}", megabytes / seconds),
            format!("{peak:.0}"),
        ]);
    }
    println!("\nThe peers (pip install polars pyarrow numpy), each in a process of its own:\n");
    for (name, code) in PEERS {
        println!(
            "python3 -c \"import time, resource; f = '{}'; s = time.time(); {code}; print('{name}', a.shape, round(time.time() - s, 2), 's', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000, 'MB')\"",
            path.display()
        );
    }
    Ok(())
}

/// Reads a file to a dense table and prints the seconds and the peak memory in MB.
pub fn inner(path: &Path) -> Result<(), String> {
    let start = Instant::now();
    let table = load(path).and_then(|raw| raw.into_table()).map_err(text)?;
    let seconds = start.elapsed().as_secs_f64();
    // A reader that dropped cells would seem fast.
    if (table.rows(), table.columns()) != (ROWS, COLUMNS) {
        return Err(format!("{} x {} cells", table.rows(), table.columns()));
    }
    println!("{seconds} {}", peak_megabytes().unwrap_or(f64::NAN));
    Ok(())
}

/// Returns the peak memory of this process, if the system reports it (Linux).
fn peak_megabytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1.024e-3)
}

/// Writes numbers that look like measurements: a sign, one or two digits, six decimals.
fn write(path: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let names: Vec<String> = (1..=COLUMNS).map(|j| format!("x{j}")).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut stream = Stream::new(1);
    for _ in 0..ROWS {
        for j in 0..COLUMNS {
            let comma = if j > 0 { "," } else { "" };
            write!(out, "{comma}{:.6}", 10.0 * stream.normal())?;
        }
        writeln!(out)?;
    }
    out.flush()
}
