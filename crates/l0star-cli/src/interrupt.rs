//! The first Ctrl-C (or SIGTERM) asks the search to stop, the second insists.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::failure::INTERRUPTED;

/// Set by the first signal.
static ASKED: OnceLock<()> = OnceLock::new();

/// A flag that the first signal sets; a second one ends the process at once, without a file that is half written.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    // Where no handler can be installed, the signal ends the process, as it does everywhere else.
    let _ = ctrlc::set_handler(move || {
        seen.store(true, Ordering::SeqCst);
        if ASKED.set(()).is_err() {
            l0star_data::quit_writing();
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    flag
}

/// Waits for the first signal.
pub fn wait() {
    ASKED.wait();
}
