//! Tests token ids: for all tokens, the result after each of them must be the scanner's result for their text.

use std::sync::Arc;

use aside::{Cause, Channel, Kind, Role, Scanner, ScannerOptions, Start, TokenState, Vocabulary};
use samples::Random;
use support::Pair;

/// Returns a vocabulary with a token for each byte, and then a token for each of these texts.
fn vocabulary(texts: &[&[u8]]) -> Arc<Vocabulary> {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let texts = texts.iter().map(|text| text.to_vec());
    Arc::new(Vocabulary::new(bytes.chain(texts).map(|text| (text, false))).without_special())
}

/// The state of the thinking after the events of a text: whether thinking is open, and whether the last thinking was closed before
/// the text's end.
#[derive(Default)]
struct Thinking {
    is_open: bool,
    is_closed: bool,
}

fn check(pair: &Pair, start: &str, text: &[u8], random: &mut Random) {
    let name = &pair.reference.name;
    let start: Start = start.parse().unwrap();
    let mut tokens = support::random_cuts(random, text, 12);
    tokens.retain(|token| !token.is_empty());
    let vocabulary = vocabulary(&tokens);
    let state = || TokenState::new(&pair.library, vocabulary.clone(), &[], Some(start)).unwrap();
    let (mut large, mut small) = (state(), state());
    let mut scanner = Scanner::with_options(&pair.library, &ScannerOptions::new().start(start)).unwrap();
    let mut thinking = Thinking::default();
    let (mut settled, mut at) = (0, 0);
    for (number, token) in tokens.iter().enumerate() {
        at += token.len();
        let about = || format!("{name} from {start:?}: \"{}\" to {at}", text.escape_ascii());
        let id = 256 + number as u32;
        let proposed = large.find_end(&[id]).unwrap();
        large.push(&[id], |_, _| settled += 1).unwrap();
        let ids: Vec<u32> = token.iter().map(|&byte| byte.into()).collect();
        for id in ids {
            small.push(&[id], |_, _| ()).unwrap();
        }
        scanner
            .feed(token, |event| match (event.kind, event.channel) {
                (Kind::Open { .. }, Channel::Thinking) => thinking = Thinking { is_open: true, is_closed: false },
                (Kind::Close(cause), Channel::Thinking) if cause != Cause::EndOfStream => {
                    thinking = Thinking { is_open: false, is_closed: true };
                }
                _ => {}
            })
            .unwrap();
        // The lengths of the tokens must not matter.
        let has_ended = large.has_ended_thinking();
        assert_eq!(has_ended, small.has_ended_thinking(), "{}", about());
        assert_eq!(proposed.is_some(), has_ended, "{}", about());
        // The result must agree with the events of the text.
        assert!(!thinking.is_open || !has_ended, "{}", about());
        assert!(!thinking.is_closed || has_ended, "{}", about());
        for channel in Channel::ALL {
            assert_eq!(small.count(channel), scanner.counts(channel).bytes, "{} {channel}", about());
        }
        // The channels of the tokens so far must be those of their text.
        let ids: Vec<u32> = (256..=256 + number as u32).collect();
        let spans = pair.library.spans(&text[..at], Some(start)).unwrap();
        let channels = state().channels(&ids).unwrap();
        let mut begin = 0;
        for (token, (channel, role)) in tokens[..=number].iter().zip(&channels) {
            let span = spans.iter().find(|span| span.range.contains(&begin)).map(|span| span.channel);
            assert_eq!(span, (*role == Role::Text).then_some(*channel), "{} at {begin}", about());
            begin += token.len();
        }
        assert_eq!(channels.len(), ids.len(), "{}", about());
        // A token is content if its first byte is content.
        let content = small.content_ids().count();
        let mut end = at;
        let large_content = tokens[..=number].iter().rev().take_while(|token| {
            end -= token.len();
            at - end <= content
        });
        assert_eq!(large.content_ids().count(), large_content.count(), "{}", about());
    }
    large.finish(|_, _| settled += 1).unwrap();
    assert_eq!(settled, tokens.len(), "{name}: \"{}\"", text.escape_ascii());
}

#[test]
fn ids_are_what_text_is_after_every_token() {
    support::samples("ids_are_what_text_is_after_every_token", 40, check);
}

#[test]
fn a_copy_and_its_original_go_on_alone() {
    let pair = Pair::find("qwen3");
    let texts: [&[u8]; 3] = [b"<think>", b"</think>", b"hm"];
    let mut state = TokenState::new(&pair.library, vocabulary(&texts), &[], None).unwrap();
    state.push(&[256, 258], |_, _| ()).unwrap();
    let mut copy = state.try_clone().unwrap();
    copy.push(&[257, 258], |_, _| ()).unwrap();
    assert!(copy.has_ended_thinking() && !state.has_ended_thinking());
    assert_eq!((copy.content_ids().collect::<Vec<_>>(), state.content_ids().count()), (vec![258], 0));
}

#[test]
fn the_time_is_in_proportion_to_the_ids() {
    let pair = Pair::find("qwen3");
    let texts: [&[u8]; 2] = [b"<think>", b"</think>"];
    let mut state = TokenState::new(&pair.library, vocabulary(&texts), &[256], None).unwrap();
    for _ in 0..200_000 {
        state.push(&[b'a'.into()], |_, _| ()).unwrap();
        assert!(!state.has_ended_thinking());
    }
    assert_eq!(state.count(Channel::Thinking), 200_000);
    assert_eq!(state.find_end(&[b'a'.into(), 257]).unwrap(), Some(1));
}
