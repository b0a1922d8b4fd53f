//! [`Fault`]: a fault that tests inject into the command at one of its checkpoints.
//!
//! A test that kills a command, or sends it a signal, must know how far the command has come, and must not depend on
//! how fast the machine is. So it asks the command itself to fail, through the environment variable
//! `L0STAR_TEST_FAULT`, which nothing but tests sets. Its value is three words: an action, a place, and the number of
//! a checkpoint, counted from 1 in every run.
//!
//! | action | what the command does |
//! |---|---|
//! | `abort` | aborts, as if it had been killed |
//! | `hold` | says `held` on standard error, waits for the first signal, and continues |
//! | `hang` | says `held`, waits for the first signal, says `asked`, and never continues |
//!
//! | place | when the fault happens |
//! |---|---|
//! | `within` | after half of the temporary file has been written |
//! | `after` | once the checkpoint is in place |
//!
//! With `--checkpoint-every 0s` and one thread, a run writes the same checkpoints every time: `abort after 3` always
//! leaves the same state behind.

use std::env::{self, VarError};
use std::io::{self, Write};
use std::thread;

use crate::failure::Failure;
use crate::interrupt;

const VARIABLE: &str = "L0STAR_TEST_FAULT";

/// The planned fault, if any, and the number of checkpoints written so far.
#[derive(Debug, Default)]
pub struct Fault {
    plan: Option<(Action, AbortPoint, u64)>,
    checkpoints: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Abort,
    Hold,
    Hang,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AbortPoint {
    Within,
    After,
}

impl Fault {
    /// Reads the fault from the environment variable; there is none unless a test sets it.
    pub fn planned() -> Result<Self, Failure> {
        match env::var(VARIABLE) {
            Ok(words) => Self::parse(&words).ok_or_else(|| {
                Failure::Usage(format!(
                    "{VARIABLE} is for tests and must be like 'abort after 3', and it is '{words}'; unset it"
                ))
            }),
            Err(VarError::NotPresent) => Ok(Self::default()),
            Err(error) => Err(Failure::Usage(format!("{VARIABLE}: {error}; unset it"))),
        }
    }

    fn parse(words: &str) -> Option<Self> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let [action, place, number] = words[..] else {
            return None;
        };
        let action = match action {
            "abort" => Action::Abort,
            "hold" => Action::Hold,
            "hang" => Action::Hang,
            _ => return None,
        };
        let place = match place {
            "within" => AbortPoint::Within,
            "after" => AbortPoint::After,
            _ => return None,
        };
        let number = number.parse().ok().filter(|number| *number > 0)?;
        Some(Self {
            plan: Some((action, place, number)),
            checkpoints: 0,
        })
    }

    /// Writes the next checkpoint to its temporary file.
    pub fn write(&mut self, out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        self.checkpoints += 1;
        let (half, rest) = bytes.split_at(bytes.len() / 2);
        out.write_all(half)?;
        if self.is_due(AbortPoint::Within) {
            out.flush()?;
            self.happen();
        }
        out.write_all(rest)
    }

    /// Triggers the fault that is due after this checkpoint.
    pub fn written(&self) {
        if self.is_due(AbortPoint::After) {
            self.happen();
        }
    }

    fn is_due(&self, here: AbortPoint) -> bool {
        self.plan
            .is_some_and(|(_, place, number)| place == here && number == self.checkpoints)
    }

    fn happen(&self) {
        let Some((action, ..)) = self.plan else {
            return;
        };
        if action == Action::Abort {
            std::process::abort();
        }
        eprintln!("held");
        interrupt::wait();
        if action == Action::Hang {
            eprintln!("asked");
            loop {
                thread::park();
            }
        }
    }
}
