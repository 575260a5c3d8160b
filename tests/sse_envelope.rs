//! If the envelope of a frame equals that of the frame before, the rewriter does not parse it. The output must be the same as after
//! parsing. To compare, different blanks at the ends of lines make every frame differ from the frame before.

use aside::Dialect;
use aside::sse::{Body, Field, Formats, Options, Rewriter};
use samples::Random;

/// The possible values of each member that the rewriter does not read. Each frame has one of them.
const VALUES: [&[&str]; 12] = [
    &["1764000000"],
    &["\"c1\""],
    &["1", "2", "30", "-4", "5.5e+6", "0"],
    &["\"\"", "\"a\"", "\"xK3vQ9ZbLm2TrWd\"", "\"é 🎉\""],
    &["\"\\\"\"", "\"\\\\\"", "\"\\\\\\\"\"", "\"\\u0041\"", "\"},{\\\"choices\\\":[\"", "\"</think>\""],
    &["\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"\\udc00x\"", "\"\u{FFFD}\""],
    &["[1]", "[]", "[1,2,[3]]", "{\"a\":{}}", "{\"choices\":[{\"delta\":{\"content\":\"no\"}}]}", "{}"],
    &["null", "true", "false", "\"null\"", "0"],
    &["1", "01", "2"],
    &["\"a\"", "\"b", "\"c\\x\"", "\"d\t\""],
    &["[1,\ndata: 2]", "[1]", "[1,2]", "[1,\n2]"],
    &["1.0", "1 ", "1e", "[", "]"],
];

const TEXTS: [&str; 19] = [
    "<think>",
    "</think>",
    "hm",
    "\\n",
    " a <",
    "`",
    "é",
    "\\u003cthink>",
    "\\ud83d\\ude00",
    "",
    "<th",
    "ink>",
    "x",
    "\\\"<",
    "<tool_call>",
    "{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{",
    "\\\"a\\\":[1,2,",
    "3]}}",
    "</tool_call>",
];

struct Member {
    key: &'static str,
    values: &'static [&'static str],
}

fn members(random: &mut Random, keys: &[&'static str]) -> Vec<Member> {
    // The last four lists make frames that are not JSON or have more lines.
    let most = if random.one_in(4) { VALUES.len() } else { VALUES.len() - 4 };
    let all =
        (0..random.below(5)).map(|_| Member { key: random.pick::<&str>(keys), values: VALUES[random.below(most)] });
    all.collect()
}

fn write(random: &mut Random, members: &[Member]) -> String {
    members.iter().map(|Member { key, values }| format!(",\"{key}\":{}", random.pick(values))).collect()
}

/// Returns the frames of a stream with similar frames, without their line ends, and the line end.
fn frames(random: &mut Random, format: usize) -> (Vec<String>, &'static str) {
    const KEYS: [&str; 10] = [
        "id",
        "created",
        "model",
        "obfuscation",
        "token_ids",
        "logprobs",
        "usage",
        "created_at",
        "mod\\u0065l",
        "x\\\"y",
    ];
    const ODD: [&str; 6] = ["index", "finish_reason", "role", "reasoning", "error", "object"];
    let keys: Vec<&'static str> = if random.one_in(6) { [&KEYS[..], &ODD[..]].concat() } else { KEYS.to_vec() };
    let [top, rest, choice, after, delta] = [(); 5].map(|()| members(random, &keys));
    let begins = *random.pick(&["", "", "event: x\n", "id: 7\n", ":a\n"]);
    let blank = if random.one_in(3) { " " } else { "" };
    let is_events = !matches!(format, 2 | 3);
    let end = if is_events { *random.pick(&["\n", "\n", "\r\n", "\r"]) } else { *random.pick(&["\n", "\r\n"]) };
    let doubled = random.one_in(8);
    let mut frames = Vec::new();
    let starts: &[&str] = match format {
        4 => &[
            r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ],
        5 => &[
            r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"m","type":"message","content":[]}}"#,
            r#"{"type":"response.content_part.added","sequence_number":3,"item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}"#,
        ],
        _ => &[],
    };
    frames.extend(starts.iter().map(|json| format!("{begins}data: {json}\n")));
    for number in 0..3 + random.below(20) {
        let content = match random.below(12) {
            0 => "null".to_owned(),
            1 => "[]".to_owned(),
            _ => format!("\"{}{}\"", random.pick(&TEXTS), random.pick(&TEXTS)),
        };
        let index = if random.one_in(20) { 1 } else { 0 };
        let [top, rest, choice, after, delta] =
            [&top, &rest, &choice, &after, &delta].map(|members| write(random, members));
        let finish = if random.one_in(30) { "\"stop\"" } else { "null" };
        let twice = if doubled { "\"content\":\"no\"," } else { "" };
        let json = match format {
            0 => format!(
                "{{\"object\":\"chat.completion.chunk\"{top},{blank}\"choices\":[{{\"index\":{index}{choice},\"delta\":{{{twice}\"content\":{content}{delta}}}{after},\"finish_reason\":{finish}}}]{blank}{rest}}}"
            ),
            1 => format!(
                "{{\"object\":\"text_completion\"{top},\"choices\":[{{\"text\":{content}{choice},\"index\":{index},\"finish_reason\":{finish}}}]{rest}}}"
            ),
            2 => format!(
                "{{\"model\":\"m\"{top},\"message\":{{\"role\":\"assistant\",\"content\":{content}{delta}}},\"done\":{}{rest}}}",
                finish != "null"
            ),
            4 => format!(
                "{{\"type\":\"content_block_delta\"{top},\"index\":{index},{blank}\"delta\":{{\"type\":\"text_delta\",{}\"text\":{content}{delta}}}{rest}}}",
                twice.replace("content", "text")
            ),
            5 => format!(
                "{{\"type\":\"response.output_text.delta\"{top},\"sequence_number\":{},\"item_id\":\"m\",\"output_index\":{},{blank}\"content_index\":{index}{choice},{}\"delta\":{content}{rest}}}",
                number + 4,
                usize::from(random.one_in(60)),
                twice.replace("content", "delta")
            ),
            _ => format!("{{\"model\":\"m\"{top},\"response\":{content}{blank},\"done\":{}{rest}}}", finish != "null"),
        };
        let frame = match format {
            2 | 3 => json.replace("\ndata: ", "").replace('\n', ""),
            _ => format!("{begins}data: {json}\n"),
        };
        frames.push(frame);
        if random.one_in(15) && is_events {
            let others = [":\n", "data: {\"choices\":[]}\n", "data: [DONE]\n", "event: error\ndata: 1\n"];
            frames.push((*random.pick(&others)).to_owned());
        }
    }
    (frames, end)
}

fn rewrite(dialect: &Dialect, options: &Options, stream: &[u8], size: usize) -> String {
    let mut rewriter = Rewriter::new(dialect, options).unwrap();
    let mut out = Vec::new();
    stream.chunks(size).for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
    rewriter.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn frames_that_are_alike_become_what_parsing_finds() {
    let mut random = Random::announced("frames_that_are_alike_become_what_parsing_finds");
    let rounds = if cfg!(debug_assertions) { 3000 } else { 20_000 };
    for _ in 0..rounds {
        let format = random.below(6);
        let is_events = !matches!(format, 2 | 3);
        let (frames, end) = frames(&mut random, format);
        let dialect = Dialect::find(random.pick::<&str>(&["qwen3", "think", "any"])).unwrap();
        let formats = if format == 0 && random.one_in(2) { Formats::CHAT } else { Formats::ALL };
        let options = Options::new()
            .formats(formats)
            .body(if is_events { Body::Events } else { Body::Lines })
            .field(*random.pick(&[Field::ReasoningContent, Field::Thinking]))
            .merge(random.one_in(6))
            .promote_empty(random.one_in(6))
            .calls(random.one_in(4));
        let mut stream = String::new();
        let mut parsed = String::new();
        for (number, frame) in frames.iter().enumerate() {
            let blanks = &"  "[..1 + number % 2];
            stream += &(frame.replace('\n', end) + end);
            // Blanks at the ends of lines have no meaning, except in lines with names.
            let lines = frame.lines().map(|line| match line.starts_with("data: {") || line.starts_with('{') {
                true => format!("{line}{blanks}"),
                false => line.to_owned(),
            });
            parsed += &(lines.map(|line| line + end).collect::<String>() + if is_events { end } else { "" });
        }
        let wanted = rewrite(&dialect, &options, parsed.as_bytes(), usize::MAX);
        let wanted = wanted.replace(&format!("  {end}"), end).replace(&format!(" {end}"), end);
        for size in [usize::MAX, 1 + random.below(100), 1] {
            let got = rewrite(&dialect, &options, stream.as_bytes(), size);
            let got = got.replace(&format!("  {end}"), end).replace(&format!(" {end}"), end);
            assert_eq!(got, wanted, "in chunks of {size}: {stream}");
        }
    }
}
