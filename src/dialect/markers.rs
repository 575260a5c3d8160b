//! Lists a dialect's markers, wherever they count: markers to write around a text, and markers that a text must not have.
//! They are for joining and escaping, not for reading a stream.

use toml::Spanned;

use super::{
    Channel,
    compiled::{Block, CallBlock, Markers, Templates},
    schema::{Call, CallBody, Case, Header, Literal, Model, Place, Route, Span, strings, text},
};

/// The invisible character that is inserted to break a marker.
pub const BREAK: char = '\u{200b}';

pub fn templates(model: &Model) -> Templates {
    let mut spans = model.spans.iter().map(|span| span.get_ref());
    let thinking = spans.find_map(|span| if span.channel == Channel::Thinking { span_block(span) } else { None });
    let (thinking, content) = match &model.header {
        Some(header) if thinking.is_none() => {
            let block = |channel| message_block(header.get_ref(), channel);
            (block(Channel::Thinking), block(Channel::Content))
        }
        _ => (thinking, None),
    };
    Templates { thinking, content, thoughts: thoughts(model), thinking_ends: thinking_ends(model), calls: calls(model) }
}

/// Returns the opener and the closer of each span of the thinking, or of its message. Of the spans, those that count in the same
/// place as the first one are returned.
fn thoughts(model: &Model) -> Vec<[Box<[u8]>; 2]> {
    let spans = || model.spans.iter().map(|span| span.get_ref()).filter(|span| span.channel == Channel::Thinking);
    let Some(first) = spans().next() else {
        let block = model.header.as_ref().and_then(|header| message_block(header.get_ref(), Channel::Thinking));
        return block.into_iter().map(|block| [block.open, block.close]).collect();
    };
    let markers = spans().filter(|span| span.place == first.place).filter_map(bare_markers);
    // If a closer begins the next turn, a call may follow the turn's marker in place of the closer's rest.
    let turn = model.turns.first().map(|turn| turn.get_ref().as_str());
    let end = |close: &str| turn.and_then(|turn| Some(close.find(turn)? + turn.len())).unwrap_or(close.len());
    markers.map(|(open, close)| [bytes(&open), bytes(&close[..end(&close)])]).collect()
}

/// Returns the texts that end the thinking: its closers, those of an answer's wrapper, and what ends or begins a message.
fn thinking_ends(model: &Model) -> Vec<Box<[u8]>> {
    let mut ends: Vec<String> = model.drop_ends.iter().map(|it| it.get_ref().marker.clone()).collect();
    let of = |literals: &[Literal]| literals.iter().map(|it| it.get_ref().clone()).collect::<Vec<_>>();
    for span in model.spans.iter().map(|span| span.get_ref()) {
        let wraps = span.channel == Channel::Content && span.ends.is_some();
        if wraps {
            ends.extend(span.open.iter().flat_map(|open| of(open)));
        }
        if wraps || span.channel == Channel::Thinking {
            ends.extend(of(&span.close));
            ends.extend(span.tag.iter().flat_map(|tag| of(&tag.names)).map(|name| format!("</{name}")));
        }
    }
    if let Some(header) = model.header.as_ref().map(|header| header.get_ref()) {
        ends.extend([&header.begin, &header.end, &header.close].into_iter().flat_map(|list| of(list)));
    }
    ends.sort();
    ends.dedup();
    ends.iter().map(|end| bytes(end)).collect()
}

/// Returns the messages with tables of calls, then the spans with tables of calls that count everywhere, then all other such
/// spans.
fn calls(model: &Model) -> Vec<CallBlock> {
    let of_place = |is_anywhere: bool| {
        let spans = (0..).zip(&model.spans).map(|(rule, span)| (rule, span.get_ref()));
        let spans = spans.filter(move |(_, span)| (span.place == Place::Anywhere) == is_anywhere);
        spans.filter_map(|(rule, span)| call_span(rule, span))
    };
    let headers = model.header.iter().flat_map(|header| call_messages(model.spans.len() as u8, header.get_ref()));
    headers.chain(of_place(true)).chain(of_place(false)).collect()
}

fn call_span(rule: u8, span: &Span) -> Option<CallBlock> {
    if span.calls.is_empty() {
        return None;
    }
    let (open, close) = if let Some(tag) = &span.tag {
        let name = tag.names.first()?.get_ref();
        (format!("<{name}>"), format!("</{name}>"))
    } else {
        let close = span.close.first().map(|close| close.get_ref().clone());
        let open = span.open.as_ref().and_then(|open| open.first()).map(|open| open.get_ref().clone());
        (open.unwrap_or_default(), close.unwrap_or_default())
    };
    let (open, close) = (bytes(&open), bytes(&close));
    Some(CallBlock { rule, open, closes: vec![close.clone()], close, after_call: after_call(&span.calls), name: None })
}

/// Returns the messages with calls in all ways in which models write their headers.
fn call_messages(rule: u8, header: &Header) -> Vec<CallBlock> {
    let field = header.calls.first().and_then(|call| call.get_ref().name_from.as_ref());
    let key = field.and_then(|field| header.keys.get(field.get_ref())).map(|key| key.get_ref().as_str());
    let Some(route) = written(header, Channel::Tool).filter(|_| !header.calls.is_empty()) else { return Vec::new() };
    let closes = if route.close.is_empty() { &header.close } else { &route.close };
    let closes: Vec<Box<[u8]>> = closes.iter().map(|close| bytes(close.get_ref())).collect();
    let block = |open: &Literal| {
        let mut open = open.get_ref().clone();
        // The name is written after the key of its field. If the header lacks the key, the key is inserted before the header's
        // end.
        let name = key.map(|key| match open.find(key) {
            Some(at) => at + key.len(),
            None => {
                let ends = header.end.iter().filter(|end| open.ends_with(end.get_ref()));
                let end = ends.map(|end| end.get_ref().len()).max().unwrap_or(0);
                let key = if key.starts_with('<') { key.to_owned() } else { format!(" {key}") };
                open.insert_str(open.len() - end, &key);
                open.len() - end
            }
        });
        let close = closes.first().cloned().unwrap_or_default();
        let after_call = after_call(&header.calls);
        CallBlock { rule, open: bytes(&open), close, closes: closes.clone(), after_call, name }
    };
    route.write.iter().chain(&route.also_write).map(block).collect()
}

/// Returns the first route of a channel whose header is written.
fn written(header: &Header, channel: Channel) -> Option<&Route> {
    header.routes.iter().find(|route| route.channel == channel && route.write.is_some())
}

fn after_call(calls: &[Spanned<Call>]) -> Vec<Box<[u8]>> {
    let of_call = |call: &Spanned<Call>| {
        let call = call.get_ref();
        let is_open = call.body == CallBody::Object && call.begin.is_some();
        call.skip.first().filter(|_| is_open).map_or_else(Box::default, |skip| bytes(skip.get_ref()))
    };
    calls.iter().map(of_call).collect()
}

/// Returns the block of a span, or `None` if the span has no closer, so that nothing could be written after it.
fn span_block(span: &Span) -> Option<Block> {
    let framing = &span.framing;
    let (open, close) = if let Some(fence) = &span.fence {
        (format!("```{}\n", fence.get_ref()), "```".into())
    } else {
        let (open, close) = bare_markers(span)?;
        // Framing here that is not blank is a label that some models repeat: it is read, but not written.
        let after_close = text(&framing.after_close);
        let after_close = if after_close.trim_ascii().is_empty() { after_close } else { "" };
        let close = format!("{}{close}{after_close}", text(&framing.before_close));
        (format!("{open}{}", text(&framing.after_open)), close)
    };
    Some(Block { open: bytes(&open), close: bytes(&close), is_fence: span.fence.is_some() })
}

/// Returns the opener and the closer of a span between tags or literals.
fn bare_markers(span: &Span) -> Option<(String, String)> {
    Some(match &span.tag {
        Some(tag) => {
            let name = tag.names.first()?.get_ref();
            (format!("<{name}>"), format!("</{name}>"))
        }
        None => (span.open.as_ref()?.first()?.get_ref().clone(), span.close.first()?.get_ref().clone()),
    })
}

fn message_block(header: &Header, channel: Channel) -> Option<Block> {
    let open = written(header, channel)?.write.as_ref()?;
    let close = header.close.first()?;
    Some(Block { open: bytes(open.get_ref()), close: bytes(close.get_ref()), is_fence: false })
}

/// Returns the markers of a dialect. `leading` are the names of the tags that count at the beginning of a stream.
pub fn markers(model: &Model, leading: &[Literal]) -> Markers {
    // Turn markers are included, because they count in prompts, for which texts are escaped.
    let mut literals: Vec<String> = strings(&model.dropped()).into_iter().chain(strings(&model.turns)).collect();
    let mut first = Vec::new();
    let mut names = Vec::new();
    for span in model.spans.iter().map(|span| span.get_ref()) {
        let open = span.open.iter().flatten().map(|literal| literal.get_ref().clone());
        if span.place == Place::Start {
            let before = span.framing.before_open.as_ref().map_or("", |literal| literal.get_ref());
            for open in open {
                first.extend([format!("{before}{open}"), open]);
            }
        } else {
            literals.extend(open)
        }
        literals.extend(span.close.iter().map(|literal| literal.get_ref().clone()));
        literals.extend(span.fence.iter().map(|info| format!("```{}", info.get_ref())));
        names.extend(span.tag.iter().flat_map(|tag| &tag.names).map(|name| name.get_ref().clone()));
    }
    if let Some(header) = model.header.as_ref().map(|header| header.get_ref()) {
        // A key counts inside a header, or at the first byte of a stream that starts in a header. The keys in `whole` are not
        // markers by themselves: they count only with an end after them.
        for key in header.keys.values().map(|key| key.get_ref()) {
            match key.starts_with('<') {
                true => literals.push(key.clone()),
                false => first.extend([key.clone(), format!(" {key}")]),
            }
        }
        let lists = [&header.begin, &header.end, &header.close];
        literals.extend(lists.into_iter().flatten().map(|literal| literal.get_ref().clone()));
    }
    let unbreakable = literals.iter().find(|marker| marker.chars().nth(1).is_none());
    let unbreakable = unbreakable.or_else(|| literals.iter().chain(&names).chain(&first).find(|it| it.contains(BREAK)));
    let leading: Vec<String> = leading.iter().map(|name| format!("<{}>", name.get_ref())).collect();
    Markers {
        leading: folded(model, leading),
        unbreakable: unbreakable.map(|marker| marker.as_str().into()),
        literals: folded(model, literals),
        first: folded(model, first),
        names: folded(model, names),
    }
}

fn folded(model: &Model, markers: Vec<String>) -> Vec<Box<[u8]>> {
    let fold = |marker: String| match model.case {
        Case::Ascii => bytes(&marker.to_ascii_lowercase()),
        Case::Exact => bytes(&marker),
    };
    let mut markers: Vec<Box<[u8]>> = markers.into_iter().map(fold).collect();
    markers.sort_unstable();
    markers.dedup();
    markers
}

fn bytes(text: &str) -> Box<[u8]> {
    text.as_bytes().into()
}
