//! Sizes as the options write them: 512, 10k, 1m.

/// Returns a number of bytes. `k` is 1,024 of them, `m` 1,048,576.
pub fn parse(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    let size = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    size.ok_or_else(|| "not a size: write 512, 10k or 1m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes() {
        assert_eq!(parse("512"), Ok(512));
        assert_eq!(parse("10k"), Ok(10_240));
        assert_eq!(parse("1M"), Ok(1_048_576));
        for wrong in ["", "k", "-1", "1.5k", "10kb", "99999999999999999999", "99999999999999m"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
