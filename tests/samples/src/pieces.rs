//! Pieces that a dialect's texts are made of: markers, their proper prefixes, framing, a letter, a newline, a character of
//! two bytes.

use crate::texts::calls_of;
use reference::{CallTable, Dialect};
use std::collections::BTreeSet;

/// The parts of a dialect's texts. `few` are the most significant pieces: whole markers (for a tag, with two names), their first
/// bytes, the markers without their last byte, and the text between them.
pub struct Pieces {
    pub few: Vec<Vec<u8>>,
    pub all: Vec<Vec<u8>>,
}

impl Pieces {
    pub fn new(dialect: &Dialect) -> Pieces {
        let mut few: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut all: BTreeSet<Vec<u8>> = BTreeSet::new();
        for between in ["a", "\n", "é"] {
            few.insert(between.into());
        }
        for framing in dialect.spans.iter().map(|span| &span.framing) {
            let parts = [&framing.before_open, &framing.after_open, &framing.before_close, &framing.after_close];
            for part in parts.into_iter().filter(|part| !part.is_empty()) {
                few.insert(part.as_bytes().to_vec());
            }
        }
        for marker in markers(dialect, 2) {
            few.insert(marker[..1].to_vec());
            few.insert(marker[..(marker.len() - 1).max(1)].to_vec());
            few.insert(marker);
        }
        for marker in markers(dialect, usize::MAX) {
            let upper = marker.to_ascii_uppercase();
            for end in 1..=marker.len() {
                all.insert(marker[..end].to_vec());
                if dialect.case.as_deref() == Some("ascii") {
                    all.insert(upper[..end].to_vec());
                }
            }
        }
        all.extend(few.iter().cloned());
        Pieces { few: few.into_iter().collect(), all: all.into_iter().collect() }
    }
}

/// Returns a dialect's markers, with each form of a tag or fence that its file allows. Of a tag, at most `names` names are used.
fn markers(dialect: &Dialect, names: usize) -> BTreeSet<Vec<u8>> {
    let mut markers = BTreeSet::new();
    let mut add = |text: String| {
        markers.insert(text.into_bytes());
    };
    let dropped = dialect.drop.iter().chain(&dialect.drop_ends).chain(&dialect.drop_last);
    dropped.map(|dropped| dropped.marker().to_string()).for_each(&mut add);
    for name in dialect.leading_tags().into_iter().take(names) {
        add(format!("<{name}>"));
        add(format!("</{name}>"));
    }
    if let Some(torn) = &dialect.torn {
        let closers = dialect.spans.iter().flat_map(|span| &span.close);
        for front in closers.filter_map(|close| close.strip_suffix(&torn.end)) {
            torn.before.iter().for_each(|next| add(format!("{front}{next}")));
            add(format!("{front}{}{}", &torn.end[..torn.end.len() - 1], torn.end));
        }
    }
    for span in &dialect.spans {
        span.open.iter().chain(&span.close).chain(&span.quote).cloned().for_each(&mut add);
        for call in &span.calls {
            let literals = [&call.begin, &call.end, &call.raw_quote, &call.mark, &call.open, &call.close, &call.assign];
            let lists = call.name_end.iter().chain(&call.key).chain(&call.value);
            literals.into_iter().chain(lists).filter(|text| !text.is_empty()).cloned().for_each(&mut add);
            ["{\"name\":\"f\"", "}", "f", "\""].map(str::to_string).into_iter().for_each(&mut add);
        }
        for (name, tag) in span.tag.iter().flat_map(|tag| tag.names.iter().take(names).map(move |name| (name, tag))) {
            add(format!("<{name}>"));
            add(format!("</{name}>"));
            if tag.space > 0 {
                add(format!("< / {name} >"));
            }
            if tag.suffix > 0 {
                add(format!("<{name}:x>"));
            }
            if tag.attributes.is_some() {
                add(format!("<{name} b=\"&lt;>\">"));
            }
            if tag.self_close {
                add(format!("<{name}/>"));
            }
        }
        if let Some(word) = &span.fence {
            add(format!("```{word}\n"));
            add("\n```\n".into());
        }
    }
    if let Some(header) = &dialect.header {
        header.begin.iter().chain(&header.end).chain(&header.close).cloned().for_each(&mut add);
        header.keys.values().cloned().for_each(&mut add);
    }
    if !dialect.guard.is_empty() {
        add("```\n".into());
    }
    if dialect.guard.iter().any(|guard| guard == "inline") {
        add("`".into());
    }
    markers
}

/// The parts of texts with calls of one table: beginnings that end in the middle of a call, and text that may follow.
pub struct CallPieces {
    /// Regions with one call, one for each opener.
    pub whole: Vec<String>,
    pub begins: Vec<String>,
    pub few: Vec<String>,
    pub all: Vec<String>,
}

impl CallPieces {
    /// Returns the pieces of each table of the spans.
    pub fn of_spans(dialect: &Dialect) -> Vec<CallPieces> {
        let spans = dialect.spans.iter().filter(|span| !span.calls.is_empty());
        let tables = spans.flat_map(|span| {
            let close = span.close.first().cloned().unwrap_or_default();
            let literals = span.open.iter().map(|open| (open.clone(), close.clone()));
            let names = span.tag.iter().flat_map(|tag| &tag.names);
            let tags = names.map(|name| (format!("<{name}>"), format!("</{name}>")));
            let bare = (span.bare).then(|| (String::new(), close.clone()));
            let regions: Vec<(String, String)> = literals.chain(tags).chain(bare).collect();
            span.calls.iter().map(move |table| CallPieces::new(&regions, table))
        });
        tables.collect()
    }

    /// Makes the pieces of a table. `regions`: each opener with a closer.
    fn new(regions: &[(String, String)], table: &CallTable) -> CallPieces {
        let (open, close) = &regions[0];
        let ends: Vec<String> = [&table.value[1], &table.end, &table.raw_quote].into_iter().cloned().collect();
        let single = [&table.begin, &table.key[0], &table.key[1], &table.close, &table.assign];
        let mut few: BTreeSet<String> = single.into_iter().chain(&ends).cloned().collect();
        few.extend([close.as_str(), "a", "\n", "\""].map(str::to_string));
        match table.body.as_str() {
            "object" => few.extend(["{", "}", "\\", ",", ":", "\"name\"", "]"].map(str::to_string)),
            "json" => few.extend(["{", "}", "\\", "["].map(str::to_string)),
            "literal" => few.extend(["[", "]", "\\", ",", "'"].map(str::to_string)),
            _ => {
                few.extend([&table.value[0], &table.framing.before_close].map(String::clone));
                few.extend([format!("{}k{}", table.key[0], table.key[1]), "</k>".to_string()]);
            }
        }
        let near = |word: &String| {
            let last = word.char_indices().next_back().map_or(0, |(at, _)| at);
            word[..last].to_string()
        };
        let mut all = few.clone();
        all.extend(few.iter().map(near));
        few.extend(ends.iter().map(near));
        // A call is cut after each of its markers.
        let call = calls_of(table).into_iter().nth(1).unwrap_or_default();
        let after = |open: &String| {
            let is_begun = !table.begin.is_empty() && open.ends_with(&table.begin);
            let rest = call.strip_prefix(&table.begin).filter(|_| is_begun).unwrap_or(&call);
            format!("{open}{}{rest}", if table.list { "[" } else { "" })
        };
        let whole = regions.iter().map(|(open, close)| format!("{}{close}", after(open))).collect();
        let call = after(open);
        let mut begins: BTreeSet<String> = [String::new(), open.to_string(), call.clone()].into();
        for word in all.iter().chain(&table.name_end).filter(|word| word.len() > 1 || table.body == "literal") {
            begins.extend(call.match_indices(word.as_str()).map(|(at, _)| call[..at + word.len()].to_string()));
        }
        let list = |set: BTreeSet<String>| set.into_iter().filter(|word| !word.is_empty()).collect();
        begins.retain(|begin| begin.is_empty() || begin.len() >= open.len());
        CallPieces { whole, begins: begins.into_iter().collect(), few: list(few), all: list(all) }
    }
}
