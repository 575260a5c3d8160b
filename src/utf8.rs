//! Characters in bytes: the place where the last character of a chunk is cut, and the number of characters. Input may be any
//! bytes, so nothing here may expect valid UTF-8.

/// Returns the number of bytes at the end of `bytes` that begin a character of valid UTF-8 whose rest is missing: 0 to 3.
#[inline]
pub fn incomplete_tail(bytes: &[u8]) -> usize {
    // Most are ASCII, or whole characters of three bytes.
    match bytes {
        [.., 0xE1..=0xEC, second, third] if is_continuation(*second) && is_continuation(*third) => return 0,
        [.., last] if last.is_ascii() => return 0,
        _ => {}
    }
    tail_of_other(bytes)
}

fn tail_of_other(bytes: &[u8]) -> usize {
    let back = 1 + bytes.iter().rev().take(2).take_while(|byte| is_continuation(**byte)).count();
    let Some(&[lead, ref rest @ ..]) = bytes.len().checked_sub(back).map(|at| &bytes[at..]) else { return 0 };
    let len = match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return 0,
    };
    let second = match lead {
        0xE0 => 0xA0..=0xBF,
        0xED => 0x80..=0x9F,
        0xF0 => 0x90..=0xBF,
        0xF4 => 0x80..=0x8F,
        _ => 0x80..=0xBF,
    };
    if back < len && rest.first().is_none_or(|byte| second.contains(byte)) { back } else { 0 }
}

/// Returns as much of `bytes` as fits without cutting a character. If characters are whole or invalid, as in events, it does not
/// matter how a text is divided into calls.
pub fn fit(bytes: &[u8], room: usize) -> &[u8] {
    let Some(head) = bytes.get(..room) else { return bytes };
    let start = room - incomplete_tail(head);
    let is_cut = (room + 1..=bytes.len().min(start + 4)).any(|end| std::str::from_utf8(&bytes[start..end]).is_ok());
    if is_cut { &bytes[..start] } else { head }
}

pub fn is_continuation(byte: u8) -> bool {
    byte.cast_signed() < -0x40
}

/// Returns the number of bytes that continue a character. It is not inlined: in a loop, its constants would then be loaded before
/// the loop and after each call in the loop.
#[inline(never)]
pub fn continuations(bytes: &[u8]) -> u64 {
    // For fewer bytes, the call costs more than it saves.
    if bytes.len() <= 16 {
        let (eights, rest) = bytes.as_chunks();
        let in_eight = |eight: &[u8; 8]| {
            let all = u64::from_ne_bytes(*eight);
            (all & !all << 1 & 0x8080_8080_8080_8080).count_ones()
        };
        let rest: u64 = rest.iter().map(|&byte| u64::from(is_continuation(byte))).sum();
        return rest + eights.iter().map(in_eight).map(u64::from).sum::<u64>();
    }
    (bytes.len() - bytecount::num_chars(bytes)) as u64
}

#[cfg(test)]
mod tests {
    use super::incomplete_tail;

    #[test]
    fn holds_only_what_can_become_a_character() {
        for text in ["a", "é", "日", "🧠", "a🧠"] {
            for cut in 1..text.len() {
                let head = &text.as_bytes()[..cut];
                let valid = std::str::from_utf8(head).map_or_else(|error| error.valid_up_to(), |text| text.len());
                assert_eq!(incomplete_tail(head), head.len() - valid, "{head:x?}");
            }
            assert_eq!(incomplete_tail(text.as_bytes()), 0);
        }
        for never in [&b"\xC0"[..], b"\xE0\x80", b"\xED\xA0", b"\xF0\x80", b"\xF4\x90", b"\xF5", b"\x80\x80\x80"] {
            assert_eq!(incomplete_tail(never), 0, "{never:x?}");
        }
    }
}
