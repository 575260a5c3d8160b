//! Pieces that a dialect's texts are made of: markers, their proper prefixes, framing, a letter, a newline, a character of
//! two bytes.

use reference::Dialect;
use std::collections::BTreeSet;

/// What a dialect's texts are made of. `few` are the pieces that tell most: whole markers (of a tag, two names), their
/// first bytes, each without its last byte, and what stands between them.
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

/// Returns a dialect's markers, each form of a tag or fence that its file allows once; of a tag, at most `names` names.
fn markers(dialect: &Dialect, names: usize) -> BTreeSet<Vec<u8>> {
    let mut markers = BTreeSet::new();
    let mut add = |text: String| {
        markers.insert(text.into_bytes());
    };
    let dropped = dialect.drop.iter().chain(&dialect.drop_ends);
    dropped.map(|dropped| dropped.marker().to_string()).for_each(&mut add);
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
