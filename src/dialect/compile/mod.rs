//! Compiles a dialect's file to the matcher's tables: the patterns of each region, and tries that find them.

mod candidates;
mod compiler;
mod header;
mod leading;
mod region;

use toml::Spanned;

use super::{
    Channel, calls,
    check::{check, fault},
    compiled::{Compiled, Labels, SpanRule, ThoughtRule},
    fault::Fault,
    markers,
    schema::{Case, Guard, Literal, Model, Span, Tag, strings},
};
use crate::{
    calls::{body::Context, table::CallTables},
    file_error::{self, FileError},
    matcher::{
        Automaton,
        answer::JsonAnswer,
        bytes::insert,
        grammar::{Action, Grammar, Node, Pattern, Region, TagRule, flag},
        prose::is_word_tag,
    },
};
use compiler::{Compiler, where_flag};
use leading::{leading_rule, leading_tags};
use region::Scope;

/// Reads a dialect's file and compiles it. The markers of built-in files are not compared here, because a test loads these files
/// as a host would.
pub fn from_toml(text: &str, is_built_in: bool) -> Result<Compiled, FileError> {
    let text = &*file_error::with_lf(text);
    let model = file_error::read::<Model>(text)?;
    compile(&model, is_built_in).map_err(|fault| fault.locate(text))
}

fn compile(model: &Model, is_built_in: bool) -> Result<Compiled, Fault> {
    check(model)?;
    let all = model.spans.iter().flat_map(|span| &span.get_ref().calls);
    calls::check_count(all.chain(model.header.iter().flat_map(|header| &header.get_ref().calls)))?;
    let mut compiler = Compiler {
        model,
        is_built_in,
        fold: model.case == Case::Ascii,
        tag: shared_tag_rule(model)?,
        // Node 0 is never a child, so that 0 can mean no node.
        nodes: vec![Node { byte: 0, child: 0, next: 0, accept: 0, reach: 0 }],
        framings: Vec::new(),
        leading: leading_tags(model),
        max_hold: 3,
        room: 3,
    };
    // If a leading tag could be mistaken for a marker of the file, leading tags do not count.
    let leading = if compiler.leading.is_empty() { None } else { compiler.region(Scope::Leading).ok() };
    if leading.is_none() {
        compiler.leading.clear();
    }
    let mut regions = vec![compiler.region(Scope::Content)?];
    for rule in 0..model.spans.len() {
        regions.push(compiler.region(Scope::Inside(rule))?);
    }
    for channel in Channel::ALL.into_iter().filter(|_| model.header.is_some()) {
        regions.push(compiler.region(Scope::Body(channel))?);
    }
    for channel in [Channel::Thinking, Channel::Narration, Channel::Tool] {
        if model.spans.iter().any(|span| span.get_ref().channel == channel) {
            regions.push(compiler.region(Scope::Started(channel))?);
        }
    }
    let leading_region = leading.map(|region| {
        regions.push(region);
        regions.len() as u8 - 1
    });
    let header = compiler.header()?;
    let leading_names = compiler.leading;
    let calls = regions.iter().enumerate().map(|(number, region)| calls_of(model, number, region));
    let mut calls = calls.collect::<Result<Vec<_>, _>>()?;
    if calls.iter().all(Option::is_none) {
        calls.clear();
    }
    let openers = model.spans.iter().flat_map(|span| span.get_ref().open.iter().flatten());
    let opener = openers.map(|opener| opener.get_ref().len()).max().unwrap_or(0).max(compiler.max_hold + 1);
    for tables in calls.iter().flatten() {
        compiler.max_hold = compiler.max_hold.max(tables.max_hold(opener));
    }
    let spans: Vec<SpanRule> = model.spans.iter().map(|span| span_rule(span.get_ref())).collect();
    let used = regions.iter().fold(0, |used, region| used | region.used);
    let bare = spans.iter().fold(0, |bare, span| bare | span.bare);
    let guards_prose = model.guard.contains(&Guard::Inline);
    let guards_json = guards_prose || !calls.is_empty();
    // The guards need to know whether there was content: a tag is a mere mention only after other content, an indented tag only
    // after content since the last close, and an answer in JSON is the first content.
    let used = used | bare | if guards_json { flag::LEAD } else { 0 } | if guards_prose { flag::FRESH } else { 0 };
    let grammar = Grammar {
        fold: compiler.fold,
        guards: !model.guard.is_empty(),
        guards_prose,
        guards_json,
        regions,
        nodes: compiler.nodes,
        framings: compiler.framings,
        tag: compiler.tag,
        header,
        leading: leading_region,
    };
    let mut automaton = Automaton::new(&grammar, used);
    let call_loops = call_loops(&grammar, &calls, &mut automaton);
    let json_loops = json_loops(&grammar, &mut automaton);
    Ok(Compiled {
        name: model.name.get_ref().clone(),
        aliases: model.aliases.iter().map(|alias| alias.get_ref().clone()).collect(),
        turns: model.turns.iter().map(|turn| turn.get_ref().as_bytes().into()).collect(),
        start: model.start(),
        call_ids: model.call_ids.as_ref().map(|len| *len.get_ref()),
        used,
        bare,
        spans,
        automaton,
        grammar,
        calls,
        call_loops,
        json_loops,
        templates: markers::templates(model),
        markers: markers::markers(model, &leading_names),
        max_hold: compiler.max_hold,
        room: compiler.room,
        labels: labels(model, &leading_names),
    })
}

/// Returns the loop masks of each region's tables.
fn call_loops(
    grammar: &Grammar,
    calls: &[Option<CallTables>],
    automaton: &mut Automaton,
) -> Vec<Vec<[u32; Context::ALL.len()]>> {
    let of_region = |(region, tables): (&Region, &Option<CallTables>)| {
        let Some(tables) = tables else { return Vec::new() };
        let of_table =
            |table| Context::ALL.map(|context| context.self_loop(tables, table, |byte| region.may_begin(byte)));
        let loops = tables.tables.iter().map(of_table);
        loops.map(|sets| sets.map(|set| automaton.add_loop(&set))).collect()
    };
    grammar.regions.iter().zip(calls).map(of_region).collect()
}

/// Returns the loop masks of an answer in JSON in each region.
fn json_loops(grammar: &Grammar, automaton: &mut Automaton) -> Vec<[u32; 2]> {
    let mut of_region = |region: &Region| {
        [false, true].map(|in_string| {
            let mut plain = [0; 4];
            let is_plain =
                |byte: &u8| JsonAnswer::is_plain(*byte, in_string) && *byte != b'`' && !region.may_begin(*byte);
            if grammar.guards_json && region.channel == Channel::Content {
                (0..0x80).filter(is_plain).for_each(|byte| insert(&mut plain, byte));
            }
            automaton.add_loop(&plain)
        })
    };
    grammar.regions.iter().map(&mut of_region).collect()
}

/// Returns the form of calls in a region, and the end of the region.
fn calls_of(model: &Model, number: usize, region: &Region) -> Result<Option<CallTables>, Fault> {
    let Some(tables) = tables_of(model, number, region)? else { return Ok(None) };
    let header = model.header.as_ref().map(Spanned::get_ref);
    let has_keys = header.is_some_and(|header| !header.keys.is_empty());
    let ends = |pattern: &Pattern| match pattern.action {
        Action::Close { .. } => true,
        Action::HeaderEnd => !has_keys,
        _ => false,
    };
    // A fence line does not end a body of calls: it closes a different span, and lines do not matter inside a body.
    let is_fence = |index: usize| region.fence_close.is_some_and(|fence| usize::from(fence) == index);
    let set = |counts: &dyn Fn(&Pattern) -> bool| {
        let patterns =
            region.patterns.iter().enumerate().filter(|(index, pattern)| !is_fence(*index) && counts(pattern));
        patterns.fold(0, |set, (index, _)| set | 1 << index)
    };
    let begins = region.patterns.iter().any(|pattern| matches!(pattern.action, Action::HeaderBegin { .. }));
    let literals = header.filter(|_| begins).into_iter().flat_map(|header| &header.begin);
    Ok(Some(CallTables {
        closers: set(&ends),
        first_closers: set(&|pattern| ends(pattern) && pattern.needs & flag::FIRST != 0),
        header_begins: literals.map(|begin| model.case.bytes(begin).into()).collect(),
        has_special_header: header.is_some_and(|header| header.special),
        ..tables
    }))
}

/// Returns the tables of calls of a region. A stream that starts inside the tool channel is in the channel's first span with
/// tables.
fn tables_of(model: &Model, number: usize, region: &Region) -> Result<Option<CallTables>, Fault> {
    if region.channel != Channel::Tool {
        return Ok(None);
    }
    let spans = || model.spans.iter().map(Spanned::get_ref);
    match (number.checked_sub(1).and_then(|rule| model.spans.get(rule)), region.started) {
        (Some(span), _) => calls::of_span(model, span.get_ref()),
        (None, Some(channel)) => {
            let first = spans().find(|span| span.channel == channel && !span.calls.is_empty());
            first.map_or(Ok(None), |span| calls::of_span(model, span))
        }
        (None, None) => model.header.as_ref().map_or(Ok(None), |header| calls::of_header(model, header.get_ref())),
    }
}

/// Returns the names of the spans and of the header.
fn labels(model: &Model, leading: &[Literal]) -> Vec<Labels> {
    let spans = model.spans.iter().map(|span| {
        let span = span.get_ref();
        let tag = span.tag.as_ref().map(|tag| &tag.names);
        let openers = span.open.as_ref().or(tag).map_or(span.fence.as_slice(), Vec::as_slice);
        (&span.family, openers, Some(span))
    });
    let header = model.header.iter().map(|header| (&header.get_ref().family, header.get_ref().begin.as_slice(), None));
    let label = |(family, openers, span): (&Option<Literal>, &[Literal], Option<&Span>)| Labels {
        family: family.as_ref().unwrap_or(&model.name).get_ref().clone(),
        openers: strings(openers),
        closers: span
            .map_or_else(Vec::new, |span| openers.iter().map(|opener| closer(span, opener.get_ref())).collect()),
    };
    let mut labels: Vec<Labels> = spans.chain(header).map(label).collect();
    if !leading.is_empty() {
        let rule = usize::from(leading_rule(model));
        if rule == labels.len() {
            labels.push(label((&None, &[], None)));
        }
        labels[rule].openers.extend(leading.iter().map(|name| format!("<{}>", name.get_ref())));
    }
    labels
}

/// Returns the closer of an opener of this span, or an empty string.
fn closer(span: &Span, opener: &str) -> String {
    match opener.strip_prefix('<') {
        Some(name) if is_word_tag(b"<", opener.bytes()) => format!("</{name}"),
        _ if span.tag.is_some() => format!("</{opener}>"),
        _ => span.close.first().map_or_else(String::new, |close| close.get_ref().clone()),
    }
}

fn span_rule(span: &Span) -> SpanRule {
    let thought = span.thought.as_ref().map(|thought| ThoughtRule {
        text: thought.text.as_str().into(),
        kind: thought.kind.as_str().into(),
        confidence: thought.confidence.as_str().into(),
    });
    SpanRule {
        channel: span.channel,
        keep: span.keep,
        is_lenient: span.is_lenient(),
        is_label: span.is_label(),
        bare: if span.is_bare() { where_flag(span.place) } else { 0 },
        thought,
    }
}

/// Returns the rule for the spelling of tags. All tags of a dialect share it, because they have one matcher.
fn shared_tag_rule(model: &Model) -> Result<TagRule, Fault> {
    let rule = |tag: &Tag| TagRule {
        space: tag.space,
        suffix: tag.suffix,
        attributes: tag.attributes,
        self_close: tag.self_close,
    };
    let mut tags = model.spans.iter().filter_map(|span| Some((span, span.get_ref().tag.as_ref()?)));
    let Some((_, first)) = tags.next() else { return Ok(TagRule::default()) };
    match tags.find(|(_, tag)| rule(tag) != rule(first)) {
        Some((span, _)) => fault(span, "the tags of a dialect share `space`, `suffix`, `attributes` and `self_close`"),
        None => Ok(rule(first)),
    }
}
