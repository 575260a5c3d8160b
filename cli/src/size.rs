//! Parses sizes in options: 512, 10k, 1m.

/// Returns a number of bytes. `k` means 1,024 bytes, `m` 1,048,576.
pub fn parse(text: &str) -> Result<usize, String> {
    parse_with(text, 1 << 10).ok_or_else(|| "not a size: write 512, 10k or 1m".to_owned())
}

/// Returns a number of anything other than bytes. `k` means 1,000, `m` 1,000,000.
pub fn parse_count(text: &str) -> Result<usize, String> {
    parse_with(text, 1000).ok_or_else(|| "not a number: write 2500 or 10k".to_owned())
}

fn parse_with(text: &str, thousand: usize) -> Option<usize> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], thousand),
        Some((at, 'm' | 'M')) => (&text[..at], thousand * thousand),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_count};

    #[test]
    fn sizes() {
        assert_eq!(parse("512"), Ok(512));
        assert_eq!(parse("10k"), Ok(10_240));
        assert_eq!(parse("1M"), Ok(1_048_576));
        assert_eq!((parse_count("2500"), parse_count("10k")), (Ok(2500), Ok(10_000)));
        assert!(parse_count("10t").is_err());
        for wrong in ["", "k", "-1", "1.5k", "10kb", "99999999999999999999", "99999999999999m"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
