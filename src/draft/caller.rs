//! The kind of probe for which a template shows its calls. All probes that explore the form of calls are of this kind.

use super::frame::Frame;
use super::probes::{Call, Content, Form, Ids, Turn};
use super::renderings::{Renderings, Settings};

/// The kind of probe for which a template shows its calls.
pub struct Caller<'a> {
    pub renderings: &'a Renderings<'a>,
    pub frame: &'a Frame,
    pub settings: Settings,
    pub content: Content,
    pub form: Form,
    pub ids: Ids,
}

impl Caller<'_> {
    pub fn turn<'c>(&self, calls: &'c [Call]) -> Turn<'c> {
        Turn { calls, content: self.content, form: self.form, ids: self.ids, ..Turn::ANSWER }
    }

    /// Returns the turn with these calls, after the role line.
    pub fn text(&self, calls: &[Call]) -> Option<String> {
        let text = self.renderings.turn(&self.turn(calls), &self.settings)?;
        Some(self.frame.turn_of(&text).to_owned())
    }
}
