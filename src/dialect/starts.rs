//! Where in a text a marker may begin: a quick look, before an attempt reads on from there.

use super::{
    lines::{Code, Lines},
    tables::{LineRule, PatternSet, Region, Triggers},
};

/// The next place from `at` on where one of these patterns may begin, where text takes no flags away. The lines follow
/// what it passes.
pub fn next_start(region: &Region, active: PatternSet, lines: &mut Lines, text: &[u8], mut at: usize) -> Option<usize> {
    if region.lines != LineRule::Ignore {
        loop {
            if lines.is_settled() {
                at += skip_line(region, active, lines, &text[at..]);
            }
            if may_begin(region, &region.triggers, active, lines, text, at)? {
                return Some(at);
            }
            lines.pass(text[at], region.lines);
            at += 1;
        }
    }
    if active == 0 {
        return None;
    }
    loop {
        at += search(region, &text[at..])?;
        if !is_dull(region, text, at) {
            return Some(at);
        }
        at += 1;
    }
}

/// May one of these patterns begin at this byte? None behind the last one.
pub fn may_begin(
    region: &Region,
    triggers: &Triggers,
    active: PatternSet,
    lines: &Lines,
    text: &[u8],
    at: usize,
) -> Option<bool> {
    let byte = *text.get(at)?;
    let is_trigger = triggers.contains(byte);
    let may = match region.lines {
        LineRule::Ignore => active != 0 && is_trigger && !is_dull(region, text, at),
        LineRule::Guard { .. } => {
            is_trigger && active & unguarded(region, lines, byte) != 0 && !is_dull(region, text, at)
        }
        LineRule::Fence { .. } => {
            let is_fence = at_fence_line(region, lines) && (byte == b' ' || byte == b'`');
            active != 0 && is_fence || is_trigger && active & unguarded(region, lines, byte) != 0
        }
    };
    Some(may)
}

/// The patterns that may begin at this byte, by the code around it.
pub fn unguarded(region: &Region, lines: &Lines, byte: u8) -> PatternSet {
    let code = match region.lines {
        LineRule::Ignore => Code::None,
        LineRule::Guard { .. } => lines.code(byte, region.lines),
        LineRule::Fence { .. } if lines.is_nested(byte) => return 0,
        LineRule::Fence { .. } => lines.code(byte, region.lines),
    };
    match code {
        Code::None => PatternSet::MAX,
        Code::Block => region.in_fences,
        Code::Span => region.in_code_spans,
    }
}

/// May a line that closes this region begin here?
pub fn at_fence_line(region: &Region, lines: &Lines) -> bool {
    matches!(region.lines, LineRule::Fence { .. }) && lines.at_start() && !lines.in_block()
}

/// Bytes of a settled line in which neither a marker nor another line begins.
fn skip_line(region: &Region, active: PatternSet, lines: &Lines, text: &[u8]) -> usize {
    let is_opaque = region.triggers.count == 0 || lines.in_block() && active & region.in_fences == 0;
    let at = if region.lines.has_code_spans() && !lines.in_block() {
        text.iter().position(|&byte| matches!(byte, b'\n' | b'`') || region.triggers.contains(byte))
    } else if is_opaque {
        memchr::memchr(b'\n', text)
    } else if region.triggers.count == 1 {
        memchr::memchr2(b'\n', region.triggers.few[0], text)
    } else {
        text.iter().position(|&byte| byte == b'\n' || region.triggers.contains(byte))
    };
    at.unwrap_or(text.len())
}

/// The byte behind this one cannot be a marker's second.
fn is_dull(region: &Region, text: &[u8], at: usize) -> bool {
    text.get(at + 1).is_some_and(|&next| !region.seconds[usize::from(next)])
}

/// The next byte that may begin a marker of this region.
fn search(region: &Region, text: &[u8]) -> Option<usize> {
    // Below this, the call costs more than it saves.
    if text.len() < 16 {
        return text.iter().position(|&byte| region.triggers.contains(byte));
    }
    let [a, b, c] = region.triggers.few;
    match region.triggers.count {
        0 => None,
        1 => memchr::memchr(a, text),
        2 => memchr::memchr2(a, b, text),
        3 => memchr::memchr3(a, b, c, text),
        _ => text.iter().position(|&byte| region.triggers.contains(byte)),
    }
}
