//! Collects the markers of message headers, and compiles the contents of a header.

use super::{compiler::Compiler, region::Scope};
use crate::{
    dialect::{
        ambiguity::{Candidate, Shape},
        check::fault,
        fault::Fault,
        schema::Literal,
    },
    file_error::quoted,
    matcher::grammar::{Action, Guarded, HeaderKey, HeaderRule, Pattern, Route, flag},
};

impl Compiler<'_> {
    /// Adds the beginnings and ends of a header, and the closers of the body after it.
    pub(super) fn headers(&mut self, list: &mut Vec<Candidate>, scope: Scope) {
        let Some(header) = self.model.header.as_ref().map(|header| header.get_ref()) else { return };
        // A header ends the body before it, but not a wrapper of the content: inside a wrapper, there must be room for one more
        // span.
        let avoids = if matches!(scope, Scope::Inside(_)) { flag::FULL } else { 0 };
        let guarded = if scope.is_content(self.model) { Guarded::InCode } else { Guarded::Nowhere };
        let pattern = |action| Pattern { avoids, guarded, special: header.special, ..Pattern::of(action) };
        self.literals(list, &header.begin, None, 0, |tag| pattern(Action::HeaderBegin { tag: tag as u8 }));
        self.literals(list, &header.end, None, 0, |_| pattern(Action::HeaderEnd));
        let whole = Pattern { avoids: avoids | flag::HEADER, special: false, ..pattern(Action::HeaderWhole) };
        self.literals(list, &header.whole, Some(&Literal::new(0..0, " ".to_owned())), 0, |_| whole);
        if matches!(scope, Scope::Body(_) | Scope::Started(_)) {
            let rule = self.model.spans.len() as u8;
            let close = Pattern { guarded: Guarded::Nowhere, ..pattern(Action::Close { rule, keep: false }) };
            self.body_closers(list, 0, close);
        }
        if !matches!(scope, Scope::Content) {
            return;
        }
        let late = Pattern { needs: flag::FRESH | flag::FORCED, ..pattern(Action::DropClose) };
        self.body_closers(list, 0, late);
        if header.keys.is_empty() {
            let needs = flag::HEADER;
            let pattern = Pattern { needs, special: false, ..pattern(Action::HeaderName) };
            let at = self.model.name.span();
            list.push(Candidate { shape: Shape::HeaderName, pattern, yields: false, is_optional: false, at });
        }
        for key in header.keys.values() {
            let is_begin = header.begin.iter().any(|begin| begin.get_ref() == key.get_ref());
            for space in [" ", ""].into_iter().take(if is_begin { 1 } else { 2 }) {
                let bytes: Vec<u8> = space.bytes().chain(self.folded(key)).collect();
                let pattern = Pattern {
                    needs: flag::HEADER,
                    len: bytes.len() as u16,
                    ..Pattern::of(Action::HeaderBegin { tag: 0 })
                };
                let shape = Shape::Literal(bytes.into());
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: key.span() });
            }
        }
    }

    /// Compiles the header, if the dialect has one.
    pub(super) fn header(&mut self) -> Result<Option<HeaderRule>, Fault> {
        let Some(spanned) = &self.model.header else { return Ok(None) };
        let header = spanned.get_ref();
        let case = &self.model.case;
        let bytes = |literals: &[Literal]| -> Vec<Box<[u8]>> {
            literals.iter().map(|literal| case.bytes(literal).into()).collect()
        };
        let keys: Vec<HeaderKey> = header
            .keys
            .iter()
            .map(|(name, literal)| HeaderKey { name: name.as_str().into(), literal: case.bytes(literal).into() })
            .collect();
        let inner = self.node(0);
        let ends = header.end.iter().enumerate().map(|(number, end)| (number as u32, end));
        let inside = header.keys.values().enumerate().map(|(number, key)| (number as u32 + 32, key));
        let inside = inside.filter(|(_, key)| key.get_ref().starts_with('<'));
        for (bit, literal) in ends.chain(inside) {
            self.insert(inner, &case.bytes(literal), 1 << bit);
        }
        for end in &header.end {
            let twin = header.keys.values().chain(&header.end).find(|other| {
                let (a, b) = (case.bytes(end), case.bytes(other));
                end.span() != other.span() && (a.starts_with(&b) || b.starts_with(&a))
            });
            if let Some(twin) = twin {
                return fault(
                    end,
                    format!("{} and {} cannot be distinguished", quoted(end.get_ref()), quoted(twin.get_ref())),
                );
            }
        }
        let routes = header.routes.iter().map(|route| Route {
            when: route
                .when
                .iter()
                .map(|(field, values)| {
                    let values = values.0.iter().filter(|_| !values.0.iter().any(|value| value == "*"));
                    (field.get_ref().as_str().into(), values.map(|value| value.as_str().into()).collect())
                })
                .collect(),
            channel: route.channel,
            calls: route.calls,
        });
        let routes = routes.collect();
        Ok(Some(HeaderRule {
            begins: bytes(&header.begin),
            ends: bytes(&header.end),
            keys,
            fold: self.fold,
            max: header.max,
            routes,
            inner,
        }))
    }
}
