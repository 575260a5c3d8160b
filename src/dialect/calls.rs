//! Compiles `[[span.call]]` and `[[header.call]]` to the tables for reading the body of a call, and checks them. A key that
//! does not belong to the table's `body` is refused, because it would have no effect.

use toml::Spanned;

use super::{
    check::{check_literal, fault},
    fault::Fault,
    schema::{Call, CallBody, CallId, Header, Literal, Model, Span, UnknownType, text},
};
use crate::{
    calls::table::{self, Around, BodyRule, CallTable, CallTables, HeadRule, LiteralRule, ObjectRule, TagsRule},
    channel::Channel,
    file_error::quoted,
};

/// The maximum number of tables of a span, and of a dialect.
const MOST_OF_SPAN: usize = 8;
const MOST_OF_DIALECT: usize = 24;

/// Returns the tables of calls of a span, if it has any.
pub fn of_span(model: &Model, span: &Span) -> Result<Option<CallTables>, Fault> {
    if span.calls.is_empty() {
        let keys = [("sure", &span.sure), ("lenient", &span.lenient)];
        return match keys.into_iter().find_map(|(key, value)| Some((key, value.as_ref()?))) {
            Some((key, value)) => fault(value, format!("`{key}` goes with a [[span.call]]")),
            None => Ok(None),
        };
    }
    let closes = span.close.iter().map(|close| close.get_ref().clone()).chain(tags(span, "</")).collect();
    let names = span.tag.iter().flat_map(|tag| &tag.names);
    let openers = span.open.iter().flatten().chain(names).map(|opener| opener.get_ref().as_bytes());
    let is_sure = span.sure.as_ref().is_none_or(|sure| *sure.get_ref());
    let mut tables = tables(model, &span.calls, None, closes, openers, is_sure)?;
    tables.tables.iter_mut().for_each(|table| table.is_bare = span.is_bare());
    Ok(Some(tables))
}

/// Returns the tags of a span, each written with `front` before its name.
fn tags(span: &Span, front: &'static str) -> impl Iterator<Item = String> {
    span.tag.iter().flat_map(|tag| &tag.names).map(move |name| format!("{front}{}>", name.get_ref()))
}

/// Refuses markers that may follow at the same place and of which one begins like the other. After a value, these are its closer,
/// the next key, the `end` of the call and the closers of the span; after a call, the next `begin` and the closers of the span.
fn check_ends(calls: &[Spanned<Call>], closes: &[String]) -> Result<(), Fault> {
    let meet = |one: &str, other: &str| one.starts_with(other) || other.starts_with(one);
    let meets = |one: &str| closes.iter().find(|close| meet(one, close));
    for call in calls.iter().map(Spanned::get_ref) {
        let end = call.end.as_ref();
        if let Some((end, closer)) = end.and_then(|end| Some((end, meets(end.get_ref())?))) {
            let (here, closer) = (quoted(end.get_ref()), quoted(closer));
            let advice = "leave `end` out, and the closer ends the call too";
            return fault(end, format!("{here} and the span's closer {closer} cannot be distinguished: {advice}"));
        }
        if let Some((begin, closer)) = call.begin.as_ref().and_then(|begin| Some((begin, meets(begin.get_ref())?))) {
            let (here, closer) = (quoted(begin.get_ref()), quoted(closer));
            return fault(
                begin,
                format!("{here} and the span's closer {closer} cannot be distinguished between calls"),
            );
        }
        let others: Vec<&str> = closes.iter().chain(end.map(Spanned::get_ref)).map(String::as_str).collect();
        let apart = "cannot be distinguished after a value";
        if let Some(key) = &call.key
            && let here = key.get_ref()[0].as_str()
            && let Some(other) = others.iter().find(|other| here.starts_with(**other))
        {
            return fault(key, format!("{} and {} {apart}", quoted(here), quoted(other)));
        }
        let is_flat = call.nested.as_ref().is_none_or(|nested| !*nested.get_ref());
        if let Some(value) = call.value.as_ref().filter(|_| is_flat)
            && let here = value.get_ref()[1].as_str()
            && let key = call.key.iter().map(|key| key.get_ref()[0].as_str())
            && let Some(other) = others.iter().copied().chain(key).find(|other| meet(here, other))
        {
            return fault(value, format!("{} and {} {apart}", quoted(here), quoted(other)));
        }
    }
    Ok(())
}

/// Returns the tables of calls of the header's bodies, if it has any.
pub fn of_header(model: &Model, header: &Header) -> Result<Option<CallTables>, Fault> {
    if header.calls.is_empty() {
        return Ok(None);
    }
    let closes = header.close.iter().map(|close| close.get_ref().clone()).collect();
    tables(model, &header.calls, Some(header), closes, [], false).map(Some)
}

/// Refuses too many tables.
pub fn check_count<'a>(mut all: impl Iterator<Item = &'a Spanned<Call>>) -> Result<(), Fault> {
    match all.nth(MOST_OF_DIALECT) {
        Some(call) => fault(call, format!("more than {MOST_OF_DIALECT} tables of calls")),
        None => Ok(()),
    }
}

fn tables<'a>(
    model: &Model,
    calls: &[Spanned<Call>],
    header: Option<&Header>,
    closes: Vec<String>,
    openers: impl IntoIterator<Item = &'a [u8]>,
    is_sure: bool,
) -> Result<CallTables, Fault> {
    if let Some(call) = calls.get(MOST_OF_SPAN) {
        return fault(call, format!("more than {MOST_OF_SPAN} tables of calls in one span"));
    }
    let tables = calls.iter().map(|call| table(call, header)).collect::<Result<Vec<_>, _>>()?;
    check_ends(calls, &closes)?;
    let tools = || model.spans.iter().map(Spanned::get_ref).filter(|span| span.channel == Channel::Tool);
    let literals = tools().flat_map(|span| span.open.iter().flatten()).map(bytes);
    let names = tools().flat_map(|span| tags(span, "<")).map(into_bytes);
    let messages = header.iter().flat_map(|header| &header.begin).map(bytes);
    // An answer may end with a marker that is dropped, or with a closer of its message.
    let mut dropped = model.dropped();
    dropped.extend(model.header.iter().flat_map(|header| header.get_ref().close.iter().cloned()));
    let around = Around {
        dropped: dropped.iter().map(bytes).collect(),
        outside: literals.chain(names).chain(messages).collect(),
        closes: closes.into_iter().map(into_bytes).collect(),
    };
    let (mut skips, mut between) = (Vec::new(), Vec::new());
    for call in calls.iter().map(Spanned::get_ref) {
        skips.extend(call.skip.iter().map(bytes));
        match &call.between {
            Some(own) => between.extend(own.get_ref().as_bytes()),
            None if call.body == CallBody::Object || is_list(call) => between.extend(b"[],"),
            None => between.extend(b","),
        }
    }
    Ok(CallTables::new(tables, around, openers, skips, &between, is_sure))
}

fn is_list(call: &Call) -> bool {
    call.list.as_ref().is_some_and(|list| *list.get_ref())
}

fn into_bytes(text: String) -> table::Literal {
    text.into_bytes().into()
}

fn bytes(literal: &Literal) -> table::Literal {
    literal.get_ref().as_bytes().into()
}

fn table(spanned: &Spanned<Call>, header: Option<&Header>) -> Result<CallTable, Fault> {
    let call = spanned.get_ref();
    check_keys(spanned)?;
    check_literals(call)?;
    if let Some(field) = &call.name_from {
        let is_field = |header: &Header| {
            header.keys.contains_key(field.get_ref()) || ["type", "end"].contains(&field.get_ref().as_str())
        };
        match header {
            None => return fault(field, "`name_from` goes with a [[header.call]]"),
            Some(header) if !is_field(header) => {
                return fault(field, format!("{} is not a field of this header", quoted(field.get_ref())));
            }
            Some(_) => {}
        }
    }
    let body = match call.body {
        CallBody::Object => BodyRule::Object(ObjectRule {
            names: members(&call.name, &["name"]),
            arguments: members(&call.arguments, &["arguments", "parameters"]),
            ids: match call.id.as_ref().map(Spanned::get_ref) {
                Some(CallId::Members(ids)) => ids.iter().map(|id| id.as_bytes().into()).collect(),
                _ => vec![b"id"[..].into()],
            },
            key_is_name: flag(&call.key_is_name),
            writes_id: call.id.is_some(),
        }),
        CallBody::Json => BodyRule::Json,
        CallBody::Tags => BodyRule::Tags(tags_rule(spanned)?),
        CallBody::Literal => BodyRule::Literal(literal(spanned)?),
    };
    Ok(CallTable {
        body,
        begin: text(&call.begin).as_bytes().into(),
        end: text(&call.end).as_bytes().into(),
        head: head(call),
        namespace: call.namespace,
        is_bare: false,
        is_lenient: call.lenient,
        is_list: is_list(call),
        separator: call.separator.as_ref().map(bytes),
    })
}

fn head(call: &Call) -> HeadRule {
    let literal = |literal: &Option<Literal>| text(literal).as_bytes().into();
    let mut name_ends: Vec<table::Literal> = call.name_end.iter().map(bytes).collect();
    // The sort must be stable, to keep the file's order among equal lengths.
    name_ends.sort_by_key(|end| std::cmp::Reverse(end.len()));
    HeadRule {
        needs_object: false,
        name_ends,
        end: literal(&call.head_end),
        prefixes: call.prefix.iter().map(bytes).collect(),
        needs_prefix: flag(&call.need_prefix),
        suffix: literal(&call.suffix),
        is_id: matches!(call.id.as_ref().map(Spanned::get_ref), Some(CallId::Head(_))),
        id_end: literal(&call.id_end),
        id_begin: literal(&call.id_begin),
        id_close: call.name_end.first().map(bytes).unwrap_or_default(),
        name_from: call.name_from.as_ref().map(|field| field.get_ref().as_str().into()),
    }
}

fn tags_rule(spanned: &Spanned<Call>) -> Result<TagsRule, Fault> {
    let call = spanned.get_ref();
    let (Some(key), Some(value)) = (&call.key, &call.value) else {
        return fault(spanned, "a call with `body = \"tags\"` has `key` and `value`");
    };
    if key.get_ref().iter().any(String::is_empty) {
        return fault(key, "`key` is the text before a key and the text after it; neither is empty");
    }
    if value.get_ref()[1].is_empty() {
        return fault(value, "`value` is the text before a value, which may be empty, and the text after it");
    }
    if let Some(kind) = call.kind.as_ref().filter(|kind| kind.get_ref().iter().any(String::is_empty)) {
        return fault(kind, "`type` is the text before a type and the text after it; neither is empty");
    }
    let known = ["string", "number", "integer", "boolean", "object", "array", "null", "json"];
    if let Some(words) = &call.type_words
        && let Some(odd) = words.get_ref().values().find(|word| !known.contains(&word.as_str()))
    {
        return fault(words, format!("{} is not one of {}", quoted(odd), known.join(", ")));
    }
    let nested = flag(&call.nested);
    match (&call.mark, nested) {
        (None, true) => return fault(spanned, "`nested` needs `mark`, with which all markers of its elements begin"),
        (Some(mark), false) => return fault(mark, "`mark` goes with `nested`"),
        (Some(mark), true) => {
            let markers =
                [&key.get_ref()[0], &value.get_ref()[1]].into_iter().chain(call.end.as_ref().map(|end| end.get_ref()));
            if let Some(other) = markers.into_iter().find(|marker| !marker.starts_with(mark.get_ref().as_str())) {
                return fault(mark, format!("{} does not begin with it", quoted(other)));
            }
            if call.end.is_none() {
                return fault(spanned, "`nested` needs `end`");
            }
        }
        (None, false) => {}
    }
    let framing = call.framing.as_ref().map(Spanned::get_ref);
    let literal = |literal: Option<&Option<Literal>>| literal.map_or("", text).as_bytes().into();
    let pair = |pair: &[String; 2]| pair.clone().map(|literal| literal.into_bytes().into());
    let words = call.type_words.iter().flat_map(|words| words.get_ref());
    Ok(TagsRule {
        key: pair(key.get_ref()),
        value: pair(value.get_ref()),
        kind: call.kind.as_ref().map(|kind| pair(kind.get_ref())),
        kind_words: words.map(|(word, meaning)| (word.as_str().into(), meaning.as_str().into())).collect(),
        after_open: literal(framing.map(|framing| &framing.after_open)),
        before_close: literal(framing.map(|framing| &framing.before_close)),
        has_cdata: flag(&call.cdata),
        recovers: framing.is_some_and(|it| !text(&it.after_open).is_empty() || !text(&it.before_close).is_empty()),
        nested: call.mark.as_ref().map(bytes),
        unknown_is_string: call.types.as_ref().is_some_and(|types| *types.get_ref() == UnknownType::String),
        ends: Vec::new(),
        first_of_ends: Vec::new(),
    })
}

fn literal(spanned: &Spanned<Call>) -> Result<LiteralRule, Fault> {
    let call = spanned.get_ref();
    let byte = |literal: &Option<Literal>, key: &str| match literal.as_ref().map(|it| (it, it.get_ref().as_bytes())) {
        Some((_, &[byte])) => Ok(byte),
        Some((it, _)) => fault(it, format!("`{key}` is one byte")),
        None => fault(spanned, "a call with `body = \"literal\"` has `open`, `close` and `assign`"),
    };
    Ok(LiteralRule {
        open: byte(&call.open, "open")?,
        close: byte(&call.close, "close")?,
        assign: byte(&call.assign, "assign")?,
        is_list: is_list(call),
        is_sorted: flag(&call.sorted),
        raw_quote: text(&call.raw_quote).as_bytes().into(),
    })
}

fn flag(flag: &Option<Spanned<bool>>) -> bool {
    flag.as_ref().is_some_and(|flag| *flag.get_ref())
}

fn members(names: &Option<Spanned<Vec<String>>>, own: &[&str]) -> Vec<table::Literal> {
    let list = names.as_ref().map(|names| names.get_ref().iter().map(|name| name.as_bytes().into()).collect());
    list.unwrap_or_else(|| own.iter().map(|name| name.as_bytes().into()).collect())
}

/// Refuses a key that does not belong to this kind of body.
fn check_keys(spanned: &Spanned<Call>) -> Result<(), Fault> {
    use CallBody::{Json, Literal, Object, Tags};
    let call = spanned.get_ref();
    let of = |key: &Option<super::schema::Literal>| key.as_ref().map(Spanned::span);
    let first = |keys: &[super::schema::Literal]| keys.first().map(Spanned::span);
    let heads: &[CallBody] = &[Json, Tags, Literal];
    let members = call.id.as_ref().filter(|id| matches!(id.get_ref(), CallId::Members(_)));
    let in_head = call.id.as_ref().filter(|id| matches!(id.get_ref(), CallId::Head(_)));
    let keys = [
        ("end", of(&call.end), &[Json, Tags][..]),
        ("name_end", first(&call.name_end), heads),
        ("head_end", of(&call.head_end), heads),
        ("prefix", first(&call.prefix), heads),
        ("need_prefix", call.need_prefix.as_ref().map(Spanned::span), heads),
        ("suffix", of(&call.suffix), heads),
        ("id = \"head\"", in_head.map(Spanned::span), heads),
        ("id_end", of(&call.id_end), heads),
        ("id_begin", of(&call.id_begin), heads),
        ("name_from", of(&call.name_from), heads),
        ("id", members.map(Spanned::span), &[Object]),
        ("name", call.name.as_ref().map(Spanned::span), &[Object]),
        ("arguments", call.arguments.as_ref().map(Spanned::span), &[Object]),
        ("key_is_name", call.key_is_name.as_ref().map(Spanned::span), &[Object]),
        ("key", call.key.as_ref().map(Spanned::span), &[Tags]),
        ("value", call.value.as_ref().map(Spanned::span), &[Tags]),
        ("type", call.kind.as_ref().map(Spanned::span), &[Tags]),
        ("type_words", call.type_words.as_ref().map(Spanned::span), &[Tags]),
        ("framing", call.framing.as_ref().map(Spanned::span), &[Tags]),
        ("cdata", call.cdata.as_ref().map(Spanned::span), &[Tags]),
        ("nested", call.nested.as_ref().map(Spanned::span), &[Tags]),
        ("mark", of(&call.mark), &[Tags]),
        ("types", call.types.as_ref().map(Spanned::span), &[Tags]),
        ("open", of(&call.open), &[Literal]),
        ("close", of(&call.close), &[Literal]),
        ("assign", of(&call.assign), &[Literal]),
        ("list", call.list.as_ref().map(Spanned::span), &[Object, Literal]),
        ("separator", of(&call.separator), &[Object]),
        ("sorted", call.sorted.as_ref().map(Spanned::span), &[Literal]),
        ("raw_quote", of(&call.raw_quote), &[Literal]),
    ];
    match keys.into_iter().find(|(_, at, bodies)| at.is_some() && !bodies.contains(&call.body)) {
        Some((key, Some(span), bodies)) => {
            let bodies: Vec<String> = bodies.iter().map(|body| format!("\"{body:?}\"").to_lowercase()).collect();
            Err(Fault { span, message: format!("`{key}` goes with `body` {}", bodies.join(" or ")) })
        }
        _ => Ok(()),
    }
}

fn check_literals(call: &Call) -> Result<(), Fault> {
    if let Some(suffix) =
        call.suffix.as_ref().filter(|_| matches!(call.id.as_ref().map(Spanned::get_ref), Some(CallId::Head(_))))
    {
        return fault(suffix, "`suffix` does not go with `id = \"head\"`");
    }
    let single = [
        &call.begin,
        &call.end,
        &call.head_end,
        &call.id_end,
        &call.id_begin,
        &call.name_from,
        &call.suffix,
        &call.mark,
        &call.raw_quote,
    ];
    let lists = [&call.skip, &call.name_end, &call.prefix];
    let framing = call.framing.iter().map(Spanned::get_ref).flat_map(|it| [&it.after_open, &it.before_close]);
    let all = single.into_iter().flatten().chain(lists.into_iter().flatten()).chain(framing.flatten());
    all.into_iter().try_for_each(|literal| check_literal(literal, literal.get_ref(), "literal"))?;
    let pairs = [&call.key, &call.value, &call.kind].into_iter().flatten();
    for pair in pairs {
        for literal in pair.get_ref().iter().filter(|literal| !literal.is_empty()) {
            check_literal(pair, literal, "literal")?;
        }
    }
    for names in [&call.name, &call.arguments].into_iter().flatten() {
        if names.get_ref().is_empty() || names.get_ref().iter().any(String::is_empty) {
            return fault(names, "a list of members has one at least, and none is empty");
        }
    }
    Ok(())
}
