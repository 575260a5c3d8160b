//! Random numbers that are the same everywhere.

/// Sebastiano Vigna's splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns numbers with the seed `ASIDE_SEED`, or with a fixed seed. Prints the seed, so that the output of a failing test
    /// has it.
    pub fn announced(test: &str) -> Random {
        let seed = match std::env::var("ASIDE_SEED") {
            Ok(seed) => seed.parse().expect("ASIDE_SEED is a number"),
            Err(_) => 0xa51de,
        };
        println!("{test}: ASIDE_SEED={seed}");
        Random(seed)
    }

    #[allow(clippy::should_implement_trait)] // Numbers never end, so an `Option` of each would say nothing.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns 0 to `bound` − 1.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
