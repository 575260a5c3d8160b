//! Halves of surrogate pairs in an agent's event. If a program has cut a text inside a character, JSON can have `\ud83d` alone,
//! but a string of Rust cannot. So the hook replaces each half by a private character, and in its answer by the escape again.

use std::borrow::Cow;

const FIRST: u32 = 0xD800;
const LOW: u32 = 0xDC00;
const COUNT: u32 = 0x800;
/// The first private character of each group. Each has three bytes, like an encoded half. The first group of which the event has
/// no character is used.
const BASES: [u32; 3] = [0xE000, 0xE800, 0xF000];

/// The group of characters that replace halves; `None` if there are no halves.
pub struct Halves(Option<u32>);

impl Halves {
    /// Returns the event with characters in place of halves, or `None` if the event has characters of all groups.
    pub fn hide(event: &str) -> Option<(Cow<'_, str>, Halves)> {
        let lone = lone(event);
        if lone.is_empty() {
            return Some((event.into(), Halves(None)));
        }
        let used = |base: u32| {
            event.chars().any(|character| is_in(base, character as u32))
                || codes(event).any(|(_, code)| is_in(base, code))
        };
        let base = BASES.into_iter().find(|&base| !used(base))?;
        let (mut text, mut done) = (String::with_capacity(event.len()), 0);
        for (at, code) in lone {
            text.push_str(&event[done..at]);
            text.extend(char::from_u32(base + code - FIRST));
            done = at + ESCAPE;
        }
        text.push_str(&event[done..]);
        Some((text.into(), Halves(Some(base))))
    }

    /// Returns the JSON with escapes in place of the characters that replaced halves.
    pub fn show(&self, json: String) -> String {
        let Some(base) = self.0 else { return json };
        let shown = |character: char| match is_in(base, character as u32) {
            true => format!("\\u{:04x}", character as u32 - base + FIRST),
            false => character.to_string(),
        };
        json.chars().map(shown).collect()
    }

    /// Returns a text as bytes, in which each half is encoded like a character of three bytes.
    pub fn bytes<'a>(&self, text: &'a str) -> Cow<'a, [u8]> {
        let Some(base) = self.0 else { return text.as_bytes().into() };
        let mut bytes = Vec::with_capacity(text.len());
        for character in text.chars() {
            let code = character as u32;
            if is_in(base, code) {
                let half = code - base + FIRST;
                bytes.extend([0xED, 0x80 | (half >> 6 & 0x3F) as u8, 0x80 | (half & 0x3F) as u8]);
            } else {
                bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
            }
        }
        bytes.into()
    }
}

/// The length of `\ud83d`.
const ESCAPE: usize = 6;

fn is_in(base: u32, code: u32) -> bool {
    (base..base + COUNT).contains(&code)
}

/// Returns the positions of the `\u` escapes in a JSON text, and their codes.
fn codes(text: &str) -> impl Iterator<Item = (usize, u32)> {
    let mut next = 0;
    let backslashes = text.match_indices('\\').filter(move |&(at, _)| {
        let is_escape = at >= next;
        next = if is_escape { at + 2 } else { next };
        is_escape
    });
    backslashes.filter_map(|(at, _)| {
        let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
        Some((at, u32::from_str_radix(digits, 16).ok()?))
    })
}

/// Returns the escapes that are halves without their other half.
fn lone(text: &str) -> Vec<(usize, u32)> {
    let mut lone: Vec<(usize, u32)> = Vec::new();
    for (at, code) in codes(text).filter(|&(_, code)| is_in(FIRST, code)) {
        let completes = |&mut (first, high): &mut (usize, u32)| high < LOW && first + ESCAPE == at && code >= LOW;
        if lone.pop_if(completes).is_none() {
            lone.push((at, code));
        }
    }
    lone
}

#[cfg(test)]
mod tests {
    use super::Halves;

    #[test]
    fn halves_come_back() {
        for event in [
            r#"{"a": "x\ud83dy\udc00\ud83d\ude00\\ud83d\ud83d\ud83d\ude00"}"#,
            r#"{"a": "\ue000\ud800"}"#,
            r#"{"a": "plain \ud83d\ude00"}"#,
        ] {
            let (hidden, halves) = Halves::hide(event).unwrap();
            let value: serde_json::Value = serde_json::from_str(&hidden).unwrap();
            let shown = halves.show(value.to_string());
            let plain =
                |text: &str| text.replace(r"\ud83d\ude00", "😀").replace(r"\ue000", "\u{e000}").replace("\": ", "\":");
            assert_eq!(shown, plain(event));
        }
        let (_, halves) = Halves::hide(r#""\ud83d""#).unwrap();
        assert_eq!(halves.bytes("a\u{e03d}é").as_ref(), b"a\xed\xa0\xbd\xc3\xa9");
        assert!(Halves::hide("\"\\ud83d\u{e000}\u{e800}\u{f000}\"").is_none());
    }
}
