//! Start configurations: the patterns that count at a stream's position, and how text changes this set. Each state of the automaton
//! belongs to a configuration, so that the first byte of a stream, the first blank of a span and the first other byte are
//! transitions like all others.

use crate::matcher::grammar::{Grammar, PatternSet, Region, flag};

/// The kind of text since the last marker, as far as the kind decides which patterns count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// No text.
    Opened,
    /// Only blanks.
    Blank,
    /// Text that is not blank. After it, only markers change flags.
    Settled,
}

impl Stage {
    /// Returns the stage for the flags of a stream.
    #[inline]
    pub fn of(flags: u16, region: &Region) -> Stage {
        match flags {
            _ if flags & flag::FIRST != 0 => Stage::Opened,
            _ if flags & region.cleared != 0 => Stage::Blank,
            _ => Stage::Settled,
        }
    }

    /// Returns the flags that the text of this stage has cleared.
    #[inline]
    pub fn lost(self, region: &Region) -> u16 {
        match self {
            Stage::Opened => 0,
            Stage::Blank => flag::FIRST,
            Stage::Settled => flag::FIRST | region.cleared,
        }
    }
}

/// A region with the patterns that count in it now, after blanks, and after other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    pub region: u8,
    pub stage: Stage,
    /// The patterns that count now, after a blank, and after text.
    pub active: [PatternSet; 3],
}

impl Config {
    /// Returns the configuration of a region. `active` returns the patterns that count with given flags.
    #[inline]
    pub fn new(number: u8, region: &Region, flags: u16, active: impl Fn(u16) -> PatternSet) -> Config {
        let stage = Stage::of(flags, region);
        let text = active(flags & !Stage::Settled.lost(region));
        let blank = if stage == Stage::Settled { text } else { active(flags & !Stage::Blank.lost(region)) };
        let now = if stage == Stage::Opened { active(flags) } else { blank };
        Config { region: number, stage, active: [now, blank, text] }
    }

    /// Returns the patterns that count now.
    pub fn active(&self) -> PatternSet {
        self.active[0]
    }

    /// Returns the configuration after text of one byte.
    pub fn after(&self, is_blank: bool) -> Config {
        let [_, blank, text] = self.active;
        match (self.stage, is_blank) {
            (Stage::Opened | Stage::Blank, true) => {
                Config { stage: Stage::Blank, active: [blank, blank, text], ..*self }
            }
            _ => Config { stage: Stage::Settled, active: [text; 3], ..*self },
        }
    }
}

/// A configuration to build states for.
pub struct Seed {
    pub config: Config,
    /// Whether few streams reach the configuration.
    pub is_rare: bool,
}

/// Returns the configurations in which a region may begin: settled ones first, and common ones before rare ones. Configurations
/// inside six content spans, where no further span fits, are left out: text is rarely there.
///
/// `used` has the flags that some pattern of the dialect needs or avoids.
pub fn seeds(grammar: &Grammar, number: u8, used: u16) -> Vec<Seed> {
    let region = grammar.region(number);
    let is_content = number == Grammar::ROOT;
    let lasting = region.used & !(flag::FIRST | flag::FULL | region.cleared);
    let flags = (0..16).map(|bit| 1u64 << bit).filter(|flag| u64::from(lasting) & flag != 0);
    // Before the first span, no span is open, and none was closed.
    let is_reachable = |flags: u16, closed: u64| {
        flags & flag::ALONE == 0 || is_content && closed == 0 && flags & (flag::ENDED | flag::QUOTED) == 0
    };
    let rules = region.patterns.iter().filter_map(|pattern| pattern.once).map(|rule| 1u64 << rule);
    let mut tags: Vec<u8> = region.patterns.iter().filter_map(|pattern| pattern.same).collect();
    if tags.is_empty() {
        tags.push(0);
    }
    let mut seeds: Vec<Seed> = Vec::new();
    for fresh in fresh(region, is_content, used) {
        for flags in unions(flags.clone()).into_iter().map(|flags| flags as u16) {
            // At the start of a stream, no span was opened yet.
            if is_content && fresh & flag::START != 0 && lasting & !flags & flag::ALONE != 0 {
                continue;
            }
            for closed in unions(rules.clone()).into_iter().filter(|&closed| is_reachable(flags, closed)) {
                for &tag in &tags {
                    let config = Config::new(number, region, flags | fresh, |flags| region.active(flags, closed, tag));
                    let is_of_host = flags & (flag::LITERAL | flag::DROPPED) != 0;
                    let is_rare = is_of_host || fresh & flag::FORCED != 0 || closed.count_ones() > 1;
                    match seeds.iter_mut().find(|seed| seed.config == config) {
                        Some(seed) => seed.is_rare &= is_rare,
                        None => seeds.push(Seed { config, is_rare }),
                    }
                }
            }
        }
    }
    seeds.sort_by_key(|seed| (seed.config.stage != Stage::Settled, seed.is_rare));
    seeds
}

/// Returns the sets of flags that text clears: the empty set, and those of a stream's start, after an opener and after a closer.
fn fresh(region: &Region, is_content: bool, used: u16) -> Vec<u16> {
    use flag::{BLANK, FORCED, FRESH, HEADER, LEAD, LEADING, OPENED, START};
    let all: &[u16] = if is_content {
        &[
            0,
            START | LEAD | FRESH | BLANK | LEADING,
            START | HEADER | LEAD | FRESH | BLANK | LEADING,
            LEAD | FRESH | BLANK | LEADING,
            LEAD | FRESH | LEADING,
            FRESH,
            FRESH | LEAD,
            FRESH | LEAD | BLANK,
            FRESH | FORCED,
            FRESH | FORCED | LEAD,
        ]
    } else {
        &[
            0,
            OPENED | BLANK,
            OPENED | BLANK | LEAD | FRESH,
            START | BLANK | LEAD | FRESH | LEADING,
            OPENED | BLANK | LEAD | FRESH | LEADING,
            BLANK | LEAD | FRESH | LEADING,
            BLANK | LEAD | FRESH,
            FRESH,
            FRESH | LEAD,
            FRESH | BLANK,
        ]
    };
    let may_be_lost = used & (flag::FIRST | region.cleared);
    let mut list = vec![];
    for flags in all.iter().map(|flags| flags & (may_be_lost | region.used)) {
        if !list.contains(&flags) {
            list.push(flags);
        }
    }
    list
}

/// Returns all unions of at most four of these bits.
fn unions(bits: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut all = vec![0];
    for bit in bits.take(4) {
        let more: Vec<u64> = all.iter().map(|&set| set | bit).filter(|set| !all.contains(set)).collect();
        all.extend(more);
    }
    all
}
