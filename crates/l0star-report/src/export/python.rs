//! Exports a model as a Python module.

use std::fmt::Write;

use l0star_data::DateOrder;
use l0star_record::Model;

use super::{Levels, MISSING_WORDS, Number, Term, literal, literals, terms};

const NUMBER: &str = r#"

def _number(row, name, mean=None):
    value = row.get(name)
    if isinstance(value, str):
        text = value.strip()
        words = {"true": 1.0, "false": 0.0}
        value = None if text.lower() in MISSING else words.get(text.lower(), text)
    if value is not None:
        value = float(value)
        if math.isinf(value):
            raise ValueError(f"{name!r} is {value}, which is not finite")
    if value is None or math.isnan(value):
        if mean is None:
            raise ValueError(f"{name!r} is missing")
        return mean
    return value
"#;

const TEXT: &str = r#"

def _level(row, name, levels, others, missing=None):
    value = row.get(name)
    if isinstance(value, float):
        value = None if math.isnan(value) else int(value) if value.is_integer() else value
    text = "" if value is None else str(value).strip()
    if text.lower() in MISSING:
        if missing is None:
            raise ValueError(f"{name!r} is missing")
        return missing
    return levels.get(text, others)
"#;

const DAYS: &str = r#"

def _days(row, name, order, mean=None):
    value = row.get(name)
    if isinstance(value, str):
        text = value.strip()
        parts = re.match(r"^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})", text)
        if text.lower() in MISSING:
            value = None
        elif parts and order in ("dmy", "mdy"):
            first, second, year = int(parts[1]), int(parts[3]), int(parts[4])
            day, month = (first, second) if order == "dmy" else (second, first)
            rest = text[parts.end() :].strip(" T")
            time = datetime.time.fromisoformat(rest) if rest else datetime.time()
            value = datetime.datetime.combine(datetime.date(year, month, day), time)
        else:
            value = datetime.datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.replace("/", "-")))
    if value is None or value != value:
        if mean is None:
            raise ValueError(f"{name!r} is missing")
        return mean
    seconds = 0.0
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc)
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return ((value.toordinal() - 719163) * 86400.0 + seconds) / 86400.0
"#;

pub(super) fn module(model: &Model) -> String {
    let outputs = 0..model.fitted.intercept.all().len();
    let all: Vec<Vec<Term>> = outputs.map(|output| terms(model, output)).collect();
    let terms = &all[0];
    let has = |is: fn(&Number) -> bool| {
        terms.iter().any(|term| match term {
            Term::Column(_, own) => is(own),
            Term::Product(_, both) => both.iter().any(is),
            Term::Levels(_) => false,
        })
    };
    let has_dates = has(|own| own.date.is_some());
    let has_numbers = has(|own| own.date.is_none()) || model.offset_of(0).is_some();
    let has_levels = terms.iter().any(|term| matches!(term, Term::Levels(_)));
    let mut text = format!(
        "# Predictions by l0star {}: {} model with at most {} features. It needs nothing but Python.\n",
        comment(&model.l0star),
        comment(&model.fitted.loss),
        model.fitted.k
    );
    if has_dates {
        text += "import datetime\n";
    }
    text += "import math\n";
    if has_dates {
        text += "import re\n";
    }
    let _ = write!(text, "\nTARGET = {}\n", string(&model.target));
    let words: Vec<String> = MISSING_WORDS.iter().map(|word| string(word)).collect();
    let _ = writeln!(text, "MISSING = {{{}}}", words.join(", "));
    let helpers = [(has_numbers, NUMBER), (has_levels, TEXT), (has_dates, DAYS)];
    for (_, helper) in helpers.iter().filter(|(is_needed, _)| *is_needed) {
        text += helper;
    }
    if model.fitted.outputs().is_empty() {
        text += "\n\ndef score(row):\n    \"\"\"The linear predictor of a row, a mapping from names of columns to values.\"\"\"\n";
        text += &sum(model, 0, terms);
        return text + "    return total\n" + &predict(model);
    }
    text += "\n\ndef scores(row):\n    \"\"\"The linear predictors of a row, a mapping from names of columns to values.\"\"\"\n    totals = []\n";
    for (output, terms) in all.iter().enumerate() {
        text += &sum(model, output, terms);
        text += "    totals.append(total)\n";
    }
    text + "    return totals\n" + &predict_each(model)
}

/// Returns the lines that add up the score of a response or class.
fn sum(model: &Model, output: usize, terms: &[Term]) -> String {
    let mut text = format!(
        "    total = {}\n",
        literal(model.fitted.intercept.all()[output])
    );
    for term in terms {
        let _ = match term {
            Term::Column(coefficient, own) => {
                writeln!(
                    text,
                    "    total += {} * {}",
                    literal(*coefficient),
                    number(own)
                )
            }
            Term::Product(coefficient, [one, two]) => writeln!(
                text,
                "    total += {} * ({} * {})",
                literal(*coefficient),
                number(one),
                number(two)
            ),
            Term::Levels(levels) => writeln!(text, "    total += {}", level(levels)),
        };
    }
    if let Some(offset) = model.offset_of(output) {
        let _ = writeln!(text, "    total += _number(row, {})", string(offset));
    }
    text
}

/// Returns the function for several responses or classes.
fn predict_each(model: &Model) -> String {
    let list = |words: Vec<String>| words.join(", ");
    let names = |all: &[String]| list(all.iter().map(|name| string(name)).collect());
    let (responses, classes) = (&model.fitted.responses, &model.fitted.classes);
    if !responses.is_empty() {
        return format!(
            "\n\nRESPONSES = [{}]\n\n\ndef predict(row):\n    \"\"\"The prediction of each response for a row.\"\"\"\n    return dict(zip(RESPONSES, scores(row)))\n",
            names(responses)
        );
    }
    format!(
        "\n\nCLASSES = [{}]\nNAMES = [{}]\n\n\ndef predict(row):\n    \"\"\"The most probable class of a row, and the probability of each.\"\"\"\n    totals = scores(row)\n    most = max(totals)\n    shares = [math.exp(total - most) for total in totals]\n    total = 0.0\n    for share in shares:\n        total += share\n    found = {{\"prediction\": CLASSES[totals.index(most)]}}\n    found.update((\"probability_\" + name, share / total) for name, share in zip(NAMES, shares))\n    return found\n",
        list(literals(classes, string)),
        names(classes)
    )
}

fn predict(model: &Model) -> String {
    let Some(labels) = &model.labels else {
        if model.has_log_link() {
            return "\n\ndef predict(row):\n    \"\"\"The expected response of a row.\"\"\"\n    return math.exp(score(row))\n".into();
        }
        if model.has_hazards() {
            return "\n\ndef predict(row):\n    \"\"\"The logarithm of the hazard of a row, up to a constant.\"\"\"\n    return score(row)\n".into();
        }
        return "\n\ndef predict(row):\n    \"\"\"The prediction for a row.\"\"\"\n    return score(row)\n".into();
    };
    let shown = literals(labels, string);
    let (negative, positive) = (&shown[0], &shown[1]);
    let mut text = String::from(
        "\n\ndef predict(row):\n    \"\"\"The label of a row, the score, and with the logistic loss the probability of the positive label.\"\"\"\n    total = score(row)\n",
    );
    let _ = writeln!(text, "    label = {positive} if total > 0 else {negative}");
    if model.has_log_odds() {
        text += "    odds = math.exp(-abs(total))\n    share = 1.0 / (1.0 + odds) if total >= 0 else odds / (1.0 + odds)\n";
        text += "    return {\"prediction\": label, \"probability\": share, \"score\": total}\n";
    } else {
        text += "    return {\"prediction\": label, \"score\": total}\n";
    }
    text
}

fn number(own: &Number) -> String {
    let column = string(own.column);
    let mean = own
        .imputed
        .map_or(String::new(), |mean| format!(", mean={}", literal(mean)));
    match own.date {
        None => format!("_number(row, {column}{mean})"),
        Some(order) => {
            let order = match order {
                DateOrder::Ymd => "ymd",
                DateOrder::Dmy => "dmy",
                DateOrder::Mdy => "mdy",
            };
            format!("_days(row, {column}, \"{order}\"{mean})")
        }
    }
}

fn level(levels: &Levels) -> String {
    let known = levels.known.iter();
    let known = known.map(|(level, adds)| format!("{}: {}", string(level), literal(*adds)));
    let known: Vec<String> = known.collect();
    let missing = levels
        .missing
        .map_or(String::new(), |adds| format!(", missing={}", literal(adds)));
    format!(
        "_level(row, {}, {{{}}}, {}{missing})",
        string(levels.column),
        known.join(", "),
        literal(levels.others)
    )
}

/// Returns the characters of a text that cannot end a comment.
fn comment(text: &str) -> String {
    text.chars()
        .filter(|letter| letter.is_ascii_graphic())
        .collect()
}

/// Returns a Python string in ASCII, so that none of its characters can be read as code.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        let _ = match letter {
            '"' | '\\' => write!(out, "\\{letter}"),
            ' '..='~' => write!(out, "{letter}"),
            '\u{a1}'..='\u{24f}' => write!(out, "{letter}"),
            _ => write!(out, "\\U{:08x}", u32::from(letter)),
        };
    }
    out.push('"');
    out
}
