//! How near two names are to each other, for errors that name what was perhaps meant.

/// Names of dialects, patterns and keys are not longer. A caller's name may be, and is cut.
pub const LONGEST: usize = 64;

/// The edits that turn one name into the other (Levenshtein), in any ASCII case. Allocates nothing: an error that names the
/// nearest may have to be written where there is no memory.
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
