//! [`printable`] and [`clip`]: names, labels and file names as they may appear in a message or on a terminal.
//!
//! Names come from files, and a file can contain anything: an escape sequence that rewrites the screen, a mark
//! that reverses the surrounding text, a line break that fakes a line of output. All text shown to a reader
//! passes through this module. Data files and JSON keep names as they are.

use std::borrow::Cow;

/// Returns the text with every control character and invisible format character escaped:
/// `\n`, `\u{1b}`, `\u{202e}`.
///
/// Text that was escaped before is not changed again, so several layers may do it. Letters of every script, combining
/// marks and variation selectors stay as they are.
///
/// ```
/// assert_eq!(l0star_data::text::printable("größe 高さ"), "größe 高さ");
/// assert_eq!(l0star_data::text::printable("a\x1b[31m\nb\u{202e}"), r"a\u{1b}[31m\nb\u{202e}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push(&mut shown, c));
    Cow::Owned(shown)
}

/// Returns the [`printable`] text in up to `longest` characters, with an ellipsis in place of the part that is cut off.
///
/// ```
/// assert_eq!(l0star_data::text::clip("much too long", 8), "much to…");
/// ```
pub fn clip(text: &str, longest: usize) -> String {
    let mut shown = String::new();
    // The number of characters shown, and where to cut so that an ellipsis still fits.
    let (mut length, mut cut) = (0, 0);
    for c in text.chars() {
        let before = shown.len();
        push(&mut shown, c);
        length += shown[before..].chars().count();
        if length < longest {
            cut = shown.len();
        }
        if length > longest {
            shown.truncate(cut);
            shown.push('…');
            break;
        }
    }
    shown
}

fn push(shown: &mut String, c: char) {
    if is_hidden(c) {
        shown.extend(c.escape_default());
    } else {
        shown.push(c);
    }
}

/// Whether a character is a control character, a line or paragraph separator, a direction
/// mark, or otherwise invisible.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelt_out() {
        assert_eq!(printable("a\tb\r\n"), r"a\tb\r\n");
        assert_eq!(printable("\x1b]0;x\x07\u{9b}"), r"\u{1b}]0;x\u{7}\u{9b}");
        for hidden in "\u{202e}\u{2066}\u{200d}\u{feff}\u{2028}\u{e0041}\u{ad}\u{61c}".chars() {
            assert_eq!(
                printable(&hidden.to_string()),
                hidden.escape_unicode().to_string()
            );
        }
    }

    #[test]
    fn letters_of_every_script_stay() {
        for name in [
            "",
            "a b",
            "größe",
            "高さ",
            "عمر",
            "e\u{301}",
            "naïve 'x' \\n",
            "❤\u{fe0f}",
        ] {
            assert!(
                matches!(printable(name), Cow::Borrowed(same) if same == name),
                "{name}"
            );
        }
    }

    #[test]
    fn escaping_twice_changes_nothing() {
        let once = printable("a\u{202e}\n\\").into_owned();
        assert_eq!(printable(&once), once);
    }

    #[test]
    fn clipped_text_has_whole_characters_and_whole_escapes() {
        assert_eq!(clip("short", 8), "short");
        assert_eq!(clip("exactly8", 8), "exactly8");
        assert_eq!(clip("much too long", 8), "much to…");
        assert_eq!(clip("ééééé", 3), "éé…");
        assert_eq!(clip("a\tb", 8), r"a\tb");
        assert_eq!(clip("abcd\u{202e}efgh", 10), "abcd…");
        assert_eq!(clip(&"é".repeat(100), 41).chars().count(), 41);
    }
}
