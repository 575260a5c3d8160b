//! Streams of records, with a JSON object on each line, as test runners and compilers write them for machines. A record of a
//! failure is a failure line, and the records before it about the same subject are its region.

use std::collections::HashMap;

use serde_json::{Map, Value};
use twox_hash::XxHash3_64;

use crate::compress::lines::{class::Class, layout::Text};

/// Fields that say how something ended. Their names may be in upper or lower case.
pub const ENDS: [&str; 9] = ["action", "event", "level", "severity", "status", "outcome", "result", "type", "reason"];
/// The values of these fields that report a failure.
pub const FAILED: [&str; 8] = ["fail", "failed", "failure", "error", "fatal", "critical", "panic", "timeout"];
/// Fields for the subject of a record.
const ABOUT: [&str; 4] = ["package", "test", "name", "id"];

/// Returns whether the first lines of a text are records.
pub fn has_records(text: Text<'_>) -> bool {
    let mut first = (0..text.len()).filter(|&line| !text.is_blank(line)).take(2).peekable();
    first.peek().is_some() && first.all(|line| record(text.line(line)).is_some())
}

/// Adds flags to the classes of the lines of a stream of records.
pub fn mark(text: Text<'_>, classes: &mut [Class]) {
    // For each subject, the records about it since its last end.
    let mut said: HashMap<u64, Vec<usize>> = HashMap::new();
    for line in 0..text.len() {
        let Some(record) = record(text.line(line)) else { continue };
        let about = about(&record);
        if !ends(&record) {
            if let Some(about) = about {
                said.entry(about).or_default().push(line);
            }
            continue;
        }
        let before = about.and_then(|about| said.remove(&about)).unwrap_or_default();
        if is_failure(&record) {
            for &line in &before {
                classes[line].add(Class::REGION);
            }
            classes[line].add(Class::REGION);
            classes[line].add(Class::FAILURE);
        }
    }
    // Each run of records about a failure is a region.
    for line in 0..text.len() {
        let is_first = line == 0 || !classes[line - 1].has(Class::REGION) || classes[line - 1].has(Class::FAILURE);
        if classes[line].has(Class::REGION) && is_first {
            classes[line].add(Class::START);
        }
    }
}

/// Returns, for each line of a stream of records, whether it is about a subject that passed: the record that says so, or one of
/// the records before it. A record without earlier records about its subject is an item of a list, and not the end of a test.
pub fn passed(text: Text<'_>) -> Vec<bool> {
    let mut passed = vec![false; text.len()];
    let mut said: HashMap<u64, Vec<usize>> = HashMap::new();
    for line in 0..text.len() {
        let Some(record) = record(text.line(line)) else { continue };
        let Some(about) = about(&record) else { continue };
        if !ends(&record) {
            said.entry(about).or_default().push(line);
            continue;
        }
        let before = said.remove(&about).unwrap_or_default();
        if has_passed(&record) && !before.is_empty() {
            before.into_iter().chain([line]).for_each(|line| passed[line] = true);
        }
    }
    passed
}

fn record(line: &[u8]) -> Option<Map<String, Value>> {
    let line = line.trim_ascii();
    (line.first() == Some(&b'{') && line.last() == Some(&b'}')).then(|| serde_json::from_slice(line).ok()).flatten()
}

/// Returns whether the record says how something ended, by the value of a field and not by a message.
fn ends(record: &Map<String, Value>) -> bool {
    let is_skip = |value: &str| ["skip", "skipped"].contains(&value);
    is_failure(record)
        || has_passed(record)
        || values(record).any(|value| is_skip(&value))
        || record.contains_key("success")
}

/// Returns whether the record says that something passed.
fn has_passed(record: &Map<String, Value>) -> bool {
    const PASSED: [&str; 4] = ["pass", "passed", "ok", "success"];
    !is_failure(record) && values(record).any(|value| PASSED.contains(&value.as_str()))
}

/// Returns whether the record says that something failed.
fn is_failure(record: &Map<String, Value>) -> bool {
    let of = |record: &Map<String, Value>| values(record).any(|value| FAILED.contains(&value.as_str()));
    // `{"reason": "compiler-message", "message": {"level": "error"}}`
    let inner = record.get("message").and_then(Value::as_object);
    of(record) || inner.is_some_and(of) || record.get("success") == Some(&Value::Bool(false))
}

/// Returns, in lower case, the values of fields that say how something ended.
fn values(record: &Map<String, Value>) -> impl Iterator<Item = String> {
    let is_end = |name: &str| ENDS.iter().any(|end| end.eq_ignore_ascii_case(name));
    let fields = record.iter().filter(move |(name, _)| is_end(name));
    fields.filter_map(|(_, value)| value.as_str()).map(str::to_ascii_lowercase)
}

/// Returns a hash of the record's subject, if it has one.
fn about(record: &Map<String, Value>) -> Option<u64> {
    let mut key = String::new();
    let mut is_known = false;
    for field in ABOUT {
        if let Some((_, value)) = record.iter().find(|(name, _)| field.eq_ignore_ascii_case(name)) {
            key += &value.to_string();
            is_known = true;
        }
        key.push('\0');
    }
    is_known.then(|| XxHash3_64::oneshot(key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::lines::{failures, layout::Layout};

    fn marks(text: &str) -> String {
        let layout = Layout::new(text.as_bytes(), failures::built_in());
        let text = Text::new(text.as_bytes(), &layout);
        assert!(has_records(text));
        let mut classes = vec![Class::default(); text.len()];
        mark(text, &mut classes);
        let letter = |class: &Class| match () {
            _ if class.has(Class::FAILURE) => 'F',
            _ if class.has(Class::REGION) => 'R',
            _ => '.',
        };
        classes.iter().map(letter).collect()
    }

    #[test]
    fn what_was_said_of_a_test_that_failed_is_its_region() {
        let row =
            |action: &str, test: &str| format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\"}}\n");
        let rows = [("output", "a"), ("output", "b"), ("pass", "a"), ("output", "a"), ("output", "b"), ("fail", "b")];
        let text: String = rows.iter().map(|(action, test)| row(action, test)).collect();
        assert_eq!(marks(&text), ".R..RF");
    }

    #[test]
    fn what_was_said_of_a_test_that_passed_can_go() {
        let row = |action: &str, test: &str| format!("{{\"Action\":\"{action}\",\"Test\":\"{test}\"}}\n");
        let rows = [("output", "a"), ("output", "b"), ("pass", "a"), ("output", "c"), ("skip", "c"), ("fail", "b")];
        let mut text: String = rows.iter().map(|(action, test)| row(action, test)).collect();
        text += "{\"Action\":\"pass\"}\n{\"id\":3,\"status\":\"success\"}\n";
        let layout = Layout::new(text.as_bytes(), failures::built_in());
        assert_eq!(passed(Text::new(text.as_bytes(), &layout)), [true, false, true, false, false, false, false, false]);
    }

    #[test]
    fn an_error_may_be_in_a_record_inside() {
        let text = "{\"reason\":\"compiler-artifact\"}\n{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\"}}\n{\"reason\":\"compiler-message\",\"message\":{\"level\":\"warning\"}}\n{\"reason\":\"build-finished\",\"success\":false}\n";
        assert_eq!(marks(text), ".F.F");
    }
}
