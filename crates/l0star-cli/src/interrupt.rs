//! Signals: the first Ctrl-C (or SIGTERM) asks the search to stop, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::failure::INTERRUPTED;

/// Set by the first signal.
static ASKED: OnceLock<()> = OnceLock::new();

/// Returns a flag that the first signal sets. A second one ends the process at once and leaves no half-written file.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    // Where no handler can be installed, the signal ends the process, as it does everywhere else.
    let _ = ctrlc::set_handler(move || {
        seen.store(true, Ordering::SeqCst);
        if ASKED.set(()).is_err() {
            quit();
        }
    });
    flag
}

/// Lets the first signal end the process and leave no half-written file. For commands that have nothing to show
/// before they finish.
pub fn end_at_once() {
    let _ = ctrlc::set_handler(quit);
}

fn quit() {
    l0star_data::quit_writing();
    std::process::exit(i32::from(INTERRUPTED));
}

/// Waits for the first signal.
pub fn wait() {
    ASKED.wait();
}
