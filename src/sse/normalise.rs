//! The option for sending every server's answers in one shape. An answer that has the shape already keeps its texts.

/// The shapes of servers' answers that a rewriter changes into one shape ([`Options::normalise`](super::Options::normalise)).
/// All apply to chat completions, and [`CONTENT`](Shapes::CONTENT) to every format.
///
/// ```
/// use aside::{Dialect, sse::{Field, Shapes, Options, Rewriter}};
///
/// let options = Options::new().normalise(Shapes::ALL).field(Field::Reasoning);
/// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &options)?;
/// let mut out = Vec::new();
/// rewriter.feed(r#"{"choices":[{"message":{"reasoning_content":"hm","content":[{"type":"text","text":"Yes."}]}}]}"#, &mut out)?;
/// assert_eq!(String::from_utf8(out)?, r#"{"choices":[{"message":{"reasoning":"hm","content":"Yes."}}]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shapes(u32);

impl Shapes {
    /// No shape: answers stay as the server sends them.
    pub const NONE: Shapes = Shapes(0);
    /// The thinking that a server sends as `reasoning_content`, `reasoning`, `thinking`, or as the text of `reasoning_details`, is
    /// sent in the field that [`Options::field`](super::Options::field) names.
    pub const FIELD: Shapes = Shapes(1);
    /// Content that is a list of texts and thinking becomes a string, with the thinking in its field.
    pub const LISTS: Shapes = Shapes(2);
    /// A chunk of a stream with thinking and content becomes two, the thinking first.
    pub const CHUNKS: Shapes = Shapes(4);
    /// Content after thinking that the server has split is scanned too, with the start
    /// [`Channel::Content`](crate::Channel::Content): markers are removed, and a second stretch of thinking is moved. In a
    /// stream of chat this includes [`CHUNKS`](Shapes::CHUNKS).
    pub const CONTENT: Shapes = Shapes(8);
    /// All shapes, including those that later versions add.
    pub const ALL: Shapes = Shapes(i32::MAX as u32);

    /// The bits of the shapes that have a name.
    const KNOWN: u32 = 15;

    /// Returns the shapes of these bits, as C writes them, or `None` if a bit is unknown and they are not [`Shapes::ALL`].
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<Shapes> {
        (bits == Shapes::ALL.0 || bits & !Shapes::KNOWN == 0).then_some(Shapes(bits))
    }

    /// Returns the bits of these shapes, as C writes them.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether all of `shapes` are among these.
    #[must_use]
    pub fn contains(self, shapes: Shapes) -> bool {
        self.0 & shapes.0 == shapes.0
    }
}

impl std::ops::BitOr for Shapes {
    type Output = Shapes;

    fn bitor(self, other: Shapes) -> Shapes {
        Shapes(self.0 | other.0)
    }
}
