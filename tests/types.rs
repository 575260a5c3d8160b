//! Checks that a host can store the public types, send them to threads and print them. The checks pass if this file compiles.

use std::error::Error as StdError;
use std::fmt::{Debug, Display};
use std::hash::Hash;

use aside::sse;
use aside::*;

fn is_plain<T: Copy + Debug + Eq + Send + Sync + 'static>() {}
fn is_value<T: Clone + Debug + PartialEq + Send + Sync>() {}
fn is_shared<T: Clone + Debug + Send + Sync + 'static>() {}
fn is_sent<T: Debug + Send + 'static>() {}
fn is_error<T: StdError + Clone + Eq + Send + Sync + 'static>() {}

#[test]
fn what_says_how_and_why_is_a_plain_value() {
    is_plain::<Channel>();
    is_plain::<Start>();
    is_plain::<Cause>();
    is_plain::<Token>();
    is_plain::<Counts>();
    is_plain::<Budget>();
    is_plain::<BudgetUnit>();
    is_plain::<BudgetScope>();
    is_plain::<StrayClose>();
    is_plain::<ScannerOptions>();
    is_plain::<Markers>();
    is_plain::<JoinOptions>();
    is_plain::<KnownModel>();
    is_plain::<sse::Field>();
    is_plain::<sse::Body>();
    is_plain::<sse::Formats>();
    is_plain::<sse::Comments>();
    is_plain::<sse::ResponsesAs>();
}

#[test]
fn channels_and_starts_are_keys_of_maps_and_have_names() {
    fn is_key<T: Hash + Eq>() {}
    fn is_shown<T: Display>() {}
    is_key::<Channel>();
    is_key::<Start>();
    is_shown::<Channel>();
}

#[test]
fn events_may_be_kept_as_long_as_their_bytes() {
    is_value::<Event<'_>>();
    is_value::<Kind<'_>>();
    is_value::<Attribute<'_>>();
    is_value::<Thought>();
}

#[test]
fn a_dialect_is_shared_and_a_scanner_is_sent() {
    is_shared::<Dialect>();
    is_shared::<sse::Options>();
    is_shared::<Scanner>();
    is_sent::<sse::Rewriter>();
    fn is_pulled<T: Debug>() {}
    is_pulled::<Events<'_>>();
}

#[test]
fn errors_go_through_threads_and_boxes() {
    is_error::<Error>();
    is_error::<JoinError>();
    is_error::<UnknownDialect>();
    is_error::<UnknownModel>();
    is_error::<UnknownStart>();
    is_error::<UnknownTemplate>();
    is_error::<FileError>();
    let boxed: Box<dyn StdError + Send + Sync> = Error::OutOfMemory.into();
    assert_eq!(boxed.to_string(), "out of memory");
}

#[cfg(feature = "compress")]
#[test]
fn a_compressor_is_shared_and_a_stream_is_sent() {
    use aside::compress;

    fn is_used_by_threads<T: Debug + Send + Sync + 'static>() {}
    is_used_by_threads::<compress::Registry>();
    is_used_by_threads::<compress::Compressor>();
    is_sent::<compress::ToolStream>();
    is_value::<compress::Report>();
    is_value::<compress::Compressed>();
    is_error::<compress::BudgetError>();
    is_error::<compress::InputError>();
    is_error::<compress::MemoryError>();
    is_error::<compress::SliceError>();
}

#[test]
fn a_scanner_and_a_rewriter_show_where_they_stand() {
    let dialect = Dialect::find("qwen3").unwrap();
    let mut scanner = Scanner::new(&dialect);
    scanner.feed("<think>hm</th", |_| ()).unwrap();
    let shown = format!("{scanner:?}");
    assert_eq!(shown, r#"Scanner { dialect: "qwen3", channel: Thinking, offset: 13, held: "</th", .. }"#);
    assert_eq!(format!("{:?}", scanner.finish_events()), "Events { method: Finish, .. }");
    let rewriter = sse::Rewriter::new(&dialect, &sse::Options::new().off(true)).unwrap();
    assert!(format!("{rewriter:?}").contains("off: true"));
}
