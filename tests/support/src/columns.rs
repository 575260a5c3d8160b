//! Collects the thinking and the content of a text that is fed whole and byte by byte, as a host does that needs only these two.

use aside::{Channel, Dialect, Event, Kind, Scanner, ScannerOptions};

/// The thinking and the content of a text.
pub type Split = (String, String);

#[derive(Default)]
pub struct Columns([Vec<u8>; 2]);

impl Columns {
    /// Adds the next event.
    pub fn hear(&mut self, event: &Event<'_>) {
        let [thinking, content] = &mut self.0;
        match (&event.kind, event.channel) {
            (Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
            (Kind::Text, Channel::Content) => content.extend_from_slice(event.bytes),
            (Kind::Reclassify, _) => thinking.append(content),
            _ => {}
        }
    }

    pub fn split(self) -> Split {
        let [thinking, content] = self.0.map(|column| String::from_utf8(column).unwrap());
        (thinking, content)
    }
}

/// Returns the thinking and the content of a text that is fed in chunks of `size` bytes.
pub fn split_by(scanner: &mut Scanner, text: &str, size: usize) -> Split {
    let mut columns = Columns::default();
    for chunk in text.as_bytes().chunks(size) {
        scanner.feed(chunk, |event| columns.hear(&event)).unwrap();
    }
    scanner.finish(|event| columns.hear(&event)).unwrap();
    columns.split()
}

/// Returns the thinking and the content of a text, with these options, and checks that they are the same byte by byte.
pub fn split_with(dialect: &Dialect, options: &ScannerOptions, text: &str) -> Split {
    let scanner = || Scanner::with_options(dialect, options).unwrap();
    let whole = split_by(&mut scanner(), text, usize::MAX);
    assert_eq!(split_by(&mut scanner(), text, 1), whole, "{text:?} byte by byte");
    whole
}

/// Returns the thinking and the content of a text, with the default options of a dialect.
pub fn split(name: &str, text: &str) -> Split {
    split_with(&Dialect::find(name).unwrap(), &ScannerOptions::new(), text)
}

/// Returns an expected thinking and content.
pub fn pair(thinking: &str, content: &str) -> Split {
    (thinking.into(), content.into())
}
