//! The distance between two names, so that an error can suggest the intended name. Nothing here may allocate.

/// The maximum number of bytes of a name of a dialect, pattern or key. A caller's name may be longer, and is cut.
pub const LONGEST: usize = 64;

/// Returns the rank of a known name that may have been meant: the lower, the nearer. Known names that begin with `asked` have the
/// lowest ranks. Returns `None` for any other known name if half of the longer name or more would have to be changed.
pub fn near(asked: &[u8], known: &[u8]) -> Option<usize> {
    let edits = distance(asked, known);
    let is_beginning =
        asked.len() > 1 && known.get(..asked.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(asked));
    let is_near = edits * 2 < asked.len().max(known.len());
    is_beginning.then_some(edits).or(is_near.then_some(edits + LONGEST))
}

/// Returns the known name that is nearest to `asked`, or the first of several such names. Returns `None` if no known name is
/// near.
pub fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.filter_map(|known| Some((near(asked.as_bytes(), known.as_bytes())?, known)));
    near.min_by_key(|(rank, _)| *rank).map(|(_, known)| known)
}

/// Returns the number of edits that turn one name into the other, in any ASCII case: letters added, removed, changed, or swapped
/// with the next. It allocates nothing, because an error that suggests names may be written when there is no memory.
pub fn distance(asked: &[u8], known: &[u8]) -> usize {
    let known = &known[..known.len().min(LONGEST)];
    let mut row: [usize; LONGEST + 1] = std::array::from_fn(|at| at);
    let mut above = row;
    for (i, a) in asked.iter().take(LONGEST).enumerate() {
        let two_above = std::mem::replace(&mut above, row);
        row[0] = i + 1;
        for (j, b) in known.iter().enumerate() {
            let change = above[j] + usize::from(!a.eq_ignore_ascii_case(b));
            row[j + 1] = change.min(row[j] + 1).min(above[j + 1] + 1);
            let is_swapped =
                i > 0 && j > 0 && a.eq_ignore_ascii_case(&known[j - 1]) && asked[i - 1].eq_ignore_ascii_case(b);
            if is_swapped {
                row[j + 1] = row[j + 1].min(two_above[j - 1] + 1);
            }
        }
    }
    row[known.len()]
}
