//! Text by table. Most text has no marker, and most of what looks like the beginning of one comes to nothing. What a byte
//! does there, to the line and to a marker that may have begun, is worked out when the dialect is compiled, by the
//! attempt itself: text then costs one look per byte, however it was cut.

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use core::cmp::Reverse;

use super::{
    attempt::{self, Attempt, Mark, Verdict, fold},
    few::{self, Few, HARD},
    lines::{Lines, is_blank, is_language},
    starts::next_start,
    tables::{ByteSet, LineRule, PatternSet, Region, Tables, contains, flag, insert},
};

/// The row of all that is not in the table: there, only an attempt can tell.
pub const LOST: u16 = 0;

/// Bounds of the table: rows in all and of one area, areas of one region, bytes that are held in a row. Beyond them text
/// is lost.
const MOST_ROWS: usize = 20_000;
const MOST_AREA_ROWS: usize = 1024;
/// … of one where code spans alone hide markers, as in most thinking, and of one that few streams come to.
const MOST_SPAN_ROWS: usize = 512;
const MOST_RARE_ROWS: usize = 64;
const MOST_AREAS: usize = 16;
const MOST_HELD: usize = 24;

/// Near a fence, a place comes as late as one that holds so many bytes more: there are many such places, and each is rare.
/// This and the bound of an area are chosen by W4 of `any`.
const RARE: usize = 3;

/// Sets of quiet bytes that have a bit in `kinds`, and the bit behind those.
const MOST_SETS: usize = if cfg!(test) { 4 } else { 31 };
const ALL: u32 = 1 << 31;

/// From so much text on, looking for the bytes that matter is cheaper than looking at all.
const SKIP: usize = 16;

#[derive(Default)]
pub struct Calm {
    columns: Columns,
    /// Rows of as many numbers as there are columns.
    next: Vec<u16>,
    /// Of each row, a place in a text: in what line it is before what is held, …
    lines: Vec<Lines>,
    /// … what most feeds ask of it, …
    spots: Vec<Spot>,
    /// … and the number of the home that it is or, through blanks, is near to, plus one; 0 is none.
    near: Vec<u16>,
    areas: Vec<Area>,
    homes: Vec<Home>,
    kinds: Kinds,
}

/// A row, and what most feeds ask of it: a stream has a copy at hand. One number, so that it stays in a register.
#[derive(Clone, Copy)]
pub struct Spot(u64);

impl Spot {
    pub const LOST: Spot = Spot::new(LOST, 0, false);

    const fn new(row: u16, held: u8, is_wide: bool) -> Spot {
        Spot(ALL as u64 | (row as u64) << 32 | (held as u64) << 48 | (is_wide as u64) << 56)
    }

    /// What must be in no byte's kinds if a text is to be plain here: all ASCII, and at this home again behind it.
    #[inline]
    pub fn plain_mask(self) -> u32 {
        self.0 as u32
    }

    fn with_plain_mask(self, mask: u32) -> Spot {
        Spot(self.0 >> 32 << 32 | u64::from(mask))
    }

    #[inline]
    pub fn row(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// How many bytes are held there, as they may be the beginning of a marker.
    #[inline]
    pub fn held(self) -> usize {
        usize::from((self.0 >> 48) as u8)
    }

    /// What is held has characters of several bytes.
    #[inline]
    pub fn is_wide(self) -> bool {
        self.0 >> 56 != 0
    }
}

/// A region while the same patterns count in it.
struct Area {
    region: u8,
    active: PatternSet,
    has_lines: bool,
    /// Its rows where nothing is held, by the numbers of their lines.
    empty: Vec<(u64, u16)>,
}

/// A row to which nearly all bytes lead back.
#[derive(Clone)]
struct Home {
    row: u16,
    /// The bytes that do not …
    hard: Few,
    /// … and blanks lead to rows of which the same is true, so that they can be looked at later.
    is_soft: bool,
    /// The ASCII that leads back at once: texts of these bytes alone change nothing here.
    quiet: ByteSet,
    /// Bytes that, behind a hard one, may lead elsewhere; and those that may behind a hard one and one of these.
    live: [ByteSet; 2],
}

impl Home {
    /// How many bytes at the end of a text may lead elsewhere for a while.
    #[inline]
    fn blanks(&self, text: &[u8]) -> usize {
        if self.is_soft { text.iter().rev().take_while(|byte| SOFT.contains(byte)).count() } else { 0 }
    }

    /// Where the first hard byte is that may lead elsewhere with the two behind it, the text's length if there is none;
    /// before that: what comes behind the last one that leads back.
    #[inline(never)]
    fn find(&self, text: &[u8]) -> (usize, usize) {
        let [live, live_behind] = &self.live;
        self.hard.find(text, |hit| match text.get(hit + 1) {
            Some(&next) if !contains(live, next) => Some(2),
            _ => text.get(hit + 2).filter(|&&next| !contains(live_behind, next)).map(|_| 3),
        })
    }
}

/// Bytes that do the same everywhere share a column.
struct Columns {
    of: [u8; 256],
    /// A byte of each.
    bytes: Vec<u8>,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns { of: [0; 256], bytes: Vec::new() }
    }
}

/// Of each byte, the sets of quiet bytes that it is not in.
struct Kinds([u32; 256]);

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds([ALL; 256])
    }
}

impl Calm {
    pub fn new(tables: &Tables) -> Calm {
        let columns = Columns::new(tables);
        let lost = vec![LOST; columns.bytes.len()];
        let mut calm = Calm {
            columns,
            next: lost,
            lines: vec![Lines::NEW],
            spots: vec![Spot::LOST],
            near: vec![0],
            ..Calm::default()
        };
        for (number, region) in (0..).zip(&tables.regions) {
            let sets = sets(region, number == Tables::ROOT);
            let common = sets.iter().filter(|set| !set.is_rare).count();
            for Set { active, is_rare } in sets.into_iter().take(MOST_AREAS) {
                let most = match region.lines {
                    _ if is_rare => MOST_RARE_ROWS,
                    LineRule::Guard { fences: false, .. } => MOST_SPAN_ROWS,
                    _ => MOST_AREA_ROWS,
                };
                // Where many sets share a region, each has fewer streams.
                let most = (2 * most / common.max(2)).max(MOST_RARE_ROWS).min(MOST_ROWS - calm.spots.len());
                Builder::new(&mut calm, tables, number, active).run(number, most);
            }
        }
        calm.find_homes();
        calm.next.shrink_to_fit();
        calm.lines.shrink_to_fit();
        calm.spots.shrink_to_fit();
        calm.near.shrink_to_fit();
        calm.homes.shrink_to_fit();
        calm
    }

    #[inline]
    fn step(&self, row: u16, byte: u8) -> u16 {
        let at = usize::from(row) * self.columns.bytes.len() + usize::from(self.columns.of[usize::from(byte)]);
        self.next.get(at).copied().unwrap_or(LOST)
    }

    /// The line that a row is in, before what is held.
    #[inline]
    pub fn lines(&self, row: u16) -> Lines {
        self.lines.get(usize::from(row)).copied().unwrap_or(Lines::NEW)
    }

    #[inline]
    pub fn spot(&self, row: u16) -> Spot {
        self.spots.get(usize::from(row)).copied().unwrap_or(Spot::LOST)
    }

    /// The row of a place in a text, of which `held` may be the beginning of a marker.
    pub fn enter(&self, region: u8, active: PatternSet, lines: &Lines, held: &[u8]) -> u16 {
        let area = self.areas.iter().find(|area| area.region == region && area.active == active);
        let Some(area) = area.filter(|_| held.len() <= MOST_HELD) else { return LOST };
        let lines = if area.has_lines { lines } else { &Lines::NEW };
        let Some(number) = lines.number() else { return LOST };
        let start = area.empty.binary_search_by_key(&number, |&(number, _)| number);
        let row = start.map_or(LOST, |index| self.through(area.empty[index].1, held).0);
        if self.spot(row).held() == held.len() { row } else { LOST }
    }

    /// The row behind a text, LOST where a byte of it leads out of the table; and: is it ASCII?
    #[inline(always)]
    pub fn through(&self, row: u16, text: &[u8]) -> (u16, bool) {
        if text.len() < SKIP { self.walk(row, text) } else { self.through_long(row, text) }
    }

    /// The same, byte by byte.
    #[inline(always)]
    pub fn walk(&self, row: u16, text: &[u8]) -> (u16, bool) {
        let (next, width) = (&self.next[..], self.columns.bytes.len());
        let (mut row, mut all) = (usize::from(row), 0);
        for &byte in text {
            let at = row * width + usize::from(self.columns.of[usize::from(byte)]);
            let Some(&cell) = next.get(at) else { return (LOST, false) };
            row = usize::from(cell);
            all |= byte;
        }
        (row as u16, all.is_ascii())
    }

    /// The same of a long one.
    #[inline(never)]
    pub fn through_long(&self, row: u16, text: &[u8]) -> (u16, bool) {
        match self.run(row, text) {
            (read, row) if read == text.len() => (row, text.is_ascii()),
            _ => (LOST, false),
        }
    }

    /// How many bytes of a text, and few, lead to where nothing is held.
    pub fn first_free(&self, mut row: u16, text: &[u8]) -> Option<usize> {
        let free = text.iter().take(SKIP).position(|&byte| {
            row = self.step(row, byte);
            row != LOST && self.spot(row).held() == 0
        })?;
        Some(free + 1)
    }

    /// Reads on in a text, to its end or to the byte that leads out of the table: how much was read, and the row there.
    pub fn run(&self, mut row: u16, text: &[u8]) -> (usize, u16) {
        let mut at = 0;
        while at < text.len() {
            let mut stop = at;
            if let Some(home) = self.home(row).filter(|_| text.len() - at >= SKIP) {
                let (from, first) = home.find(&text[at..]);
                stop += first;
                let back = stop - home.blanks(&text[at + from..stop]);
                if back > at {
                    (at, row) = (back, home.row);
                }
            }
            // Beyond what was found, to where nothing is held.
            while at < text.len() && (at <= stop || self.spot(row).held() > 0) {
                let next = self.step(row, text[at]);
                if next == LOST {
                    return (at, row);
                }
                row = next;
                at += 1;
            }
        }
        (at, row)
    }

    #[inline]
    fn home(&self, row: u16) -> Option<&Home> {
        self.homes.get(usize::from(*self.near.get(usize::from(row))?).wrapping_sub(1))
    }

    /// Where this text leads, if nothing is held behind it; and: is it ASCII?
    #[inline(always)]
    pub fn pass(&self, row: u16, text: &[u8]) -> Option<(u16, bool)> {
        let home = self.home(row)?;
        let bits = home.hard.bits(text);
        if bits & HARD != 0 {
            return Some(self.through_long(row, text)).filter(|&(end, _)| end != LOST && self.spot(end).held() == 0);
        }
        let ends_at_home = !home.is_soft || text.last().is_some_and(|last| !SOFT.contains(last));
        let end = if ends_at_home { home.row } else { self.behind_blanks(home, text)? };
        Some((end, bits == 0))
    }

    /// Where the blanks at the end of a text lead from a home, if nothing is held behind them.
    #[inline(never)]
    fn behind_blanks(&self, home: &Home, text: &[u8]) -> Option<u16> {
        let (text, blanks) = text.split_at_checked(text.len() - home.blanks(text))?;
        let end = blanks.iter().fold(home.row, |row, &byte| self.step(row, byte));
        Some(end).filter(|&end| !text.is_empty() && self.spot(end).held() == 0)
    }

    /// The ASCII that leads back to this row at once, if it is a home: texts of these bytes alone change nothing there.
    #[inline]
    pub fn quiet(&self, row: u16) -> Option<&ByteSet> {
        self.home(row).filter(|home| home.row == row).map(|home| &home.quiet)
    }

    /// Of each byte, what keeps a text from being plain; see `Spot::plain_mask`.
    #[inline]
    pub fn kinds(&self) -> &[u32; 256] {
        &self.kinds.0
    }

    fn find_homes(&mut self) {
        // Prose comes first in each area.
        let first = self.areas.iter().flat_map(|area| area.empty.iter().take(1));
        let others = self.areas.iter().flat_map(|area| area.empty.iter().skip(1));
        let rows: Vec<u16> = first.chain(others).map(|&(_, row)| row).collect();
        // Homes where the same bytes are quiet have a bit in common.
        let mut quiet: Vec<ByteSet> = Vec::new();
        for row in rows {
            if let Some((home, around)) = self.home_at(row) {
                let bit = quiet.iter().position(|set| *set == home.quiet).unwrap_or(quiet.len());
                if bit == quiet.len() && bit < MOST_SETS {
                    quiet.push(home.quiet);
                }
                self.homes.push(home);
                let number = self.homes.len() as u16;
                for near in around {
                    let is_empty = self.spot(near).held() == 0;
                    let near = &mut self.near[usize::from(near)];
                    if *near == 0 && is_empty {
                        *near = number;
                    }
                }
                self.near[usize::from(row)] = number;
                let spot = &mut self.spots[usize::from(row)];
                *spot = spot.with_plain_mask(if bit < MOST_SETS { 1 << bit } else { ALL });
            }
        }
        for area in &mut self.areas {
            area.empty.sort_unstable();
        }
        for byte in 0..=u8::MAX {
            let others = quiet.iter().enumerate().filter(|(_, set)| !contains(set, byte));
            self.kinds.0[usize::from(byte)] = others.fold(ALL, |all, (bit, _)| all | 1 << bit);
        }
    }

    /// The home that this row is, and the rows that blanks lead to from it.
    fn home_at(&self, row: u16) -> Option<(Home, Vec<u16>)> {
        self.home_among(row, &SOFT).or_else(|| self.home_among(row, &[]))
    }

    /// Where any of these bytes leads from any of these rows.
    fn rows_behind(&self, rows: &[u16], bytes: &[u8]) -> Vec<u16> {
        let all = rows.iter().flat_map(|&from| bytes.iter().map(move |&byte| self.step(from, byte)));
        all.collect::<BTreeSet<u16>>().into_iter().collect()
    }

    /// The bytes that lead from any of these rows to another one than `home`.
    fn leads_elsewhere(&self, rows: &[u16], home: u16) -> ByteSet {
        let width = self.columns.bytes.len();
        let mut is_live = vec![false; width];
        for cells in rows.iter().filter_map(|&from| self.next.get(usize::from(from) * width..)) {
            is_live.iter_mut().zip(cells).for_each(|(is_live, &next)| *is_live |= next != home);
        }
        self.columns.set_of(|byte| is_live[usize::from(self.columns.of[usize::from(byte)])])
    }

    fn home_among(&self, row: u16, soft: &[u8]) -> Option<(Home, Vec<u16>)> {
        let mut around = vec![row];
        let mut at = 0;
        while let Some(&from) = around.get(at) {
            for next in soft.iter().map(|&byte| self.step(from, byte)) {
                if next == LOST || around.len() > usize::from(u8::MAX) {
                    return None;
                }
                if !around.contains(&next) {
                    around.push(next);
                }
            }
            at += 1;
        }
        let back = self.columns.set_of(|byte| around.iter().all(|&from| self.step(from, byte) == row));
        let is_hard = |byte: &u8| !soft.contains(byte) && !contains(&back, *byte);
        let list: Vec<u8> = (0..=u8::MAX).filter(is_hard).take(few::MOST + 1).collect();
        let hard = Few::new(&list)?;
        let [low, high, ..] = self.columns.set_of(|byte| self.step(row, byte) == row);
        let quiet = [low, high, 0, 0];
        let is_soft = soft.iter().any(|&byte| self.step(row, byte) != row);
        let behind = self.rows_behind(&around, &list);
        let live = self.leads_elsewhere(&behind, row);
        let one_of_each = self.columns.bytes.iter().copied().filter(|&byte| contains(&live, byte));
        let behind = self.rows_behind(&behind, &one_of_each.collect::<Vec<u8>>());
        let live = [live, self.leads_elsewhere(&behind, row)];
        let home = Home { row, hard, is_soft, quiet, live };
        Some((home, around))
    }
}

/// Blanks that may lead away from a home for a while.
const SOFT: [u8; 2] = *b"\n ";

impl Columns {
    fn new(tables: &Tables) -> Columns {
        let mut is_own = [false; 256];
        let has_lines = tables.regions.iter().any(|region| region.lines != LineRule::Ignore);
        let blanks: &[u8] = if has_lines { b" \t\n\x0B\x0C\r" } else { b"" };
        let special = b"<>/=\"':`~".iter().chain(blanks).copied();
        for byte in tables.nodes.iter().map(|node| node.byte).chain(special) {
            is_own[usize::from(byte)] = true;
        }
        let kind = |byte: u8| {
            let byte = fold(tables, byte);
            if is_own[usize::from(byte)] {
                return 0x100 | u16::from(byte);
            }
            let is = [
                is_blank,
                attempt::is_tag_space,
                is_language,
                attempt::is_suffix,
                attempt::is_name_start,
                attempt::is_name,
            ];
            is.iter().fold(0, |kind, is| kind << 1 | u16::from(is(byte)))
        };
        let mut kinds = Vec::new();
        let mut columns = Columns::default();
        for byte in 0..=u8::MAX {
            let kind = kind(byte);
            let column = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
                kinds.push(kind);
                columns.bytes.push(byte);
                kinds.len() - 1
            });
            columns.of[usize::from(byte)] = column as u8;
        }
        columns
    }

    /// The bytes of which this is true, which is asked once for each column.
    fn set_of(&self, is_in: impl Fn(u8) -> bool) -> ByteSet {
        let is_in: Vec<bool> = self.bytes.iter().map(|&byte| is_in(byte)).collect();
        let mut set = [0; 4];
        for byte in (0..=u8::MAX).filter(|&byte| is_in[usize::from(self.of[usize::from(byte)])]) {
            insert(&mut set, byte);
        }
        set
    }
}

/// Patterns that can count together.
struct Set {
    active: PatternSet,
    /// Few streams come to where these are the ones that count.
    is_rare: bool,
}

/// The sets of patterns that can count together where text has taken away all flags that it takes, the most common first.
/// Without those six content spans deep, where no other fits: no text is there for long.
fn sets(region: &Region, is_content: bool) -> Vec<Set> {
    let lasting = region.used & !(flag::FIRST | flag::FULL | region.cleared);
    let flags = (0..16).map(|bit| 1u64 << bit).filter(|flag| u64::from(lasting) & flag != 0);
    // Before the first span, none is open, and none was closed.
    let is_reachable = |flags: u16, closed: u64| {
        flags & flag::ALONE == 0 || is_content && closed == 0 && flags & (flag::ENDED | flag::QUOTED) == 0
    };
    let rules = region.patterns.iter().filter_map(|pattern| pattern.once).map(|rule| 1u64 << rule);
    let mut tags: Vec<u8> = region.patterns.iter().filter_map(|pattern| pattern.same).collect();
    if tags.is_empty() {
        tags.push(0);
    }
    let mut sets: Vec<Set> = Vec::new();
    for flags in unions(flags).into_iter().map(|flags| flags as u16) {
        for closed in unions(rules.clone()).into_iter().filter(|&closed| is_reachable(flags, closed)) {
            for &tag in &tags {
                let active = region.active(flags, closed, tag);
                let is_rare = flags & flag::LITERAL != 0 || closed.count_ones() > 1;
                match sets.iter_mut().find(|set| set.active == active) {
                    Some(set) => set.is_rare &= is_rare,
                    None => sets.push(Set { active, is_rare }),
                }
            }
        }
    }
    sets.sort_by_key(|set| set.is_rare);
    sets
}

/// All that can be made of these bits, at most four of them.
fn unions(bits: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut all = vec![0];
    for bit in bits.take(4) {
        let more: Vec<u64> = all.iter().map(|&set| set | bit).filter(|set| !all.contains(set)).collect();
        all.extend(more);
    }
    all
}

/// Fills the table for one area, beginning with the most common rows: those that hold least, away from code.
struct Builder<'a> {
    calm: &'a mut Calm,
    tables: &'a Tables,
    region: &'a Region,
    active: PatternSet,
    /// Every place that was found, the attempt that has read what it holds, and its row.
    found: Vec<(Place, Attempt, u16)>,
    /// Their numbers, that of the one that was found last, and …
    numbers: BTreeMap<Place, usize>,
    last: usize,
    /// … those of places without a row, by how rare they are and when they came.
    queue: BinaryHeap<Reverse<(usize, usize)>>,
}

/// A line, and what is held behind it, with room for a byte more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    held: [u8; MOST_HELD + 1],
    len: usize,
    lines: Lines,
}

impl<'a> Builder<'a> {
    fn new(calm: &'a mut Calm, tables: &'a Tables, region: u8, active: PatternSet) -> Builder<'a> {
        Builder {
            calm,
            tables,
            region: &tables.regions[usize::from(region)],
            active,
            found: Vec::new(),
            numbers: BTreeMap::new(),
            last: 0,
            queue: BinaryHeap::new(),
        }
    }

    fn run(mut self, number: u8, most: usize) {
        for lines in [Lines::after(b'.'), Lines::NEW, Lines::IN_CODE] {
            self.find(lines, &[], Attempt::default());
        }
        let first = self.calm.spots.len();
        // Where each cell leads, as not all places have a row yet.
        let mut cells = Vec::new();
        while self.calm.spots.len() < first + most
            && let Some(Reverse((_, at))) = self.queue.pop()
        {
            let (place, attempt, row) = &mut self.found[at];
            let (place, attempt) = (*place, *attempt);
            *row = self.calm.spots.len() as u16;
            self.calm.spots.push(Spot::new(*row, place.len as u8, !place.held.is_ascii()));
            self.calm.lines.push(place.lines);
            self.calm.near.push(0);
            for column in 0..self.calm.columns.bytes.len() {
                cells.push(self.step(place, attempt, self.calm.columns.bytes[column]));
            }
        }
        let row = |cell: Option<usize>| cell.map_or(LOST, |at| self.found[at].2);
        self.calm.next.extend(cells.into_iter().map(row));
        let rows = first..self.calm.spots.len();
        let empty = rows.filter(|&row| self.calm.spots[row].held() == 0);
        let empty = empty.filter_map(|row| Some((self.calm.lines[row].number()?, row as u16))).collect();
        let has_lines = self.region.lines != LineRule::Ignore;
        self.calm.areas.push(Area { region: number, active: self.active, has_lines, empty });
    }

    /// The number of this place, if it is one that text commonly comes to.
    fn find(&mut self, mut lines: Lines, text: &[u8], attempt: Attempt) -> Option<usize> {
        if text.len() > MOST_HELD || !lines.is_common() || !attempt.is_common(text) {
            return None;
        }
        if self.region.lines == LineRule::Ignore {
            lines = Lines::NEW;
        }
        let mut held = [0; MOST_HELD + 1];
        held[..text.len()].copy_from_slice(text);
        if let Some(token) = attempt.token(text) {
            let begins = |byte: &u8| self.region.triggers.contains(*byte);
            if text[token.clone()].iter().any(begins) {
                return None;
            }
            held[token].fill(b'a');
        }
        let place = Place { held, len: text.len(), lines };
        // Most bytes lead where the one before them did.
        if self.found.get(self.last).is_none_or(|last| last.0 != place) {
            self.last = *self.numbers.entry(place).or_insert_with(|| {
                let number = self.found.len();
                self.found.push((place, attempt, LOST));
                let rare = if lines.is_near_fence() { RARE } else { 0 };
                self.queue.push(Reverse((text.len() + rare, number)));
                number
            });
        }
        Some(self.last)
    }

    /// Where this byte leads from a place.
    fn step(&mut self, place: Place, mut attempt: Attempt, byte: u8) -> Option<usize> {
        let (tables, region, mut lines) = (self.tables, self.region, place.lines);
        let mut text = place.held;
        text[place.len] = byte;
        let text = &text[..=place.len];
        let mut at = 0;
        if attempt.is_alive() {
            match attempt.run(tables, region, &[byte], &mut 0, |_| Mark::PLAIN) {
                Verdict::More => return self.find(lines, text, attempt),
                Verdict::Fail => {}
                _ => return None,
            }
            self.pass(&mut lines, &attempt, text[0]);
            at = 1;
        }
        while let Some(start) = next_start(region, self.active, &mut lines, text, at) {
            let mut attempt = Attempt::begin(region, self.active, &lines, text[start]);
            match attempt.run(tables, region, &text[start..], &mut 0, |_| Mark::PLAIN) {
                Verdict::More => return self.find(lines, &text[start..], attempt),
                Verdict::Fail => {}
                _ => return None,
            }
            self.pass(&mut lines, &attempt, text[start]);
            at = start + 1;
        }
        self.find(lines, &[], Attempt::default())
    }

    /// The first byte of an attempt that failed is text.
    fn pass(&self, lines: &mut Lines, attempt: &Attempt, byte: u8) {
        lines.nest_if(attempt.nests());
        if self.region.lines != LineRule::Ignore {
            lines.pass(byte, self.region.lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Calm, HARD, LOST, MOST_ROWS};
    use crate::{Dialect, support::random::Random};

    /// What `run` must come to, one byte after the other.
    fn walk(calm: &Calm, mut row: u16, text: &[u8]) -> (usize, u16) {
        for (at, &byte) in text.iter().enumerate() {
            match calm.step(row, byte) {
                LOST => return (at, row),
                next => row = next,
            }
        }
        (text.len(), row)
    }

    fn with_and_without_vectors(name: &str) -> [(&str, Calm); 2] {
        let dialect = Dialect::find(name).unwrap();
        let [calm, mut plain] = [Calm::new(&dialect.tables), Calm::new(&dialect.tables)];
        for home in &mut plain.homes {
            home.hard = home.hard.clone().without_vectors();
        }
        [(name, calm), (name, plain)]
    }

    #[test]
    fn what_is_passed_over_leads_where_all_bytes_lead() {
        let mut random = Random::new(7);
        let (mut far, mut plain) = (0, 0);
        for (name, calm) in Dialect::names().flat_map(with_and_without_vectors) {
            for _ in 0..1_000 {
                let row = 1 + random.below(calm.spots.len() - 1) as u16;
                let often = [b'a', b' ', b'\n', b'<', b'`', 0xC3];
                let mut byte = |rare: usize| match random.below(rare) {
                    0 => calm.columns.bytes[random.below(calm.columns.bytes.len())],
                    1 => often[random.below(often.len())],
                    _ => b'e',
                };
                let rare = if name.len() % 2 == 0 { 4 } else { 40 };
                let text: Vec<u8> = (0..80).map(|_| byte(rare)).collect();
                let (read, end) = walk(&calm, row, &text);
                assert_eq!(calm.run(row, &text), (read, end), "{name}, from {row}: {text:?}");
                far += usize::from(read == text.len());
                if let Some(passed) = calm.pass(row, &text) {
                    assert_eq!((text.len(), passed), (read, (end, text.is_ascii())), "{name}: {text:?}");
                    plain += 1;
                }
                if let Some(quiet) = calm.quiet(row) {
                    for byte in 0..=u8::MAX {
                        assert_eq!(
                            super::contains(quiet, byte),
                            byte.is_ascii() && calm.step(row, byte) == row,
                            "{name}: {byte}"
                        );
                    }
                }
            }
        }
        assert!(far > 20_000 && plain > 1_000, "{far} texts to their end, {plain} of them plain");
    }

    #[test]
    fn what_is_passed_over_behind_a_hard_byte_leads_home() {
        let (mut one, mut two) = (0, 0);
        for name in Dialect::names() {
            let calm = &Dialect::find(name).unwrap().tables.calm;
            for row in calm.homes.iter().map(|home| home.row) {
                let (home, around) = calm.home_at(row).unwrap();
                let hard: Vec<u8> = (0..=u8::MAX).filter(|&byte| home.hard.bits(&[byte]) & HARD != 0).collect();
                for behind in calm.rows_behind(&around, &hard) {
                    for byte in 0..=u8::MAX {
                        let next = calm.step(behind, byte);
                        if !super::contains(&home.live[0], byte) {
                            assert_eq!(next, row, "{name}: {byte} from {behind}");
                            one += 1;
                            continue;
                        }
                        for last in (0..=u8::MAX).filter(|&last| !super::contains(&home.live[1], last)) {
                            assert_eq!(calm.step(next, last), row, "{name}: {byte}, {last} from {behind}");
                            two += 1;
                        }
                    }
                }
            }
        }
        assert!(one > 10_000 && two > 100_000, "{one} with one byte behind, {two} with two");
    }

    #[test]
    fn what_is_plain_at_a_home_leads_back() {
        let (mut plain, mut beyond) = (0, 0);
        for name in Dialect::names() {
            let calm = &Dialect::find(name).unwrap().tables.calm;
            for home in &calm.homes {
                let mask = calm.spot(home.row).plain_mask();
                for byte in 0..=u8::MAX {
                    let is_plain = calm.kinds()[usize::from(byte)] & mask == 0;
                    let leads_back = byte.is_ascii() && calm.step(home.row, byte) == home.row;
                    assert_eq!(is_plain, leads_back && mask != ALL, "{name}: {byte}");
                    plain += usize::from(is_plain);
                }
                beyond += usize::from(mask == ALL);
            }
        }
        assert!(plain > 10_000 && beyond > 10, "{plain} bytes are plain, {beyond} homes have no bit");
    }

    #[test]
    fn every_set_of_patterns_that_can_count_together_has_an_area() {
        for name in Dialect::names() {
            let tables = &Dialect::find(name).unwrap().tables;
            for (number, region) in (0..).zip(&tables.regions) {
                for set in super::sets(region, number == super::Tables::ROOT) {
                    let row = tables.calm.enter(number, set.active, &super::Lines::after(b'.'), &[]);
                    assert_ne!(row, LOST, "{name}, region {number}: {:#x}", set.active);
                }
            }
        }
    }

    #[test]
    fn every_row_that_holds_nothing_is_found_by_its_lines() {
        let mut count = 0;
        for name in Dialect::names() {
            let calm = &Dialect::find(name).unwrap().tables.calm;
            assert!(calm.spots.len() < MOST_ROWS, "{name} may have more rows than there is room for");
            for area in &calm.areas {
                for &(_, row) in &area.empty {
                    assert_eq!(calm.enter(area.region, area.active, &calm.lines(row), &[]), row, "{name}");
                    count += 1;
                }
            }
        }
        assert!(count > 1_000, "{count}");
    }
}
