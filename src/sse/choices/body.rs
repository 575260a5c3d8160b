//! The choices of a body, which is an answer that is not a stream.

use std::mem;

use super::chunk::{self, Break, Choice};
use super::fields::Fields;
use super::layout::{CallForm, Layout};
use super::say::{look_for_calls, say_again};
use super::wrapper::{self, Wrapper};
use super::{ChoiceStream, Choices, TOLD_STOP, tokens};
use crate::answer::{Input, Promotion, Purpose, Setup, Target};
use crate::json::{Edits, Span, decode, write_string};
use crate::memory::{append, append_all};
use crate::sse::protocol::{Context, Scratch};
use crate::{EndReason, Error};

impl Choices {
    /// Notes the changes of a `message` next to the delta of a choice. It has the whole text so far, so it is changed like a
    /// body. Its text was counted in the deltas.
    pub(super) fn message_beside(
        &mut self,
        context: &mut Context<'_>,
        choice: &Choice,
        at: &Span,
        data: &[u8],
    ) -> Result<(), Error> {
        let stream = self.all.iter().find(|stream| Some(stream.index) == choice.index);
        let is_split = |stream: &ChoiceStream| stream.is_split() || stream.text.over && !stream.has_finished;
        if choice.is_split || stream.is_none_or(is_split) {
            return Ok(());
        }
        let message = chunk::read_beside(data, at, self.layout, self.field(), choice);
        let (streams, stats) = (mem::take(&mut self.all), context.setup.stats);
        let done = self.message(context, &message, data);
        (self.all, context.setup.stats) = (streams, stats);
        done
    }

    /// Notes the changes of one choice in a body.
    pub(super) fn message(&mut self, context: &mut Context<'_>, choice: &Choice, raw: &[u8]) -> Result<(), Error> {
        let Context { setup, scratch: Scratch { parts, edits, decoded, .. }, .. } = context;
        let (layout, field) = (self.layout, self.field());
        setup.stats.split_by_server += u64::from(choice.is_split);
        let has_calls = layout.calls != CallForm::Text && setup.has_calls() && choice.breaks != Some(Break::Call);
        let has_ended = choice.finishes && choice.stop.is_some();
        let mut thinking = Vec::new();
        let server = choice.reasoning.clone().filter(|_| setup.reads_behind);
        let unwrapped = match server.clone() {
            Some(at) if Wrapper::new(setup)?.unwrap(setup, raw, &at, true, &mut thinking)? => Some(at),
            _ => None,
        };
        let may_promote = self.promotes.is_empty_wanted && has_ended && choice.breaks.is_none();
        let may_answer = self.promotes.is_guess_wanted && has_ended;
        if may_promote && choice.is_split && !choice.answers {
            let mut said = Vec::new();
            match (unwrapped, &choice.reasoning) {
                (Some(at), _) => {
                    write_string(&thinking, &mut said)?;
                    wrapper::put(&thinking, at, edits)?;
                }
                (None, Some(at)) => append(&mut said, &raw[at.clone()])?,
                (None, None) => return Ok(()),
            }
            return promote_body(setup, choice, &said, layout, edits);
        }
        let is_read = !choice.is_split || has_calls || setup.reads_behind;
        // A marker of the thinking that the server left in the content is at its very beginning.
        let may_be_left = |content: &Span| match &raw[content.start..content.end] {
            [b'"', first, ..] => !first.is_ascii_alphanumeric(),
            _ => false,
        };
        let Some(content) = choice.content.as_ref().filter(|it| is_read || may_be_left(&it.value)) else {
            return Ok(unwrapped.map_or(Ok(()), |at| wrapper::put(&thinking, at, edits))?);
        };
        let said = decode(&raw[content.value.clone()], decoded)?;
        let stream = self.first(setup)?;
        let text = &mut stream.text;
        text.begin();
        if choice.is_split {
            setup.split(text, true)?;
        }
        setup.rewind(&mut text.scanner)?;
        if has_calls {
            look_for_calls(setup, text, layout, raw, choice.index.unwrap_or(0), true)?;
        }
        parts.begin(Purpose::Body);
        // Thinking of the content joins that of the server, in the same field.
        if server.is_some() && choice.field == server {
            parts.push_thinking(&thinking)?;
        }
        let given = parts.counts().thinking;
        setup.scan(text, Input::Feed(said), parts)?;
        if has_ended {
            text.end_reason = EndReason::Ended;
        }
        setup.scan(text, Input::Finish, parts)?;
        text.over = true;
        if may_answer && text.was_answer {
            setup.answer(parts);
        }

        if may_promote && !parts.has(Target::Content) && !parts.has(Target::Calls) {
            let mut promotion = Promotion::of_text(raw.len());
            promotion.take(parts)?;
            say_again(setup, &promotion, parts)?;
        }
        if let Some(stop) = stream.told_stop(choice, layout)
            && edits.list.iter().all(|(at, _)| *at != stop)
        {
            edits.replace(stop, |out| append(out, TOLD_STOP))?;
        }
        let joins = given > 0 && parts.counts().thinking > given;
        if let Some(at) = unwrapped.filter(|_| !joins) {
            wrapper::put(&thinking, at, edits)?;
        }
        let runs = if given > 0 && !joins { &parts.runs()[1..] } else { parts.runs() };
        if runs.iter().all(|run| run.target() == Target::Content) && parts.text()[given as usize..] == *said {
            return Ok(());
        }
        if let Some(tokens) = &choice.tokens {
            tokens::note(raw, tokens, said, parts, runs, edits)?;
        }
        Fields { layout, field, data: raw, choice, content, parts, runs, is_body: true }.note(edits)?;
        Ok(())
    }
}

/// Notes that the thinking `value`, which the server has split off, is also written as the body's content.
fn promote_body(
    setup: &mut Setup,
    choice: &Choice,
    value: &[u8],
    layout: &Layout,
    edits: &mut Edits,
) -> Result<(), Error> {
    let Some(reasoning) = &choice.reasoning else { return Ok(()) };
    setup.stats.content_bytes += decode(value, &mut Vec::new())?.len() as u64;
    Ok(match choice.content.as_ref().map(|content| &content.value).or(choice.no_content.as_ref()) {
        Some(content) => edits.replace(content.clone(), |out| append(out, value)),
        None => edits.replace(reasoning.end..reasoning.end, |out| {
            append_all(out, &[b",\"", layout.text.as_bytes(), b"\":", value])
        }),
    }?)
}
