//! A cache of templates that were read. A server asks for the dialect of the same few templates with each request, and reading
//! a template takes thousands of times as long as comparing it.

use std::sync::{PoisonError, RwLock};

use super::UnknownTemplate;
use crate::{channel::Start, dialect::Dialect, memory::copy_text};

/// The most templates that are kept. After that, the oldest is dropped for each new one.
const MOST: usize = 64;

/// The longest template that is kept, in bytes.
const LONGEST: usize = 64 * 1024;

type Found = Result<(Dialect, Start), UnknownTemplate>;

/// The templates and their results, the oldest first. Texts are compared instead of hashes, which can be forged.
static KNOWN: RwLock<Vec<(String, Found)>> = RwLock::new(Vec::new());

/// Returns the kept result for a text.
pub fn recall(template: &str) -> Option<Found> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let (_, found) = known.iter().find(|(text, _)| text == template)?;
    Some(copied(found))
}

/// Keeps the result for a text, if there is memory for it.
pub fn keep(template: &str, found: &Found) {
    if template.len() > LONGEST {
        return;
    }
    let found = copied(found);
    if matches!(&found, Err(error) if error.is_out_of_memory()) {
        return;
    }
    let Ok(text) = copy_text(template) else { return };
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    // Another thread may have added it before.
    if known.iter().any(|(text, _)| text == template) {
        return;
    }
    if known.len() == MOST {
        drop(known.remove(0));
    }
    if known.try_reserve(1).is_ok() {
        known.push((text, found));
    }
}

fn copied(found: &Found) -> Found {
    match found {
        Ok(found) => Ok(found.clone()),
        Err(error) => Err(error.copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_kept_and_the_oldest_makes_room() {
        let template = |number: usize| format!("<think></think>{{# {number} #}}");
        let long = format!("<think></think>{{# {} #}}", "x".repeat(LONGEST));
        let names = |found: &Found| match found {
            Ok((dialect, start)) => (vec![dialect.name().to_owned()], Some(*start)),
            Err(error) => (error.candidates().iter().map(|&name| name.to_owned()).collect(), None),
        };
        for number in 0..=MOST {
            let template = template(number);
            let found = Dialect::find_for_template(&template);
            assert_eq!(names(&recall(&template).unwrap()), names(&found));
        }
        _ = Dialect::find_for_template("no marker");
        assert!(recall("no marker").unwrap().is_err());
        _ = Dialect::find_for_template(&long);
        assert!(recall(&long).is_none());
        assert!(recall(&template(0)).is_none());
        assert_eq!(KNOWN.read().unwrap().len(), MOST);
    }
}
