//! The counts that are printed on standard error at the end.

use aside::{Cause, Channel, Event, Kind, Scanner};

/// The numbers of the summary, in addition to the scanner's counts.
#[derive(Default)]
pub struct Summary {
    markers: u64,
    last: Option<(Channel, Cause)>,
}

impl Summary {
    pub fn add(&mut self, event: &Event<'_>) {
        if event.kind != Kind::Text {
            self.markers += event.bytes.len() as u64;
        }
        if let Kind::Close(cause) = event.kind {
            self.last = Some((event.channel, cause));
        }
    }

    pub fn text(&self, scanner: &Scanner) -> String {
        let total = self.markers + Channel::ALL.iter().map(|channel| scanner.counts(*channel).bytes).sum::<u64>();
        let dialect = scanner.dialect().name();
        let mut text = format!("-- {dialect}, {total} bytes:\n             spans    bytes  characters\n");
        for channel in [Channel::Thinking, Channel::Content, Channel::Narration, Channel::Tool] {
            let counts = scanner.counts(channel);
            if counts.spans + counts.bytes > 0 {
                let (spans, bytes, characters) = (counts.spans, counts.bytes, counts.characters);
                text += &format!("   {:9} {spans:>5} {bytes:>8} {characters:>11}\n", channel.as_str());
            }
        }
        text += &format!("   markers         {:>8}\n", self.markers);
        text += &match self.last {
            None => "   no span\n".to_owned(),
            Some((channel, cause)) => {
                let how = match cause {
                    Cause::Marker => "ended by its marker",
                    Cause::Implied => "ended by what follows it",
                    Cause::EndOfStream => "cut off by the end of the stream",
                    Cause::Forced => "closed by the host",
                    Cause::Malformed => "broken off",
                    other => other.as_str(),
                };
                format!("   last span: {}, {how}\n", channel.as_str())
            }
        };
        text
    }
}
