//! Tests the line ends of a stream: with all of them, the result must have the same events, and no line of an event that is not
//! sent.

use aside::Dialect;
use aside::sse::{Body, Options, Thinking};
use support::rewriting::{at_every_cut, recordings, rewrite};

#[test]
fn a_stream_of_crlf_differs_from_one_of_lf_by_its_line_ends() {
    let options = Options::new().body(Body::Events);
    let drop = |options: &Options| options.clone().thinking(Thinking::Drop);
    let ways = [options.clone(), options.clone().calls(true), drop(&options), drop(&options.clone().calls(true))];
    let recordings = recordings();
    assert!(recordings.len() > 8, "{}", recordings.len());
    for (name, stream) in &recordings {
        let dialect = Dialect::find(name).unwrap();
        let stream = stream.replace("\r\n", "\n");
        let with_crlf = stream.replace('\n', "\r\n");
        for options in &ways {
            let wanted = rewrite(&dialect, options, [&stream]).replace('\n', "\r\n");
            assert_eq!(rewrite(&dialect, options, [&with_crlf]), wanted, "{name} {options:?}");
            assert_eq!(rewrite(&dialect, options, with_crlf.bytes().map(|byte| [byte])), wanted, "{name} {options:?}");
        }
    }
}

#[test]
fn lines_of_other_formats_get_no_events_between_them() {
    let dialect = Dialect::find("qwen3").unwrap();
    let of = |kind: &str, rest: &str| format!("{{\"type\":\"{kind}\",{rest}}}\n");
    let messages = of("content_block_start", r#""index":0,"content_block":{"type":"text","text":""}"#)
        + &of("content_block_delta", r#""index":0,"delta":{"type":"text_delta","text":"<think>hm</think>Hi"}"#)
        + &of("content_block_stop", r#""index":0"#);
    let place = r#""item_id":"m","output_index":0,"content_index":0"#;
    let responses = of("response.output_text.delta", &format!("{place},\"delta\":\"<think>hm</think>Hi\""))
        + &of("response.output_text.done", &format!("{place},\"text\":\"<think>hm</think>Hi\""));
    for stream in [messages, responses] {
        let options = Options::new().body(Body::Lines);
        assert_eq!(at_every_cut(&dialect, &options, &stream), stream);
        let dropping = options.thinking(Thinking::Drop);
        let said = at_every_cut(&dialect, &dropping, &stream);
        assert!(said.lines().all(|line| line.starts_with('{')), "{said}");
    }
}
