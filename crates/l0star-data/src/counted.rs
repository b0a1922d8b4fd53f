//! [`counted`]: a noun with its count.

use std::fmt::Display;

/// Returns a count with its noun: `1 node`, `2 nodes`, `3 searches`, `4 categories`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// Returns the noun alone, singular or plural according to the count: `node`, `nodes`.
pub fn plural<N: PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return noun.to_owned();
    }
    if noun.ends_with("ch") || noun.ends_with(['s', 'x']) {
        return format!("{noun}es");
    }
    match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_else_is_plural() {
        assert_eq!(counted(0usize, "feature"), "0 features");
        assert_eq!(counted(1usize, "feature"), "1 feature");
        assert_eq!(counted(2u64, "search"), "2 searches");
        assert_eq!(plural(1u64, "category"), "category");
        assert_eq!(plural(3u64, "category"), "categories");
    }
}
