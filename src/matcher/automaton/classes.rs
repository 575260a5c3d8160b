//! Byte classes: bytes that no marker of a dialect distinguishes share a column of the table.

use std::array;

use crate::matcher::{
    answer::JsonAnswer,
    bytes::{ByteSet, insert, is_blank, is_language, is_name, is_name_start, is_suffix, is_tag_space},
    code,
    grammar::{Grammar, Region},
};

/// The class of each byte.
pub struct ByteClasses {
    of: [u8; 256],
    /// One byte of each class, and all bytes of each class.
    bytes: Vec<u8>,
    sets: Vec<ByteSet>,
}

impl ByteClasses {
    pub fn new(grammar: &Grammar) -> ByteClasses {
        let mut is_own = [false; 256];
        let has_lines = grammar.regions.iter().any(Region::has_lines);
        let of_lines: &[u8] = if has_lines { b" \t\n\x0B\x0C\r" } else { b"" };
        let special = b"<>/=\"':`~".iter().chain(of_lines);
        let of_markers = grammar.nodes.iter().map(|node| node.byte);
        let of_framings = grammar.framings.iter().flat_map(|framing| framing.bytes.iter());
        for byte in of_markers.chain(of_framings.chain(special).copied()) {
            is_own[usize::from(grammar.fold(byte))] = true;
        }
        let kind = |byte: u8| {
            let byte = grammar.fold(byte);
            if is_own[usize::from(byte)] {
                return 0x8000 | u16::from(byte);
            }
            let is = [is_blank, is_tag_space, is_language, is_suffix, is_name_start, is_name];
            let of_code = if has_lines { code::kind(byte) as u16 } else { 0 };
            let of_json = u16::from(grammar.guards_json && JsonAnswer::begins_with(byte));
            is.iter().fold(of_code << 1 | of_json, |kind, is| kind << 1 | u16::from(is(byte)))
        };
        let mut kinds = Vec::new();
        let mut classes = ByteClasses { of: [0; 256], bytes: Vec::new(), sets: Vec::new() };
        for byte in 0..=u8::MAX {
            let kind = kind(byte);
            let class = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
                kinds.push(kind);
                classes.bytes.push(byte);
                classes.sets.push([0; 4]);
                kinds.len() - 1
            });
            insert(&mut classes.sets[class], byte);
            classes.of[usize::from(byte)] = class as u8;
        }
        classes
    }

    /// Returns the number of classes.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub fn of(&self, byte: u8) -> usize {
        usize::from(self.of[usize::from(byte)])
    }

    /// Returns a byte of each class, in the order of their numbers.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes for which `is_in` is true. `is_in` is called once for each class.
    pub fn set_of(&self, is_in: impl Fn(u8) -> bool) -> ByteSet {
        let sets = self.sets.iter().zip(&self.bytes).filter(|(_, byte)| is_in(**byte));
        sets.fold([0; 4], |all, (set, _)| array::from_fn(|word| all[word] | set[word]))
    }
}
