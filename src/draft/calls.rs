//! Finds how calls are written: a turn that shows a call, the text around the call, and the text between two calls. `bodies` finds
//! the form of a single call.

use minijinja::Value;

use super::bodies;
use super::caller::Caller;
use super::frame::Frame;
use super::probes::{ANSWER, After, Content, Form, Ids, ONE, SECOND, Turn};
use super::renderings::{Renderings, with_tools};
use super::sketch::{Body, Id, Region, Sketch};
use super::texts::{before_marker, begins_marker, leading_marker, marker, markers, shared_end, shared_start};

/// Openers after which some models write calls as objects, and others in tags. Some models write both.
const OF_OBJECTS: [&str; 1] = ["<tool_call>"];

/// Finds how calls are written.
pub fn find<'a>(renderings: &'a Renderings<'a>, frame: &'a Frame, sketch: &mut Sketch) -> Option<Caller<'a>> {
    let (caller, text, unit) = seen(renderings, frame)?;
    let body = match bodies::describe(&caller, &text, &unit, sketch) {
        Some(body) => body,
        None => {
            sketch.doubt("a call was seen whose form is none that a dialect can say");
            return None;
        }
    };
    let two = caller.text(&[ONE, SECOND]);
    let between = two.as_ref().and_then(|two| {
        let first = bodies::locate(two, &ONE, caller.ids)?;
        let first_end = bodies::end(two, &first, &body);
        let second = bodies::locate(&two[first_end..], &SECOND, caller.ids)?;
        let after = first_end + second.start;
        let end = first_end + bodies::end(&two[first_end..], &second, &body);
        Some((two[first_end..after].to_owned(), two[end..].to_owned()))
    });
    if between.is_none() {
        let why = renderings
            .refusal()
            .filter(|_| two.is_none())
            .map(|why| format!(" (the template: {why})"))
            .unwrap_or_default();
        sketch.doubt(format!("no turn with two calls was seen: each is taken to have its own markers{why}"));
    }
    let before = clean(&text[..unit.start], sketch, caller.content);
    let last = &text[bodies::end(&text, &unit, &body)..];
    // Some templates write the closer only in turns with two calls.
    let after = between.as_ref().map_or(last, |(_, after)| after);
    let between = between.as_ref().map(|(between, _)| between.as_str());
    let after = frame.end_in(after).map_or(after, |at| &after[..at]);
    let (mut region, ends) = region(before, after, between, body, frame);
    sketch.ends.extend(ends);
    adapt(&mut region, sketch);
    let is_apart = !region.begin.is_empty() && region.begin != region.open;
    sketch.writes_objects = matches!(region.body, Body::Tags { .. }) && is_apart && OF_OBJECTS.contains(&&*region.open);
    if frame.end_in(last).is_none() {
        sketch.ends.extend(end_after_call(&caller, &region));
    }
    if region.open.is_empty() && !matches!(region.body, Body::Object { .. } | Body::Literal { .. }) {
        sketch
            .doubt("nothing comes before a call: it cannot be distinguished from the answer, and is left in the text");
        return None;
    }
    sketch.calls = Some(region);
    Some(caller)
}

/// Returns the marker after a call if the turn has no end token: the marker begins the tool's turn, and ends the model's turn.
fn end_after_call(caller: &Caller<'_>, region: &Region) -> Option<String> {
    let turn = Turn { after: After::Result, ..caller.turn(&[ONE]) };
    let text = caller.renderings.turn(&turn, &caller.settings)?;
    let text = caller.frame.turn_of(&text);
    let unit = bodies::locate(text, &ONE, caller.ids)?;
    let mut rest = text[bodies::end(text, &unit, &region.body)..].trim_start_matches([']', ' ', '\n']);
    for marker in region.skip.iter().chain([&region.end, &region.close]) {
        rest = rest.strip_prefix(marker.as_str()).unwrap_or(rest).trim_start();
    }
    leading_marker(rest).map(str::to_owned)
}

/// Looks for a turn that shows a call with its arguments unchanged.
fn seen<'a>(renderings: &'a Renderings<'a>, frame: &'a Frame) -> Option<(Caller<'a>, String, bodies::Unit)> {
    let plain = frame.plain();
    let with_tools = plain.clone().into_iter().chain(with_tools()).collect();
    let on = &frame.variants[1.min(frame.variants.len() - 1)].settings;
    let mut with_list = plain.clone();
    with_list.insert("tools".to_owned(), Value::from(Vec::<Value>::new()));
    for settings in [plain.clone(), on.clone(), with_tools, with_list] {
        for content in [Content::Empty, Content::Null, Content::Answer] {
            for ids in [Ids::Letters, Ids::Names, Ids::Long] {
                for form in [Form::Object, Form::Text] {
                    let caller = Caller { renderings, frame, settings: settings.clone(), content, form, ids };
                    let Some(text) = caller.text(&[ONE]) else { continue };
                    if let Some(unit) = bodies::locate(&text, &ONE, ids) {
                        return Some((caller, text, unit));
                    }
                }
            }
        }
    }
    None
}

/// Returns the part of the text before a call that belongs to the call: the text after closed thinking, and after an answer.
fn clean<'t>(before: &'t str, sketch: &Sketch, content: Content) -> &'t str {
    let mut text = before;
    let closers = sketch.thinking.iter().map(|thinking| thinking.close.as_str());
    let closers = closers.chain(sketch.wrapper.iter().map(|[_, close]| close.as_str()));
    for closer in closers.chain((content == Content::Answer).then_some(ANSWER)) {
        text = text.rfind(closer).map_or(text, |at| &text[at + closer.len()..]);
    }
    let openers = sketch.thinking.iter().map(|thinking| thinking.open.as_str());
    for opener in openers {
        text = text.trim_start().strip_prefix(opener).unwrap_or(text);
    }
    text.trim_start()
}

/// Splits the texts around calls into the text around all of them and the text around each. Also returns the marker that ends a
/// turn after calls, if it differs from the usual marker.
fn region(before: &str, after: &str, between: Option<&str>, body: Body, frame: &Frame) -> (Region, Option<String>) {
    let takes_brackets = matches!(body, Body::Object { .. } | Body::Literal { list: true, .. });
    let open = |text: &str| {
        let trimmed = text.trim();
        if takes_brackets {
            return trimmed.trim_end_matches(['[', ' ', '\n', '\t']).to_owned();
        }
        // If the text ends with a word, the blanks between that word and the name are part of the marker.
        let is_part = trimmed.ends_with(|char: char| char.is_alphanumeric());
        if is_part { text.trim_start().to_owned() } else { trimmed.to_owned() }
    };
    let close = |text: &str| {
        let text = text.trim();
        if takes_brackets { text.trim_start_matches([']', ' ', '\n', '\t']).to_owned() } else { text.to_owned() }
    };
    let mut region = Region { body, is_seen: true, ..Region::default() };
    let is_apart = between.is_none_or(|between| {
        let start = before.trim();
        !start.is_empty() && between.trim_end().ends_with(start)
    });
    if is_apart {
        region.is_apart = true;
        let (opener, begin) = split_opener(&open(before), &region.body, frame);
        (region.open, region.begin) = (opener, begin);
        // Text that follows only the last call ends the turn.
        let shared = between.map_or(after.len(), |between| before_marker(after, shared_start(after, between)));
        let close = close(&after[..shared]);
        let list = markers(&close);
        let is_split = !region.begin.is_empty() && region.begin != region.open;
        match list.last() {
            Some(last) if is_split && list.len() > 1 && last.start > 0 => {
                close[..last.start].trim().clone_into(&mut region.end);
                close[last.start..].clone_into(&mut region.close);
            }
            _ => region.close = close,
        }
        return (region, leading_marker(&after[shared..]).map(str::to_owned));
    }
    let between = between.unwrap_or_default();
    let shared = before.len() - shared_end(before, between);
    let at = first_marker(before, shared).unwrap_or(before.len());
    region.open = open(&before[..at]);
    region.begin = open(&before[at..]);
    let shared = shared_start(after, between);
    let at = before_marker(after, shared).min(before_marker(between, shared));
    let end = after[..at].trim_end_matches(['[', ']', ',', ' ', '\n']);
    region.end = if takes_brackets { close(end) } else { end.trim().to_owned() };
    region.close = close(&after[end.len()..]);
    (region, None)
}

/// Returns the first place from `from` on where a marker begins, or the part of a marker before a name.
fn first_marker(text: &str, from: usize) -> Option<usize> {
    text[from..].char_indices().map(|(at, _)| from + at).find(|&at| begins_marker(text, at))
}

/// Splits the text before a call into the opener of the region and the beginning of the call.
fn split_opener(text: &str, body: &Body, frame: &Frame) -> (String, String) {
    let is_object = matches!(body, Body::Object { .. });
    let whole = || (text.to_owned(), if is_object { String::new() } else { text.to_owned() });
    let Some(len) = marker(text) else { return whole() };
    let rest = text[len..].trim_start();
    if rest.is_empty() {
        return (text.to_owned(), String::new());
    }
    // A marker that ends turns, or is part of the role line, is not an opener by itself.
    let first = &text[..len];
    let is_common = frame.ends.iter().any(|end| end == first) || frame.role.contains(first);
    if is_common || marker(rest).is_none() && !rest.starts_with('<') && !markers(rest).is_empty() {
        return (text.to_owned(), String::new());
    }
    (first.to_owned(), rest.to_owned())
}

/// Moves texts of the region to those keys of the dialect file that its kind of body allows.
fn adapt(region: &mut Region, sketch: &mut Sketch) {
    if matches!(region.body, Body::Object { .. } | Body::Literal { .. }) && !region.end.is_empty() {
        region.skip.push(std::mem::take(&mut region.end));
    }
    if let Body::Json { head } | Body::Tags { head, .. } = &mut region.body {
        // If the head is an id, the text between the last marker and the name is a prefix.
        let begin = if region.begin.is_empty() { &mut region.open } else { &mut region.begin };
        if head.id == Id::Head {
            let last = markers(begin).last().map_or(0, |last| last.end);
            begin[last..].trim().clone_into(&mut head.prefix);
            begin.truncate(last);
        }
    }
    // If nothing closes a region, its opener also begins the next call.
    if region.close.is_empty() && region.begin.is_empty() && !region.open.is_empty() && region.is_apart {
        region.begin.clone_from(&region.open);
    }
    if region.close.is_empty() && region.end.is_empty() && region.skip.is_empty() {
        sketch.doubt("nothing comes after a call: it ends with its arguments, or with the text");
    }
}
