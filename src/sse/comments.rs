//! Removes the comments of an event stream, for clients that fail on them. Servers send comments to keep a connection open
//! while the model writes nothing. For a host that needs events to keep it open, each comment becomes an empty event.

use std::mem;

use memchr::memchr2;

use super::choices::{Head, Layout, write_empty};
use super::event::{EventPart, split_mark};
use super::format::Format;
use super::options::{Comments, Formats, Options};
use crate::memory::{self, TryBox, append};

/// An empty event of Messages, which may be anywhere in a stream.
const PING: &[u8] = b"event: ping\ndata: {\"type\": \"ping\"}\n\n";

/// Empty chunks for comments before the server's first chunk, when its id and model are not known yet.
const FIRST_CHAT: &[u8] = b"data: {\"id\":\"\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"\",\
    \"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":null}]}\n\n";
const FIRST_COMPLETION: &[u8] = b"data: {\"id\":\"\",\"object\":\"text_completion\",\"created\":0,\"model\":\"\",\
    \"choices\":[{\"index\":0,\"text\":\"\",\"logprobs\":null,\"finish_reason\":null}]}\n\n";

/// Takes out comments, and writes empty events for them if the host wants that.
pub struct Silencer {
    comments: Comments,
    formats: Formats,
    /// The format of the stream, once an event has shown it.
    format: Option<Format>,
    /// Whether the last event has ended the stream.
    is_over: bool,
    /// Whether the last bytes were only a comment, so that the blank line after the comment is left out too.
    is_after_comment: bool,
    head: Head,
    /// A buffer for an event without its comments.
    rest: Vec<u8>,
}

impl Silencer {
    pub fn new(options: &Options) -> memory::Result<TryBox<Silencer>> {
        match options.comments {
            Comments::Keep => Ok(TryBox::NONE),
            comments => TryBox::new(Silencer::of(comments, options.formats)),
        }
    }

    fn of(comments: Comments, formats: Formats) -> Silencer {
        let format = match formats {
            Formats::CHAT => Some(Format::Chat),
            Formats::COMPLETIONS => Some(Format::Completions),
            Formats::MESSAGES => Some(Format::Messages),
            _ => None,
        };
        Silencer {
            comments,
            formats,
            format,
            is_over: false,
            is_after_comment: false,
            head: Head::new(Layout::CHAT),
            rest: Vec::new(),
        }
    }

    pub fn begin_stream(&mut self) {
        *self = Silencer::of(self.comments, self.formats);
    }

    /// Returns an event without its comments, and the number of comments, or `None` if there are none. `is_first` means that the event
    /// begins a stream.
    pub fn take_out(&mut self, raw: &[u8], is_first: bool) -> memory::Result<Option<(Vec<u8>, usize)>> {
        let (mark, lines) = split_mark(raw, is_first);
        let is_blank = lines.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        if self.is_after_comment && is_blank {
            return Ok(Some((mem::take(&mut self.rest), 0)));
        }
        self.is_after_comment = false;
        let mut rest = mem::take(&mut self.rest);
        append(&mut rest, mark)?;
        let (mut at, mut count) = (0, 0);
        while at < lines.len() {
            let end = memchr2(b'\r', b'\n', &lines[at..]).map_or(lines.len(), |len| at + len + 1);
            let end = if lines[at..end].ends_with(b"\r") && lines.get(end) == Some(&b'\n') { end + 1 } else { end };
            if lines[at] == b':' {
                count += 1;
            } else {
                append(&mut rest, &lines[at..end])?;
            }
            at = end;
        }
        self.is_after_comment = count > 0 && rest.len() == mark.len();
        if count > 0 {
            return Ok(Some((rest, count)));
        }
        self.keep(rest);
        Ok(None)
    }

    /// Takes back the buffer that `take_out` has returned, and writes the empty events for the comments, except in Responses, which
    /// has no empty event, and in unknown formats.
    pub fn put_back(&mut self, rest: Vec<u8>, comments: usize, out: &mut Vec<u8>) -> memory::Result<()> {
        self.keep(rest);
        if self.comments != Comments::Chunk || self.is_over {
            return Ok(());
        }
        (0..comments).try_for_each(|_| match self.format {
            Some(Format::Messages) => append(out, PING),
            Some(Format::Chat) if self.head.is_empty() => append(out, FIRST_CHAT),
            Some(Format::Completions) if self.head.is_empty() => append(out, FIRST_COMPLETION),
            Some(Format::Chat | Format::Completions) => write_empty(&self.head, out),
            _ => Ok(()),
        })
    }

    /// Keeps a buffer for the next event.
    fn keep(&mut self, mut rest: Vec<u8>) {
        memory::clear(&mut rest);
        self.rest = rest;
    }

    /// Notes an event of the stream: empty events are written in its format. `is_over` means that no text follows the event.
    pub fn note(&mut self, format: Option<Format>, event: &EventPart<'_>, is_over: bool) -> memory::Result<()> {
        if self.comments != Comments::Chunk || event.data().is_empty() {
            return Ok(());
        }
        self.is_over = is_over;
        if let Some(layout) = format.and_then(Layout::of) {
            self.head.keep(event, layout, None)?;
        }
        if matches!(format, Some(Format::Chat | Format::Completions | Format::Messages | Format::Responses)) {
            self.format = format;
        }
        Ok(())
    }
}
