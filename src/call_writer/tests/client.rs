//! Joins the deltas of a stream's calls, as a client does.

use super::super::{CallWriter, Options, Piece, Tools};
use crate::{Cause, Dialect, calls::table::CallTable};

/// A call after a client has joined its deltas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub call: u64,
    pub id: String,
    pub late_id: Option<String>,
    pub name: String,
    pub arguments: String,
    pub cause: Option<Cause>,
    pub is_whole: bool,
}

/// A call of a stream, before it is written.
pub struct Source<'a> {
    pub table: &'a CallTable,
    pub call: u64,
    pub pieces: Vec<Piece<'a>>,
}

/// Returns options with these tools.
pub fn options(tools: Option<&str>) -> Options {
    let tools = tools.map(|tools| Tools::read(tools).unwrap());
    Options::new().tools(tools).id_prefix("id_")
}

/// Returns a dialect for a writer whose calls begin with their own table.
pub fn any_dialect() -> Dialect {
    Dialect::find(Dialect::names().next().unwrap()).unwrap()
}

/// Writes all calls of a stream. `cut` cuts values and other parts that may arrive in pieces.
pub fn write(options: &Options, sources: &[Source<'_>], cut: impl Fn(&[u8]) -> Vec<usize>) -> Vec<Call> {
    let mut writer = CallWriter::new(&any_dialect(), options.clone());
    let mut calls: Vec<Call> = Vec::new();
    for source in sources {
        writer.begin(source.table, source.call).unwrap();
        for &piece in &source.pieces {
            let (Piece::Value(bytes) | Piece::Framing(bytes)) = piece else {
                feed(&mut writer, piece, &mut calls);
                continue;
            };
            let is_value = matches!(piece, Piece::Value(_));
            let mut from = 0;
            for at in cut(bytes).into_iter().chain([bytes.len()]) {
                let part = &bytes[from..at];
                let part = if is_value { Piece::Value(part) } else { Piece::Framing(part) };
                feed(&mut writer, part, &mut calls);
                from = at;
            }
        }
    }
    assert_eq!(writer.emitted(), calls.len() as u64);
    calls
}

fn feed(writer: &mut CallWriter, piece: Piece<'_>, calls: &mut Vec<Call>) {
    let mut deltas = 0;
    let sink = &mut |delta: super::super::CallDelta<'_>| {
        deltas += 1;
        if delta.index as usize == calls.len() {
            let (id, name) = (delta.id.unwrap().to_owned(), delta.name.unwrap().to_owned());
            calls.push(Call { call: delta.call, id, name, ..Call::default() });
        } else {
            assert_eq!((delta.id, delta.name), (None, None), "once");
        }
        assert_eq!(delta.index as usize + 1, calls.len(), "one after the other");
        let call = calls.last_mut().unwrap();
        assert!(call.cause.is_none(), "nothing after the end");
        assert!(!delta.arguments.is_empty() || delta.end.is_some(), "something");
        call.arguments += delta.arguments;
        if let Some(end) = delta.end {
            (call.cause, call.is_whole) = (Some(end.cause), end.is_whole);
            call.late_id = end.late_id.map(Into::into);
        }
        Ok(())
    };
    writer.feed(piece, sink).unwrap();
}

/// Returns no cuts, so that each text is one piece.
pub fn uncut(_: &[u8]) -> Vec<usize> {
    Vec::new()
}

/// Returns a cut before each character except the first.
pub fn in_characters(bytes: &[u8]) -> Vec<usize> {
    (1..bytes.len()).filter(|&at| bytes[at] & 0xC0 != 0x80).collect()
}
