//! Checks that a rewriter treats every stream like its first: nothing of a stream may remain for the next, and what the rewriter
//! stores before a stream must stay.

use aside::Dialect;
use aside::answer::NotWhole;
use aside::sse::{Body, Options, ResponsesAs, Rewriter, Shapes, Thinking};
use samples::Random;

fn output(rewriter: &mut Rewriter, chunks: &[&[u8]], resets: bool) -> Vec<u8> {
    let mut out = Vec::new();
    chunks.iter().for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
    rewriter.finish(&mut out).unwrap();
    if resets {
        rewriter.reset();
    }
    out
}

fn options(random: &mut Random) -> Options {
    let mut options = Options::new().max_event(*random.pick(&[20, 80, 150, 300, 1 << 20]));
    let mut is = || random.one_in(2);
    options = options.repair(is()).promote_empty(is()).keep_guessed(is()).merge(is()).label(is());
    if is() {
        options = options.calls(true).not_whole(if is() { NotWhole::Hold } else { NotWhole::Tell });
    }
    if is() {
        options = options.normalise(Shapes::ALL);
    }
    if is() {
        options = options.thinking(Thinking::Drop);
    }
    if is() {
        options = options.responses_as(ResponsesAs::Summary);
    }
    if is() { options } else { options.body(Body::Events) }
}

#[test]
fn a_second_stream_is_like_the_first() {
    let mut random = Random::announced("a_second_stream_is_like_the_first");
    let root = std::path::Path::new(support::ROOT).join("tests/sse");
    let files = support::files(&root).into_iter().chain(support::files(root.join("formats")));
    let streams: Vec<String> = files.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    assert!(streams.len() > 12);
    // Answers with thinking only, without the calls and the content of the recordings, so that the thinking may be promoted.
    let thinking =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let finish = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let long = "x".repeat(400);
    let made = [
        format!("{}{}{finish}", thinking(&long), thinking("<think>hm")),
        format!(": {long}\n\n{}{finish}", thinking("<think>hm")),
        format!("{}{finish}{}", thinking("hm"), thinking("ho")),
    ];
    let streams: Vec<&str> = streams.iter().chain(&made).map(String::as_str).collect();
    for _ in 0..3000 {
        let name: &&str = random.pick(&["qwen3", "any", "deepseek-r1", "kimi-k3"]);
        let dialect = Dialect::find(name).unwrap();
        let options = options(&mut random);
        let mut rewriter = Rewriter::new(&dialect, &options).unwrap();
        let stream = random.pick(&streams).as_bytes();
        // Some streams begin or break off in the middle.
        let stream = if random.one_in(3) { &stream[random.below(stream.len())..] } else { stream };
        let chunks = support::random_cuts(&mut random, stream, 600);
        let resets = random.one_in(2);
        let [first, second] = [0; 2].map(|_| output(&mut rewriter, &chunks, resets));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(first == second, "{options:?}\n{}\n  first {}\n  second {}", text(stream), text(&first), text(&second));
        // A different stream before must leave nothing either.
        let other = random.pick(&streams).as_bytes();
        output(&mut rewriter, &[other], resets);
        let third = output(&mut rewriter, &chunks, false);
        assert!(
            first == third,
            "{options:?}\n{}\n  after {}\n  first {}\n  then {}",
            text(stream),
            text(other),
            text(&first),
            text(&third)
        );
    }
}
