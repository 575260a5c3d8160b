//! Splits texts that the server repeats.

use super::annotations::Stretches;
use super::calls::prefix;
use super::message::{Digest, TextConfig, TextPart, extract};
use crate::answer::{Input, Parts, Setup, Stats, Target};
use crate::memory;
use crate::{Channel, Error, Kind};

/// Returns the content of a whole text that contradicts the deltas of its part, or `None` if the text has thinking or calls that were
/// not sent: an event that repeats a text has no place for them. The text is counted.
pub fn content_of(setup: &mut Setup, id: &[u8], part: &TextPart, said: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let stats = setup.stats;
    let (mut text, mut parts) = (part.config.start(setup)?, Parts::default());
    setup.look_for_calls(&mut text, || prefix(id, part.config.number), false)?;
    setup.scan(&mut text, Input::Feed(said), &mut parts)?;
    setup.scan(&mut text, Input::Finish, &mut parts)?;
    // The text was counted when it arrived in pieces.
    setup.stats = Stats { contradicted: stats.contradicted + 1, ..stats };
    let mut extracted = Digest::default();
    extract(&parts, &mut extracted);
    let is_known = extracted.is_empty() || extracted == part.extracted;
    if is_known { Ok(Some(content(&parts)?)) } else { Ok(None) }
}

/// Returns the content of a split text.
pub fn content(parts: &Parts) -> memory::Result<Vec<u8>> {
    let mut content = Vec::new();
    let runs = parts.runs().iter().filter(|run| run.target() == Target::Content);
    runs.map(|run| parts.text_of(run)).try_for_each(|text| memory::append(&mut content, text))?;
    Ok(content)
}

/// Returns the ranges of the content in a text of `len` characters.
pub fn content_stretches(setup: &Setup, config: TextConfig, said: &[u8], chars: u64) -> Result<Vec<(u64, u64)>, Error> {
    for has_calls in [true, false] {
        let mut scanner = config.start(setup)?.scanner;
        let (mut found, mut taken) = (Stretches::default(), Ok(()));
        let mut take = |event: crate::Event<'_>| {
            let is_content = match event.channel {
                Channel::Content | Channel::Narration => event.kind == Kind::Text,
                Channel::Tool => has_calls,
                _ => false,
            };
            if taken.is_ok() {
                taken = found.add(event.bytes, is_content);
            }
        };
        scanner.feed(said, &mut take)?;
        scanner.finish(&mut take)?;
        taken?;
        if found.list.iter().map(|(_, len)| len).sum::<u64>() == chars {
            return Ok(found.list);
        }
    }
    Ok(Vec::new())
}
