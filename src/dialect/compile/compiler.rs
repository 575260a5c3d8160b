//! The state of the compiler of a dialect: the file, and the tables that all regions share. The compiler's methods are in the files of
//! the parts that they compile.

use crate::{
    dialect::{
        Channel,
        schema::{Literal, Model, Place, Span},
    },
    matcher::grammar::{self, Node, PatternSet, TagRule, flag},
};

pub(super) struct Compiler<'a> {
    pub(super) model: &'a Model,
    pub(super) is_built_in: bool,
    pub(super) fold: bool,
    pub(super) tag: TagRule,
    pub(super) nodes: Vec<Node>,
    pub(super) framings: Vec<grammar::Framing>,
    /// The tags of other families that open the thinking at the beginning of a stream.
    pub(super) leading: Vec<Literal>,
    pub(super) max_hold: usize,
    pub(super) room: usize,
}

impl Compiler<'_> {
    /// Returns the number of the framing after a span's opener, or 0.
    pub(super) fn after_open(&mut self, span: &Span) -> u16 {
        span.framing.after_open.as_ref().map_or(0, |after| self.framing(after.get_ref().as_bytes(), 0))
    }

    /// Returns the number of the framing after a span's closer, or 0.
    pub(super) fn after_close(&mut self, span: &Span) -> u16 {
        match &span.framing.after_close {
            None => 0,
            // Framing that consists of line breaks may also be shorter.
            Some(after) if after.get_ref().bytes().all(|byte| byte == b'\n') => {
                let separates = span.channel == Channel::Thinking;
                let line = |next| grammar::Framing { bytes: Box::new([b'\n']), next, separates };
                after.get_ref().bytes().fold(0, |next, _| self.add_framing(line(next)))
            }
            Some(after) => self.framing(after.get_ref().as_bytes(), 0),
        }
    }

    /// Returns the number of a framing, which is its index plus one. `next` is the number of the framing that may follow it.
    pub(super) fn framing(&mut self, bytes: &[u8], next: u16) -> u16 {
        self.add_framing(grammar::Framing { bytes: bytes.into(), next, separates: false })
    }

    fn add_framing(&mut self, framing: grammar::Framing) -> u16 {
        self.hold(framing.bytes.len() - 1);
        let known = self.framings.iter().position(|other| *other == framing);
        let index = known.unwrap_or_else(|| {
            self.framings.push(framing);
            self.framings.len() - 1
        });
        index as u16 + 1
    }

    /// Returns the bytes of a literal as the tries have them: in lower case, if the dialect ignores case.
    pub(super) fn folded(&self, literal: &Literal) -> Box<[u8]> {
        self.model.case.bytes(literal).into()
    }

    /// Adds a node without children. Returns its number.
    pub(super) fn node(&mut self, byte: u8) -> u32 {
        self.nodes.push(Node { byte, child: 0, next: 0, accept: 0, reach: 0 });
        (self.nodes.len() - 1) as u32
    }

    /// Adds the bytes of a pattern below a root.
    pub(super) fn insert(&mut self, root: u32, bytes: &[u8], bit: PatternSet) {
        let mut node = root;
        for &byte in bytes {
            self.nodes[node as usize].reach |= bit;
            let mut child = self.nodes[node as usize].child;
            while child != 0 && self.nodes[child as usize].byte != byte {
                child = self.nodes[child as usize].next;
            }
            if child == 0 {
                child = self.node(byte);
                self.nodes[child as usize].next = self.nodes[node as usize].child;
                self.nodes[node as usize].child = child;
            }
            node = child;
        }
        self.nodes[node as usize].reach |= bit;
        self.nodes[node as usize].accept |= bit;
    }
}

/// Returns the flag that an opener needs for its `place`.
pub(super) fn where_flag(place: Place) -> u16 {
    match place {
        Place::Anywhere => 0,
        Place::Start => flag::START,
        Place::Lead => flag::LEAD,
    }
}

pub(super) fn thinking_spans(model: &Model) -> impl Iterator<Item = (usize, &Span)> {
    let spans = model.spans.iter().map(|span| span.get_ref()).enumerate();
    spans.filter(|(_, span)| span.channel == Channel::Thinking)
}
