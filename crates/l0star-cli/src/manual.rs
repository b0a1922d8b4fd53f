//! Shell completions and manual pages, made from the definition of the arguments.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::failure::{Failure, SOLVED};
use crate::output;

pub const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  l0star completions bash > ~/.local/share/bash-completion/completions/l0star
  l0star completions zsh > ~/.zfunc/_l0star
  l0star completions fish > ~/.config/fish/completions/l0star.fish";

pub const MAN_EXAMPLES: &str = "\
Examples:
  l0star man | man -l -
  l0star man fit | man -l -
  l0star man --out ~/.local/share/man/man1";

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: Shell,
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// The page of this command [default: of l0star itself]
    #[arg(conflicts_with = "out")]
    pub command: Option<String>,

    /// Write all pages to this folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Prints the completion script of the whole `command`.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "l0star", &mut script);
    output::print_bytes(&script)?;
    Ok(ExitCode::from(SOLVED))
}

/// Prints one manual page of the whole `command`, or writes all of them.
pub fn man(args: &ManArgs, command: Command) -> Result<ExitCode, Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    if let Some(folder) = &args.out {
        return write_all(command, folder);
    }
    let page = match &args.command {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name);
            found.cloned().ok_or_else(|| {
                let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
                Failure::Usage(format!(
                    "there is no command '{name}'; the commands are {}",
                    names.join(", ")
                ))
            })?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .expect("writing to memory cannot fail");
    output::print_bytes(&text)?;
    Ok(ExitCode::from(SOLVED))
}

fn write_all(command: Command, folder: &Path) -> Result<ExitCode, Failure> {
    clap_mangen::generate_to(command, folder).map_err(|reason| Failure::Output {
        what: format!("'{}'", folder.display()),
        reason,
        advice: "give a folder that exists and that you may write to",
    })?;
    Ok(ExitCode::from(SOLVED))
}
