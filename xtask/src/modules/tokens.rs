//! Rust source as identifiers and punctuation, without comments, string literals and tests.

/// Returns the tokens of a source; `::` is one token, and string literals and lifetimes are omitted.
pub fn tokens(source: &str) -> Vec<&str> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = raw_text(rest) {
            length
        } else if rest.starts_with("b\"") || rest.starts_with("c\"") {
            1 + text(&rest[1..])
        } else if first == '"' {
            text(rest)
        } else if first == '\'' {
            character_or_lifetime(rest)
        } else if first.is_alphanumeric() || first == '_' {
            let is_in = |c: char| c.is_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_in(c)).unwrap_or(rest.len());
            found.push(&rest[..length]);
            length
        } else if rest.starts_with("::") {
            found.push(&rest[..2]);
            2
        } else {
            if !first.is_whitespace() {
                found.push(&rest[..first.len_utf8()]);
            }
            first.len_utf8()
        };
        at += length;
    }
    found
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Returns the length of `r"…"`, `r#"…"#` or `br"…"` if the source starts with one.
fn raw_text(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    let body = inner[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).unwrap_or(body.len());
    Some((rest.len() - body.len() + length + end.len()).min(rest.len()))
}

fn text(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn character_or_lifetime(rest: &str) -> usize {
    let mut following = rest.char_indices().skip(1);
    match (following.next(), following.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let from = at + escaped.len_utf8();
            rest[from..]
                .find('\'')
                .map_or(rest.len(), |end| from + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Returns the tokens without the items that exist only for tests.
pub fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let attribute = |cfg| ["#", "[", "cfg", "(", cfg, ")", "]"];
        if ["test", "doctest"]
            .iter()
            .any(|cfg| tokens[at..].starts_with(&attribute(cfg)))
        {
            at = end_of_item(tokens, at);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// Returns where the item whose attributes begin here ends: after its `;`, its `,` or its block.
fn end_of_item(tokens: &[&str], mut at: usize) -> usize {
    while tokens.get(at) == Some(&"#") {
        at = end_of_brackets(tokens, at + 1);
    }
    let has_block = !tokens[at..]
        .iter()
        .take(3)
        .any(|word| ["use", "static"].contains(word));
    while at < tokens.len() {
        match tokens[at] {
            ";" | "," => return at + 1,
            "{" if has_block => return end_of_brackets(tokens, at),
            "(" | "[" | "{" => at = end_of_brackets(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Returns the position after the bracket that closes the one here.
pub fn end_of_brackets(tokens: &[&str], from: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[test]
fn comments_texts_and_tests_are_left_out() {
    let source = r##"
        use a::b; // crate::c
        /* crate::d /* */ */ fn f<'a>(x: &'a str) -> char { r#"crate::e"#; "\"crate::g"; '\''; 'x' }
        #[cfg(test)] #[path = "x"] mod tests { use crate::h; fn t() {} }
        #[cfg(test)] use crate::{i, j};
        #[cfg(test)] mod more;
        fn last() {}
    "##;
    let kept = without_tests(&tokens(source)).join(" ");
    assert_eq!(
        kept,
        "use a :: b ; fn f < a > ( x : & a str ) - > char { ; ; ; } fn last ( ) { }"
    );
}
