//! Commands that a lean build leaves out: they tell the user how to get them.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::failure::Failure;

/// Any arguments; they are accepted and ignored.
#[derive(Debug, clap::Args)]
pub struct AbsentArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Refuses `command`, which needs a `feature` of the build.
pub fn refuse(command: &str, feature: &str) -> Result<ExitCode, Failure> {
    Err(Failure::Usage(format!(
        "this l0star was built without the feature '{feature}', which '{command}' needs; build it with all features: \
         cargo run --release --features full -- {command}"
    )))
}
