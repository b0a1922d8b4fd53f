//! Widths of text on a terminal, where East Asian characters take two columns and combining marks none.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the number of columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Pads a text with trailing spaces to a number of columns.
pub fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    text.to_owned() + &" ".repeat(missing)
}

/// Cuts a text to this many columns, with `…` for the removed part; grapheme clusters stay together.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for cluster in text.graphemes(true) {
        used += width(cluster);
        if used > columns {
            break;
        }
        shown += cluster;
    }
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn east_asian_characters_take_two_columns() {
        assert_eq!(width("bmi"), 3);
        assert_eq!(width("体重"), 4);
        assert_eq!(width("体重 kg"), 7);
        assert_eq!(width("가나"), 4);
        // A letter with the accent above it.
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(padded("体重", 6), "体重  ");
        assert_eq!(padded("too long", 3), "too long");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("short", 8), "short");
        assert_eq!(cut("exactly8", 8), "exactly8");
        assert_eq!(cut("much too long", 8), "much to…");
        assert_eq!(cut("ééééé", 3), "éé…");
        // Half of a wide character does not fit.
        assert_eq!(cut("体重指数", 6), "体重…");
        assert_eq!(cut("体重指数", 5), "体重…");
        assert_eq!(cut("体重指数", 8), "体重指数");
        // An accent stays with its letter, and a family emoji stays whole.
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut("👩‍👩‍👧👩‍👩‍👧", 3), "👩‍👩‍👧…");
        for columns in 1..12 {
            assert!(width(&cut("a体b重c指d数e", columns)) <= columns);
        }
    }
}
