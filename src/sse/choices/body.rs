//! The choices of a body, of an answer that is not a stream.

use super::chunk::{Choice, Part};
use super::fields::Fields;
use super::layout::{CallForm, Layout};
use super::say::{look_for_calls, say_again};
use super::{Choices, TOLD_STOP};
use crate::json::{Edits, decode};
use crate::memory::{TryBox, append, append_all};
use crate::sse::promotion::Promotion;
use crate::sse::protocol::{Context, Scratch};
use crate::sse::text::{Input, Setup, Target};
use crate::{EndReason, Error};

impl Choices {
    /// Notes the changes of one choice in a body.
    pub(super) fn message(&mut self, context: &mut Context<'_>, choice: &Choice, raw: &[u8]) -> Result<(), Error> {
        let Context { setup, scratch: Scratch { parts, edits, decoded, .. }, .. } = context;
        let (layout, field) = (self.layout, self.field());
        setup.stats.split_by_server += u64::from(choice.is_split);
        let has_calls = layout.calls != CallForm::Text && setup.has_calls() && choice.part != Some(Part::Call);
        let has_ended = choice.finishes && choice.stop.is_some();
        let may_promote = self.promotes.is_empty_wanted && has_ended && choice.part.is_none();
        let may_answer = self.promotes.is_guess_wanted && has_ended;
        if may_promote && choice.is_split && !choice.answers {
            return promote_body(setup, choice, raw, layout, edits);
        }
        let is_read = !choice.is_split || has_calls;
        let Some(content) = choice.content.as_ref().filter(|_| is_read) else { return Ok(()) };
        let said = decode(&raw[content.value.clone()], decoded)?;
        let stream = self.first(setup)?;
        let text = &mut stream.text;
        text.begin();
        if choice.is_split {
            text.split = TryBox::new(setup.split_scanner()?)?;
        }
        setup.rewind(&mut text.scanner)?;
        if has_calls {
            look_for_calls(setup, text, layout, raw, choice.index.unwrap_or(0), true)?;
        }
        parts.begin(true);
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
        if let Some(stop) = stream.told_stop(choice, layout) {
            edits.replace(stop, |out| append(out, TOLD_STOP))?;
        }
        if !parts.has(Target::Reasoning) && !parts.has(Target::Calls) && parts.text() == said {
            return Ok(());
        }
        Fields { layout, field, data: raw, choice, content, parts, runs: parts.runs(), is_body: true }.note(edits)?;
        Ok(())
    }
}

/// Notes in a body that the thinking of its server is its content as well.
fn promote_body(
    setup: &mut Setup,
    choice: &Choice,
    raw: &[u8],
    layout: &Layout,
    edits: &mut Edits,
) -> Result<(), Error> {
    let Some(reasoning) = &choice.reasoning else { return Ok(()) };
    let value = &raw[reasoning.clone()];
    setup.stats.content_bytes += decode(value, &mut Vec::new())?.len() as u64;
    Ok(match choice.content.as_ref().map(|content| &content.value).or(choice.no_content.as_ref()) {
        Some(content) => edits.replace(content.clone(), |out| append(out, value)),
        None => edits.replace(reasoning.end..reasoning.end, |out| {
            append_all(out, &[b",\"", layout.text.as_bytes(), b"\":", value])
        }),
    }?)
}
