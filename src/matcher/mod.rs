//! Finds markers in bytes.
//!
//! A dialect decides which bytes of a whole text are markers. This module makes the same decision for a text that arrives in pieces,
//! cut anywhere, most of them about four bytes long. Three parts work together, each based on the one before:
//!
//! - The **grammar** is data: regions (the content, the inside of a span), the patterns that count in each, and tries of their
//!   bytes. Flags decide whether a pattern counts. For example, it may count only at the first byte of a stream, only after
//!   blanks, or only once.
//! - The **recogniser** reads one marker, byte by byte, from the place where it may begin. It knows the whole grammar, and
//!   is exact, plain and slow. Where it fails, its first byte is text, and the next recogniser begins one byte later. Next to
//!   it, the **code tracker** follows Markdown: inside a code block a marker may be text.
//! - The **automaton** has the same results in a table. When a stream first enters a state, a builder gets the effect of each
//!   byte in it from the recogniser. From then on a stream needs one look-up per byte, however it was cut.
//!
//! # Why an automaton of our own
//!
//! Automata for regular expressions find the end of a match. For a stream, each state must also say how many bytes may still be
//! part of a marker, and so must be held back. In addition, text changes which patterns count: with a table for each set of
//! patterns, a stream would change tables at the first blank, and again at the first letter. So a state is
//!
//! - a **start configuration**: a region, and the patterns that count now, after a blank, and after text. The first byte
//!   of a stream and the first blank of a span are transitions like all others;
//! - the position of the text in Markdown code;
//! - the framing that may still follow the last marker;
//! - the bytes that are held.
//!
//! A cell is the next state, or an **exit**: a marker or framing is complete, or a recogniser must decide. Exits have numbers
//! above all states and have no row, so that reading needs no test for them: the look-up of the byte after an exit fails.
//! Constructs with an unlimited number of forms are outside the table: attributes, the values of headers, long fences,
//! suffixes.
//!
//! Prose loops in one state, which is **accelerated**: only bytes that lead to other states are searched for. A short chunk
//! of prose is not even read by the table: each byte has a bit for every loop that does not include it.
//!
//! # One text, followed through the table
//!
//! This is the whole table of a dialect with the one span `[a]` … `[/a]`, as `{:#?}` of a `Dialect` prints it once streams have
//! entered all states. A class is a byte, or the first of several and the number of others. `*` marks an accelerated state.
//!
#![doc = include_str!("shown.md")]
//!
//! Content begins in the state of region 0 that is settled and holds nothing. `x` loops in it. `[` leads to a state that
//! holds one byte, `a` to one that holds two, and `]` completes marker 0, which is the opener, three bytes long. Inside
//! the span, region 1, the closer is found in the same way. In `[b`, the `b` leads back to prose: both bytes are text. The
//! other states of region 0 are for a host that wants stray closers removed (`StrayClose::Drop`): in them `[/a]` is a marker
//! too.

pub mod answer;
pub mod automaton;
pub mod bytes;
pub mod code;
mod finder;
pub mod grammar;
pub mod prose;
pub mod recogniser;

pub use automaton::Automaton;

#[cfg(test)]
mod tests {
    use crate::Dialect;

    /// Compares the table on this page with the dialect's table; `ASIDE_BLESS=1` writes it again.
    #[test]
    fn the_page_shows_the_table() {
        let span = r#"channel = "thinking", open = ["[a]"], close = ["[/a]"]"#;
        let dialect = Dialect::load(&format!("name = 'shown'\nspan = [{{ {span} }}]")).unwrap();
        dialect.compiled.automaton.fill_all(&dialect.compiled.grammar);
        let shown = format!("```text\n{:?}```\n", dialect.compiled.automaton);
        let path = format!("{}/src/matcher/shown.md", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("ASIDE_BLESS").is_some() {
            std::fs::write(path, &shown).unwrap();
        }
        assert_eq!(include_str!("shown.md"), shown, "bless it with ASIDE_BLESS=1");
    }
}
