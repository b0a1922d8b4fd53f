//! Text output: its width, and whether it has colours.

use std::io::{self, IsTerminal};

use l0star_report::text::{clip, printable};
use l0star_report::width::width;

/// The terminal behind standard output, or a file.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub width: usize,
    pub colours: bool,
    /// Whether it is a terminal. A file or a program gets every name and list in full.
    pub is_terminal: bool,
}

impl Screen {
    /// Detects the screen. Colours are used only on a terminal whose user has not set `NO_COLOR`.
    pub fn of_stdout() -> Screen {
        let is_terminal = io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = terminal_size::terminal_size()
            .filter(|_| is_terminal)
            .map_or(80, |(width, _)| usize::from(width.0));
        Screen {
            width: width.clamp(60, 160),
            colours: is_terminal && !set("NO_COLOR") && !is_dumb,
            is_terminal,
        }
    }

    /// Cuts a name, or a list of them, to `longest` columns; a file gets it in full.
    pub fn clip(&self, text: &str, longest: usize) -> String {
        if self.is_terminal {
            clip(text, longest)
        } else {
            printable(text).into_owned()
        }
    }

    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Marks text that needs attention.
    pub fn loud(&self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Marks text about something proved.
    pub fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Marks text about something below zero.
    pub fn minus(&self, text: &str) -> String {
        self.paint("35", text)
    }

    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colours && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Wraps text to the width. The first line follows `first`, which is as wide as `indent`.
    pub fn wrapped(&self, first: &str, indent: &str, text: &str) -> String {
        let mut lines = first.to_owned();
        let indented = width(indent);
        let mut column = indented;
        for (at, word) in text.split(' ').enumerate() {
            let length = width(word);
            if at > 0 && column + 1 + length > self.width {
                lines.push('\n');
                lines.push_str(indent);
                column = indented;
            } else if at > 0 {
                lines.push(' ');
                column += 1;
            }
            lines.push_str(word);
            column += length;
        }
        lines.push('\n');
        lines
    }
}

#[cfg(test)]
impl Screen {
    /// Returns a screen without colours, for tests.
    pub fn plain(width: usize, is_terminal: bool) -> Screen {
        Screen {
            width,
            colours: false,
            is_terminal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_fit_the_screen() {
        let screen = Screen::plain(60, true);
        for words in ["many words ", "体重 指数 "] {
            let text = screen.wrapped("note: ", "      ", &words.repeat(30));
            assert!(text.lines().count() > 4);
            assert!(text.lines().all(|line| width(line) <= 60), "{text}");
        }
    }

    #[test]
    fn only_a_terminal_has_too_little_room() {
        assert_eq!(Screen::plain(80, true).clip("much too long", 8), "much to…");
        assert_eq!(
            Screen::plain(80, false).clip("much\ttoo long", 8),
            r"much\ttoo long"
        );
    }

    #[test]
    fn colours_are_for_terminals() {
        let mut screen = Screen::plain(80, true);
        assert_eq!(screen.bold("x"), "x");
        screen.colours = true;
        assert_eq!(screen.bold("x"), "\x1b[1mx\x1b[0m");
        assert_eq!(screen.bold(""), "");
    }
}
