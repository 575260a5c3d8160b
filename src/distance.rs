//! How near two names are to each other, so that an error can suggest the intended one. Nothing here may allocate.

/// The most bytes of a name of a dialect, pattern or key. A caller's name may be longer, and is cut.
pub const LONGEST: usize = 64;

/// Returns how many edits turn one name into the other (Levenshtein), in any ASCII case. It allocates nothing, because an error
/// that names the nearest may be written when there is no memory.
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
