//! The same by vectors of 32 bytes: unsafe, as it says what the processor can do and reads 32 bytes at a place. It makes
//! texts with fences 1.5 times as fast (W1 in `BENCHMARKS.md`).
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::{HIT, NOT_ASCII};

/// How many bytes a vector has.
pub const LANES: usize = 32;

/// Each of the bytes has a bit: it is set in one table for the byte's low half, in the other for its high half. There is
/// a finder only where the processor has AVX2.
#[derive(Clone)]
pub struct ByteSetFinder {
    low: [u8; 16],
    high: [u8; 16],
    /// The byte, where there is but one: it needs no tables.
    single: Option<u8>,
}

impl ByteSetFinder {
    /// Of eight bytes at most. None where the processor cannot.
    pub fn new(list: &[u8]) -> Option<ByteSetFinder> {
        if !std::is_x86_feature_detected!("avx2") {
            return None;
        }
        let single = if let &[byte] = list { Some(byte) } else { None };
        let mut finder = ByteSetFinder { low: [0; 16], high: [0; 16], single };
        for (bit, byte) in list.iter().enumerate() {
            finder.low[usize::from(byte & 15)] |= 1 << bit;
            finder.high[usize::from(byte >> 4)] |= 1 << bit;
        }
        Some(finder)
    }

    /// Of a text that fills a vector at least.
    #[inline]
    pub fn bits(&self, text: &[u8]) -> u8 {
        debug_assert!(text.len() >= LANES);
        // SAFETY: there is a finder, so there is AVX2.
        unsafe { self.bits_of(text) }
    }

    /// In a text that fills a vector at least.
    #[inline]
    pub fn find(&self, text: &[u8], skip: impl Fn(usize) -> Option<usize>) -> (usize, usize) {
        debug_assert!(text.len() >= LANES);
        // SAFETY: there is a finder, so there is AVX2.
        unsafe { self.find_in(text, skip) }
    }

    #[target_feature(enable = "avx2")]
    fn bits_of(&self, text: &[u8]) -> u8 {
        let tables = self.tables();
        let mut all = _mm256_setzero_si256();
        let mut hard = all;
        let mut look = |block| {
            let block = load(block);
            all = _mm256_or_si256(all, block);
            hard = _mm256_or_si256(hard, found(tables, block));
        };
        let (blocks, rest) = text.as_chunks();
        blocks.iter().for_each(&mut look);
        if !rest.is_empty()
            && let Some(last) = text.last_chunk()
        {
            look(last);
        }
        let bits = if is_zero(hard) { 0 } else { HIT };
        bits | if _mm256_movemask_epi8(all) == 0 { 0 } else { NOT_ASCII }
    }

    #[target_feature(enable = "avx2")]
    fn find_in(&self, text: &[u8], skip: impl Fn(usize) -> Option<usize>) -> (usize, usize) {
        if let Some(byte) = self.single {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            return find_by(|block| _mm256_cmpeq_epi8(byte, block), text, skip);
        }
        let tables = self.tables();
        find_by(|block| found(tables, block), text, skip)
    }

    #[target_feature(enable = "avx2")]
    fn tables(&self) -> [__m256i; 2] {
        [&self.low, &self.high].map(|table| {
            // SAFETY: so many bytes are there, and need not be aligned.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        })
    }
}

/// `found` gives 0 for each byte of a block that is not looked for.
#[target_feature(enable = "avx2")]
fn find_by(found: impl Fn(__m256i) -> __m256i, text: &[u8], skip: impl Fn(usize) -> Option<usize>) -> (usize, usize) {
    let mut from = 0;
    let (blocks, rest) = text.as_chunks();
    let (pairs, odd) = blocks.as_chunks();
    for (number, pair) in pairs.iter().enumerate() {
        let hits = hits(&found, pair.each_ref(), LANES);
        if hits != 0
            && let Some(hit) = first_not_skipped(hits, number * 2 * LANES, &mut from, &skip)
        {
            return (from, hit);
        }
    }
    if (!odd.is_empty() || !rest.is_empty())
        && let Some(last) = text.last_chunk()
    {
        // It may have bytes in common with those before.
        let (block, distance) = odd.first().map_or((last, 0), |odd| (odd, rest.len()));
        let hits = hits(&found, [block, last], distance);
        if let Some(hit) = first_not_skipped(hits, text.len() - LANES - distance, &mut from, &skip) {
            return (from, hit);
        }
    }
    (from, text.len())
}

/// The first of the hits, counted from `start`, that is neither before `from` nor skipped.
#[inline]
fn first_not_skipped(
    mut hits: u64,
    start: usize,
    from: &mut usize,
    skip: impl Fn(usize) -> Option<usize>,
) -> Option<usize> {
    while hits != 0 {
        let hit = start + hits.trailing_zeros() as usize;
        if hit >= *from {
            match skip(hit) {
                Some(len) => *from = hit + len,
                None => return Some(hit),
            }
        }
        hits &= hits - 1;
    }
    None
}

/// A bit for each hit in two blocks, of which the second one is so much behind the first.
#[target_feature(enable = "avx2")]
fn hits(found: impl Fn(__m256i) -> __m256i, blocks: [&[u8; LANES]; 2], distance: usize) -> u64 {
    let [a, b] = blocks.map(|block| found(load(block)));
    if is_zero(_mm256_or_si256(a, b)) { 0 } else { u64::from(marks(a)) | u64::from(marks(b)) << distance }
}

#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; LANES]) -> __m256i {
    // SAFETY: so many bytes are there, and need not be aligned.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// 0 for each byte that is none of the few.
#[target_feature(enable = "avx2")]
fn found([low, high]: [__m256i; 2], block: __m256i) -> __m256i {
    let half = _mm256_set1_epi8(15);
    let by_low = _mm256_shuffle_epi8(low, _mm256_and_si256(block, half));
    let by_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16::<4>(block), half));
    _mm256_and_si256(by_low, by_high)
}

#[target_feature(enable = "avx2")]
fn is_zero(block: __m256i) -> bool {
    _mm256_testz_si256(block, block) == 1
}

/// A bit for each byte that is not 0.
#[target_feature(enable = "avx2")]
fn marks(block: __m256i) -> u32 {
    !_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_setzero_si256())) as u32
}
