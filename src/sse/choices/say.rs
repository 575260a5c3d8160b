//! Additions to a choice's text: ids for its calls, and its thinking repeated as content.

use super::chunk;
use super::layout::{CallForm, Layout};
use crate::Error;
use crate::answer::{Parts, Promotion, Setup, TextStream, ids};

/// Adds the thinking of an answer that has no content as its content.
pub fn say_again(setup: &mut Setup, promotion: &Promotion, parts: &mut Parts) -> Result<(), Error> {
    let thinking = promotion.counted(&mut setup.stats);
    setup.stats.content_bytes += thinking.len() as u64;
    Ok(parts.push_content(thinking)?)
}

/// Begins to look for calls in a text of this format, if they are wanted.
pub fn look_for_calls(
    setup: &Setup,
    text: &mut TextStream,
    layout: &Layout,
    data: &[u8],
    index: u64,
    is_body: bool,
) -> Result<(), Error> {
    let id_prefix = || id_prefix(data, layout, index);
    match layout.calls {
        CallForm::Text => Ok(()),
        CallForm::Deltas => setup.look_for_calls(text, id_prefix, is_body),
        CallForm::Objects => setup.look_for_objects(text, id_prefix, is_body),
    }
}

/// Returns the beginning of the ids of calls for which the model writes no id.
fn id_prefix(data: &[u8], layout: &Layout, index: u64) -> Result<String, Error> {
    Ok(ids::prefix(ids::CALL, &chunk::id(data, layout)?, Some(index))?)
}
