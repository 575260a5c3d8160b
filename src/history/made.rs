//! Recognises blocks and items that a rewriter made, by labels. A label proves nothing, because anybody can write it: no decision
//! about trust may depend on it.

use super::json::Object;

/// The beginning of the signature in a labelled block.
const SIGNATURE: &[u8] = b"aside:1:";

/// The beginnings of ids of reasoning items that a rewriter made: the rest is the id of the message, or a label.
const REASONING: [&[u8]; 2] = [b"rs_msg_", b"rs_aside_1_"];

/// Returns whether a thinking block has no signature of a server.
pub fn is_unsigned(block: &Object<'_>) -> bool {
    match block.get("signature") {
        None => true,
        Some(value) if value.is_null() => true,
        Some(value) => value.string().is_some_and(|raw| raw.is_empty() || raw.starts_with(SIGNATURE)),
    }
}

/// Returns whether an item of Responses has an id that a rewriter made. `thoughts` are the ids of all reasoning items, in order.
pub fn has_made_id(item: &Object<'_>, thoughts: &[&[u8]]) -> bool {
    let Some(id) = item.get("id").and_then(|id| id.string()) else { return false };
    if item.says("type", "function_call") {
        let call = item.get("call_id").and_then(|id| id.string());
        return call.is_some_and(|call| id.strip_prefix(b"fc_") == Some(call));
    }
    if item.says("type", "message") {
        // A second message that was made from one message of the server has a number in its id, like the reasoning item before
        // it: `msg_1_2` and `rs_msg_1_2`.
        let digits = id.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let base = id[..id.len() - digits].strip_suffix(b"_").filter(|base| digits > 0 && base.contains(&b'_'));
        let is_of = |thought: &&[u8]| own_part(thought).cmp(id);
        return base.is_some() && thoughts.binary_search_by(is_of).is_ok();
    }
    let is_of_item = item.says("type", "reasoning") || item.says("type", "item_reference");
    is_of_item && REASONING.iter().any(|prefix| id.starts_with(prefix))
}

/// Returns the text after the prefix of a reasoning item's id. For an item that a rewriter made, that is the id of its message.
pub fn own_part(id: &[u8]) -> &[u8] {
    id.strip_prefix(b"rs_aside_1_").or_else(|| id.strip_prefix(b"rs_")).unwrap_or_default()
}
