//! Compiles a dialect's file to what the matcher reads: which patterns count in which region, and tries that find them.

use toml::Spanned;

use super::{
    Channel,
    ambiguity::{Candidate, Shape, check_apart, distinct},
    calls,
    check::{check, fault},
    compiled::{Compiled, Labels, SpanRule, ThoughtRule},
    fault::Fault,
    markers,
    schema::{
        Case, Closer, DroppedMarker, ExtraClose, Guard, Literal, Model, Place, RepeatedOpener, Span, StrayClose, Tag,
        Torn, strings, text,
    },
};
use crate::{
    calls::{body::Context, table::CallTables},
    file_error::{self, FileError, quoted},
    matcher::{
        Automaton,
        bytes::insert,
        grammar::{
            self, Action, FENCE_INDENT, FENCE_INFO, FENCE_TICKS, Grammar, Guarded, HeaderKey, HeaderRule, LineRule,
            MOST_LINES, Node, Pattern, PatternSet, Region, Route, TagRule, flag,
        },
    },
};

/// A tag with attributes that is longer than this makes its scanner grow.
const LONG_TAG: usize = 255;

/// Reads a dialect's file and compiles it.
pub fn from_toml(text: &str) -> Result<Compiled, FileError> {
    let model = file_error::read::<Model>(text)?;
    compile(&model).map_err(|fault| fault.locate(text))
}

fn compile(model: &Model) -> Result<Compiled, Fault> {
    check(model)?;
    let all = model.spans.iter().flat_map(|span| &span.get_ref().calls);
    calls::check_count(all.chain(model.header.iter().flat_map(|header| &header.get_ref().calls)))?;
    let mut compiler = Compiler {
        model,
        fold: model.case == Case::Ascii,
        tag: shared_tag_rule(model)?,
        // Node 0 is nobody's child, so that 0 can mean none.
        nodes: vec![Node { byte: 0, child: 0, next: 0, accept: 0, reach: 0 }],
        framings: Vec::new(),
        leading: leading_tags(model),
        max_hold: 3,
        room: 3,
    };
    // Where a tag of them could be taken for a marker of the file's own, they do not count.
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
    // A tag that the text only mentions comes after other content.
    let used = used | bare | if guards_prose { flag::LEAD } else { 0 };
    let grammar = Grammar {
        fold: compiler.fold,
        guards: !model.guard.is_empty(),
        guards_prose,
        regions,
        nodes: compiler.nodes,
        framings: compiler.framings,
        tag: compiler.tag,
        header,
        leading: leading_region,
    };
    let mut automaton = Automaton::new(&grammar, used);
    let call_loops = call_loops(&grammar, &calls, &mut automaton);
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
        loops.map(|sets| sets.map(|set| automaton.loop_mask(&set))).collect()
    };
    grammar.regions.iter().zip(calls).map(of_region).collect()
}

/// How calls are written in a region, and what ends it.
fn calls_of(model: &Model, number: usize, region: &Region) -> Result<Option<CallTables>, Fault> {
    let Some(tables) = tables_of(model, number, region)? else { return Ok(None) };
    let header = model.header.as_ref().map(Spanned::get_ref);
    let has_keys = header.is_some_and(|header| !header.keys.is_empty());
    let ends = |pattern: &Pattern| match pattern.action {
        Action::Close { .. } => true,
        Action::HeaderEnd => !has_keys,
        _ => false,
    };
    // A fence is another span's, and lines do not count inside a body.
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

/// The tables of a region. A stream that starts inside the tool channel is in the first span of it that has some.
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

/// Returns what the spans and the header are called.
fn labels(model: &Model, leading: &[Literal]) -> Vec<Labels> {
    let spans = model.spans.iter().map(|span| {
        let span = span.get_ref();
        let tag = span.tag.as_ref().map(|tag| &tag.names);
        let openers = span.open.as_ref().or(tag).map_or(span.fence.as_slice(), Vec::as_slice);
        (&span.family, openers)
    });
    let header = model.header.iter().map(|header| (&header.get_ref().family, header.get_ref().begin.as_slice()));
    let label = |(family, openers): (&Option<Literal>, &[Literal])| Labels {
        family: family.as_ref().unwrap_or(&model.name).get_ref().clone(),
        openers: strings(openers),
    };
    let mut labels: Vec<Labels> = spans.chain(header).map(label).collect();
    if !leading.is_empty() {
        let rule = usize::from(leading_rule(model));
        if rule == labels.len() {
            labels.push(label((&None, &[])));
        }
        labels[rule].openers.extend(leading.iter().map(|name| format!("<{}>", name.get_ref())));
    }
    labels
}

/// The tags that families, and prompts of hosts, have for the thinking.
const LEADING_TAGS: &str = include_str!("leading_tags.txt");

/// Returns the names of those that the first thing of a stream may be in place of the dialect's own opener: in a dialect of
/// models, and where no marker of it can be taken for the tag.
fn leading_tags(model: &Model) -> Vec<Literal> {
    let spans = || model.spans.iter().map(Spanned::get_ref);
    let of_spans = spans().flat_map(|span| span.open.iter().flatten().chain(&span.close).chain(&span.quote));
    let tags = spans().flat_map(|span| &span.tag).flat_map(|tag| &tag.names);
    let tags = tags.flat_map(|name| [format!("<{}>", name.get_ref()), format!("</{}>", name.get_ref())]);
    let headers = model.header.iter().map(Spanned::get_ref);
    let of_headers = headers.flat_map(|it| it.begin.iter().chain(&it.end).chain(&it.close).chain(it.keys.values()));
    let literals = of_spans.chain(of_headers).map(|literal| literal.get_ref().clone());
    let own: Vec<String> =
        literals.chain(strings(&model.dropped())).chain(tags).map(|marker| marker.to_ascii_lowercase()).collect();
    let meets = |marker: &String, tag: &str| marker.starts_with(tag) || tag.starts_with(marker.as_str());
    let is_free = |name: &&str| {
        let [open, close, framed] = ["<", "</", "\n</"].map(|front| format!("{front}{name}>"));
        own.iter().all(|own| !meets(own, &open) && !meets(own, &framed) && (*own == close || !meets(own, &close)))
    };
    let has_room = usize::from(leading_tag(model)) + LEADING_TAGS.lines().count() <= usize::from(u8::MAX);
    let names = LEADING_TAGS.lines().filter(|name| !model.models.is_empty() && has_room && is_free(name));
    names.map(|name| Spanned::new(model.name.span(), (*name).to_owned())).collect()
}

/// Returns the rule whose span such a tag opens: that of the first thinking span, or what follows all spans.
fn leading_rule(model: &Model) -> u8 {
    thinking_spans(model).next().map_or(model.spans.len(), |(rule, _)| rule) as u8
}

/// Returns the number of the first such tag among the openers of that rule.
fn leading_tag(model: &Model) -> u8 {
    let count = match (model.spans.get(usize::from(leading_rule(model))), &model.header) {
        (Some(span), _) => {
            let span = span.get_ref();
            let names = span.tag.as_ref().map_or(0, |tag| tag.names.len());
            span.open.as_ref().map_or(0, Vec::len) + names + usize::from(span.fence.is_some())
        }
        (None, Some(header)) => header.get_ref().begin.len(),
        (None, None) => 0,
    };
    u8::try_from(count).unwrap_or(u8::MAX)
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
        bare: if span.is_bare() { where_flag(span.place) } else { 0 },
        thought,
    }
}

/// Returns what must hold where an opener stands.
fn where_flag(place: Place) -> u16 {
    match place {
        Place::Anywhere => 0,
        Place::Start => flag::START,
        Place::Lead => flag::LEAD,
        Place::Closed => flag::CLOSED,
    }
}

/// Returns the grammar of all tags: one matcher serves them all.
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

/// Which stretch of text a region is.
#[derive(Clone, Copy)]
enum Scope {
    Content,
    Inside(usize),
    Body(Channel),
    Started(Channel),
    /// Inside a thinking that a leading tag has opened.
    Leading,
}

impl Scope {
    fn is_content(self, model: &Model) -> bool {
        match self {
            Scope::Content => true,
            Scope::Inside(rule) => model.spans[rule].get_ref().channel == Channel::Content,
            Scope::Body(channel) | Scope::Started(channel) => channel == Channel::Content,
            Scope::Leading => false,
        }
    }
}

struct Compiler<'a> {
    model: &'a Model,
    fold: bool,
    tag: TagRule,
    nodes: Vec<Node>,
    framings: Vec<grammar::Framing>,
    /// The tags that open the thinking as the first thing of a stream, though they are not the dialect's own.
    leading: Vec<Literal>,
    max_hold: usize,
    room: usize,
}

impl Compiler<'_> {
    fn region(&mut self, scope: Scope) -> Result<Region, Fault> {
        let model = self.model;
        let mut list = Vec::new();
        let channel = match scope {
            Scope::Content => Channel::Content,
            Scope::Inside(rule) => model.spans[rule].get_ref().channel,
            Scope::Body(channel) | Scope::Started(channel) => channel,
            Scope::Leading => Channel::Thinking,
        };
        let is_content = channel == Channel::Content;
        let guards = |guard| model.guard.contains(&guard);
        let mut lines = LineRule::Ignore;
        if is_content {
            self.content(&mut list);
            if !model.guard.is_empty() {
                lines = LineRule::Guard { fences: guards(Guard::Fences), inline: guards(Guard::Inline) };
            }
        }
        if is_content || !matches!(scope, Scope::Inside(_)) {
            self.headers(&mut list, scope);
        }
        for (rule, spanned) in model.spans.iter().enumerate() {
            let span = spanned.get_ref();
            let is_here = match scope {
                Scope::Inside(own) => own == rule,
                Scope::Started(channel) => span.channel == channel,
                _ => false,
            };
            if is_here {
                self.inside(&mut list, rule, spanned, matches!(scope, Scope::Started(_)));
                if span.fence.is_some() {
                    lines = LineRule::Fence { inline: false };
                }
            }
            if channel == Channel::Thinking && (span.ends.is_some() || span.pauses.is_some()) {
                self.openers(&mut list, rule, span, Some(span.ends.is_some()));
            }
        }
        if let Scope::Leading = scope {
            self.inside_leading(&mut list);
        } else if channel == Channel::Thinking {
            self.leading_openers(&mut list);
        }
        if channel == Channel::Thinking {
            // A span of the channel that is open: a marker that ends it takes no span of its own away.
            let rule = match scope {
                Scope::Inside(rule) => rule,
                Scope::Started(_) | Scope::Leading => usize::from(leading_rule(model)),
                _ => model.spans.len(),
            };
            let close =
                Pattern { guarded: Guarded::Nowhere, ..Pattern::of(Action::Close { rule: rule as u8, keep: false }) };
            self.dropped(&mut list, &model.drop_ends, close);
            let answer = Pattern { guarded: Guarded::InCodeSpans, ..Pattern::of(Action::Answer { rule: rule as u8 }) };
            self.answer_closers(&mut list, answer);
            let removed = Pattern { guarded: Guarded::Nowhere, ..Pattern::of(Action::Drop) };
            self.dropped(&mut list, model.drop.iter().filter(|it| it.get_ref().thinking), removed);
            let is_guarded = |it: &Candidate| it.pattern.guarded != Guarded::Nowhere;
            if guards(Guard::Inline) && list.iter().any(is_guarded) {
                lines = match lines {
                    LineRule::Fence { .. } => LineRule::Fence { inline: true },
                    _ => LineRule::Guard { fences: false, inline: true },
                };
            }
        }
        self.finish_region(channel, scope, list, lines)
    }

    /// Adds what counts inside a span for its own sake.
    fn inside(&mut self, list: &mut Vec<Candidate>, rule: usize, spanned: &Spanned<Span>, is_started: bool) {
        let span = spanned.get_ref();
        let unguarded = |action| Pattern { guarded: Guarded::Nowhere, ..Pattern::of(action) };
        let own = unguarded(Action::Close { rule: rule as u8, keep: span.keep });
        self.closers(list, span, own, is_started);
        // The framing after the opener may have a label, which stands there alone where nothing is inside.
        let label = text(&span.framing.after_open);
        let label = label.trim_end().len();
        if let Some(after) =
            span.framing.after_open.as_ref().filter(|after| (1..after.get_ref().len()).contains(&label))
        {
            let label = Spanned::new(after.span(), after.get_ref()[..label].into());
            let empty = Pattern { needs: flag::OPENED, special: span.special, ..own };
            let mut labelled = Vec::new();
            let after = self.after_close(span);
            self.literals(&mut labelled, &span.close, Some(&label), after, |_| empty);
            list.extend(labelled.into_iter().filter(|candidate| candidate.pattern.before > 0));
        }
        if span.fence.is_some() {
            list.push(Candidate {
                shape: Shape::FenceClose,
                pattern: own,
                yields: false,
                is_optional: false,
                at: spanned.span(),
            });
        }
        if let Some(quote) = &span.quote {
            self.literals(list, [quote], None, 0, |_| unguarded(Action::Quote));
        }
        let absorb =
            span.again.map_or(is_started || span.channel == Channel::Thinking, |again| again != RepeatedOpener::Text);
        if absorb {
            let needs = if span.again == Some(RepeatedOpener::Drop) { 0 } else { flag::BLANK };
            let needs = needs | where_flag(span.place);
            let again = Pattern { needs, special: span.special, ..unguarded(Action::Absorb) };
            let after = self.after_open(span);
            self.literals(list, span.open.iter().flatten(), span.framing.before_open.as_ref(), after, |_| again);
            for name in span.tag.iter().flat_map(|tag| &tag.names) {
                let shape = Shape::OpenName(self.folded(name));
                let pattern = Pattern { after, ..again };
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: name.span() });
            }
        }
        // A span that was open at the start has ended none. In an answer that ended the thinking, its closer is a stray one.
        if span.ends.is_some() && !is_started && span.channel != Channel::Content {
            let action = Action::Close { rule: rule as u8, keep: false };
            let pattern = Pattern { needs: flag::ENDED, ..unguarded(action) };
            for (_, thinking) in thinking_spans(self.model) {
                self.closers(list, thinking, pattern, true);
            }
            self.body_closers(list, 0, pattern);
        }
    }

    /// Adds everything that counts in the content and inside its wrappers.
    fn content(&mut self, list: &mut Vec<Candidate>) {
        let model = self.model;
        for (rule, span) in model.spans.iter().enumerate() {
            self.openers(list, rule, span.get_ref(), None);
        }
        self.leading_openers(list);
        // After nothing but blanks a closer is an extra one, elsewhere a stray one. After a span that was closed by
        // force, it is that span's.
        let extra = if model.extra_close == ExtraClose::Drop { flag::FRESH } else { flag::FRESH | flag::FORCED };
        for (rule, thinking) in thinking_spans(model) {
            self.closers(list, thinking, Pattern { needs: extra, ..Pattern::of(Action::DropClose) }, true);
            if model.extra_close == ExtraClose::Drop && model.guard.contains(&Guard::Inline) {
                // The blank lines before the first thing of an answer go with it.
                let pattern = Pattern { needs: extra, ..Pattern::of(Action::DropClose) };
                let own = text(&thinking.framing.before_close);
                let after = self.after_close(thinking);
                for lines in ["\n", "\n\n"].into_iter().filter(|lines| *lines != own) {
                    let lines = Spanned::new(model.name.span(), lines.to_owned());
                    let first = list.len();
                    self.framed_closers(list, thinking, Some(&lines), after, pattern, true);
                    list[first..].iter_mut().for_each(|candidate| candidate.is_optional = true);
                    let mut index = first;
                    // Without framing, and with less of it, they are there already.
                    while let Some(candidate) = list.get(index) {
                        match usize::from(candidate.pattern.before) == lines.get_ref().len() {
                            true => index += 1,
                            false => drop(list.remove(index)),
                        }
                    }
                }
            }
            let alone = Pattern { needs: flag::DROPPED, avoids: flag::FRESH, ..Pattern::of(Action::Drop) };
            self.framed_closers(list, thinking, None, 0, alone, true);
            let avoids = flag::FRESH | flag::LITERAL | flag::DROPPED;
            match thinking.stray_close.as_ref().map_or(model.stray_close, |stray| *stray.get_ref()) {
                StrayClose::Text => {}
                StrayClose::Drop => {
                    self.closers(list, thinking, Pattern { avoids, ..Pattern::of(Action::DropClose) }, true);
                }
                StrayClose::Reclassify => {
                    let rule = rule as u8;
                    let first = Pattern { needs: flag::ALONE, avoids, ..Pattern::of(Action::Reclassify { rule }) };
                    self.closers(list, thinking, first, true);
                    let avoids = avoids | flag::ALONE;
                    let once = (!thinking.repeat).then_some(rule);
                    let later = Pattern { avoids, once, ..Pattern::of(Action::Drop) };
                    self.framed_closers(list, thinking, None, 0, later, true);
                }
            }
        }
        for dropped in [&model.drop, &model.drop_ends] {
            self.dropped(list, dropped, Pattern::of(Action::Drop));
        }
        // After a close by force, what closes it late is the same.
        let last = Pattern { avoids: flag::FORCED, ..Pattern::of(Action::DropLast) };
        self.dropped(list, &model.drop_last, last);
    }

    /// Adds markers that are removed.
    fn dropped<'l>(
        &mut self,
        list: &mut Vec<Candidate>,
        dropped: impl IntoIterator<Item = &'l Spanned<DroppedMarker>>,
        pattern: Pattern,
    ) {
        for marker in dropped {
            let literal = Spanned::new(marker.span(), marker.get_ref().marker.clone());
            let pattern = Pattern { special: marker.get_ref().special, ..pattern };
            let spares_prose = pattern.special && pattern.action == Action::Drop;
            let first = list.len();
            self.literals(list, [&literal], None, 0, |_| Pattern { spares_prose, ..pattern });
            self.torn(list, [&literal], None, 0, pattern);
            let yields = matches!(pattern.action, Action::Drop | Action::DropLast);
            list[first..].iter_mut().for_each(|candidate| candidate.yields = yields);
        }
    }

    /// Adds the openers. `of_thinking`: they stand inside the thinking, and end it or do not.
    fn openers(&mut self, list: &mut Vec<Candidate>, rule: usize, span: &Span, of_thinking: Option<bool>) {
        let rule = rule as u8;
        let ends = of_thinking == Some(true);
        let is_call = of_thinking.is_some() || span.channel == Channel::Tool;
        let pattern = |tag: usize| Pattern {
            guarded: if is_call { Guarded::InCodeSpans } else { Guarded::InCode },
            needs: where_flag(span.place),
            avoids: if span.channel == Channel::Content { flag::FULL } else { 0 },
            once: (!span.repeat).then_some(rule),
            special: span.special,
            ..Pattern::of(Action::Open { rule, tag: tag as u8, ends })
        };
        if let Some(open) = &span.open {
            // Framing never stands before an implied close.
            let before = span.framing.before_open.as_ref().filter(|_| !ends);
            let after = self.after_open(span);
            self.literals(list, open, before, after, pattern);
        }
        if let Some(tag) = &span.tag {
            let after = self.after_open(span);
            for (number, name) in tag.names.iter().enumerate() {
                let shape = Shape::OpenName(self.folded(name));
                let pattern = Pattern { after, ..pattern(number) };
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: name.span() });
            }
        }
        if let Some(info) = &span.fence {
            let literal = [b"```", &self.folded(info)[..]].concat();
            self.hold(literal.len() + FENCE_INFO as usize + 1);
            let pattern = Pattern { action: Action::FenceOpen { rule, ends }, ..pattern(0) };
            list.push(Candidate {
                shape: Shape::Literal(literal.into()),
                pattern,
                yields: false,
                is_optional: false,
                at: info.span(),
            });
        }
    }

    /// Adds a span's closers. `any_name`: the opener is not the innermost span's, or is not there, so that a tag's name
    /// cannot be asked for.
    fn closers(&mut self, list: &mut Vec<Candidate>, span: &Span, pattern: Pattern, any_name: bool) {
        let after = self.after_close(span);
        self.framed_closers(list, span, span.framing.before_close.as_ref(), after, pattern, any_name);
    }

    fn framed_closers(
        &mut self,
        list: &mut Vec<Candidate>,
        span: &Span,
        before: Option<&Literal>,
        after: u16,
        pattern: Pattern,
        any_name: bool,
    ) {
        let pattern = Pattern { special: span.special, ..pattern };
        self.literals(list, &span.close, before, after, |_| pattern);
        self.torn(list, &span.close, before, after, pattern);
        let pattern = Pattern { special: false, ..pattern };
        if let Some(tag) = &span.tag {
            for (number, name) in tag.names.iter().enumerate() {
                let same = (tag.closer == Closer::Same && !any_name).then_some(number as u8);
                for lines in 0..=before.map_or(0, |before| before.get_ref().len()) {
                    let shape = Shape::CloseName(self.folded(name), lines);
                    let pattern = Pattern { same, before: lines as u16, after, ..pattern };
                    list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: name.span() });
                }
            }
        }
    }

    /// Adds the closers of the wrappers of the answer that end the thinking: what they close without their opener was the answer.
    fn answer_closers(&mut self, list: &mut Vec<Candidate>, pattern: Pattern) {
        let model = self.model;
        let spans = model.spans.iter().map(Spanned::get_ref);
        for span in spans.filter(|span| span.channel == Channel::Content && span.ends.is_some()) {
            self.framed_closers(list, span, None, 0, pattern, true);
        }
    }

    /// Adds the forms in which closers are torn.
    fn torn<'l>(
        &mut self,
        list: &mut Vec<Candidate>,
        literals: impl IntoIterator<Item = &'l Literal>,
        before: Option<&Literal>,
        after: u16,
        pattern: Pattern,
    ) {
        let Some(Torn { end, before: next }) = &self.model.torn else { return };
        let end = end.get_ref();
        let next: Vec<_> = next.iter().map(|next| next.get_ref().as_str()).collect();
        for literal in literals {
            let front = literal.get_ref().strip_suffix(end.as_str());
            let Some(front) = front.filter(|front| !front.is_empty()) else { continue };
            let twice = format!("{front}{}{end}", &end[..end.len() - 1]);
            let torn = next.iter().map(|next| (format!("{front}{next}"), next.len() as u16));
            for (text, ahead) in [(twice, 0)].into_iter().chain(torn) {
                let text = Spanned::new(literal.span(), text);
                let first = list.len();
                self.literals(list, [&text], before, after, |_| pattern);
                for candidate in &mut list[first..] {
                    candidate.pattern = Pattern { ahead, len: candidate.pattern.len - ahead, ..candidate.pattern };
                }
            }
        }
    }

    /// Adds the tags that count as the first thing of a stream.
    fn leading_openers(&mut self, list: &mut Vec<Candidate>) {
        if self.leading.is_empty() {
            return;
        }
        let (rule, first) = (leading_rule(self.model), leading_tag(self.model));
        let after = self.framing(b"\n", 0);
        for (tag, name) in (first..).zip(self.leading.clone()) {
            let open = Spanned::new(name.span(), format!("<{}>", name.get_ref()));
            let pattern = Pattern { needs: flag::LEADING, ..Pattern::of(Action::Lead { rule, tag }) };
            self.literals(list, [&open], None, after, |_| pattern);
        }
    }

    /// Adds what counts inside a thinking that a leading tag has opened: its own closer, and what else closes the thinking.
    fn inside_leading(&mut self, list: &mut Vec<Candidate>) {
        let model = self.model;
        let (rule, first) = (leading_rule(model), leading_tag(model));
        let unguarded = |action| Pattern { guarded: Guarded::Nowhere, ..Pattern::of(action) };
        let close = unguarded(Action::Close { rule, keep: false });
        let line = Spanned::new(model.name.span(), "\n".to_owned());
        let after_open = self.framing(b"\n", 0);
        let after = self.framing(b"\n", 0);
        let after = self.framing(b"\n", after);
        for (_, thinking) in thinking_spans(model) {
            self.framed_closers(list, thinking, Some(&line), after, close, true);
        }
        let theirs: Vec<String> = thinking_spans(model).flat_map(|(_, span)| strings(&span.close)).collect();
        for (tag, name) in (first..).zip(self.leading.clone()) {
            let [open, shut] = ["<", "</"].map(|front| format!("{front}{}>", name.get_ref()));
            if !theirs.iter().any(|close| close.eq_ignore_ascii_case(&shut)) {
                let shut = Spanned::new(name.span(), shut);
                self.literals(list, [&shut], Some(&line), after, |_| Pattern { same: Some(tag), ..close });
            }
            let again = Pattern { needs: flag::BLANK, same: Some(tag), ..unguarded(Action::Absorb) };
            self.literals(list, [&Spanned::new(name.span(), open)], None, after_open, |_| again);
        }
        self.body_closers(list, after, close);
    }

    /// Adds what closes a message's body.
    fn body_closers(&mut self, list: &mut Vec<Candidate>, after: u16, pattern: Pattern) {
        if let Some(header) = self.model.header.as_ref().map(Spanned::get_ref) {
            self.literals(list, &header.close, None, after, |_| Pattern { special: header.special, ..pattern });
        }
    }

    /// Adds each literal, once alone and once after its framing.
    fn literals<'l>(
        &mut self,
        list: &mut Vec<Candidate>,
        literals: impl IntoIterator<Item = &'l Literal>,
        before: Option<&Literal>,
        after: u16,
        pattern: impl Fn(usize) -> Pattern,
    ) {
        for (number, literal) in literals.into_iter().enumerate() {
            for before in [None, before].into_iter().take(if before.is_some() { 2 } else { 1 }) {
                let mut bytes = before.map_or(Vec::new(), |before| self.model.case.bytes(before));
                let before = bytes.len() as u16;
                bytes.extend(self.folded(literal));
                let pattern = Pattern { before, len: bytes.len() as u16, after, ..pattern(number) };
                let shape = Shape::Literal(bytes.into());
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: literal.span() });
            }
        }
    }

    fn headers(&mut self, list: &mut Vec<Candidate>, scope: Scope) {
        let Some(header) = self.model.header.as_ref().map(|header| header.get_ref()) else { return };
        // The body before ends where a header begins; a wrapper of the content does not, so there has to be room.
        let avoids = if matches!(scope, Scope::Inside(_)) { flag::FULL } else { 0 };
        let guarded = if scope.is_content(self.model) { Guarded::InCode } else { Guarded::Nowhere };
        let pattern = |action| Pattern { avoids, guarded, special: header.special, ..Pattern::of(action) };
        self.literals(list, &header.begin, None, 0, |tag| pattern(Action::HeaderBegin { tag: tag as u8 }));
        self.literals(list, &header.end, None, 0, |_| pattern(Action::HeaderEnd));
        let whole = Pattern { avoids: avoids | flag::HEADER, special: false, ..pattern(Action::HeaderWhole) };
        self.literals(list, &header.whole, None, 0, |_| whole);
        if matches!(scope, Scope::Body(_) | Scope::Started(_)) {
            let rule = self.model.spans.len() as u8;
            let close = Pattern { guarded: Guarded::Nowhere, ..pattern(Action::Close { rule, keep: false }) };
            self.body_closers(list, 0, close);
        }
        if !matches!(scope, Scope::Content) {
            return;
        }
        let late = Pattern { needs: flag::FRESH | flag::FORCED, ..pattern(Action::DropClose) };
        self.body_closers(list, 0, late);
        if header.keys.is_empty() {
            let needs = flag::HEADER;
            let pattern = Pattern { needs, special: false, ..pattern(Action::HeaderName) };
            let at = self.model.name.span();
            list.push(Candidate { shape: Shape::HeaderName, pattern, yields: false, is_optional: false, at });
        }
        for key in header.keys.values() {
            let is_begin = header.begin.iter().any(|begin| begin.get_ref() == key.get_ref());
            for space in [" ", ""].into_iter().take(if is_begin { 1 } else { 2 }) {
                let bytes: Vec<u8> = space.bytes().chain(self.folded(key)).collect();
                let pattern = Pattern {
                    needs: flag::HEADER,
                    len: bytes.len() as u16,
                    ..Pattern::of(Action::HeaderBegin { tag: 0 })
                };
                let shape = Shape::Literal(bytes.into());
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: key.span() });
            }
        }
    }

    fn header(&mut self) -> Result<Option<HeaderRule>, Fault> {
        let Some(spanned) = &self.model.header else { return Ok(None) };
        let header = spanned.get_ref();
        let case = &self.model.case;
        let bytes = |literals: &[Literal]| -> Vec<Box<[u8]>> {
            literals.iter().map(|literal| case.bytes(literal).into()).collect()
        };
        let keys: Vec<HeaderKey> = header
            .keys
            .iter()
            .map(|(name, literal)| HeaderKey { name: name.as_str().into(), literal: case.bytes(literal).into() })
            .collect();
        let inner = self.node(0);
        let ends = header.end.iter().enumerate().map(|(number, end)| (number as u32, end));
        let inside = header.keys.values().enumerate().map(|(number, key)| (number as u32 + 32, key));
        let inside = inside.filter(|(_, key)| key.get_ref().starts_with('<'));
        for (bit, literal) in ends.chain(inside) {
            self.insert(inner, &case.bytes(literal), 1 << bit);
        }
        for end in &header.end {
            let twin = header.keys.values().chain(&header.end).find(|other| {
                let (a, b) = (case.bytes(end), case.bytes(other));
                end.span() != other.span() && (a.starts_with(&b) || b.starts_with(&a))
            });
            if let Some(twin) = twin {
                return fault(
                    end,
                    format!("{} and {} cannot be told apart", quoted(end.get_ref()), quoted(twin.get_ref())),
                );
            }
        }
        let routes = header.routes.iter().map(|route| Route {
            when: route
                .when
                .iter()
                .map(|(field, values)| {
                    let values = values.0.iter().filter(|_| !values.0.iter().any(|value| value == "*"));
                    (field.get_ref().as_str().into(), values.map(|value| value.as_str().into()).collect())
                })
                .collect(),
            channel: route.channel,
        });
        let routes = routes.collect();
        Ok(Some(HeaderRule {
            begins: bytes(&header.begin),
            ends: bytes(&header.end),
            keys,
            fold: self.fold,
            max: header.max,
            routes,
            inner,
        }))
    }

    /// Builds the tries of the markers that count in a region.
    fn finish_region(
        &mut self,
        channel: Channel,
        scope: Scope,
        mut candidates: Vec<Candidate>,
        mut lines: LineRule,
    ) -> Result<Region, Fault> {
        // Between two quotes nothing else counts.
        if candidates.iter().any(|candidate| candidate.pattern.action == Action::Quote) {
            for candidate in candidates.iter_mut().filter(|candidate| candidate.pattern.action != Action::Quote) {
                candidate.pattern.avoids |= flag::QUOTED;
            }
        }
        let list = distinct(candidates, self.tag.suffix > 0);
        check_apart(channel, &list, self.tag.suffix > 0)?;
        let opens_fence = |candidate: &Candidate| matches!(candidate.pattern.action, Action::FenceOpen { .. });
        if lines == LineRule::Ignore && list.iter().any(opens_fence) {
            lines = LineRule::Guard { fences: false, inline: false };
        }
        let mut region = Region {
            channel,
            started: if let Scope::Started(channel) = scope { Some(channel) } else { None },
            patterns: Vec::new(),
            groups: Vec::new(),
            literals: 0,
            open_names: 0,
            close_names: 0,
            lines_before: {
                let mut none = [0; MOST_LINES + 1];
                none[0] = PatternSet::MAX;
                none
            },
            first_bytes: [0; 4],
            special: 0,
            in_fences: 0,
            in_code_spans: 0,
            used: list.iter().fold(0, |used, it| used | it.pattern.needs | it.pattern.avoids),
            cleared: match channel {
                Channel::Content => flag::LEAD | flag::FRESH | flag::FORCED | flag::BLANK | flag::LEADING,
                _ => flag::BLANK | flag::LEADING,
            },
            lines,
            fence_close: None,
            is_answered: list.iter().any(|it| matches!(it.pattern.action, Action::Answer { .. })),
            header_name: None,
        };
        for (index, Candidate { shape, pattern, .. }) in list.into_iter().enumerate() {
            let bit = 1 << index;
            self.measure(&shape, &pattern);
            match region.groups.iter_mut().find(|(other, _)| other.counts_with(&pattern)) {
                Some((_, bits)) => *bits |= bit,
                None => region.groups.push((pattern, bit)),
            }
            region.special |= if pattern.special { bit } else { 0 };
            region.in_fences |= if pattern.guarded == Guarded::InCode { 0 } else { bit };
            region.in_code_spans |= if pattern.guarded == Guarded::Nowhere { bit } else { 0 };
            let (root, bytes) = match &shape {
                Shape::Literal(bytes) => (&mut region.literals, bytes),
                Shape::OpenName(bytes) => (&mut region.open_names, bytes),
                Shape::CloseName(bytes, lines) => {
                    if *lines > 0 {
                        region.lines_before[0] &= !bit;
                        region.lines_before[*lines] |= bit;
                        insert(&mut region.first_bytes, b'\n');
                    }
                    (&mut region.close_names, bytes)
                }
                Shape::FenceClose => {
                    region.fence_close = Some(index as u8);
                    region.patterns.push(pattern);
                    continue;
                }
                Shape::HeaderName => {
                    region.header_name = Some(index as u8);
                    region.patterns.push(pattern);
                    let names = (0..=u8::MAX).filter(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
                    names.for_each(|byte| insert(&mut region.first_bytes, byte));
                    continue;
                }
            };
            let first = if matches!(shape, Shape::Literal(_)) { bytes[0] } else { b'<' };
            for first in [first, if self.fold { first.to_ascii_uppercase() } else { first }] {
                insert(&mut region.first_bytes, first);
            }
            if *root == 0 {
                *root = self.node(0);
            }
            let root = *root;
            self.insert(root, bytes, bit);
            region.patterns.push(pattern);
        }
        Ok(region)
    }

    /// Raises `max_hold` to what this pattern may hold back.
    fn measure(&mut self, shape: &Shape, pattern: &Pattern) {
        let (space, suffix) = (self.tag.space as usize, self.tag.suffix as usize);
        let hold = match shape {
            Shape::Literal(bytes) if matches!(pattern.action, Action::HeaderBegin { .. } | Action::HeaderWhole) => {
                let header = self.model.header.as_ref().map(|header| header.get_ref());
                let ends = header.into_iter().flat_map(|header| &header.end).map(|end| end.get_ref().len());
                bytes.len() + header.map_or(0, |header| header.max as usize) + ends.max().unwrap_or(0) - 1
            }
            Shape::Literal(bytes) => bytes.len() - usize::from(pattern.action != Action::DropLast),
            Shape::OpenName(_) if self.tag.attributes > 0 => {
                let hold = self.tag.attributes as usize - 1;
                self.max_hold = self.max_hold.max(hold);
                hold.min(LONG_TAG)
            }
            Shape::OpenName(name) => 1 + space + name.len() + suffix + space + usize::from(self.tag.self_close),
            Shape::CloseName(name, lines) => lines + 1 + space + 1 + space + name.len() + suffix + space,
            Shape::HeaderName => {
                let header = self.model.header.as_ref().map(Spanned::get_ref);
                let end = header.into_iter().flat_map(|header| &header.end).map(|end| end.get_ref().len()).max();
                header.map_or(0, |header| header.max as usize) + end.unwrap_or(0)
            }
            Shape::FenceClose => (FENCE_INDENT + FENCE_TICKS + FENCE_INFO + 1) as usize,
        };
        // Up to two bytes after a marker may tell whether it is meant.
        self.hold(hold + if self.model.guard.contains(&Guard::Inline) { 2 } else { 0 });
    }

    fn hold(&mut self, bytes: usize) {
        self.max_hold = self.max_hold.max(bytes);
        self.room = self.room.max(bytes);
    }

    /// Returns the number of the framing after a span's opener, or 0.
    fn after_open(&mut self, span: &Span) -> u16 {
        span.framing.after_open.as_ref().map_or(0, |after| self.framing(after.get_ref().as_bytes(), 0))
    }

    /// Returns the number of the framing after a span's closer, or 0.
    fn after_close(&mut self, span: &Span) -> u16 {
        match &span.framing.after_close {
            None => 0,
            Some(after) if span.framing.partial => {
                let characters = after.get_ref().chars().rev();
                characters.fold(0, |next, character| self.framing(character.to_string().as_bytes(), next))
            }
            Some(after) => self.framing(after.get_ref().as_bytes(), 0),
        }
    }

    /// Returns the number of a framing: its index plus one. `next`: the one that may follow it.
    fn framing(&mut self, bytes: &[u8], next: u16) -> u16 {
        self.hold(bytes.len() - 1);
        let framing = grammar::Framing { bytes: bytes.into(), next };
        let known = self.framings.iter().position(|other| *other == framing);
        let index = known.unwrap_or_else(|| {
            self.framings.push(framing);
            self.framings.len() - 1
        });
        index as u16 + 1
    }

    fn folded(&self, literal: &Literal) -> Box<[u8]> {
        self.model.case.bytes(literal).into()
    }

    fn node(&mut self, byte: u8) -> u32 {
        self.nodes.push(Node { byte, child: 0, next: 0, accept: 0, reach: 0 });
        (self.nodes.len() - 1) as u32
    }

    fn insert(&mut self, root: u32, bytes: &[u8], bit: PatternSet) {
        let mut node = root;
        for &byte in bytes {
            self.nodes[node as usize].reach |= bit;
            let mut child = self.nodes[node as usize].child;
            while child != 0 && self.nodes[child as usize].byte != byte {
                child = self.nodes[child as usize].next;
            }
            if child == 0 {
                child = self.node(byte);
                self.nodes[child as usize].next = self.nodes[node as usize].child;
                self.nodes[node as usize].child = child;
            }
            node = child;
        }
        self.nodes[node as usize].reach |= bit;
        self.nodes[node as usize].accept |= bit;
    }
}

fn thinking_spans(model: &Model) -> impl Iterator<Item = (usize, &Span)> {
    let spans = model.spans.iter().map(|span| span.get_ref()).enumerate();
    spans.filter(|(_, span)| span.channel == Channel::Thinking)
}
