//! Makes a case's calls of one library. This file is compiled twice: `super::library` is the current library or the older one.

use super::library::{
    Budget, BudgetScope, BudgetUnit, Channel, Counts, Dialect, Error, Event, Events, Kind, ScannerOptions, Scanner, Start,
    StrayClose, Thought, Token,
};
use crate::case::{Call, Case, Input, Setup, Step, Stop};
use crate::seen::{self, Bytes, Seen, What};

/// A scanner, and the rest of a stopped call's chunk. The documentation does not say how much of its chunk a stopped call consumes;
/// the rest must be fed again. So after a stop, the number of held bytes is not compared, and the rest is fed before any call for
/// which it matters.
struct One {
    scanner: Scanner,
    rest: Input,
    is_stopped: bool,
}

/// Makes the calls, and adds the observations of each, after those of making the scanner.
pub fn run(dialect: &Dialect, case: &Case, out: &mut Vec<Seen>) {
    let scanner = match Scanner::with_options(dialect, &options(&case.setup)) {
        Ok(scanner) => scanner,
        Err(error) => return out.push(Seen { error: Some(shown(error)), ..Seen::default() }),
    };
    let mut all = vec![One { scanner, rest: Input::default(), is_stopped: false }];
    out.push(stand(&all[0].scanner, Seen::default()));
    for Step { on, call } in &case.steps {
        let on = on % all.len();
        let mut seen = Seen::default();
        let was_stopped = all[on].is_stopped;
        if was_stopped && !matches!(call, Call::Rest(_) | Call::Clone | Call::TakeThoughts(_)) {
            if let Err(error) = all[on].call(dialect, &Call::Rest(Stop::Never), &mut seen) {
                seen.error = Some(shown(error));
            }
        }
        if let Err(error) = all[on].call(dialect, call, &mut seen) {
            seen.error = Some(shown(error));
        }
        if *call == Call::Clone {
            match all[on].scanner.try_clone() {
                Ok(scanner) => {
                    let rest = all[on].rest.clone();
                    let mut seen = stand(&scanner, Seen::default());
                    if was_stopped {
                        seen.forget_held();
                    }
                    out.push(seen);
                    all.push(One { scanner, rest, is_stopped: was_stopped });
                }
                Err(error) => seen.error = Some(shown(error)),
            }
        }
        let mut seen = stand(&all[on].scanner, seen);
        if was_stopped || all[on].is_stopped {
            (seen.consumed, seen.before) = (None, None);
        }
        if all[on].is_stopped {
            seen.forget_held();
        }
        out.push(seen);
    }
}

fn options(setup: &Setup) -> ScannerOptions {
    let budget = setup.budget.map(|budget| {
        let unit = if budget.in_characters { BudgetUnit::Characters } else { BudgetUnit::Bytes };
        let scope = if budget.of_stream { BudgetScope::Stream } else { BudgetScope::Span };
        Budget::new(budget.limit, unit, scope)
    });
    let stray_close = if setup.keeps_stray { StrayClose::Text } else { StrayClose::Dialect };
    let start = setup.start.map(|start| start.parse::<Start>().expect("a start's name"));
    ScannerOptions::new().start(start).collect(setup.collect).budget(budget).stray_close(stray_close)
}

fn shown(error: Error) -> String {
    format!("{error:?}: {error}")
}

fn stand(scanner: &Scanner, seen: Seen) -> Seen {
    let counts = |channel| {
        let Counts { bytes, characters, spans, tokens, .. } = scanner.counts(channel);
        [bytes, characters, spans, tokens]
    };
    Seen {
        held: scanner.held().into(),
        offset: scanner.offset(),
        counts: Channel::ALL.map(counts),
        lost_thoughts: scanner.lost_thoughts(),
        ..seen
    }
}

impl One {
    fn call(&mut self, dialect: &Dialect, call: &Call, seen: &mut Seen) -> Result<(), Error> {
        let One { scanner, rest, is_stopped } = self;
        let mut hear = |event: Event<'_>| seen.push(owned(dialect, &event));
        match call {
            Call::Feed(input, stop) => (*rest, *is_stopped) = feed(scanner, dialect, input.clone(), *stop, seen)?,
            Call::Rest(stop) => (*rest, *is_stopped) = feed(scanner, dialect, std::mem::take(rest), *stop, seen)?,
            Call::Flush(Stop::Never) => scanner.flush(&mut hear)?,
            Call::Force(Stop::Never) => scanner.force_close(&mut hear)?,
            Call::Finish(Stop::Never) => scanner.finish(&mut hear)?,
            // A stopped flush is always continued. Otherwise, the next feed could continue the character that the flush releases.
            Call::Flush(stop) => again(scanner, dialect, Scanner::flush_events, *stop, true, seen)?,
            Call::Force(stop) => again(scanner, dialect, Scanner::force_close_events, *stop, true, seen)?,
            Call::Finish(stop) => again(scanner, dialect, Scanner::finish_events, *stop, stop.goes_on(), seen)?,
            Call::Reset => scanner.reset(),
            Call::Clone => {}
            Call::TakeThoughts(most) => {
                seen.thoughts.extend(std::iter::from_fn(|| scanner.take_thought()).take(*most).map(thought));
            }
            Call::Prompt(tail) => seen.start = Some(scanner.start_from_prompt(&tail.0)?.as_str()),
        }
        Ok(())
    }
}

/// Feeds the input. Returns the rest of it, and whether the call was stopped.
fn feed(
    scanner: &mut Scanner,
    dialect: &Dialect,
    mut input: Input,
    stop: Stop,
    seen: &mut Seen,
) -> Result<(Input, bool), Error> {
    if stop == Stop::Never {
        let hear = |event: Event<'_>| seen.push(owned(dialect, &event));
        match &input.tokens {
            Some(tokens) => scanner.feed_tokens(&input.bytes.0, &library_tokens(tokens), hear)?,
            None => scanner.feed(&input.bytes.0, hear)?,
        }
        return Ok((Input::default(), false));
    }
    loop {
        let tokens = input.tokens.as_deref().map(library_tokens);
        let mut events = match &tokens {
            Some(tokens) => scanner.token_events(&input.bytes.0, tokens)?,
            None => scanner.events(&input.bytes.0),
        };
        let is_done = pull(&mut events, dialect, stop, seen)?;
        let consumed = events.consumed();
        drop(events);
        *seen.consumed.get_or_insert(0) += consumed;
        input.pass(consumed);
        if is_done {
            assert!(input.bytes.0.is_empty(), "no event is left, but bytes are");
        }
        if is_done || !stop.goes_on() {
            seen.before = before(scanner, stop);
            return Ok((input, !is_done));
        }
    }
}

/// Reads the events of a call without a chunk in a loop.
fn again(
    scanner: &mut Scanner,
    dialect: &Dialect,
    begin: fn(&mut Scanner) -> Events<'_>,
    stop: Stop,
    goes_on: bool,
    seen: &mut Seen,
) -> Result<(), Error> {
    let mut next = stop;
    loop {
        let is_done = pull(&mut begin(scanner), dialect, next, seen)?;
        // The call is stopped before the first event only once.
        next = if stop.most() == 0 { Stop::AfterEvents(1) } else { stop };
        if !goes_on {
            seen.before = before(scanner, stop);
        }
        if is_done || !goes_on {
            return Ok(());
        }
    }
}

/// Returns the bytes held when the call began, or `None` if the call is continued after a stop, because continuing is a new call.
fn before(scanner: &Scanner, stop: Stop) -> Option<Bytes> {
    (!stop.goes_on()).then(|| scanner.before().into())
}

/// Reads events until `stop`. Returns true if no event is left.
fn pull(events: &mut Events<'_>, dialect: &Dialect, stop: Stop, seen: &mut Seen) -> Result<bool, Error> {
    let mut count = 0;
    while count < stop.most() {
        let Some(event) = events.next()? else { return Ok(true) };
        count += usize::from(stop.counts_text() || event.kind != Kind::Text);
        seen.push(owned(dialect, &event));
    }
    // The libraries may cut a text of one call differently. So the stops of calls that are stopped after text are not counted.
    seen.stops += u64::from(!stop.goes_on());
    Ok(false)
}

fn library_tokens(tokens: &[(u32, bool)]) -> Vec<Token> {
    let token = |&(len, special): &(u32, bool)| if special { Token::special(len) } else { Token::text(len) };
    tokens.iter().map(token).collect()
}

fn owned(dialect: &Dialect, event: &Event<'_>) -> seen::Event {
    let what = match &event.kind {
        &Kind::Open { rule, tag } => What::Open {
            rule,
            tag,
            family: dialect.family(rule).map(str::to_owned),
            opener: dialect.opener(rule, tag).map(str::to_owned),
        },
        Kind::Attribute(attribute) => What::Attribute {
            name: attribute.name.into(),
            value: attribute.value.into(),
            raw_name: attribute.raw_name.clone(),
            raw_value: attribute.raw_value.clone(),
        },
        Kind::Text => What::Text,
        Kind::Framing => What::Framing,
        Kind::Close(cause) => What::Close(cause.as_str()),
        Kind::Reclassify => What::Reclassify,
        Kind::Budget => What::Budget,
        #[allow(unreachable_patterns)] // In the older library, the kinds above may be all.
        other => unreachable!("an event of a new kind: {other:?}"),
    };
    seen::Event { what, channel: event.channel.as_str(), offset: event.offset, bytes: event.bytes.into() }
}

fn thought(thought: Thought) -> seen::Thought {
    let attributes = thought.attributes.into_iter().map(|(name, value)| (Bytes(name), Bytes(value)));
    seen::Thought {
        offset: thought.offset,
        text: Bytes(thought.text),
        attributes: attributes.collect(),
        thought_type: thought.thought_type.map(Bytes),
        confidence: thought.confidence,
        cause: thought.cause.as_str(),
        truncated: thought.truncated,
    }
}

/// Returns the properties of a dialect: its start, and how many bytes of its streams are held at most.
pub fn dialect_seen(dialect: &Dialect) -> (&str, &'static str, usize) {
    (dialect.name(), Start::as_str(dialect.start()), dialect.max_hold())
}
