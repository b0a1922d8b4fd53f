//! `cargo xtask attack`: malicious input through the real binary, and hard problems through the engine.
//!
//! An attack is a function of a seed: the same seed gives the same case. It returns its finding, if any. A new
//! attack is a module with such a function and a row in [`ATTACKS`].
//!
//! | module | what it does |
//! |---|---|
//! | [`exact`] | problems that are hard for floating point, and proved boxes, compared with exact arithmetic |
//! | [`files`] | damaged files of every format, models and checkpoints; files that unpack to far more than their size |
//! | [`names`] | hostile names, labels and file names through every output |
//! | [`program`] | the binary under a memory limit and, if wanted, a watchdog |

mod exact;
mod files;
mod names;
mod program;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use program::Program;
use xtask::step::{self, root};

/// A finding of an attack: a sentence that says what went wrong.
type Finding = String;

/// A kind of attack.
struct Attack {
    name: &'static str,
    /// The share of this kind among all cases.
    share: u64,
    /// Whether a case takes seconds, which is too slow for the test suite.
    slow: bool,
    /// Whether it needs the built command.
    needs_command: bool,
    run: fn(&Ground, u64) -> Result<(), Finding>,
}

const ATTACKS: [Attack; 5] = [
    Attack {
        name: "exact",
        share: 100,
        slow: false,
        needs_command: false,
        run: exact::hard,
    },
    Attack {
        name: "boxes",
        share: 60,
        slow: false,
        needs_command: false,
        run: exact::boxes,
    },
    Attack {
        name: "files",
        share: 180,
        slow: false,
        needs_command: true,
        run: files::damaged,
    },
    Attack {
        name: "names",
        share: 12,
        slow: false,
        needs_command: true,
        run: names::hostile,
    },
    Attack {
        name: "bombs",
        share: 1,
        slow: true,
        needs_command: true,
        run: files::bomb,
    },
];

/// The program, folder and files that every case needs.
struct Ground {
    program: Program,
    /// The folder that a case may write to; findings stay there.
    folder: PathBuf,
    files: files::Originals,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    /// After this many cases, counted from the seed.
    Cases(u64),
    /// After this many minutes.
    Minutes(f64),
}

/// Attacks with one kind or all, starting at a case. The command of the dev profile is built sooner and checks more.
pub fn run(until: Until, seed: u64, only: Option<&str>, dev: bool) -> Result<(), String> {
    let chosen: Vec<&Attack> = ATTACKS
        .iter()
        .filter(|attack| only.is_none_or(|only| only == attack.name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
        return Err(format!(
            "there is no such attack: one of {}",
            names.join(", ")
        ));
    }
    let watchdog = Some(Duration::from_secs(300));
    let ground = Ground::new(&chosen, dev, watchdog)?;
    attack(&ground, &chosen, until, seed)
}

/// Runs the part in the test suite: few cases, always the same, without a clock.
pub fn short() -> Result<(), String> {
    let quick: Vec<&Attack> = ATTACKS.iter().filter(|attack| !attack.slow).collect();
    let ground = Ground::new(&quick, true, None)?;
    attack(&ground, &quick, Until::Cases(230), 1)
}

fn attack(ground: &Ground, attacks: &[&Attack], until: Until, seed: u64) -> Result<(), String> {
    let all: u64 = attacks.iter().map(|attack| attack.share).sum();
    let (mut passed, mut failed) = (0u64, 0u64);
    let began = Instant::now();
    for case in seed.. {
        let is_over = match until {
            Until::Cases(cases) => passed + failed == cases,
            Until::Minutes(minutes) => began.elapsed().as_secs_f64() > 60.0 * minutes,
        };
        if is_over {
            break;
        }
        // The kinds take turns, spread evenly by a prime step through the shares.
        let mut place = case.wrapping_mul(7919) % all;
        let kind = attacks.iter().find(|attack| {
            let is_here = place < attack.share;
            place = place.saturating_sub(attack.share);
            is_here
        });
        let kind = kind.expect("the shares cover every place");
        let folder = ground.fresh_folder()?;
        match (kind.run)(ground, case) {
            Ok(()) => passed += 1,
            Err(finding) => {
                failed += 1;
                let kept = folder.with_file_name(format!("{}-{case}", kind.name));
                let _ = fs::remove_dir_all(&kept);
                let kept = match fs::rename(&folder, &kept) {
                    Ok(()) => kept,
                    Err(_) => folder,
                };
                println!(
                    "FOUND {finding}\n  again: cargo xtask attack --only {} --seed {case} --cases 1\n  files: {}",
                    kind.name,
                    kept.display()
                );
            }
        }
        if (passed + failed) % 5000 == 0 {
            println!("{passed} passed, {failed} failed");
        }
    }
    let _ = fs::remove_dir_all(&ground.folder);
    println!("{passed} passed, {failed} failed");
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} findings")),
    }
}

impl Ground {
    fn new(attacks: &[&Attack], dev: bool, watchdog: Option<Duration>) -> Result<Ground, String> {
        let needs_command = attacks.iter().any(|attack| attack.needs_command);
        let target = root().join("target");
        let path = if needs_command {
            step::command("attack", !dev)?
        } else {
            PathBuf::new()
        };
        let program = Program { path, watchdog };
        let folder = target
            .join("attack")
            .join(format!("case-{}", std::process::id()));
        let mut ground = Ground {
            program,
            folder,
            files: files::Originals::default(),
        };
        ground.fresh_folder()?;
        if needs_command {
            ground.files = files::Originals::new(&ground)?;
        }
        Ok(ground)
    }

    /// Returns an empty folder for the next case.
    fn fresh_folder(&self) -> Result<PathBuf, String> {
        let say = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(say)?;
        }
        fs::create_dir_all(&self.folder).map_err(say)?;
        Ok(self.folder.clone())
    }

    /// Writes a file in the folder of the case.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Finding> {
        let path = self.folder.join(name);
        fs::write(&path, bytes).map_err(|error| format!("cannot write {name:?}: {error}"))?;
        Ok(path)
    }
}
