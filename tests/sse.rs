//! Rewrites event streams: from the output, a client must get the reference's result for the whole text. Everything else must stay
//! unchanged, and no cut may change a byte.

use std::path::{Path, PathBuf};

use aside::sse::{Body, Field, Formats, Options, Rewriter};
use aside::{Channel, Dialect, Start, StrayClose};
use samples::{Random, Texts};
use serde_json::Value;
use support::Pair;
use support::client::{check, client, events};
use support::rewriting::rewrite_bytes;

// ------------------------------------------------------------------------------------------------------------- running

/// Returns the output for a stream in the dialect `qwen3`, checked to be the same for every cut in two, and byte by byte.
fn qwen3(stream: &str) -> String {
    with(&Dialect::find("qwen3").unwrap(), &Options::default(), stream.as_bytes())
}

/// Does the same with a rewriter that treats every object as a chunk of chat completions.
fn chat(stream: &str) -> String {
    with(&Dialect::find("qwen3").unwrap(), &Options::new().formats(Formats::CHAT), stream.as_bytes())
}

fn with(dialect: &Dialect, options: &Options, stream: &[u8]) -> String {
    let whole = rewrite_bytes(dialect, options, &[stream]);
    same_at_every_cut(dialect, options, stream, &whole);
    String::from_utf8(whole).unwrap()
}

fn same_at_every_cut(dialect: &Dialect, options: &Options, stream: &[u8], wanted: &[u8]) {
    for chunks in support::cuts(stream) {
        same(wanted, &rewrite_bytes(dialect, options, &chunks), &format!("cut at {}", chunks[0].len()));
    }
}

fn same(wanted: &[u8], got: &[u8], how: &str) {
    if wanted != got {
        let at = wanted.iter().zip(got).take_while(|(a, b)| a == b).count();
        let show = |bytes: &[u8]| bytes[at.saturating_sub(80)..(at + 200).min(bytes.len())].escape_ascii().to_string();
        panic!("{how}: from byte {at} on\n  wanted {}\n  got    {}", show(wanted), show(got));
    }
}

/// Returns a dialect whose markers are in no recording, so that splitting is on but must not change anything.
fn foreign() -> Dialect {
    let text = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\u{1F512}\u{1F512}\"]\nclose = [\"\u{1F513}\"]";
    Dialect::load(text).unwrap()
}

// ------------------------------------------------------------------------------------------------------------ recordings

fn own_recordings() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sse");
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().split('-').next().unwrap().to_owned();
    let files = support::files(folder).into_iter().filter(|file| file.is_file());
    files.map(|file| (name(&file), file)).collect()
}

/// Streams of many servers, if they are available.
fn corpus() -> Vec<PathBuf> {
    let kinds = support::shared_files("corpus/sse");
    kinds.iter().filter(|kind| kind.is_dir()).flat_map(support::files).collect()
}

#[test]
fn own_recordings_are_split_as_the_reference_says() {
    for (dialect, file) in own_recordings().iter().filter(|(_, file)| file.extension().is_some_and(|end| end == "sse"))
    {
        let pair = Pair::find(dialect);
        let input = std::fs::read_to_string(file).unwrap();
        for field in [Field::ReasoningContent, Field::Reasoning, Field::Thinking] {
            let options = Options::new().field(field);
            let output = with(&pair.library, &options, input.as_bytes());
            check(&pair, None, field.name(), &input, &output);
            assert!(output.contains(&format!("\"{}\":", field.name())), "{}", file.display());
        }
    }
}

#[test]
fn nothing_changes_where_nothing_is_to_be_split() {
    let mut random = Random::announced("nothing_changes_where_nothing_is_to_be_split");
    let qwen3 = Dialect::find("qwen3").unwrap();
    let off = Options::new().off(true);
    let files = own_recordings().into_iter().map(|(_, file)| file).chain(corpus());
    for file in files {
        let stream = std::fs::read(&file).unwrap();
        let name = file.display().to_string();
        // Only chat is split here: in Anthropic's messages, a start is held until text follows, so events may change places.
        for (dialect, options) in [(&qwen3, off.clone()), (&foreign(), Options::new().formats(Formats::CHAT))] {
            let at_random = [7, 2000].map(|most| support::random_cuts(&mut random, &stream, most));
            for chunks in support::cuts(&stream).chain(at_random) {
                same(&stream, &rewrite_bytes(dialect, &options, &chunks), &name);
            }
        }
    }
}

#[test]
fn recordings_of_many_servers_are_split_as_the_reference_says() {
    let pair = Pair::find("think");
    let mut random = Random::announced("recordings_of_many_servers");
    for file in corpus().iter().filter(|file| file.to_string_lossy().contains("openai-chat")) {
        let Ok(input) = std::fs::read_to_string(file) else { continue };
        let output = rewrite_bytes(&pair.library, &Options::default(), &[input.as_bytes()]);
        for _ in 0..3 {
            let cuts = support::random_cuts(&mut random, input.as_bytes(), 300);
            same(&output, &rewrite_bytes(&pair.library, &Options::default(), &cuts), &file.display().to_string());
        }
        // Streams of servers that split the thinking themselves must stay unchanged. Their deltas show that.
        let sent = events(&input);
        let deltas = sent.iter().filter_map(|event| serde_json::from_str::<Value>(&event.data).ok());
        let splits = |delta: &Value| {
            let texts = ["reasoning_content", "reasoning"]
                .iter()
                .any(|key| delta[key].as_str().is_some_and(|text| !text.is_empty()));
            texts || ["reasoning_details", "content"].iter().any(|key| delta[key].is_array())
        };
        if deltas.map(|value| value["choices"][0]["delta"].clone()).any(|delta| splits(&delta)) {
            same(input.as_bytes(), &output, &file.display().to_string());
        } else if !sent.is_empty() {
            check(&pair, None, "reasoning_content", &input, std::str::from_utf8(&output).unwrap());
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- random streams

/// Writes a JSON string, with some unnecessary escapes.
fn string(random: &mut Random, text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' if random.one_in(2) => out += "\\n",
            '/' if random.one_in(2) => out += "\\/",
            _ if char < ' ' || random.one_in(8) => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out += &if random.one_in(2) { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                }
            }
            _ => out.push(char),
        }
    }
    out + "\""
}

/// Returns a JSON object with these members in random order, and with some blanks and line breaks, which the data of an event may
/// have.
fn object(random: &mut Random, mut members: Vec<(&str, String)>) -> String {
    for at in (1..members.len()).rev() {
        members.swap(at, random.below(at + 1));
    }
    let loose = random.one_in(4);
    let mut blank = || if loose { *random.pick(&["", " ", "\t", "  ", "\n"]) } else { "" };
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{}\"{name}\"{}:{}{value}{}", blank(), blank(), blank(), blank()))
        .collect();
    format!("{{{}{}}}", members.join(","), blank())
}

fn event(random: &mut Random, json: &str, line_end: &str) -> String {
    let mut out = String::new();
    if random.one_in(6) {
        out += &format!(": {}{line_end}", random.pick(&["ping", "", "data: {}"]));
    }
    if random.one_in(6) {
        out += &format!("id: {}{line_end}", random.below(100));
    }
    if random.one_in(6) {
        out += &format!("event: message{line_end}");
    }
    for line in json.split('\n') {
        let space = if random.one_in(8) { "" } else { " " };
        out += &format!("data:{space}{line}{line_end}");
    }
    out + line_end
}

/// Returns a stream of several choices, whose deltas are mixed.
fn stream(random: &mut Random, texts: &[String]) -> String {
    let line_end = *random.pick(&["\n", "\n", "\r\n", "\r"]);
    let roles = random.below(3);
    let mut deltas: Vec<Vec<String>> = Vec::new();
    for text in texts {
        let most = *random.pick(&[1, 4, 12, 200]);
        let chars: Vec<char> = text.chars().collect();
        let mut from = 0;
        let mut parts = Vec::new();
        while from < chars.len() {
            let to = (from + random.below(most + 1)).min(chars.len());
            parts.push(chars[from..to].iter().collect());
            from = to;
        }
        parts.reverse();
        deltas.push(parts);
    }
    let mut out = String::from(if random.one_in(8) { "\u{FEFF}" } else { "" });
    let mut begun = vec![false; texts.len()];
    let mut open: Vec<usize> = (0..texts.len()).collect();
    while !open.is_empty() {
        let place = random.below(open.len());
        let index = open[place];
        let mut delta = Vec::new();
        if roles == 0 || roles == 1 && !begun[index] {
            delta.push(("role", "\"assistant\"".to_owned()));
        }
        begun[index] = true;
        let text = deltas[index].pop();
        let finish = deltas[index].is_empty() && (text.is_none() || random.one_in(2));
        match &text {
            Some(text) => delta.push(("content", string(random, text))),
            None if random.one_in(3) => delta.push(("content", random.pick(&["null", "\"\""]).to_string())),
            None => {}
        }
        if random.one_in(5) {
            delta.push(("refusal", "null".to_owned()));
        }
        if random.one_in(9) {
            delta.push(("reasoning_content", random.pick(&["null", "\"\""]).to_string()));
        }
        let mut choice = vec![("index", index.to_string()), ("delta", object(random, delta))];
        if finish {
            choice.push(("finish_reason", "\"stop\"".to_owned()));
            open.remove(place);
        } else if random.one_in(2) {
            choice.push(("finish_reason", "null".to_owned()));
        }
        if random.one_in(3) {
            choice.push(("logprobs", "{\"content\":[{\"token\":\"</think>\",\"logprob\":-0.00}]}".to_owned()));
        }
        let choice = object(random, choice);
        let mut members = vec![
            ("id", "\"chatcmpl-\\u0031\"".to_owned()),
            ("object", "\"chat.completion.chunk\"".to_owned()),
            ("created", "1763776800".to_owned()),
            ("model", "\"m/\\\"x\\\"\"".to_owned()),
            ("choices", format!("[{choice}]")),
            // This member marks the server's chunks, as the library's own chunks do not have it.
            ("number", out.len().to_string()),
        ];
        if random.one_in(4) {
            members.push(("usage", "{\"total_tokens\":1e2}".to_owned()));
        }
        if random.one_in(4) {
            members.push(("obfuscation", "\"</think>\"".to_owned()));
        }
        let json = object(random, members);
        out += &event(random, &json, line_end);
        if random.one_in(9) {
            out += &format!(": ping{line_end}{line_end}");
        }
    }
    if random.one_in(2) {
        out += &event(random, "{\"id\":\"chatcmpl-1\",\"choices\":[],\"usage\":{\"total_tokens\":9}}", line_end);
    }
    if random.one_in(2) {
        out += &event(random, "[DONE]", line_end);
    }
    out
}

#[test]
fn random_streams_are_split_as_the_reference_says() {
    let mut random = Random::announced("random_streams_are_split_as_the_reference_says");
    for pair in Pair::all() {
        let texts = Texts::new(&pair.reference);
        for start in pair.reference.starts() {
            // With `keep_guessed`, because otherwise an answer without an opener would be sent again as content.
            let options = Options::new().start(start.parse::<Start>().unwrap()).keep_guessed(true);
            for _ in 0..8 {
                let count = 1 + random.below(3);
                let texts: Vec<String> = (0..count)
                    .map(|_| {
                        let length = random.below(120);
                        String::from_utf8_lossy(&texts.next(&mut random, length)).into_owned()
                    })
                    .collect();
                let input = stream(&mut random, &texts);
                let output = rewrite_bytes(&pair.library, &options, &[input.as_bytes()]);
                check(&pair, Some(start), "reasoning_content", &input, std::str::from_utf8(&output).unwrap());
                let most = *random.pick(&[1, 3, 20, 500]);
                let cuts = support::random_cuts(&mut random, input.as_bytes(), most);
                same(&output, &rewrite_bytes(&pair.library, &options, &cuts), &input);
            }
        }
    }
}

// --------------------------------------------------------------------------------------------------------- case by case

/// Returns a minimal chunk of choice 0.
fn delta(delta: &str) -> String {
    format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n")
}

fn content(text: &str) -> String {
    delta(&format!("\"content\":\"{text}\""))
}

fn finish(reason: &str) -> String {
    format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n")
}

/// Returns a chunk as the library makes it: it also says that the choice is not finished.
fn more(text: &str) -> String {
    delta(text).replace("}}]}", "},\"finish_reason\":null}]}")
}

#[test]
fn only_the_value_changes() {
    let input = "id: 1\nevent: x\ndata:{ \"obfuscation\" : \"<think>\" , \"n\": 1.50E+0, \"choices\":[ {\"delta\": {\"a\":[{}], \
                 \"content\" : \"<think>hm</think>a\\u003cb\\/\" , \"b\":1e99},\"index\" : 0 } ] }\nretry: 5\n\n";
    let output = "event: x\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"},\"finish_reason\":null}]}\n\n\
                  id: 1\nevent: x\ndata:{ \"obfuscation\" : \"<think>\" , \"n\": 1.50E+0, \"choices\":[ {\"delta\": {\"a\":[{}], \
                  \"content\" : \"a<b/\" , \"b\":1e99},\"index\" : 0 } ] }\nretry: 5\n\n";
    let dialect = Dialect::find("inline-think").unwrap();
    assert_eq!(with(&dialect, &Options::default(), input.as_bytes()), output);
}

#[test]
fn text_that_stays_keeps_its_bytes() {
    let input = content("a\\u003cb\\/\\u00e9") + &content("\u{e9}") + &content("") + &delta("\"content\":null");
    assert_eq!(qwen3(&input), input);
}

#[test]
fn thinking_takes_the_place_of_content() {
    assert_eq!(qwen3(&content("<think>hm")), delta("\"reasoning_content\":\"hm\""));
    // If the field exists and is empty, it is filled.
    for empty in ["null", "\"\""] {
        let input = delta(&format!("\"content\":\"<think>hm\",\"reasoning_content\":{empty}"));
        assert_eq!(qwen3(&input), delta("\"content\":null,\"reasoning_content\":\"hm\""));
    }
    // An empty field of another name stays.
    let input = delta("\"reasoning\":null,\"content\":\"<think>hm\"");
    assert_eq!(qwen3(&input), delta("\"reasoning\":null,\"reasoning_content\":\"hm\""));
}

#[test]
fn a_delta_of_which_nothing_is_decided_says_nothing() {
    let input = delta("\"role\":\"assistant\",\"content\":\"<thi\"") + &content("nk>hm");
    let output = delta("\"role\":\"assistant\",\"content\":\"\"") + &delta("\"reasoning_content\":\"hm\"");
    assert_eq!(qwen3(&input), output);
}

#[test]
fn one_chunk_becomes_one_for_each_change() {
    let input = "data: {\"id\":\"c\",\"model\":\"m\",\"extra\":1,\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"a<tool_call>{}</tool_call>\
                 <think>b</think>c\"},\"finish_reason\":\"stop\",\"logprobs\":{},\"index\":0}],\"usage\":{\"n\":1}}\n\n";
    let dialect = Dialect::load(
        "name = \"x\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]\n\
         [[span]]\nchannel = \"tool\"\nopen = [\"<tool_call>\"]\nclose = [\"</tool_call>\"]",
    )
    .unwrap();
    let head = "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{";
    let output = format!(
        "{head}\"role\":\"assistant\",\"content\":\"a<tool_call>{{}}</tool_call>\"}},\"finish_reason\":null}}]}}\n\n\
         {head}\"reasoning_content\":\"b\"}},\"finish_reason\":null}}]}}\n\n\
         data: {{\"id\":\"c\",\"model\":\"m\",\"extra\":1,\"choices\":[{{\"delta\":{{\"content\":\"c\"}},\
         \"finish_reason\":\"stop\",\"logprobs\":{{}},\"index\":0}}],\"usage\":{{\"n\":1}}}}\n\n"
    );
    assert_eq!(with(&dialect, &Options::default(), input.as_bytes()), output);
}

#[test]
fn the_role_leaves_with_its_comma() {
    for (members, left) in [
        ("\"role\":\"r\",\"content\":\"T\",\"x\":1", "\"content\":\"a\",\"x\":1"),
        ("\"content\":\"T\", \"role\" : \"r\"", "\"content\":\"a\""),
        ("\"content\":\"T\",\"role\":\"r\" , \"x\":1", "\"content\":\"a\", \"x\":1"),
        ("\"role\":null,\"content\":\"T\"", "\"role\":null,\"content\":\"a\""),
    ] {
        let input = delta(&members.replace('T', "<think>b</think>a"));
        let role = if members.contains("\"r\"") { "\"role\":\"r\"," } else { "" };
        let output = more(&format!("{role}\"reasoning_content\":\"b\"")) + &delta(left);
        assert_eq!(with(&Dialect::find("inline-think").unwrap(), &Options::default(), input.as_bytes()), output);
    }
}

#[test]
fn held_bytes_leave_before_what_ends_the_text() {
    let begin = content("a<thi");
    let held = content("a") + &more("\"content\":\"<thi\"");
    let ends = [
        finish("stop"),
        "data: [DONE]\n\n".to_owned(),
        "data:[DONE]\r\n\r\n".to_owned(),
        "event: error\ndata: {\"message\":\"no\"}\n\n".to_owned(),
        "data: {\"error\":{\"message\":\"no\"}}\n\n".to_owned(),
        "data: {\"error\":{\"message\":\"no\"},\"choices\":[]}\n\n".to_owned(),
        String::new(),
        // The ends of streams that a server breaks off.
        "data: {\"id\":\"c\",\"choices\":[{\"ind".to_owned(),
        "data: [DONE]".to_owned(),
        ": ping\ndata: 1".to_owned(),
    ];
    for end in ends {
        let got = qwen3(&(begin.clone() + &end));
        match end.strip_prefix(": ping\n") {
            // A comment is sent at once.
            Some(rest) => assert_eq!(got, content("a") + ": ping\n" + &more("\"content\":\"<thi\"") + rest),
            None => assert_eq!(got, held.clone() + &end),
        }
    }
    // Before these, held text is not sent.
    for other in [
        ": ping\n\n",
        "data: {\"choices\":[],\"usage\":{}}\n\n",
        "data: {\"choices\":[],\"error\":null}\n\n",
        "data: {\"choices\":[],\"error\":false}\n\n",
        "event: x\ndata: {}\n\n",
        "data: nonsense\n\n",
    ] {
        let input = begin.clone() + other + &content("nk>b");
        assert_eq!(qwen3(&input), content("a") + other + &delta("\"reasoning_content\":\"b\""));
    }
}

/// Checks that held text is sent before a part of another kind, because clients end the text there and show later text after the
/// part.
#[test]
fn held_bytes_leave_before_a_part_of_another_kind() {
    let ends = [
        "\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]",
        "\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}",
        "\"refusal\":\"No.\"",
        "\"audio\":{\"id\":\"a\",\"transcript\":\"<think>\"}",
        "\"images\":[{\"type\":\"image_url\"}]",
    ];
    let thinking = |text: &str| delta(&format!("\"reasoning_content\":\"{text}\""));
    for end in ends {
        for rest in ["", ",\"content\":null", ",\"content\":\"\"", ",\"reasoning_content\":null"] {
            let part = delta(&format!("{end}{rest}"));
            let output = content("if a ") + &more("\"content\":\"<\"") + &part + &content("b");
            assert_eq!(qwen3(&(content("if a <") + &part + &content("b"))), output);
            // The held line break may belong to a closer, which does not follow.
            let output = thinking("hm") + &more("\"reasoning_content\":\"\\n\"") + &part + &finish("stop");
            assert_eq!(qwen3(&(content("<think>\\nhm\\n") + &part + &finish("stop"))), output);
            // Nothing is held, so nothing is sent before the part.
            let input = content("a") + &part + &part + &finish("stop");
            assert_eq!(qwen3(&input), input);
        }
        // Text in the same delta is read before the part.
        let both = |text: &str| delta(&format!("{end},\"content\":\"{text}\""));
        assert_eq!(qwen3(&(content("a <") + &both("thi"))), content("a ") + &both("<thi"));
        let output = content("a") + &more("\"content\":\"<t\"") + &both("hm").replace("content", "reasoning_content");
        assert_eq!(qwen3(&(content("a<t") + &both("<think>hm"))), output);
        // The role is moved to the added chunk, and a comment stays where it is.
        let first = delta(&format!("\"role\":\"assistant\",{end}"));
        let output = content("a") + ": x\n" + &more("\"role\":\"assistant\",\"content\":\"<\"") + &delta(end);
        assert_eq!(qwen3(&(content("a<") + ": x\n" + &first)), output);
    }
    // Empty parts do not end the text.
    for other in [
        "\"tool_calls\":[]",
        "\"tool_calls\":null",
        "\"function_call\":null",
        "\"function_call\":{}",
        "\"refusal\":null",
        "\"refusal\":\"\"",
        "\"audio\":null",
        "\"images\":[]",
        "\"role\":\"assistant\"",
        "\"tool_calls\":[{}],\"tool_calls\":[]",
        "\"annotations\":[{\"type\":\"url_citation\"}]",
    ] {
        let input = content("a<thi") + &delta(other) + &content("nk>b");
        assert_eq!(qwen3(&input), content("a") + &delta(other) + &thinking("b"));
    }
}

/// Checks that in every dialect and at every place of a text, no text is held after such a part.
#[test]
fn nothing_is_held_behind_a_part() {
    let mut random = Random::announced("nothing_is_held_behind_a_part");
    let parts = ["\"tool_calls\":[{\"index\":0}]", "\"function_call\":{\"name\":\"f\"}", "\"refusal\":\"No.\""];
    for pair in Pair::all() {
        let texts = Texts::new(&pair.reference);
        for start in pair.reference.starts() {
            let options = Options::new().start(start.parse::<Start>().unwrap());
            for _ in 0..6 {
                let length = random.below(80);
                let text = String::from_utf8_lossy(&texts.next(&mut random, length)).into_owned();
                let mut input = String::new();
                let mut chars = text.chars();
                while chars.as_str() != "" {
                    let len = 1 + random.below(6);
                    let text: String = chars.by_ref().take(len).collect();
                    input += &delta(&format!("\"content\":{}", string(&mut random, &text)));
                    if random.one_in(3) {
                        let part = delta(parts[random.below(parts.len())]);
                        input += &part;
                        let output = rewrite_bytes(&pair.library, &options, &[input.as_bytes()]);
                        assert!(output.ends_with(part.as_bytes()), "{}: {input}", pair.reference.name);
                    }
                }
                let output = rewrite_bytes(&pair.library, &options, &[input.as_bytes()]);
                let cuts = support::random_cuts(&mut random, input.as_bytes(), 40);
                same(&output, &rewrite_bytes(&pair.library, &options, &cuts), &input);
            }
        }
    }
}

/// Checks that a part does not end the text of another choice.
#[test]
fn a_part_ends_the_text_of_its_choice_alone() {
    let of = |index: usize, text: String| text.replace("\"index\":0,\"delta", &format!("\"index\":{index},\"delta"));
    let call = delta("\"tool_calls\":[{\"index\":0}]");
    let input = of(0, content("a<thi")) + &of(1, content("b<")) + &of(1, call.clone()) + &of(0, content("nk>c"));
    let output = of(0, content("a"))
        + &of(1, content("b"))
        + &of(1, more("\"content\":\"<\""))
        + &of(1, call)
        + &of(0, delta("\"reasoning_content\":\"c\""));
    assert_eq!(qwen3(&input), output);
    // Two choices in one event.
    let two = |one: &str, two: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{one}}}}},{{\"index\":1,\"delta\":{{{two}}}}}]}}\n\n")
    };
    let more = |index| {
        format!(
            "data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"<\"}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let calls = two("\"tool_calls\":[1]", "\"function_call\":{\"name\":\"f\"}");
    let input = two("\"content\":\"a<\"", "\"content\":\"b<\"") + &calls;
    let output = two("\"content\":\"a\"", "\"content\":\"b\"") + &more(0) + &more(1) + &calls;
    assert_eq!(qwen3(&input), output);
}

/// Checks that if the dialect says so, a server's call ends the thinking as a call in the text does.
#[test]
fn a_call_ends_the_thinking() {
    let thinking = |text: &str| delta(&format!("\"reasoning_content\":\"{text}\""));
    for call in ["\"tool_calls\":[{\"index\":0}]", "\"function_call\":{\"name\":\"f\"}"] {
        let call = delta(call);
        for name in
            ["qwen3", "qwen3-thinking", "think", "nemotron", "deepseek-v3", "granite-4", "seed-oss", "minimax-m1"]
        {
            let dialect = Dialect::find(name).unwrap();
            let file = format!("{}/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let file: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let marker = |key: &str| {
                let spans = file["span"].as_array().unwrap().iter();
                let mut thinking = spans.filter(|span| span["channel"].as_str() == Some("thinking"));
                thinking.next().unwrap()[key][0].as_str().unwrap().to_owned()
            };
            let (open, close) = (marker("open"), marker("close"));
            let with = |input: String| {
                let output = with(&dialect, &Options::default(), input.as_bytes());
                client(&events(&output), "reasoning_content").remove(&0).unwrap().runs
            };
            let hm = (true, "hm".to_owned());
            let yes = (false, "Yes.".to_owned());
            let begin = content(&format!("{open}hm"));
            assert_eq!(with(begin.clone() + &call + &content("Yes.")), [hm.clone(), yes.clone()], "{name}");
            // The closer follows the call, whole or in pieces, and is removed once.
            let (one, two) = close.split_at(3);
            let late = content(one) + &content(two) + &content("Yes.");
            assert_eq!(with(begin.clone() + &call + &late), [hm.clone(), yes.clone()], "{name}");
            let late = content(&format!("{close}Yes."));
            assert_eq!(with(begin.clone() + &call + &call + &late), [hm.clone(), yes.clone()], "{name}");
            // The closer precedes the call.
            let closed = content(&format!("{open}hm{close}"));
            assert_eq!(with(closed + &call + &late), [hm.clone(), yes.clone()], "{name}");
            let answered = content(&format!("{open}hm{close}So: "));
            assert_eq!(with(answered + &call + &late), [hm, (false, "So: Yes.".to_owned())], "{name}");
        }
        // If calls only interrupt the thinking, or if the dialect has no calls, the thinking continues after them.
        for (name, open, close) in
            [("apertus", "<|inner_prefix|>", "<|inner_suffix|>"), ("inline-think", "<think>", "</think>")]
        {
            let input = content(&format!("{open}hm")) + &call + &content("so") + &content(&format!("{close}Yes."));
            let output = thinking("hm") + &call + &thinking("so") + &content("Yes.");
            assert_eq!(with(&Dialect::find(name).unwrap(), &Options::default(), input.as_bytes()), output);
        }
    }
    // A refusal does not end the thinking.
    let refusal = delta("\"refusal\":\"No.\"");
    let input = content("<think>\\nhm\\n") + &refusal + &content("so\\n</think>\\n\\nYes.");
    let output = thinking("hm")
        + &more("\"reasoning_content\":\"\\n\"")
        + &refusal
        + &more("\"reasoning_content\":\"so\"")
        + &content("Yes.");
    assert_eq!(qwen3(&input), output);
}

#[test]
fn text_in_the_chunk_that_finishes_stays_there() {
    let last = |text: &str| content(text).replace("}}]}", "},\"finish_reason\":\"stop\"}]}");
    assert_eq!(qwen3(&(content("a<thi") + &last("x<"))), content("a") + &last("<thix<"));
    assert_eq!(qwen3(&(content("a<thi") + &last(""))), content("a") + &more("\"content\":\"<thi\"") + &last(""));
    let thinking = last("b").replace("content", "reasoning_content");
    assert_eq!(qwen3(&(content("<think>a") + &last("b"))), delta("\"reasoning_content\":\"a\"") + &thinking);
}

#[test]
fn an_event_without_its_blank_line_counts_at_the_end() {
    let cut = content("b<");
    for end in ["\n\n", "\n"] {
        let input = content("a") + cut.strip_suffix(end).unwrap();
        assert_eq!(qwen3(&input), input);
    }
    let input = content("<think>a") + content("b</think>c").trim_end();
    let output = delta("\"reasoning_content\":\"a\"") + &more("\"reasoning_content\":\"b\"") + content("c").trim_end();
    assert_eq!(qwen3(&input), output);
}

#[test]
fn a_stream_behind_its_end_begins_anew() {
    let input = content("<think>a") + "data: [DONE]\n\n" + &content("<think>b");
    let thinking = |text| delta(&format!("\"reasoning_content\":\"{text}\""));
    assert_eq!(qwen3(&input), thinking("a") + "data: [DONE]\n\n" + &thinking("b"));
    // Text after a finish reason begins a new answer.
    let input = content("<think>a") + &finish("stop") + &content("<think>b");
    assert_eq!(qwen3(&input), thinking("a") + &finish("stop") + &thinking("b"));
}

#[test]
fn a_server_that_splits_is_left_alone() {
    let start = Options::new().start(Start::Channel(Channel::Thinking));
    let dialect = Dialect::find("qwen3").unwrap();
    for theirs in [
        "\"reasoning_content\":\"hm\"",
        "\"reasoning\":\"hm\",\"content\":\"\"",
        "\"thinking\":\"hm\",\"content\":\"a</think>b\"",
        "\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm\"}]}]",
        "\"reasoning\":null,\"content\":\"\",\"reasoning_details\":[{\"data\":\"x\"}]",
    ] {
        let input = delta("\"role\":\"assistant\",\"content\":\"\"")
            + &delta(theirs)
            + &content("a</think>b")
            + &finish("stop");
        assert_eq!(with(&dialect, &start, input.as_bytes()), input);
        // Text that was held before the server's own thinking must not be lost.
        let input = content("a<thi") + &delta(theirs) + &content("nk>b");
        let output = content("a") + &more("\"content\":\"<thi\"") + &delta(theirs) + &content("nk>b");
        assert_eq!(with(&dialect, &Options::default(), input.as_bytes()), output);
    }
}

#[test]
fn tool_calls_and_null_pass() {
    let call = "\"content\":null,\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"<think>\"}}]";
    let input = delta(call) + &delta("\"tool_calls\":[]") + &finish("tool_calls");
    assert_eq!(qwen3(&input), input);
    let input = delta("\"content\":\"<think>a\",\"tool_calls\":null");
    assert_eq!(qwen3(&input), delta("\"reasoning_content\":\"a\",\"tool_calls\":null"));
}

#[test]
fn surrogates_survive() {
    for text in ["\\ud83e", "\\udde0", "\\ud83ex", "\\udde0\\ud83e"] {
        assert_eq!(qwen3(&content(text)), content(text));
        let thinking = |text| delta(&format!("\"reasoning_content\":\"{text}\""));
        assert_eq!(qwen3(&content(&format!("<think>{text}"))), thinking(text));
    }
    // A surrogate pair in two deltas stays in two. In one delta, it is a character, which a rewritten piece of text has as such.
    let input = content("<think>\\ud83e") + &content("\\udde0") + &content("\\ud83e\\udde0</think>");
    let wanted = ["\\ud83e", "\\udde0", "\u{1F9E0}"];
    assert_eq!(qwen3(&input), wanted.map(|text| delta(&format!("\"reasoning_content\":\"{text}\""))).concat());
}

#[test]
fn bytes_that_are_no_utf8_pass_through() {
    let dialect = Dialect::find("qwen3").unwrap();
    let (mut input, mut wanted) = (Vec::new(), Vec::new());
    for bytes in [&b"\xFF"[..], b"\xE6\x97", b"\xED\xA0x", b"\xC0\x80"] {
        input.extend([b"data: {\"choices\":[{\"delta\":{\"content\":\"<think>", bytes, b"</think>\"}}]}\n\n"].concat());
        wanted.extend([b"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"", bytes, b"\"}}]}\n\n"].concat());
        for stream in [&mut input, &mut wanted] {
            stream.extend(b"data: [DONE]\n\n");
        }
    }
    same_at_every_cut(&dialect, &Options::default(), &input, &wanted);
}

#[test]
fn keys_may_be_escaped_doubled_and_anywhere() {
    let escaped = delta("\"c\\u006fntent\":\"<think>a\"").replace("choices", "ch\\u006Fices");
    assert_eq!(chat(&escaped), delta("\"reasoning_content\":\"a\"").replace("choices", "ch\\u006Fices"));
    // If a member occurs twice, readers use the last one.
    let input = delta("\"content\":\"x\",\"content\":\"<think>a\"");
    assert_eq!(qwen3(&input), delta("\"content\":\"x\",\"content\":null,\"reasoning_content\":\"a\""));
    for input in [
        "{\"choices\":[{\"delta\":{\"content\":\"<think>a</think>b\"},\"delta\":{}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"<think>a</think>b\"},\"delta\":null}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"<think>a</think>b\"}}],\"choices\":null}",
    ] {
        let input = format!("data: {input}\n\n{}", content("c"));
        assert_eq!(qwen3(&input), input);
    }
    let split = |reasoning: &str| delta(&format!("{reasoning},\"content\":\"<think>a\""));
    let first = split("\"reasoning\":\"r\",\"reasoning\":\"\"");
    assert_eq!(qwen3(&first), first.replace("\"content\":\"<think>a\"", "\"reasoning_content\":\"a\""));
    let last = split("\"reasoning\":\"\",\"reasoning\":\"r\"");
    assert_eq!(qwen3(&last), last);
    // Members with the same name in other places have other meanings.
    let other = "data: {\"delta\":{\"content\":\"<think>\"},\"choices\":[{\"content\":\"<think>\",\"messages\":{\"content\":\"<think>\"},\
                 \"delta\":{\"x\":{\"content\":\"<think>\"},\"content \":\"<think>\",\"conten\\\"t\":\"<think>\"}}]}\n\n";
    assert_eq!(qwen3(other), other);
}

#[test]
fn a_choice_without_a_number_goes_by_its_place() {
    let input = "data: {\"choices\":[{\"delta\":{\"content\":\"<think>a\"}},{\"delta\":{\"content\":\"<think\"}}]}\n\n";
    let output = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"a\"}},{\"delta\":{\"content\":\"\"}}]}\n\n\
                  data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"<think\"},\"finish_reason\":null}]}\n\n";
    assert_eq!(qwen3(input), output);
    for index in ["-1", "1.5", "\"0\"", "null", "99999999999999999999"] {
        let input = content("<think>a").replace("\"index\":0", &format!("\"index\":{index}"));
        assert_eq!(qwen3(&input), input);
    }
}

#[test]
fn other_lines_between_those_of_an_event_stay() {
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"\nid: 7\n: keep\ndata: ,\"content\":\"<think>a</think>b\"}}]}\n\n";
    let output = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"a\"},\"finish_reason\":null}]}\n\n\
                  data: {\"choices\":[{\"delta\":{\nid: 7\n: keep\ndata: \"content\":\"b\"}}]}\n\n";
    assert_eq!(qwen3(role), output);
    let field = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":[\nid: 7\n: keep\ndata: ],\"content\":\"<think>a\"}}]}\n\n";
    let output =
        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"a\"\nid: 7\n: keep\ndata: ,\"content\":null}}]}\n\n";
    assert_eq!(qwen3(field), output);
}

/// Checks events with several chunks, which some servers send. Clients that follow the standard cannot read such events, but
/// clients that read line by line can.
#[test]
fn several_lines_of_data_are_several_events() {
    let line = |event: String| event.trim_end().to_owned() + "\n";
    let thinking = |text: &str| delta(&format!("\"reasoning_content\":\"{text}\""));
    let [a, b, done] = ["<think>hm", "</think>Yes.", ""].map(content);
    let two = line(a.clone()) + &b;
    let wanted = thinking("hm") + &content("Yes.");
    assert_eq!(qwen3(&two), wanted);
    // One of the lines is the stream's end.
    let end = "data: [DONE]\n\n".to_owned();
    let input = line(content("a<")) + &end;
    assert_eq!(qwen3(&input), content("a") + &more("\"content\":\"<\"") + &end);
    let input = line(a.clone()) + &line(b.clone()) + &line(content("So<")) + &line(finish("stop")) + &end;
    let output = wanted.clone() + &content("So") + &more("\"content\":\"<\"") + &finish("stop") + &end;
    assert_eq!(qwen3(&input), output);
    // At the end of the stream, the blank line after the event is missing.
    assert_eq!(qwen3(two.trim_end()), wanted.trim_end());
    // Other lines, blank data and line ends stay. Each chunk gets the event's name.
    let input =
        format!(": x\nid: 1\nevent: chunk\n{}: y\nid: 2\ndata:\n{}", line(a.clone()), b.replace("data: ", "data:"));
    let output = format!(
        ": x\nid: 1\nevent: chunk\n{}: y\nid: 2\ndata:\n\nevent: chunk\n{}",
        line(thinking("hm")),
        content("Yes.").replace("data: ", "data:")
    );
    for line_end in ["\n", "\r\n", "\r"] {
        assert_eq!(qwen3(&input.replace('\n', line_end)), output.replace('\n', line_end), "{line_end:?}");
    }
    let input = line(a.clone()) + "event: chunk\n" + &b;
    let output = line(thinking("hm")) + "event: chunk\n\nevent: chunk\n" + &content("Yes.");
    assert_eq!(qwen3(&input), output);
    // A chunk that is added before the second one is written between the two.
    let input = line(a.clone()) + &content("b</think>c");
    assert_eq!(qwen3(&input), thinking("hm") + &more("\"reasoning_content\":\"b\"") + &content("c"));
    // If no text changes, no byte changes.
    for same in [
        line(content("a")) + &content("b"),
        line(content("a")) + &end,
        format!("event: x\n{}{}", line(content("a")), content("b")),
        line(content("a")) + &line(done) + "data:\ndata: 7\n" + &end,
        "data: {}\ndata: [1]\n\n".to_owned(),
        // One of the lines is not JSON.
        line(a.clone()) + "data: x\n" + &b,
        line(a.clone()) + "data: {\n" + &b,
    ] {
        assert_eq!(qwen3(&same), same);
    }
    // A value on several lines is one chunk.
    let joined = b.replace("\"choices\"", "\ndata: \"choices\"");
    assert_eq!(qwen3(&(a.clone() + &joined)), thinking("hm") + &joined.replace("</think>", ""));
    // An error ends the answer.
    let input = line(content("a<")) + "data: {\"error\":{\"message\":\"no\"}}\n\n" + &content("<think>b");
    let output =
        content("a") + &more("\"content\":\"<\"") + "data: {\"error\":{\"message\":\"no\"}}\n\n" + &thinking("b");
    assert_eq!(qwen3(&input), output);
}

#[test]
fn an_event_of_many_lines_grows_little() {
    let dialect = Dialect::find("think").unwrap();
    let lines = content("<think>a</think>b").trim_end().to_owned() + "\n";
    let name = format!("event: {}\n", "n".repeat(1000));
    let input = name + &lines.repeat(40_000) + &content("c<");
    let output = rewrite_bytes(&dialect, &Options::default(), &[input.as_bytes()]);
    assert!(output.len() < 3 * input.len() + (4 << 20), "{} bytes became {}", input.len(), output.len());
    assert!(output.ends_with(b"c<\"}}]}\n\n") || output.ends_with(b"\"<\"},\"finish_reason\":null}]}\n\n"));
    // Without such a long name, the whole event is read.
    let input = lines.repeat(4000) + &content("c");
    let output = String::from_utf8(rewrite_bytes(&dialect, &Options::default(), &[input.as_bytes()])).unwrap();
    assert!(!output.contains("<think>"));
    assert_eq!(output.matches("\"reasoning_content\":\"a\"").count(), 4000);
}

/// Checks chunks with several entries of one choice, including the last chunk of the stream.
#[test]
fn a_choice_may_come_twice_in_the_last_event() {
    let entry = |text: &str| format!("{{\"index\":0,\"delta\":{{{text}}}}}");
    let chunk = |one: &str, two: &str| format!("data: {{\"choices\":[{},{}]}}\n\n", entry(one), entry(two));
    let error = |chunk: String| chunk.replace("]}\n\n", "],\"error\":{\"message\":\"no\"}}\n\n");
    let input = error(chunk("\"content\":\"<think>a\"", "\"content\":\"b\""));
    assert_eq!(qwen3(&input), error(chunk("\"reasoning_content\":\"a\"", "\"reasoning_content\":\"b\"")));
}

/// Checks that a chunk added before the event for a later entry does not precede the text of an earlier entry.
#[test]
fn a_choice_that_comes_twice_keeps_its_order() {
    let dialect = Dialect::find("think").unwrap();
    let chunk = |one: &str, two: &str| {
        let entry = |index, text| format!("{{\"index\":{index},\"delta\":{{{text}}}}}");
        let other = "\"content\":\"\\u006f\"";
        format!("data: {{\"id\":\"c\",\"choices\":[{},{},{}]}}\n\n", entry(0, one), entry(1, other), entry(0, two))
    };
    let text = "\"content\":\"y<think>b</think>z\"";
    let [before, thinking] = [more("\"content\":\"y\""), more("\"reasoning_content\":\"b\"")];
    for (one, moved, left) in [
        ("\"content\":\"\\u0078\"", "\"content\":\"\\u0078\"", "\"content\":\"\""),
        ("\"content\":\"<think>x</think>\"", "\"reasoning_content\":\"x\"", "\"reasoning_content\":\"\""),
        (
            "\"content\":\"\",\"content\":\"<think>x</think>\"",
            "\"reasoning_content\":\"x\"",
            "\"content\":\"\",\"content\":null,\"reasoning_content\":\"\"",
        ),
        (
            "\"reasoning_content\":null,\"content\":\"<think>x</think>\"",
            "\"reasoning_content\":\"x\"",
            "\"reasoning_content\":\"\",\"content\":null",
        ),
    ] {
        let wanted = more(moved) + &before + &thinking + &chunk(left, "\"content\":\"z\"");
        assert_eq!(with(&dialect, &Options::default(), chunk(one, text).as_bytes()), wanted);
        // No chunk is added before the event, so it stays.
        let same = chunk("\"content\":\"\\u0078\"", "\"content\":\"\\u0079\"");
        assert_eq!(with(&dialect, &Options::default(), same.as_bytes()), same);
    }
    // The same holds for held text when a later entry finishes the choice.
    let input = chunk("\"content\":\"x<\"", "").replace("{}}]}", "{},\"finish_reason\":\"stop\"}]}");
    let output = more("\"content\":\"x\"") + &more("\"content\":\"<\"") + &input.replace("x<", "");
    assert_eq!(with(&dialect, &Options::default(), input.as_bytes()), output);
}

#[test]
fn choices_are_bounded() {
    let choice = |index: usize| content("<think>a").replace("\"index\":0", &format!("\"index\":{index}"));
    let (mut input, mut wanted) = (String::new(), String::new());
    for index in 1000..1300 {
        input += &choice(index);
        // Choice 0 always has a reserved place.
        wanted += &if index < 1127 {
            choice(index).replace("content\":\"<think>", "reasoning_content\":\"")
        } else {
            choice(index)
        };
    }
    let got = rewrite_bytes(&Dialect::find("qwen3").unwrap(), &Options::default(), &[input.as_bytes()]);
    same(wanted.as_bytes(), &got, "many choices");
    // Each stream has its own choices.
    let full: String = (1000..1127).map(choice).collect();
    let input = format!("{full}data: [DONE]\n\n{}", choice(1127));
    assert_eq!(qwen3(&input), input.replace("content\":\"<think>", "reasoning_content\":\""));
    // The choices of one event are limited too.
    let input = format!("data: {{\"choices\":[{}]}}\n\n", vec!["{\"delta\":{\"content\":\"<think>\"}}"; 129].join(","));
    let got = rewrite_bytes(&Dialect::find("qwen3").unwrap(), &Options::default(), &[input.as_bytes()]);
    same(input.as_bytes(), &got, "many choices in one event");
}

#[test]
fn depth_is_bounded_in_each_member() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let chunk = |of_chunk, of_choice, of_delta| {
        let [chunk, choice, delta] = [of_chunk, of_choice, of_delta].map(nested);
        let delta = format!("{{\"content\":\"<think>a\",\"x\":{delta}}}");
        format!("data: {{\"x\":{chunk},\"choices\":[{{\"index\":0,\"x\":{choice},\"delta\":{delta}}}]}}\n\n")
    };
    let input = chunk(128, 128, 128);
    assert_eq!(chat(&input), input.replace("content\":\"<think>", "reasoning_content\":\""));
    for input in [chunk(129, 1, 1), chunk(1, 129, 1), chunk(1, 1, 129)] {
        assert_eq!(chat(&input), input);
    }
}

#[test]
fn line_ends_are_those_of_the_stream() {
    let input = content("<think>a</think>b<thi") + ": x\n\n" + &finish("stop");
    let thinking = more("\"reasoning_content\":\"a\"");
    let output = thinking + &content("b") + ": x\n\n" + &more("\"content\":\"<thi\"") + &finish("stop");
    for line_end in ["\n", "\r\n", "\r"] {
        assert_eq!(qwen3(&input.replace('\n', line_end)), output.replace('\n', line_end), "{line_end:?}");
    }
}

/// Checks that if an event has no line end, the added events get the line ends of the events before it.
#[test]
fn line_ends_before_an_event_that_breaks_off() {
    let dialect = Dialect::find("inline-think").unwrap();
    let last = content("<think>a</think>b");
    let output = more("\"reasoning_content\":\"a\"") + content("b").trim_end();
    for line_end in ["\n", "\r\n", "\r"] {
        for before in ["data: {}\n\n", "data: {}\n\n: x\n", "data: {}\n\n: x\n\n"] {
            let [input, wanted] =
                [last.trim_end(), &output].map(|end| before.replace('\n', line_end) + &end.replace('\n', line_end));
            assert_eq!(with(&dialect, &Options::default(), input.as_bytes()), wanted, "{line_end:?}");
        }
    }
    // But not the line ends of an earlier stream.
    let mut rewriter = Rewriter::new(&dialect, &Options::default()).unwrap();
    let mut out = Vec::new();
    rewriter.feed(b"data: {}\r\n\r\ndata: {}\r\n", &mut out).unwrap();
    rewriter.finish(&mut out).unwrap();
    out.clear();
    rewriter.feed(last.trim_end().as_bytes(), &mut out).unwrap();
    rewriter.finish(&mut out).unwrap();
    same(output.as_bytes(), &out, "behind another stream");
}

#[test]
fn a_byte_order_mark_stays_first() {
    let input = "\u{FEFF}".to_owned() + &content("<think>a</think>b");
    let dialect = Dialect::find("inline-think").unwrap();
    let output = "\u{FEFF}".to_owned() + &more("\"reasoning_content\":\"a\"") + &content("b");
    assert_eq!(with(&dialect, &Options::default(), input.as_bytes()), output);
}

#[test]
fn an_event_leaves_as_soon_as_it_is_whole() {
    let mut rewriter = Rewriter::new(&Dialect::find("qwen3").unwrap(), &Options::default()).unwrap();
    let mut out = Vec::new();
    for (feed, wanted) in [
        ("\n", "\n"),
        (" ", ""),
        ("\n", " \n"),
        (": pi", ""),
        ("ng\n", ": ping\n"),
        ("data: {\"choices\":[]}\r", ""),
        ("\n", ""),
        ("\r", "data: {\"choices\":[]}\r\n\r"),
        ("\n", "\n"),
        ("data: 1\n", ""),
        ("\n", "data: 1\n\n"),
    ] {
        out.clear();
        rewriter.feed(feed.as_bytes(), &mut out).unwrap();
        assert_eq!(out, wanted.as_bytes(), "after {feed:?}");
    }
}

#[test]
fn a_long_event_passes_and_is_counted() {
    let dialect = Dialect::find("qwen3").unwrap();
    let long = content("<think>and so on");
    let options = Options::new().max_event(long.len() - 1);
    let input = content("a<") + &long + &content("b");
    let output = content("a") + &more("\"content\":\"<\"") + &long + &content("b");
    assert_eq!(with(&dialect, &options, input.as_bytes()), output);
    for chunk in [1, 7, input.len()] {
        let mut rewriter = Rewriter::new(&dialect, &options).unwrap();
        let mut out = Vec::new();
        for chunk in input.as_bytes().chunks(chunk) {
            rewriter.feed(chunk, &mut out).unwrap();
        }
        assert_eq!(rewriter.stats().too_long, 1);
        rewriter.finish(&mut out).unwrap();
        assert_eq!(rewriter.stats().too_long, 1);
        rewriter.reset();
        assert_eq!(rewriter.stats().too_long, 0);
    }
    // With a limit of one byte more, the event is read.
    let options = Options::new().max_event(long.len());
    let thinking = |text| delta(&format!("\"reasoning_content\":\"{text}\""));
    let output = content("a") + &more("\"content\":\"<\"") + &thinking("and so on") + &thinking("b");
    assert_eq!(with(&dialect, &options, input.as_bytes()), output);
}

#[test]
fn one_large_delta() {
    let pair = Pair::find("qwen3");
    let thought = "a \u{1F9E0} \\\"<\\/think".repeat(64 * 1024 / 20);
    let input = content(&format!("<think>\\n{thought}</think>{thought}")) + &finish("stop");
    let output = rewrite_bytes(&pair.library, &Options::default(), &[input.as_bytes()]);
    check(&pair, None, "reasoning_content", &input, std::str::from_utf8(&output).unwrap());
    same(
        &output,
        &rewrite_bytes(&pair.library, &Options::default(), &support::bytes(input.as_bytes())),
        "byte by byte",
    );
}

#[test]
fn many_changes_in_one_delta_are_joined() {
    let dialect = Dialect::find("think").unwrap();
    let input = content(&"<think>a</think>b".repeat(1000));
    let output = String::from_utf8(rewrite_bytes(&dialect, &Options::default(), &[input.as_bytes()])).unwrap();
    let said = client(&events(&output), "reasoning_content");
    let text =
        |reasoning| said[&0].runs.iter().filter(|run| run.0 == reasoning).map(|run| run.1.as_str()).collect::<String>();
    assert_eq!((text(true), text(false)), ("a".repeat(1000), "b".repeat(1000)));
    assert_eq!(output.matches("data: ").count(), 35);
    assert!(output.len() < 35 * 100 + 2000);
}

#[test]
fn however_many_choices_and_however_long_their_envelope_an_event_grows_little() {
    let dialect = Dialect::find("think").unwrap();
    let names = ["id", "object", "created", "model", "system_fingerprint", "service_tier", "provider", "id"];
    let envelope: String = names.iter().map(|name| format!("\"{name}\":\"{}\",", "e".repeat(1000))).collect();
    let choices: Vec<String> = (0..128)
        .map(|index| format!("{{\"index\":{index},\"delta\":{{\"content\":\"{}\"}}}}", "<think>a</think>b".repeat(16)))
        .collect();
    let input = format!("data: {{{envelope}\"choices\":[{}]}}\n\n", choices.join(","));
    let output = String::from_utf8(rewrite_bytes(&dialect, &Options::default(), &[input.as_bytes()])).unwrap();
    let said = client(&events(&output), "reasoning_content");
    for index in 0..128 {
        let text = |reasoning| {
            let runs = said[&index].runs.iter().filter(|run| run.0 == reasoning);
            runs.map(|run| run.1.as_str()).collect::<String>()
        };
        assert_eq!((text(true), text(false)), ("a".repeat(16), "b".repeat(16)), "{index}");
    }
    // The output has at most 32 pieces of text, two events of each choice for the rest, and the event itself.
    assert!(output.matches("data: ").count() <= 32 + 2 * 128 + 1);
    assert!(output.len() < 16 * input.len(), "{} bytes became {}", input.len(), output.len());
}

#[test]
fn a_stray_closer_is_what_the_host_wants() {
    let dialect = Dialect::find("qwen3").unwrap();
    let text = delta("\"content\":\"a</think>b\"");
    for (stray_close, wanted) in [(StrayClose::Text, text.clone()), (StrayClose::Drop, delta("\"content\":\"ab\""))] {
        let mut rewriter = Rewriter::new(&dialect, &Options::new().stray_close(stray_close)).unwrap();
        // The option stays if the stream's start or dialect is set again.
        let steps: [fn(&mut Rewriter); 4] = [
            |_| {},
            |rewriter| rewriter.use_dialect(None, Start::Channel(Channel::Content)).unwrap(),
            |rewriter| rewriter.use_dialect(&Dialect::find("glm-4.5").unwrap(), None).unwrap(),
            |rewriter| {
                let start = rewriter.start_from_prompt(b"<|im_start|>assistant\n<think>\n\n</think>\n\n").unwrap();
                assert_eq!(start, Start::Channel(Channel::Content));
            },
        ];
        for step in steps {
            step(&mut rewriter);
            let mut out = Vec::new();
            rewriter.feed(text.as_bytes(), &mut out).unwrap();
            rewriter.finish(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), wanted, "{stray_close:?}");
        }
    }
}

/// Checks a closer after which all content so far was thinking. In a body it becomes thinking; in a stream, however it is cut,
/// it stays content.
#[test]
fn what_is_reclassified_is_reasoning() {
    let thinking = "{ channel = 'thinking', open = ['<think>'], close = ['</think>'] }";
    let dialect = Dialect::load(&format!("name = 'late'\nstray_close = 'reclassify'\nspan = [{thinking}]")).unwrap();
    let body = |message: &str| format!("{{\"choices\":[{{\"message\":{{{message}}}}}]}}");
    let got = with(&dialect, &Options::default(), body("\"content\":\"a b</think>Yes.\"").as_bytes());
    assert_eq!(got, body("\"reasoning_content\":\"a b\",\"content\":\"Yes.\""));

    let wanted = [delta("\"content\":\"a\""), delta("\"content\":\" bYes.\"")].concat();
    let chunks = [delta("\"content\":\"a\""), delta("\"content\":\" b</think>Yes.\"")].concat();
    assert_eq!(with(&dialect, &Options::default(), chunks.as_bytes()), wanted);
    let chunk = delta("\"content\":\"a b</think>Yes.\"");
    assert_eq!(with(&dialect, &Options::default(), chunk.as_bytes()), delta("\"content\":\"a bYes.\""));
}

#[test]
fn bodies() {
    let dialect = Dialect::find("qwen3").unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sse/qwen3.json");
    let input = std::fs::read_to_string(file).unwrap();
    let wanted = input.replace(
        "\"content\": \"<think>\\nTwice 21.\\n</think>\\n\\nIt is 42.\"",
        "\"reasoning_content\":\"Twice 21.\",\"content\":\"It is 42.\"",
    );
    assert_ne!(input, wanted);
    for body in [Body::Unknown, Body::Json] {
        let options = Options::new().body(body);
        assert_eq!(with(&dialect, &options, input.as_bytes()), wanted);
        assert_eq!(with(&dialect, &options, format!("\n\n {input}").as_bytes()), format!("\n\n {wanted}"));
    }
    let body = |message: &str| format!("{{\"choices\":[{{\"message\":{{{message}}}}}]}}");
    for (message, wanted) in [
        ("\"content\":\"<think>a\"", "\"reasoning_content\":\"a\",\"content\":\"\""),
        ("\"content\":\"<think></think>\\n\\n\\u0061<\"", "\"content\":\"a<\""),
        (
            "\"content\":\"<think>a</think>b\",\"reasoning_content\":null",
            "\"content\":\"b\",\"reasoning_content\":\"a\"",
        ),
        ("\"content\":\"\\u0061<\"", "\"content\":\"\\u0061<\""),
        ("\"content\":\"\"", "\"content\":\"\""),
        ("\"content\":null,\"tool_calls\":[]", "\"content\":null,\"tool_calls\":[]"),
        ("\"content\":[{\"text\":\"<think>\"}]", "\"content\":[{\"text\":\"<think>\"}]"),
        ("\"content\":\"<think>a\",\"reasoning\":\"b\"", "\"content\":\"<think>a\",\"reasoning\":\"b\""),
    ] {
        assert_eq!(with(&dialect, &Options::default(), body(message).as_bytes()), body(wanted));
    }
    // Text that is not a body, text after a body, and half a body stay unchanged.
    for other in [
        "{\"error\":{}}",
        "{\"choices\":3}\n{\"x\":1}",
        "[1]",
        "{}}{",
        "{\"choices\":[{\"message\":{\"content\":\"<think>a",
    ] {
        assert_eq!(with(&dialect, &Options::default(), other.as_bytes()), other);
        assert_eq!(with(&dialect, &Options::new().body(Body::Json), other.as_bytes()), other);
    }
    // Some servers declare event streams as JSON. A text that only resembles events stays unchanged.
    let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<think>a\"}}]}\n\n";
    for blanks in ["", "\n\n", "\u{feff}", ": hi\n\n"] {
        let events = format!("{blanks}{events}");
        let (as_events, as_json) = (Options::default(), Options::new().body(Body::Json));
        let split = with(&dialect, &as_json, events.as_bytes());
        assert!(
            split == with(&dialect, &as_events, events.as_bytes()) && split.contains("reasoning_content"),
            "{split}"
        );
        let other = events.replace("data:", "dates:").replace(": hi\n\n", "x: hi\n\n");
        assert_eq!(with(&dialect, &as_json.repair(true), other.as_bytes()), other);
    }
    // A body is sent as soon as it is complete, and a body that is too long is counted.
    let text = body("\"content\":\"<think>a\"");
    let mut rewriter = Rewriter::new(&dialect, &Options::new().max_event(text.len())).unwrap();
    let mut out = Vec::new();
    rewriter.feed(text.as_bytes(), &mut out).unwrap();
    assert_eq!(out, body("\"reasoning_content\":\"a\",\"content\":\"\"").as_bytes());
    let options = Options::new().max_event(text.len() - 1);
    assert_eq!(with(&dialect, &options, text.as_bytes()), text);
    let mut rewriter = Rewriter::new(&dialect, &options).unwrap();
    rewriter.feed(text.as_bytes(), &mut out).unwrap();
    assert_eq!(rewriter.stats().too_long, 1);
}

#[test]
fn a_rewriter_serves_stream_after_stream() {
    let dialect = Dialect::find("qwen3").unwrap();
    let mut rewriter = Rewriter::new(&dialect, &Options::default()).unwrap();
    for (_, file) in own_recordings().iter().chain(&own_recordings()) {
        let input = std::fs::read(file).unwrap();
        let mut out = Vec::new();
        // A reset drops a body that is half read.
        rewriter.feed(&input[..input.len() / 2], &mut out).unwrap();
        rewriter.reset();
        out.clear();
        rewriter.feed(&input, &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        same(&rewrite_bytes(&dialect, &Options::default(), &[&input]), &out, &file.display().to_string());
    }
}

#[test]
fn a_start_that_the_dialect_lacks_is_an_error() {
    let options = Options::new().start(Start::Channel(Channel::Tool));
    let error = Rewriter::new(&Dialect::find("inline-think").unwrap(), &options).err();
    assert_eq!(error, Some(aside::Error::NoSuchStart));
}

// ------------------------------------------------------------------------------------------------------------ the start

/// Returns a stream of two choices, of which the second begins late, and a body of two choices.
fn two_choices(text: &str) -> [String; 2] {
    let of =
        |index: usize, text: &str| content(text).replace("\"index\":0,\"delta", &format!("\"index\":{index},\"delta"));
    let message = |index| format!("{{\"index\":{index},\"message\":{{\"content\":\"{text}\"}}}}");
    [of(0, text) + &of(0, "x") + &of(1, text) + &of(1, "x"), format!("{{\"choices\":[{},{}]}}", message(0), message(1))]
}

/// Returns the results for all texts, in the stream and in the body.
fn two_texts(rewriter: &mut Rewriter, text: &str) -> [[(String, String); 2]; 2] {
    two_choices(text).map(|input| {
        let mut out = Vec::new();
        rewriter.feed(input.as_bytes(), &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        [0, 1].map(|index| {
            if input.starts_with('{') {
                let value: Value = serde_json::from_str(&out).unwrap();
                let message = &value["choices"][index]["message"];
                let field = |name| message[name].as_str().unwrap_or_default().to_owned();
                return (field("reasoning_content"), field("content") + "x");
            }
            let runs = client(&events(&out), "reasoning_content").remove(&(index as u64)).unwrap().runs;
            let field = |reasoning| runs.iter().filter(|run| run.0 == reasoning).map(|run| run.1.as_str()).collect();
            (field(true), field(false))
        })
    })
}

fn all_are([thinking, content]: [&str; 2]) -> [[(String, String); 2]; 2] {
    [(); 2].map(|()| [(); 2].map(|()| (thinking.to_owned(), content.to_owned())))
}

#[test]
fn a_stream_starts_where_its_request_says() {
    let find = |name| Dialect::find(name).unwrap();
    let thinking = Start::Channel(Channel::Thinking);
    let mut rewriter = Rewriter::new(&find("qwen3"), &Options::default()).unwrap();
    let text = "hm</think>Yes.";
    let own = two_texts(&mut rewriter, "<think>hm</think>Yes.");
    assert_eq!(own, all_are(["hm", "Yes.x"]));
    // Checks that a setting holds for one stream.
    let each = |rewriter: &mut Rewriter, set: &dyn Fn(&mut Rewriter)| {
        let mut all = Vec::new();
        for input in two_choices(text) {
            set(rewriter);
            let mut out = Vec::new();
            rewriter.feed(input.as_bytes(), &mut out).unwrap();
            rewriter.finish(&mut out).unwrap();
            all.push(String::from_utf8(out).unwrap());
        }
        let hm = |index| format!("\"index\":{index},\"delta\":{{\"reasoning_content\":\"hm\"}}");
        assert!(all[0].contains(&hm(0)) && all[0].contains(&hm(1)), "{}", all[0]);
        let split = "\"message\":{\"reasoning_content\":\"hm\",\"content\":\"Yes.\"}";
        assert_eq!(all[1].matches(split).count(), 2, "{}", all[1]);
        assert!(!all.concat().contains("</think>"));
        // The next stream must start as the rewriter's options say.
        assert_eq!(two_texts(rewriter, "<think>hm</think>Yes."), all_are(["hm", "Yes.x"]));
        set(rewriter);
        rewriter.reset();
        assert_eq!(two_texts(rewriter, "<think>hm</think>Yes."), all_are(["hm", "Yes.x"]));
    };
    each(&mut rewriter, &|rewriter| rewriter.use_dialect(None, thinking).unwrap());
    // Without a dialect, the rewriter's own is used, whatever was set before.
    each(&mut rewriter, &|rewriter| {
        rewriter.use_dialect(&find("harmony"), None).unwrap();
        rewriter.use_dialect(None, thinking).unwrap();
    });
    each(&mut rewriter, &|rewriter| rewriter.use_dialect(&find("qwen3-thinking"), None).unwrap());
    each(&mut rewriter, &|rewriter| rewriter.use_dialect(&find("think"), Some(thinking)).unwrap());
    each(&mut rewriter, &|rewriter| {
        let prompt = b"<|im_start|>user\n<think><|im_end|>\n<|im_start|>assistant\n<think>";
        assert_eq!(rewriter.start_from_prompt(prompt), Ok(thinking));
    });
    // The last setting counts.
    each(&mut rewriter, &|rewriter| {
        rewriter.start_from_prompt(b"<think>").unwrap();
        rewriter.use_dialect(&find("inline-think"), None).unwrap();
        rewriter.use_dialect(&find("inline-think"), Start::Channel(Channel::Content)).unwrap();
        assert_eq!(rewriter.use_dialect(None, Start::Header), Err(aside::Error::NoSuchStart));
        assert_eq!(rewriter.start_from_prompt(b"</think>"), Ok(Start::Channel(Channel::Content)));
        rewriter.start_from_prompt(b"<think>").unwrap();
    });
    each(&mut rewriter, &|rewriter| {
        rewriter.start_from_prompt(b"</think>").unwrap();
        rewriter.use_dialect(&find("qwen3-thinking"), Start::Channel(Channel::Content)).unwrap();
        rewriter.use_dialect(&find("qwen3-thinking"), None).unwrap();
    });
    // The prompt ends inside a marker or its framing.
    for (prompt, text) in
        [("<thi", "nk>hm</think>Yes."), ("<think>", "\\nhm</think>Yes."), ("<think>\n", "hm</think>Yes.")]
    {
        for input in two_choices(text) {
            rewriter.start_from_prompt(prompt.as_bytes()).unwrap();
            let mut out = Vec::new();
            rewriter.feed(input.as_bytes(), &mut out).unwrap();
            rewriter.finish(&mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            assert_eq!(out.matches("\"reasoning_content\":\"hm\"").count(), 2, "{prompt:?}: {out}");
        }
    }
    // An empty prompt undoes the setting.
    rewriter.start_from_prompt(b"<think>").unwrap();
    assert_eq!(rewriter.start_from_prompt(b""), Ok(Start::Channel(Channel::Content)));
    assert_eq!(two_texts(&mut rewriter, "a"), all_are(["", "ax"]));
    // A span that the prompt has closed is not open in the stream.
    let mut open = Rewriter::new(&find("qwen3-thinking"), &Options::default()).unwrap();
    open.start_from_prompt(b"<|im_start|>assistant\n<think>\n\n</think>\n\n").unwrap();
    let mut out = Vec::new();
    open.feed(content("Yes.").as_bytes(), &mut out).unwrap();
    assert_eq!(out, content("Yes.").as_bytes());
}

#[test]
fn a_start_comes_before_the_first_byte() {
    let dialect = Dialect::find("qwen3").unwrap();
    let mut rewriter = Rewriter::new(&dialect, &Options::default()).unwrap();
    let mut out = Vec::new();
    rewriter.feed(b"", &mut out).unwrap();
    rewriter.start_from_prompt(b"<think>").unwrap();
    for byte in [b"\n", b" ", b"d", b"{"] {
        rewriter.feed(byte, &mut out).unwrap();
        let begun = Some(aside::Error::StreamBegun);
        assert_eq!(rewriter.use_dialect(None, Start::Channel(Channel::Content)).err(), begun);
        assert_eq!(rewriter.use_dialect(&dialect, None).err(), begun);
        assert_eq!(rewriter.start_from_prompt(b"").err(), begun);
        rewriter.reset();
        rewriter.use_dialect(None, Start::Channel(Channel::Thinking)).unwrap();
        rewriter.finish(&mut out).unwrap();
    }
    // The setting holds for the whole stream: after a `[DONE]`, each choice starts in the same way again.
    rewriter.start_from_prompt(b"<think>").unwrap();
    out.clear();
    let input = content("a") + "data: [DONE]\n\n" + &content("b");
    rewriter.feed(input.as_bytes(), &mut out).unwrap();
    assert_eq!(out, input.replace("content", "reasoning_content").as_bytes());
}

// ------------------------------------------------------------------------------------------------------ what is not text

#[test]
fn what_is_no_text_passes_and_is_said() {
    let dialect = Dialect::find("qwen3").unwrap();
    let stream = content("<think>hm</think>Yes.");
    let utf16: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let with = |head: &[u8]| [head, stream.as_bytes()].concat();
    // The first bytes of gzip, zstd, zlib and Brotli as compressors write them, and other data that is not text.
    let encoded: [Vec<u8>; 13] = [
        with(b"\x1F\x8B\x08\x00\x00\x00\x00\x00"),
        with(b"\x1F\x8B"),
        with(b"\x28\xB5\x2F\xFD\x04\x58"),
        with(b"\x78\x9C\xCB\x48"),
        with(b"\x78\x01\xCB\x48"),
        with(b"\x78\xDA\xCB\x48"),
        with(b"\x78\x5E\xCB\x48"),
        with(b"\x1B\x2F\x00\xF8"),
        with(b"\x0B\x02\x80"),
        with(b"\x00"),
        with(b"da\x00"),
        utf16.clone(),
        [b"\xFF\xFE", &utf16[..]].concat(),
    ];
    for body in [Body::Unknown, Body::Events, Body::Json] {
        let options = Options::new().body(body);
        for stream in &encoded {
            for blanks in ["", "\n", " "] {
                let stream = [blanks.as_bytes(), stream].concat();
                for len in [1, 2, 3, stream.len()] {
                    let mut rewriter = Rewriter::new(&dialect, &options).unwrap();
                    let mut out = Vec::new();
                    stream.chunks(len).for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
                    assert!(rewriter.stats().encoded, "{}", stream.escape_ascii());
                    assert_eq!(out, stream, "nothing waits");
                    rewriter.finish(&mut out).unwrap();
                    assert!(rewriter.stats().encoded && out == stream && rewriter.stats().too_long == 0);
                    // The next stream is not encoded.
                    rewriter.feed(b"data", &mut out).unwrap();
                    assert!(!rewriter.stats().encoded);
                }
                let mut rewriter = Rewriter::new(&dialect, &options.clone().off(true)).unwrap();
                rewriter.feed(&stream, &mut Vec::new()).unwrap();
                assert!(!rewriter.stats().encoded);
            }
        }
    }
    // These texts are not encoded data, whatever follows.
    for text in [
        "data: \0\n\n",
        ": \u{FF}\n\n",
        "\u{FEFF}data: x\n\n",
        "\n\r\n\t data: x\n\n",
        "{\"a\":1}",
        "{\u{1}",
        "event: \u{1}\n\n",
        "un \u{e9}v\u{e9}nement tr\u{e8}s long\u{1}\n\n",
        "x\u{e9}",
    ] {
        for (stream, len) in [(text.as_bytes(), 1), (text.as_bytes(), 100), (&text.as_bytes()[..text.len() - 1], 100)] {
            let mut rewriter = Rewriter::new(&dialect, &Options::default()).unwrap();
            let mut out = Vec::new();
            stream.chunks(len).for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
            rewriter.finish(&mut out).unwrap();
            assert!(!rewriter.stats().encoded && out == stream, "{}", stream.escape_ascii());
        }
    }
    let mut rewriter = Rewriter::new(&dialect, &Options::default()).unwrap();
    rewriter.feed(b"\x1F\x8B", &mut Vec::new()).unwrap();
    rewriter.reset();
    assert!(!rewriter.stats().encoded);
}

// --------------------------------------------------------------------------------------------------------- hostile input

#[test]
fn hostile_bytes_pass() {
    let dialect = Dialect::find("qwen3").unwrap();
    let deep = |open: &str| format!("data: {{\"choices\":{}", open.repeat(100_000));
    let streams = [
        deep("["),
        deep("[{\"delta\":"),
        "{".repeat(10 << 20),
        "{\"a\":".repeat(2 << 20),
        format!("data: {}", "{".repeat(10 << 20)),
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}", "\\".repeat(10 << 20)),
        format!("data: {{\"choices\":[{}", "{},".repeat(3 << 20)),
        format!("data: {{\"choices\":[{{\"delta\":{{{}", "\"content\":\"\",".repeat(1 << 20)),
        "data\n".repeat(2 << 20),
        "data:\r".repeat(2 << 20),
        "\r".repeat(10 << 20),
        ":".repeat(10 << 20),
        " ".repeat(10 << 20),
        "data: {}\n\n".repeat(1 << 20),
        "\"".repeat(20 << 20),
    ];
    for stream in &streams {
        for chunk in [4096, 1 << 30] {
            let chunks: Vec<&[u8]> = stream.as_bytes().chunks(chunk).collect();
            same(stream.as_bytes(), &rewrite_bytes(&dialect, &Options::default(), &chunks), &stream[..30]);
        }
    }
}

#[test]
fn broken_chunks_pass() {
    // Cuts a valid chunk at every place, and replaces every byte: the rewriter must not panic, and unreadable bodies must stay
    // unchanged.
    let dialect = Dialect::find("qwen3").unwrap();
    let good = delta("\"role\":\"assistant\",\"content\":\"<think>a</think>\\n\\nb\\u00e9<\"");
    let json = good.trim_end().strip_prefix("data: ").unwrap();
    for at in 0..json.len() {
        let cut = format!("data: {}\n\n", &json[..at]);
        assert_eq!(rewrite_bytes(&dialect, &Options::default(), &[cut.as_bytes()]), cut.as_bytes());
        for byte in *b"\"\\{}[],:0 e\x00" {
            let mut broken = good.clone().into_bytes();
            broken["data: ".len() + at] = byte;
            let out = rewrite_bytes(&dialect, &Options::default(), &[&broken]);
            let text = &broken["data: ".len()..];
            if serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err() {
                same(&broken, &out, &broken.escape_ascii().to_string());
            }
        }
    }
}
