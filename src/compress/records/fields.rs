//! Compares the fields of records. A value is rare if few records have it, while a few other values of the same field are enough
//! for most records.

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_64;

/// A field: the hash of its name, or its place, and the hash of its value.
pub type Field = (u64, u64);

/// A value is common if more than a tenth of the records have it. A field has few values if four fifths of the records have a
/// common value in it.
const COMMON: usize = 10;

/// The maximum number of fields that only few records lack.
const MOST_ABSENT: usize = 32;

/// Returns for each record the smaller of two numbers: of records that share its rarest value, and of records that lack the same
/// field. It is `usize::MAX` if no value and no missing field is rare. A record may have several values in a field.
pub fn rarity(records: &[Vec<Field>]) -> Vec<usize> {
    let mut counts: FxHashMap<Field, usize> = FxHashMap::default();
    // The records with each field.
    let mut with: FxHashMap<u64, usize> = FxHashMap::default();
    let mut seen: FxHashMap<u64, usize> = FxHashMap::default();
    for (at, record) in records.iter().enumerate() {
        for field in record {
            *counts.entry(*field).or_default() += 1;
            if seen.insert(field.0, at) != Some(at) {
                *with.entry(field.0).or_default() += 1;
            }
        }
    }
    let most = (records.len() / COMMON).max(1);
    // For each field, the number of all values, and of common values.
    let mut names: FxHashMap<u64, (usize, usize)> = FxHashMap::default();
    for (&(name, _), &count) in &counts {
        let sums = names.entry(name).or_default();
        sums.0 += count;
        sums.1 += if count > most { count } else { 0 };
    }
    let without = |name: u64| records.len() - with[&name];
    let has_few_values = |name: u64| {
        let ((all, common), without) = (names[&name], without(name));
        (common + if without > most { without } else { 0 }) * 5 >= (all + without) * 4
    };
    let is_rare = |field: &&Field| counts[*field] <= most && has_few_values(field.0);
    let mut absent: Vec<(usize, u64)> = with.keys().map(|&name| (without(name), name)).collect();
    absent.retain(|(count, _)| (1..=most).contains(count));
    absent.sort_unstable();
    absent.truncate(MOST_ABSENT);
    let lacks = |record: &[Field]| absent.iter().find(|(_, name)| record.iter().all(|field| field.0 != *name));
    let count = |record: &Vec<Field>| {
        let rarest = record.iter().filter(is_rare).map(|field| counts[field]).min();
        rarest.into_iter().chain(lacks(record).map(|(count, _)| *count)).min().unwrap_or(usize::MAX)
    };
    records.iter().map(count).collect()
}

/// The values that were seen in the columns of rows that arrive one after the other.
#[derive(Default)]
pub struct Seen {
    columns: Vec<FxHashMap<u64, usize>>,
    rows: usize,
    separator: Option<u8>,
}

/// The maximum number of values of a column in which values can be rare: if a column has more, they are names or numbers. None of the
/// first rows is rare. A later row is rare if at most one in a hundred rows has the same value.
const MOST_VALUES: usize = 32;
const FIRST_ROWS: usize = 40;
const FEW: usize = 100;

impl Seen {
    /// Adds a row. Returns whether the row is rare: few rows so far have one of its values, in a column with few values.
    pub fn is_rare(&mut self, row: &[u8]) -> bool {
        if self.rows == 0 {
            self.separator = separator(row);
        }
        self.rows += 1;
        let mut is_rare = false;
        for (place, word) in words(row, self.separator).enumerate() {
            if place == self.columns.len() {
                self.columns.push(FxHashMap::default());
            }
            let values = &mut self.columns[place];
            if values.len() <= MOST_VALUES {
                let count = values.entry(XxHash3_64::oneshot(word)).or_default();
                *count += 1;
                is_rare |= *count * FEW <= self.rows;
            }
        }
        is_rare && self.rows > FIRST_ROWS
    }
}

/// The maximum number of columns of a row that are compared.
const MOST_COLUMNS: usize = 16;

/// Returns the byte that divides the columns of a table with this first row, or `None` if blanks divide them.
pub fn separator(row: &[u8]) -> Option<u8> {
    let divides = |&byte: &u8| {
        let mut after = memchr::memchr_iter(byte, row).map(|at| row.get(at + 1) != Some(&b' '));
        after.clone().count() >= 2 && after.all(|is_tight| is_tight)
    };
    [b',', b';', b'\t'].into_iter().find(divides)
}

/// Returns the words of a row in its first columns.
pub fn words(row: &[u8], separator: Option<u8>) -> impl Iterator<Item = &[u8]> {
    let divides = move |byte: &u8| separator.map_or(byte.is_ascii_whitespace(), |separator| *byte == separator);
    row.split(divides).filter(move |word| separator.is_some() || !word.is_empty()).take(MOST_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::rarity;

    #[test]
    fn a_value_is_rare_where_others_are_common() {
        let mut records: Vec<Vec<(u64, u64)>> = (0..40).map(|number| vec![(1, number), (2, 7)]).collect();
        records[9][1].1 = 8;
        records[30].push((3, 1));
        let found = rarity(&records);
        assert_eq!((found[9], found[30]), (1, 1));
        assert_eq!(found.iter().filter(|&&count| count == usize::MAX).count(), 38);
    }
}
