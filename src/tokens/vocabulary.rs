//! The texts of a tokenizer's tokens. A token is decoded to bytes and not to text, because a character may begin in one token
//! and end in the next. The joined bytes of several tokens are the text that the tokenizer decodes.

use std::sync::OnceLock;

/// The source from which a [`TokenState`](super::TokenState) gets the bytes of tokens: a [`Vocabulary`], or a host's own
/// tokenizer.
///
/// ```
/// use std::sync::Arc;
/// use aside::{Dialect, TokenBytes, TokenState};
///
/// /// Each token is a byte.
/// struct Bytes;
///
/// impl TokenBytes for Bytes {
///     fn read(&self, id: u32, bytes: &mut Vec<u8>) -> Option<bool> {
///         bytes.push(id as u8);
///         None
///     }
/// }
///
/// let mut state = TokenState::new(&Dialect::find("qwen3")?, Arc::new(Bytes), &[], None)?;
/// let ids: Vec<u32> = b"<think>hm</think>".iter().map(|&byte| byte.into()).collect();
/// state.push(&ids, |_, _| ())?;
/// assert!(state.has_ended_thinking());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TokenBytes: Send + Sync {
    /// Appends the bytes of a token, or nothing if the token is unknown. Returns whether the token is special, or `None` if it
    /// is not known which tokens are special: then a marker counts wherever its text occurs. `None` must be returned either for all
    /// tokens or for none.
    fn read(&self, id: u32, bytes: &mut Vec<u8>) -> Option<bool>;
}

impl TokenBytes for Vocabulary {
    fn read(&self, id: u32, bytes: &mut Vec<u8>) -> Option<bool> {
        bytes.extend_from_slice(self.bytes(id));
        (!self.special.is_empty()).then(|| self.special.get(id as usize).copied().unwrap_or(false))
    }
}

/// The bytes of each token of a tokenizer, by its id, and which tokens are special. An id that is not in the vocabulary has no
/// bytes.
///
/// ```
/// use aside::Vocabulary;
///
/// // `<think>` was added to the tokenizer, the others are byte-level: `Ġ` is a blank, `Ã` and `©` the bytes of `é`.
/// let vocabulary = Vocabulary::byte_level([("<think>", true), ("Ġcaf", false), ("Ã", false), ("©", false)]);
/// assert_eq!(vocabulary.decode(&[0, 1, 2, 3]), "<think> café".as_bytes());
/// assert_eq!(vocabulary.bytes(2), b"\xC3");
///
/// // The kind that has a token for each byte: `▁` is a blank.
/// let vocabulary = Vocabulary::byte_fallback([("▁caf", false), ("<0xC3>", false), ("<0xA9>", false)]);
/// assert_eq!(vocabulary.decode(&[0, 1, 2]), " café".as_bytes());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// For each token, the index after its last byte in `bytes`.
    ends: Vec<usize>,
    special: Vec<bool>,
}

impl Vocabulary {
    /// Makes a vocabulary from the bytes of each token, in the order of the ids, and whether the token is special, which means
    /// one of the tokenizer's added tokens. Markers that are special tokens count only as such tokens.
    pub fn new<B: AsRef<[u8]>>(tokens: impl IntoIterator<Item = (B, bool)>) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for (bytes, is_special) in tokens {
            vocabulary.bytes.extend_from_slice(bytes.as_ref());
            vocabulary.ends.push(vocabulary.bytes.len());
            vocabulary.special.push(is_special);
        }
        vocabulary
    }

    /// Makes the vocabulary of a byte-level tokenizer, which writes each byte as a printable character (GPT-2, Llama 3, Qwen).
    /// A special token stays unchanged, and so does any token with a character that does not represent a byte.
    pub fn byte_level<T: AsRef<str>>(tokens: impl IntoIterator<Item = (T, bool)>) -> Vocabulary {
        Vocabulary::decoded(tokens, |token| {
            let table = byte_table();
            token.chars().map(|character| *table.get(character as usize)?).collect()
        })
    }

    /// Makes the vocabulary of a tokenizer that writes blanks as `▁` and has tokens like `<0x0A>` for single bytes
    /// (SentencePiece: Llama 2, Gemma, Mistral). A special token stays unchanged. The blank before the first token of a text, which
    /// such a tokenizer removes, is kept.
    pub fn byte_fallback<T: AsRef<str>>(tokens: impl IntoIterator<Item = (T, bool)>) -> Vocabulary {
        Vocabulary::decoded(tokens, |token| {
            let byte = token.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>')).filter(|hex| hex.len() == 2);
            match byte.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(byte) => Some(vec![byte]),
                None => Some(token.replace('▁', " ").into_bytes()),
            }
        })
    }

    fn decoded<T: AsRef<str>>(
        tokens: impl IntoIterator<Item = (T, bool)>,
        bytes: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Vocabulary {
        Vocabulary::new(tokens.into_iter().map(|(token, is_special)| {
            let token = token.as_ref();
            let decoded = if is_special { None } else { bytes(token) };
            (decoded.unwrap_or_else(|| token.as_bytes().to_vec()), is_special)
        }))
    }

    /// Forgets which tokens are special. A marker then counts wherever its text occurs, as for a host that has only text
    /// ([`Scanner::feed`](crate::Scanner::feed)).
    #[must_use]
    pub fn without_special(mut self) -> Vocabulary {
        self.special.clear();
        self
    }

    /// Returns the number of ids in the vocabulary.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the vocabulary has no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the bytes of a token.
    #[must_use]
    pub fn bytes(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else { return &[] };
        let begin = id.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..end]
    }

    /// Returns the bytes of these tokens, joined.
    #[must_use]
    pub fn decode(&self, ids: &[u32]) -> Vec<u8> {
        ids.iter().flat_map(|&id| self.bytes(id)).copied().collect()
    }
}

/// Returns, for each character up to U+0143, the byte that it represents: printable bytes are written as themselves, the others
/// as the characters from U+0100 on.
fn byte_table() -> &'static [Option<u8>; 0x144] {
    static TABLE: OnceLock<[Option<u8>; 0x144]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = [None; 0x144];
        let mut next = 0x100;
        for byte in 0..=u8::MAX {
            let is_printable = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
            let character = if is_printable { usize::from(byte) } else { next };
            next += usize::from(!is_printable);
            table[character] = Some(byte);
        }
        table
    })
}
