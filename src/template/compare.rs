//! Compares a dialect with a template: reads the turns that the template writes with the dialect, and reports text that the dialect
//! does not recognise. A template shows the tokens that its model writes, so no recording is needed.

use super::Reason;
use super::UnknownTemplate;
use super::render::{ANSWER, CALLED, Rendered, THOUGHT};
use super::said::{self, Said, shared_start};
use crate::Dialect;

impl Dialect {
    /// Renders a chat template, reads the model's turns in it with this dialect, and returns a line for each difference. The list
    /// is empty if the dialect reads the turns as expected. For authors of dialects.
    ///
    /// A turn has a thought and an answer, or a call. Differences are: unknown end tokens, framing and markers, which stay in the
    /// answer or the thought; and a call that the dialect does not report, or reports with different arguments.
    ///
    /// ```
    /// use aside::Dialect;
    ///
    /// let template = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|end|>{% endfor %}\
    ///                 {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    /// let differences = Dialect::find("qwen3")?.compare_with_template(template)?;
    /// assert_eq!(differences, ["after the answer, `<|end|>` stays in the content"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UnknownTemplate`] if the template cannot be rendered; the message says why.
    pub fn compare_with_template(&self, template: &str) -> Result<Vec<String>, UnknownTemplate> {
        let rendered = Rendered::with(template, "").map_err(|why| UnknownTemplate(Reason::Variables(why)))?;
        let mut differences = Vec::new();
        if let Some(answer) = &rendered.answer {
            let said = self.read_turn(&rendered, answer);
            let has_thought = answer.contains(THOUGHT);
            compare("thought", "thinking", if has_thought { THOUGHT } else { "" }, &said.thinking, &mut differences);
            compare("answer", "content", ANSWER, &said.content, &mut differences);
        }
        if let Some(call) = &rendered.call {
            let said = self.read_turn(&rendered, call);
            if !is_the_call(&said) {
                let calls: Vec<_> = said.calls.iter().map(|call| (&call.name, &call.arguments)).collect();
                differences.push(format!("of a turn with a call, these calls are read: {calls:?}"));
            }
            let left = said.content.trim();
            if !left.is_empty() {
                differences.push(format!("around a call, `{left}` stays in the content"));
            }
        }
        Ok(differences)
    }

    /// Returns whether the dialect reads the call in a turn of the model, and no other text as a call.
    pub(super) fn reads_call(&self, rendered: &Rendered, turn: &str) -> bool {
        is_the_call(&self.read_turn(rendered, turn))
    }

    /// Reads a turn of the model, without the beginning that is in the prompt.
    fn read_turn(&self, rendered: &Rendered, turn: &str) -> Said {
        let shared = rendered.prompts().map(|prompt| shared_start(prompt, turn));
        let (prompt, turn) = turn.split_at(shared.into_iter().max().unwrap_or(0));
        let mut said = said::read(self, None, Some(prompt), turn).unwrap_or_default();
        for call in &mut said.calls {
            call.arguments.retain(|byte| !byte.is_ascii_whitespace());
        }
        said
    }
}

/// The arguments of the call in a turn, without white space.
const ARGUMENTS: &str = r#"{"city":"aside"}"#;

/// Returns whether a turn has one call, with the name and arguments that were rendered.
fn is_the_call(said: &Said) -> bool {
    matches!(&said.calls[..], [call] if call.name == CALLED && call.arguments == ARGUMENTS)
}

/// Compares a text with the text that was read. White space at the end of the content is ignored: it may follow the answer's end
/// token, and is then not the model's.
fn compare(what: &str, channel: &str, wanted: &str, read: &str, differences: &mut Vec<String>) {
    let Some(at) = read.find(wanted) else {
        return differences.push(format!("the {channel} is {read:?}, without the {what}"));
    };
    let (before, after) = (&read[..at], &read[at + wanted.len()..]);
    let after = if channel == "content" { after.trim_end() } else { after };
    if wanted.is_empty() && !read.trim().is_empty() {
        return differences.push(format!("the {channel} is {read:?}, and there is no {what}"));
    }
    for (place, left) in [("before", before), ("after", after)] {
        if !left.is_empty() && !wanted.is_empty() {
            differences.push(format!("{place} the {what}, `{}` stays in the {channel}", left.escape_debug()));
        }
    }
}
