//! Reads the header of a GGUF file: its template, the names of its tokens, and which tokens are special. A header may be hostile,
//! and gigabytes follow it, so it is read once, up to a limit, and entries that are not needed are skipped.

use std::io::{self, Read};

use super::ChatTemplate;

/// The maximum number of bytes of a header that are read; real ones have up to 20 MB, of which most are the vocabulary.
const MOST: u64 = 128 << 20;
/// The longest key, and the longest other text, in bytes.
const LONGEST_KEY: u64 = 1 << 16;
const LONGEST_TEXT: u64 = 1 << 20;
/// The maximum number of entries of a header, and of tokens of a vocabulary.
const MOST_ENTRIES: u64 = 1 << 16;
const MOST_TOKENS: u64 = 4 << 20;
/// The kinds of tokens that are not ordinary text: control tokens, and tokens that were added.
const SPECIAL: [u64; 2] = [3, 4];
/// The maximum nesting of lists.
const DEEPEST: usize = 4;

const STRING: u64 = 8;
const LIST: u64 = 9;

pub struct Header<R> {
    source: io::Take<R>,
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

impl<R: Read> Header<R> {
    /// Reads the header of a file from its first byte on. The file must begin with `GGUF`.
    pub fn read(source: R) -> io::Result<ChatTemplate> {
        let mut header = Header { source: source.take(MOST) };
        if header.bytes(4)? != b"GGUF" {
            return Err(invalid("it does not begin as a GGUF file does"));
        }
        let version = header.number(4)?;
        if !(2..=3).contains(&version) {
            return Err(invalid("only versions 2 and 3 of GGUF are read"));
        }
        let _tensors = header.number(8)?;
        let entries = header.number(8)?;
        if entries > MOST_ENTRIES {
            return Err(invalid("it has more entries than a header has"));
        }
        let mut template = ChatTemplate::default();
        let (mut tokens, mut kinds) = (Vec::new(), Vec::new());
        let mut ends = [None; 2];
        for _ in 0..entries {
            let key = header.text(LONGEST_KEY)?;
            let kind = header.number(4)?;
            match (key.as_str(), kind) {
                ("tokenizer.chat_template", STRING) => template.text = header.text(LONGEST_TEXT)?,
                ("general.name", STRING) => template.name = Some(header.text(LONGEST_TEXT)?),
                ("tokenizer.ggml.tokens", LIST) => tokens = header.list(STRING, |header| header.text(LONGEST_KEY))?,
                ("tokenizer.ggml.token_type", LIST) => kinds = header.list(5, |header| header.number(4))?,
                ("tokenizer.ggml.bos_token_id", 4) => ends[0] = Some(header.number(4)?),
                ("tokenizer.ggml.eos_token_id", 4) => ends[1] = Some(header.number(4)?),
                _ => header.skip(kind, 0)?,
            }
        }
        if template.text.is_empty() {
            return Err(invalid("its header has no `tokenizer.chat_template`"));
        }
        let token = |id: Option<u64>| tokens.get(usize::try_from(id?).ok()?).cloned();
        (template.begin_of_text, template.end_of_text) = (token(ends[0]), token(ends[1]));
        let special = tokens.iter().zip(&kinds).filter(|(_, kind)| SPECIAL.contains(kind));
        template.special = special.map(|(token, _)| token.clone()).collect();
        let name = template.name.take().unwrap_or_default();
        Ok(template.named(&name))
    }

    fn bytes(&mut self, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.source.by_ref().take(len).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == len {
            Ok(bytes)
        } else {
            Err(invalid("it ends inside its header, or the header is too long"))
        }
    }

    fn number(&mut self, len: usize) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.source
            .read_exact(&mut bytes[..len])
            .map_err(|_| invalid("it ends inside its header, or the header is too long"))?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn text(&mut self, longest: u64) -> io::Result<String> {
        let len = self.number(8)?;
        if len > longest {
            return Err(invalid("a text of its header is too long"));
        }
        Ok(String::from_utf8_lossy(&self.bytes(len)?).into_owned())
    }

    fn list<T>(&mut self, kind: u64, mut one: impl FnMut(&mut Self) -> io::Result<T>) -> io::Result<Vec<T>> {
        if self.number(4)? != kind {
            return Err(invalid("a list of its vocabulary has entries of another kind"));
        }
        let len = self.number(8)?;
        if len > MOST_TOKENS {
            return Err(invalid("its vocabulary has more tokens than any has"));
        }
        let mut list = Vec::new();
        for _ in 0..len {
            list.push(one(self)?);
        }
        Ok(list)
    }

    fn skip(&mut self, kind: u64, depth: usize) -> io::Result<()> {
        let len = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            STRING => self.number(8)?,
            LIST if depth < DEEPEST => {
                let (kind, count) = (self.number(4)?, self.number(8)?);
                for _ in 0..count {
                    self.skip(kind, depth + 1)?;
                }
                return Ok(());
            }
            _ => return Err(invalid("a value of its header is of an unknown kind")),
        };
        let skipped = io::copy(&mut self.source.by_ref().take(len), &mut io::sink())?;
        if skipped == len { Ok(()) } else { Err(invalid("it ends inside its header, or the header is too long")) }
    }
}
