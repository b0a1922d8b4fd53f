//! Numbers as people write them: `$1,200.50`, `1.234,56 €`, `12 %`, `(300)`.

/// Currency signs and codes that may precede or follow a number.
const CURRENCIES: [&str; 38] = [
    "US$", "A$", "C$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₫", "₦", "฿", "₪", "¢",
    "zł", "Kč", "kr", "CHF", "Fr.", "USD", "EUR", "GBP", "JPY", "CNY", "INR", "SEK", "NOK", "DKK",
    "PLN", "CZK", "CAD", "AUD", "NZD", "BRL",
];

/// Separators of digit groups, in addition to the point and the comma.
const BLANKS: [char; 4] = [' ', '\u{a0}', '\u{202f}', '\''];

/// An amount split into its digits (with their separators), its sign and its marks.
#[derive(Debug, PartialEq, Eq)]
struct Parts<'a> {
    digits: &'a str,
    is_negative: bool,
    /// Whether it has a currency, a percent sign or parentheses.
    is_marked: bool,
}

fn parts(text: &str) -> Option<Parts<'_>> {
    let mut rest = text.trim();
    let (mut is_negative, mut is_marked) = (false, false);
    if let Some(inside) = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        (rest, is_negative, is_marked) = (inside.trim(), true, true);
    }
    let mut has_sign = is_negative;
    let mut has_currency = false;
    loop {
        let signed = rest.strip_prefix(['-', '−', '+']).filter(|_| !has_sign);
        let before = CURRENCIES.iter().find_map(|sign| rest.strip_prefix(sign));
        let behind = CURRENCIES.iter().find_map(|sign| rest.strip_suffix(sign));
        rest = if let Some(after) = signed {
            has_sign = true;
            is_negative = !rest.starts_with('+');
            after
        } else if let Some(other) = before.or(behind).filter(|_| !has_currency) {
            (has_currency, is_marked) = (true, true);
            other
        } else if let Some(share) = rest.strip_suffix('%').filter(|_| !has_currency) {
            (has_currency, is_marked) = (true, true);
            share
        } else {
            break;
        }
        .trim();
    }
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_inside =
        |letter: char| is_digit(letter) || ".,".contains(letter) || BLANKS.contains(&letter);
    let is_number = rest.contains(is_digit) && rest.chars().all(is_inside);
    is_number.then_some(Parts {
        digits: rest,
        is_negative,
        is_marked,
    })
}

/// Returns the decimal mark (point or comma) as far as this one text determines it.
fn decimal(digits: &str) -> Option<char> {
    let marks: Vec<(usize, char)> = digits
        .char_indices()
        .filter(|(_, c)| ".,".contains(*c))
        .collect();
    let (at, last) = *marks.last()?;
    let other = marks.iter().any(|(_, mark)| *mark != last);
    let of_last = marks.iter().filter(|(_, mark)| *mark == last).count();
    let behind = digits.len() - at - 1;
    match (other, of_last) {
        // 1.234,5 has both marks; in 1,5 too few digits follow the comma for a group.
        (true, 1) => Some(last),
        (false, 1) if behind != 3 => Some(last),
        _ => None,
    }
}

/// Parses a text as an amount with the given decimal mark; `None` if it is not one.
pub(crate) fn amount(text: &str, decimal_comma: bool) -> Option<f64> {
    let Parts {
        digits,
        is_negative,
        ..
    } = parts(text)?;
    let (mark, group) = if decimal_comma {
        (',', '.')
    } else {
        ('.', ',')
    };
    let (whole, decimals) = match digits.split_once(mark) {
        Some((whole, decimals)) => (whole, decimals),
        None => (digits, ""),
    };
    let is_group = |letter: char| letter == group || BLANKS.contains(&letter);
    let groups: Vec<&str> = whole.split(is_group).collect();
    // Groups have three digits. In Indian notation they have two, except the last.
    let fits = |(at, digits): (usize, &&str)| match at {
        0 => groups.len() == 1 || (1..=3).contains(&digits.len()),
        _ if at + 1 == groups.len() => digits.len() == 3,
        _ => (2..=3).contains(&digits.len()),
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !groups.iter().enumerate().all(fits)
        || !groups.iter().all(|part| is_digits(part))
        || !is_digits(decimals)
    {
        return None;
    }
    let plain = format!(
        "{}{}.{decimals}",
        if is_negative { "-" } else { "" },
        groups.concat()
    );
    plain.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Counts of amounts among the texts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amounts {
    /// Whether the decimal mark is a comma.
    pub(crate) decimal_comma: bool,
    /// Number of texts that are amounts but that a plain number parser rejects.
    pub(crate) marked: usize,
    /// Number of texts that are neither plain numbers nor amounts.
    pub(crate) others: usize,
}

/// Classifies the texts of a column; `hint` decides what a comma means if the texts do not.
pub(crate) fn of_texts<'a>(texts: impl Iterator<Item = &'a str> + Clone, hint: bool) -> Amounts {
    let says = |mark: char| {
        let told = texts
            .clone()
            .filter_map(|text| decimal(parts(text)?.digits));
        told.filter(|own| *own == mark).count()
    };
    let (commas, points) = (says(','), says('.'));
    let decimal_comma = match commas.cmp(&points) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => hint,
    };
    let (mut marked, mut others) = (0, 0);
    for text in texts {
        match (parts(text), amount(text, decimal_comma)) {
            (Some(parts), Some(_)) => {
                let is_grouped = parts.digits.parse::<f64>().is_err();
                marked += usize::from(parts.is_marked || is_grouped);
            }
            _ if text.parse::<f64>().is_ok_and(f64::is_finite) => {}
            _ => others += 1,
        }
    }
    Amounts {
        decimal_comma,
        marked,
        others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_numbers() {
        for (text, comma, expected) in [
            ("$1,200.50", false, 1200.5),
            ("USD 1200", false, 1200.0),
            ("1.234,56 €", true, 1234.56),
            ("€ -1.234,5", true, -1234.5),
            ("-£3", false, -3.0),
            ("(300)", false, -300.0),
            ("($1,000,000)", false, -1e6),
            ("12 %", false, 12.0),
            ("12,5%", true, 12.5),
            ("1 234 567", false, 1_234_567.0),
            ("1'234.5", false, 1234.5),
            ("₹1,00,000", false, 100_000.0),
            ("+5", false, 5.0),
            (".5", false, 0.5),
            ("1 000 kr", true, 1000.0),
        ] {
            assert_eq!(amount(text, comma), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount() {
        for text in [
            "", "$", "%", "1,5", "12,34,5", "1..2", "low", "$$5", "--5", "5 apples", "1,2345",
            "(5", "1.2.3", "()",
        ] {
            assert_eq!(amount(text, false), None, "{text}");
        }
        assert_eq!(amount("1.5", true), None, "no group of three");
    }

    #[test]
    fn columns_tell_what_a_comma_means() {
        let of = |texts: &[&'static str]| of_texts(texts.iter().copied(), false);
        let amounts = |decimal_comma, marked, others| Amounts {
            decimal_comma,
            marked,
            others,
        };
        assert_eq!(of(&["$1,200", "$3.50", "7"]), amounts(false, 2, 0));
        assert_eq!(of(&["1.200 €", "3,50 €", "7"]), amounts(true, 2, 0));
        assert_eq!(of(&["1,200", "2,300"]), amounts(false, 2, 0));
        assert_eq!(of(&["1,5", "2,25", "x"]), amounts(true, 2, 1));
        assert_eq!(of(&["5 EUR", "about 3"]), amounts(false, 1, 1));
    }
}
