//! Finds the first of a few bytes in a text. For up to three different bytes, `memchr` is used, which has vector instructions.
//! For more, and to check whether a text has any of them, there is plain code that the compiler turns into vectors; it is also
//! compiled for AVX2, for processors that have it. No other code of the scanner may be unsafe.
#![allow(unsafe_code)]

/// The maximum number of different bytes that can be searched for.
pub const MOST: usize = 6;

/// The length of text that plain code examines without a branch, so that the compiler uses vectors.
const BLOCK: usize = 64;
/// If a text is shorter than a block, its first and last bytes of this length are examined, which may overlap.
const HALF: usize = BLOCK / 2;

/// A bit of a result: the text has one of the bytes.
const HIT: u8 = 1;
/// A bit of a result: the text has none of the bytes, but a byte that is not ASCII.
const NOT_ASCII: u8 = 0x80;

#[derive(Clone)]
pub struct ByteSetFinder {
    /// The bytes. If there are fewer than `MOST`, the last one is repeated.
    bytes: [u8; MOST],
    count: usize,
    #[cfg(target_arch = "x86_64")]
    has_avx2: bool,
}

impl ByteSetFinder {
    /// Returns a finder of these bytes, or `None` if there are too many.
    pub fn new(list: &[u8]) -> Option<ByteSetFinder> {
        let mut bytes = [list.last().copied().unwrap_or_default(); MOST];
        bytes.get_mut(..list.len())?.copy_from_slice(list);
        Some(ByteSetFinder {
            bytes,
            count: list.len(),
            #[cfg(target_arch = "x86_64")]
            has_avx2: std::is_x86_feature_detected!("avx2"),
        })
    }

    /// Returns whether a text without any of the bytes is ASCII, or `None` if it has one of the bytes.
    #[inline]
    pub fn is_ascii_without(&self, text: &[u8]) -> Option<bool> {
        let bits = self.bits(text);
        (bits & HIT == 0).then_some(bits == 0)
    }

    /// Finds the first of the bytes for which `skip` returns `None`. For others it returns a number of bytes to skip, at least 1
    /// and not more than the rest of the text. Returns the index after the last skipped bytes, and the index of the found byte,
    /// or the text's length.
    #[inline]
    pub fn find(&self, text: &[u8], skip: impl Fn(usize) -> Option<usize>) -> (usize, usize) {
        let mut from = 0;
        while let Some(found) = text.get(from..).and_then(|text| self.first(text)) {
            match skip(from + found) {
                Some(len) => from += found + len,
                None => return (from, from + found),
            }
        }
        (from, text.len())
    }

    #[inline]
    fn bits(&self, text: &[u8]) -> u8 {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            // SAFETY: the processor has AVX2.
            return unsafe { self.bits_by_avx2(text) };
        }
        self.plain_bits(text)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn bits_by_avx2(&self, text: &[u8]) -> u8 {
        self.plain_bits(text)
    }

    #[cfg(test)]
    pub fn without_vectors(self) -> ByteSetFinder {
        #[cfg(target_arch = "x86_64")]
        return ByteSetFinder { has_avx2: false, ..self };
        #[cfg(not(target_arch = "x86_64"))]
        self
    }

    /// Examines all bytes, in code simple enough for the compiler to turn into vectors.
    #[inline(always)]
    fn plain_bits(&self, text: &[u8]) -> u8 {
        #[inline(always)]
        fn bits<const N: usize>(bytes: &[u8], text: &[u8]) -> u8 {
            let Some(list) = bytes.first_chunk::<N>() else { return HIT };
            let is = |byte: u8, one: u8| if byte == one { u8::MAX } else { 0 };
            let bits = |byte: u8| list.iter().fold(byte & NOT_ASCII, |bits, &one| bits | is(byte, one));
            let all = |block: &[u8]| block.iter().fold(0, |all, &byte| all | bits(byte));
            let (blocks, rest) = text.as_chunks::<BLOCK>();
            let bits = blocks.iter().fold(0, |bits, block| bits | all(block));
            if rest.is_empty() {
                return bits;
            }
            if let Some(last) = text.last_chunk::<BLOCK>() {
                return bits | all(last);
            }
            match (text.first_chunk::<HALF>(), text.last_chunk::<HALF>()) {
                (Some(first), Some(last)) => all(first) | all(last),
                _ => all(rest),
            }
        }
        match self.count {
            0 => bits::<0>(&self.bytes, text),
            1 => bits::<1>(&self.bytes, text),
            2 => bits::<2>(&self.bytes, text),
            3 => bits::<3>(&self.bytes, text),
            4 => bits::<4>(&self.bytes, text),
            _ => bits::<MOST>(&self.bytes, text),
        }
    }

    #[inline]
    fn first(&self, text: &[u8]) -> Option<usize> {
        let [a, b, c, d, e, f] = self.bytes;
        match self.count {
            0 => None,
            1 => memchr::memchr(a, text),
            2 => memchr::memchr2(a, b, text),
            3 => memchr::memchr3(a, b, c, text),
            _ => {
                let mut blocks = text.chunks(BLOCK).enumerate();
                blocks.find(|(_, block)| self.bits(block) & HIT != 0).map(|(number, block)| {
                    let first = memchr::memchr3(a, b, c, block).unwrap_or(block.len());
                    let first = memchr::memchr3(d, e, f, &block[..first]).unwrap_or(first);
                    number * BLOCK + first
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use samples::Random;

    use super::{ByteSetFinder, MOST};

    /// Returns a finder with vectors, if the processor has them, and one without.
    fn both(list: &[u8]) -> [ByteSetFinder; 2] {
        let finder = ByteSetFinder::new(list).unwrap();
        [finder.clone(), finder.without_vectors()]
    }

    /// Returns the expected result of `find`, computed byte by byte.
    fn slowly(list: &[u8], text: &[u8], skip: impl Fn(usize) -> Option<usize>) -> (usize, usize) {
        let (mut at, mut from) = (0, 0);
        while at < text.len() {
            if !list.contains(&text[at]) {
                at += 1;
            } else if let Some(len) = skip(at) {
                at += len;
                from = at;
            } else {
                break;
            }
        }
        (from, at.min(text.len()))
    }

    #[test]
    fn every_byte_is_found_at_every_place() {
        for byte in 0..=u8::MAX {
            let list = [byte, byte ^ 0x10, byte ^ 0x01, byte ^ 0x80, 0, 0xFF];
            for (count, len) in
                (1..=MOST).flat_map(|count| [1, 31, 32, 33, 63, 64, 65, 97, 130].map(|len| (count, len)))
            {
                let list = &list[..count];
                let other = (b'a'..=b'z').find(|other| !list.contains(other)).unwrap();
                for finder in both(list) {
                    let mut text = vec![other; len];
                    assert_eq!(finder.find(&text, |_| None), (0, len), "{list:?}, {len}");
                    for at in 0..len {
                        text[at] = byte;
                        assert_eq!(finder.is_ascii_without(&text), None, "{list:?}, {at} of {len}");
                        assert_eq!(finder.find(&text, |_| None), (0, at), "{list:?}, {at} of {len}");
                        text[at] = byte ^ 0x20;
                        let is_there = list.contains(&(byte ^ 0x20));
                        assert_eq!(finder.is_ascii_without(&text).is_none(), is_there, "{list:?}, {at} of {len}");
                        text[at] = other;
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_found_is_what_a_loop_finds() {
        let mut random = Random::new(11);
        let (mut passed, mut stopped, mut wide) = (0, 0, 0);
        let texts = if cfg!(miri) { 40 } else { 20_000 };
        for _ in 0..texts {
            let list: Vec<u8> = (0..1 + random.below(MOST)).map(|_| random.below(256) as u8).collect();
            let rare = [2 + random.below(60), 10_000][random.below(2)];
            let mut text: Vec<u8> = (0..random.below(300))
                .map(|_| if random.below(rare) == 0 { list[random.below(list.len())] } else { random.below(128) as u8 })
                .collect();
            if !text.is_empty() && random.below(2) == 0 {
                let at = random.below(text.len());
                text[at] |= 0x80;
            }
            let lengths = [1 + random.below(3), 1 + random.below(70), 1 + random.below(3)];
            let last = random.below(8) * 100;
            let skip = |at: usize| (at < last).then_some(lengths[at % 3]).filter(|&len| at + len <= text.len());
            let found = slowly(&list, &text, skip);
            let is_hit = text.iter().any(|byte| list.contains(byte));
            for finder in both(&list) {
                assert_eq!(finder.find(&text, skip), found, "{list:?}: {text:?}");
                assert_eq!(finder.is_ascii_without(&text), (!is_hit).then_some(text.is_ascii()), "{list:?}: {text:?}");
            }
            passed += usize::from(found.0 > 0);
            stopped += usize::from(found.1 < text.len());
            wide += usize::from(!is_hit && !text.is_ascii());
        }
        let all = [passed, stopped, wide];
        assert!(all.into_iter().all(|count| count > texts / 20), "passed over some, stopped, wide: {all:?} of {texts}");
    }

    #[test]
    fn there_are_no_more_than_a_few() {
        assert!(ByteSetFinder::new(&[7; MOST]).is_some());
        assert!(ByteSetFinder::new(&[7; MOST + 1]).is_none());
    }
}
