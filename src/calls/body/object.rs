//! Reads a call that is a JSON object with name, id and arguments as its members, in any order.

use super::state::{Body, CallEnd, Piece, Role, State, Transition};
use crate::calls::{
    table::{MOST_OF_WORD, ObjectRule},
    view::{Decision, View},
};

/// Members that an object may have, besides those of its table, and still be a call without arguments.
const BESIDES: [&[u8]; 4] = [b"name", b"id", b"type", b"index"];

impl Body {
    pub(super) fn object(&mut self, rule: &ObjectRule, is_bare: bool, view: &View) -> Transition {
        match self.state {
            State::Member { .. } | State::Key | State::Colon { .. } | State::MemberValue { .. } => {
                let own = self.state;
                if let Some(step) = self.blanks(view, own) {
                    return Ok(Some(step));
                }
            }
            _ => {}
        }
        match self.state {
            State::Member { is_first } => match (view.text[0], is_first) {
                (b'}', _) => {
                    // A further member may be the arguments under a different name, so the call does not count as one without
                    // arguments.
                    let is_call = self.has_name && (self.has_arguments || !self.has_other);
                    let end = if is_call { CallEnd::Marker } else { CallEnd::Malformed };
                    // The whole object was read, even if it is not a call: the text after it is between calls.
                    self.some(Piece::End { end, is_repaired: false }, 1, State::Between)
                }
                (b',', false) => self.some(Piece::Framing, 1, State::Key),
                (_, false) => Err(Decision::No),
                (_, true) => self.go(State::Key),
            },
            State::Key => self.key(rule, is_bare, view),
            State::OtherKey { is_escaped } => {
                let (len, state) = rest_of_string(view.text, is_escaped);
                match state {
                    None => self.some(Piece::Framing, len, State::Colon { role: Role::Other }),
                    Some(is_escaped) => self.run(view, Piece::Framing, len, State::OtherKey { is_escaped }),
                }
            }
            State::Colon { role } => {
                view.one_of(0, b":")?;
                self.some(Piece::Framing, 1, State::MemberValue { role })
            }
            State::MemberValue { role } => self.member_value(view, role),
            State::Quoted { role, len } => {
                let (piece, state) = match role {
                    Role::Name => (Piece::Name, State::Unquote),
                    _ => (Piece::Id, State::Unquote),
                };
                self.some(piece, usize::from(len), state)
            }
            // In a `key_is_name` object, a colon follows the name; in others, the next member.
            State::Unquote if rule.key_is_name => self.some(Piece::Framing, 1, State::Colon { role: Role::Arguments }),
            State::Unquote => self.some(Piece::Framing, 1, State::Member { is_first: false }),
            _ => Err(Decision::No),
        }
    }

    /// Reads a key. A bare object with a key that no call has is not a call.
    fn key(&mut self, rule: &ObjectRule, is_bare: bool, view: &View) -> Transition {
        view.one_of(0, b"\"")?;
        if rule.key_is_name {
            if self.has_name {
                return Err(Decision::No);
            }
            return self.quoted(view, Role::Name);
        }
        let lists = [&rule.names, &rule.arguments, &rule.ids];
        let lens = lists.iter().flat_map(|list| list.iter()).map(|name| name.len());
        let longest = lens.chain(BESIDES.map(<[u8]>::len)).max().unwrap_or(0);
        let reach = &view.text[1..view.text.len().min(longest + 2)];
        let Some(len) = string_len(reach) else {
            if reach.len() <= longest && !view.is_end {
                return Err(Decision::More);
            }
            if is_bare && reach.len() > longest {
                return Err(Decision::No);
            }
            self.has_other = true;
            return self.some(Piece::Framing, 1, State::OtherKey { is_escaped: false });
        };
        let key = &reach[..len];
        let is_one_of = |names: &[Box<[u8]>]| names.iter().any(|name| **name == *key);
        let role = if is_one_of(&rule.names) && !self.has_name {
            Role::Name
        } else if is_one_of(&rule.arguments) && !self.has_arguments {
            Role::Arguments
        } else if is_one_of(&rule.ids) && !self.has_id {
            Role::Id
        } else {
            let is_other = !BESIDES.contains(&key) && !lists.iter().any(|list| is_one_of(list));
            if is_bare && is_other {
                return Err(Decision::No);
            }
            self.has_other |= is_other;
            Role::Other
        };
        self.some(Piece::Framing, len + 2, State::Colon { role })
    }

    fn member_value(&mut self, view: &View, role: Role) -> Transition {
        match (role, view.text[0]) {
            (Role::Name, b'"') => self.quoted(view, Role::Name),
            (Role::Name, _) => Err(Decision::No),
            (Role::Id, b'"') => self.quoted(view, Role::Id),
            (Role::Id, _) => self.begin_json(Role::Other),
            (Role::Arguments, _) => {
                self.has_arguments = true;
                self.begin_json(role)
            }
            (Role::Other, _) => self.begin_json(role),
        }
    }

    /// Reads a name or an id as one piece. An id that is too long is read like the value of an unknown member.
    fn quoted(&mut self, view: &View, role: Role) -> Transition {
        let reach = &view.text[1..view.text.len().min(MOST_OF_WORD + 2)];
        match string_len(reach) {
            Some(0) if role == Role::Name => Err(Decision::No),
            Some(len) => {
                match role {
                    Role::Name => self.has_name = true,
                    _ => self.has_id = true,
                }
                self.some(Piece::Framing, 1, State::Quoted { role, len: len as u16 })
            }
            None if reach.len() <= MOST_OF_WORD => self.more(view),
            None if role == Role::Name => Err(Decision::No),
            None => self.begin_json(Role::Other),
        }
    }
}

/// Returns the length of a string up to its closing quote.
fn string_len(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the number of bytes of a text that are the rest of a string, including its closing quote; and, if the string is not
/// closed, whether an escape is open at the text's end.
fn rest_of_string(text: &[u8], mut is_escaped: bool) -> (usize, Option<bool>) {
    for (at, &byte) in text.iter().enumerate() {
        match (is_escaped, byte) {
            (true, _) => is_escaped = false,
            (false, b'\\') => is_escaped = true,
            (false, b'"') => return (at + 1, None),
            _ => {}
        }
    }
    (text.len(), Some(is_escaped))
}
