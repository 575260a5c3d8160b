//! Finds faults of a dialect file that need no compiling. The error has the line and the key, for the file's author.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;

use super::{
    Channel, Start,
    fault::Fault,
    schema::{Case, Header, Literal, Model, Place, Span},
};
use crate::file_error::quoted;

/// The maximum number of spans: a 64-bit word has a bit for each span that was closed, and one for the bodies of messages.
const MOST_SPANS: usize = 63;

/// The allowed lengths of made ids: shorter ids could be equal by chance, and longer ids would have more digits than the hash
/// that they are made from.
const CALL_IDS: RangeInclusive<u8> = 6..=10;

pub fn check(model: &Model) -> Result<(), Fault> {
    for name in [&model.name].into_iter().chain(&model.aliases) {
        let odd = |character: char| character.is_whitespace() || character.is_control();
        if name.get_ref().is_empty() || name.get_ref().contains(odd) {
            return fault(name, "a name is not empty and has no white space and no controls");
        }
    }
    literals(&model.dropped(), "marker")?;
    for pattern in &model.models {
        check_literal(pattern, pattern.get_ref().text(), "pattern")?;
    }
    literals(&model.turns, "marker")?;
    if let Some(torn) = &model.torn {
        literals([&torn.end].into_iter().chain(&torn.before), "part of a marker")?;
    }
    literals(&model.templates, "text")?;
    if model.spans.is_empty() && model.header.is_none() {
        return fault(&model.name, "a dialect needs a [[span]] or a [header]");
    }
    if let Some(span) = model.spans.get(MOST_SPANS) {
        return fault(span, format!("more than {MOST_SPANS} spans"));
    }
    for span in &model.spans {
        check_span(span)?;
    }
    let has_fences = model.spans.iter().any(|span| span.get_ref().fence.is_some());
    if has_fences || !model.guard.is_empty() {
        check_next_to_code(model)?;
    }
    if has_fences {
        check_before_fences(model)?;
    }
    check_quotes(model)?;
    if let Some(header) = &model.header {
        check_header(header, &model.case)?;
    }
    if let Some(len) = model.call_ids.as_ref().filter(|len| !CALL_IDS.contains(len.get_ref())) {
        let (least, most) = CALL_IDS.into_inner();
        return fault(len, format!("`call_ids` is from {least} to {most}"));
    }
    if let Some(start) = &model.start {
        check_start(model, start, *start.get_ref())?;
    }
    for pattern in &model.models {
        pattern.get_ref().start().map_or(Ok(()), |start| check_start(model, pattern, start))?;
    }
    Ok(())
}

/// Refuses markers that begin like code, if markers in code are text or a fence opens or closes a span.
fn check_next_to_code(model: &Model) -> Result<(), Fault> {
    let spans = model.spans.iter().map(Spanned::get_ref);
    let of_spans = spans.clone().flat_map(|span| span.open.iter().flatten().chain(&span.close).chain(&span.quote));
    let headers = model.header.iter().map(Spanned::get_ref);
    let of_header = headers.flat_map(|header| header.begin.iter().chain(&header.close).chain(header.keys.values()));
    let begin = |literal: &Literal| literal.get_ref().trim_start_matches(' ').chars().next();
    let is_code = |literal: &&Literal| matches!(begin(literal), Some('`' | '~'));
    // A marker of spaces may be the indentation of a fence.
    let dropped = model.dropped();
    let mut markers = dropped.iter().chain(of_spans).chain(of_header);
    let marker = markers.find(|literal| begin(literal).is_none() || is_code(literal));
    let mut framings = spans.flat_map(|span| span.framing.before_open.iter().chain(&span.framing.before_close));
    match marker.or_else(|| framings.find(is_code)) {
        Some(code) => {
            let message =
                format!("{} begins as code does: no marker can, next to `guard` or `fence`", quoted(code.get_ref()));
            fault(code, message)
        }
        None => Ok(()),
    }
}

/// Refuses markers that end in a backtick: a fence cannot open directly after a backtick, but the end of a marker is not
/// examined.
fn check_before_fences(model: &Model) -> Result<(), Fault> {
    let spans = model.spans.iter().map(Spanned::get_ref);
    let of_spans = spans.flat_map(|span| {
        let framing = &span.framing;
        span.open.iter().flatten().chain(&span.close).chain(&framing.after_open).chain(&framing.after_close)
    });
    let headers = model.header.iter().map(Spanned::get_ref);
    let of_header = headers.flat_map(|header| header.end.iter().chain(&header.close).chain(header.keys.values()));
    let dropped = model.dropped();
    let mut all = dropped.iter().chain(of_spans).chain(of_header);
    match all.find(|literal| literal.get_ref().ends_with('`')) {
        Some(tick) => {
            fault(tick, format!("{} ends in a backtick: no marker can, next to `fence`", quoted(tick.get_ref())))
        }
        None => Ok(()),
    }
}

/// Refuses `quote` in a span of the same channel as a fence. A stream that starts in the channel has the closers of all its
/// spans, and it is not known whether a quote is open.
fn check_quotes(model: &Model) -> Result<(), Fault> {
    let spans = || model.spans.iter().map(Spanned::get_ref);
    let has_fence = |span: &&Span| spans().any(|other| other.fence.is_some() && other.channel == span.channel);
    match spans().filter(has_fence).find_map(|span| span.quote.as_ref()) {
        Some(quote) => fault(quote, "`quote` does not go with a `fence` of the same channel"),
        None => Ok(()),
    }
}

fn check_start<T>(model: &Model, at: &Spanned<T>, start: Start) -> Result<(), Fault> {
    let known = match start {
        Start::Header => model.header.is_some(),
        Start::Calls => false,
        Start::Channel(Channel::Content) => true,
        Start::Channel(channel) => {
            model.header.is_some() || model.spans.iter().any(|span| span.get_ref().channel == channel)
        }
    };
    if known { Ok(()) } else { fault(at, format!("the dialect has no {} to start in", start.as_str())) }
}

fn check_span(spanned: &Spanned<Span>) -> Result<(), Fault> {
    let span = spanned.get_ref();
    let kinds = [span.open.is_some(), span.tag.is_some(), span.fence.is_some(), span.is_bare()];
    if kinds.iter().filter(|kind| **kind).count() != 1 {
        return fault(spanned, "a span has one of `open`, `tag`, `fence` and `bare`");
    }
    if let Some(bare) = span.bare.as_ref().filter(|_| span.is_bare()) {
        if span.place == Place::Anywhere {
            return fault(bare, "`bare` needs `where`, \"start\" or \"lead\"");
        }
        if span.calls.is_empty() {
            return fault(bare, "`bare` needs a [[span.call]], whose calls open the span");
        }
    }
    literals(&span.family, "family")?;
    match &span.open {
        Some(open) if open.is_empty() => return fault(spanned, "`open` lists no marker"),
        Some(open) => literals(open, "marker")?,
        None => {
            if let Some(literal) =
                span.framing.literals().find(|_| span.tag.is_none()).or(span.framing.before_open.as_ref())
            {
                return fault(literal, "framing goes with literal markers, and but for `before_open` with a `tag`");
            }
            if let Some(literal) = span.framing.before_close.as_ref().filter(|before| before.get_ref() != "\n") {
                return fault(literal, "the framing before a tag's closer is one line break");
            }
            if let Some(literal) = span.close.first() {
                return fault(literal, "`close` goes with `open`");
            }
        }
    }
    literals(&span.close, "marker")?;
    literals(&span.quote, "quote")?;
    if let Some(quote) = span.quote.as_ref().filter(|quote| quote.get_ref().trim().is_empty()) {
        return fault(quote, "a quote is not blank");
    }
    literals(&span.fence, "info string")?;
    literals(span.framing.literals(), "framing")?;
    if let Some(tag) = &span.tag {
        if tag.names.is_empty() {
            return fault(spanned, "`tag` lists no name");
        }
        if tag.names.len() > usize::from(u8::MAX) {
            return fault(spanned, "`tag` lists more than 255 names");
        }
        literals(&tag.names, "name")?;
        for name in &tag.names {
            let odd = |c: char| c.is_whitespace() || "<>/=\"'".contains(c);
            if name.get_ref().contains(odd) {
                return fault(name, "a tag's name has no white space and none of < > / = \" '");
            }
        }
        if tag.space.max(tag.suffix) as usize > LONGEST {
            return fault(spanned, format!("`space` and `suffix` are at most {LONGEST}"));
        }
        if tag.attributes > LONGEST_TAG {
            return fault(spanned, format!("`attributes` is at most {LONGEST_TAG}"));
        }
        if tag.attributes == 0 && span.thought.is_some() {
            return fault(spanned, "`thought` names attributes, and this tag may have none");
        }
    } else if span.thought.is_some() {
        return fault(spanned, "`thought` goes with a `tag` that may have attributes");
    }
    if let Some(fence) = &span.fence
        && fence.get_ref().contains(['`', '\n', '\r', ' ', '\t'])
    {
        return fault(fence, "a fence's info string is one word without backticks");
    }
    if span.special && span.open.is_none() {
        return fault(spanned, "`special` goes with `open`");
    }
    for other in [&span.ends, &span.pauses].into_iter().flatten() {
        if *other.get_ref() != Channel::Thinking || span.channel == Channel::Thinking {
            return fault(other, "`ends` and `pauses` are \"thinking\", in a span of another channel");
        }
        if span.pauses.is_some() && span.channel == Channel::Content {
            return fault(other, "content ends the thinking, and cannot pause it");
        }
        if span.place != Place::Anywhere {
            return fault(other, "a span that `ends` or `pauses` another counts anywhere");
        }
    }
    if let Some(call) = span.calls.first() {
        if span.channel != Channel::Tool {
            return fault(call, "[[span.call]] goes with a span of the tool channel");
        }
        if span.fence.is_some() {
            return fault(call, "[[span.call]] goes with `open`, `tag` or `bare`");
        }
        if let Some(quote) = &span.quote {
            return fault(quote, "`quote` does not go with [[span.call]], which knows where strings end");
        }
    }
    if let Some(stray) = span.stray_close.as_ref().filter(|_| span.channel != Channel::Thinking) {
        return fault(stray, "`stray_close` goes with a span of the thinking");
    }
    if let (Some(ends), Some(_)) = (&span.ends, &span.pauses) {
        return fault(ends, "a span cannot both end and pause another");
    }
    Ok(())
}

fn check_header(spanned: &Spanned<Header>, case: &Case) -> Result<(), Fault> {
    let header = spanned.get_ref();
    if header.begin.is_empty() || header.end.is_empty() || header.routes.is_empty() {
        return fault(spanned, "a header needs `begin`, `end` and a route");
    }
    literals(&header.family, "family")?;
    literals(&header.begin, "marker")?;
    literals(&header.end, "marker")?;
    literals(&header.close, "marker")?;
    let lists = [&header.begin, &header.end, &header.whole];
    if lists.iter().any(|list| list.len() > MOST_OF_HEADER) || header.keys.len() > MOST_OF_HEADER {
        return fault(
            spanned,
            format!("a header has at most {MOST_OF_HEADER} each of `begin`, `end`, `keys` and `whole`"),
        );
    }
    if let Some(whole) =
        header.whole.iter().find(|whole| !header.keys.values().any(|key| key.get_ref() == whole.get_ref()))
    {
        return fault(whole, format!("{} is none of `keys`", quoted(whole.get_ref())));
    }
    if let Some(end) = header.end.iter().find(|end| !end.get_ref().starts_with('<')) {
        return fault(end, "a header's end begins with `<`");
    }
    if header.max as usize > LONGEST {
        return fault(spanned, format!("`max` is at most {LONGEST}"));
    }
    for key in header.keys.values() {
        literals([key], "key")?;
        if key.get_ref().contains('\n') {
            return fault(key, "a header is over where its line ends: a key has no line end");
        }
        if key.get_ref().len() > LONGEST_KEY {
            return fault(key, format!("a key of more than {LONGEST_KEY} bytes"));
        }
        if key.get_ref().bytes().skip(1).any(|byte| byte == b'<') {
            return fault(key, "a header breaks off at a `<`: a key has none after its first byte");
        }
        let begins = |other: &&Literal| case.bytes(other).starts_with(&case.bytes(key));
        if let Some(longer) = header.keys.values().filter(|other| other.span() != key.span()).find(begins) {
            return fault(
                longer,
                format!("{} begins with the key {}", quoted(longer.get_ref()), quoted(key.get_ref())),
            );
        }
    }
    for route in &header.routes {
        literals(&route.write, "header")?;
        for (field, values) in &route.when {
            if values.0.is_empty() {
                return fault(field, format!("no value of `{}` is listed", field.get_ref()));
            }
            if !header.keys.contains_key(field.get_ref()) && !["type", "end"].contains(&field.get_ref().as_str()) {
                return fault(field, format!("{} is not a field of this header", quoted(field.get_ref())));
            }
        }
    }
    Ok(())
}

/// The longest literal, white space, suffix and header. With longer ones, a few bytes of a hostile stream could cost much time.
const LONGEST: usize = 1024;
/// The longest key. At each byte of a header, all keys are searched for.
const LONGEST_KEY: usize = 64;
const MOST_OF_HEADER: usize = 32;
/// The longest tag with attributes.
const LONGEST_TAG: u32 = 1 << 24;

fn literals<'a>(literals: impl IntoIterator<Item = &'a Literal>, what: &str) -> Result<(), Fault> {
    literals.into_iter().try_for_each(|literal| check_literal(literal, literal.get_ref(), what))
}

pub fn check_literal<T>(at: &Spanned<T>, literal: &str, what: &str) -> Result<(), Fault> {
    if literal.is_empty() {
        return fault(at, format!("an empty {what}"));
    }
    if literal.len() > LONGEST {
        return fault(at, format!("a {what} of more than {LONGEST} bytes"));
    }
    Ok(())
}

pub fn fault<T, R>(at: &Spanned<T>, message: impl Into<String>) -> Result<R, Fault> {
    let span: Range<usize> = at.span();
    Err(Fault { span, message: message.into() })
}
