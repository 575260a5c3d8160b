//! How near two names are to each other, so that an error can suggest the intended one. Nothing here may allocate.

/// The most bytes of a name of a dialect, pattern or key. A caller's name may be longer, and is cut.
pub const LONGEST: usize = 64;

/// Returns the distance of a known name that may have been meant, or `None` if it is too far from the one that was asked for: more
/// than half of the longer one must be changed, and the known one does not begin with the other.
pub fn near(asked: &[u8], known: &[u8]) -> Option<usize> {
    let edits = distance(asked, known);
    let is_beginning =
        asked.len() > 1 && known.get(..asked.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(asked));
    (is_beginning || edits * 2 <= asked.len().max(known.len())).then_some(edits)
}

/// Returns the known name that is nearest to the one that was asked for, if one is near; of several, the first.
pub fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.filter_map(|known| Some((near(asked.as_bytes(), known.as_bytes())?, known)));
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// Returns the number of edits that turn one name into the other (Levenshtein), in any ASCII case. It allocates nothing, because an
/// error that names the nearest may be written when there is no memory.
pub fn distance(asked: &[u8], known: &[u8]) -> usize {
    let known = &known[..known.len().min(LONGEST)];
    let mut row: [usize; LONGEST + 1] = std::array::from_fn(|at| at);
    for (i, a) in asked.iter().take(LONGEST).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in known.iter().enumerate() {
            let change = diagonal + usize::from(!a.eq_ignore_ascii_case(b));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[known.len()]
}
