//! Runs the program `resplit`: its options, and what it says of what it cannot do.

use std::process::{Command, Output};

use support::program::{err, feed, of_example, out};
use support::{ROOT, told};

const IN: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hm</think>Yes.\"}}]}\n\n";

fn resplit(arguments: &[&str], input: &[u8]) -> Output {
    feed(Command::new(of_example("resplit")).args(arguments), input)
}

#[test]
fn starts_where_it_is_told() {
    for arguments in [
        &["--start", "thinking", "qwen3"][..],
        &["qwen3", "--start=thinking"],
        &["qwen3", "reasoning", "--start", "thinking"],
        &["qwen3-thinking"],
    ] {
        let field = if arguments.contains(&"reasoning") { "reasoning" } else { "reasoning_content" };
        let output = resplit(arguments, IN.as_bytes());
        assert!(output.status.success(), "{output:?}");
        assert!(out(&output).contains(&format!("{{\"{field}\":\"hm\"}}")), "{}", out(&output));
        assert!(out(&output).ends_with("{\"content\":\"Yes.\"}}]}\n\n"), "{}", out(&output));
    }
    let output = resplit(&["qwen3-thinking", "--start", "content"], "data: {\"choices\":[]}\n\n".as_bytes());
    assert_eq!(out(&output), "data: {\"choices\":[]}\n\n");
}

#[test]
fn a_stray_closer_stays_where_that_is_asked_for() {
    for arguments in [
        &["--stray-close", "text", "qwen3"][..],
        &["qwen3", "--stray-close=text"],
        &["qwen3", "--stray-close=dialect", "--stray-close=text"],
    ] {
        assert_eq!(out(&resplit(arguments, IN.as_bytes())), IN, "{arguments:?}");
    }
    for arguments in [&["qwen3"][..], &["qwen3", "--stray-close=dialect"]] {
        let output = resplit(arguments, IN.as_bytes());
        assert!(output.status.success() && !out(&output).contains("</think>"), "{arguments:?}: {}", out(&output));
    }
}

#[test]
fn says_what_it_is() {
    let help = resplit(&["--help"], b"");
    assert!(help.status.success() && err(&help).is_empty() && out(&help).contains("--start WHAT"));
    assert!(out(&help).contains("--stray-close WHAT"));
    assert_eq!(resplit(&["-h"], b"").stdout, help.stdout);
    assert!(out(&help).lines().all(|line| line.len() <= 100));
    let version = resplit(&["--version"], b"");
    assert!(version.status.success());
    assert_eq!(out(&version), format!("resplit {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn refuses_what_it_does_not_know() {
    for (arguments, said) in [
        (&[][..], "the dialect is missing"),
        (&["qwen33"], "qwen3"),
        (&["qwen3", "text"], "text: the field is reasoning_content, reasoning or thinking"),
        (&["qwen3", "reasoning", "more"], "more: there are too many arguments"),
        (&["--begin", "qwen3"], "--begin: there is no such option"),
        (&["qwen3", "--start"], "--start: the value is missing"),
        (&["qwen3", "--start", "middle"], "middle"),
        (&["qwen3", "--stray-close"], "--stray-close: the value is missing"),
        (&["qwen3", "--stray-close", "drop"], "--stray-close: `drop` is neither dialect nor text"),
        (&["qwen3", "--calls", "--tools"], "--tools: the value is missing"),
        (&["qwen3", "--tools", "tools.json"], "--tools goes with --calls"),
        (&["qwen3", "--calls=x"], "--calls=x: there is no such option"),
        (&["--help=x"], "--help=x: there is no such option"),
        (&["qwen3", "--formats"], "--formats: `` is not a format"),
        (&["qwen3", "--formats=chat,gemini"], "--formats: `gemini` is not a format"),
        (&["qwen3", "--responses-as"], "--responses-as: the value is missing"),
        (&["qwen3", "--responses-as=text"], "--responses-as: `text` is neither reasoning_text nor summary"),
        (&["qwen3", "--repair=1"], "--repair=1: there is no such option"),
    ] {
        let output = resplit(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(out(&output).is_empty() && err(&output).contains(said), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains("resplit --help"), "{arguments:?}: {}", err(&output));
    }
    let output = resplit(&["inline-think", "--start", "header"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("resplit: inline-think: "), "{}", err(&output));
}

#[test]
fn makes_calls_of_the_text() {
    let stream = std::fs::read(format!("{ROOT}/tests/sse/qwen3-tool.sse")).unwrap();
    let body = br#"{"id":"c","choices":[{"message":{"content":"<tool_call>{\"name\": \"weather\"}</tool_call>"}}]}"#;
    let file = std::env::temp_dir().join(format!("aside-tools-{}.json", std::process::id()));
    let tools = |name: &str| std::fs::write(&file, format!("[{{\"name\": \"{name}\"}}]")).unwrap();
    let with = ["--calls", "--tools", file.to_str().unwrap(), "qwen3"];
    tools("weather");
    for arguments in [&with[..], &["qwen3", "--calls"], &["qwen3", "--calls", "--start", "content"]] {
        let streamed = out(&resplit(arguments, &stream)).to_owned();
        let said = told::client(&streamed).remove(&0).unwrap();
        assert_eq!((&*said.calls[0][1], &*said.calls[0][2]), ("weather", "{\"city\": \"K\u{f6}ln\"}"), "{arguments:?}");
        assert_eq!((said.calls.len(), &*said.finish), (1, "tool_calls"), "{arguments:?}: {streamed}");
        assert!(out(&resplit(arguments, body)).contains("\"content\":null,\"tool_calls\":[{\"id\":\"call_c_0_0\","));
    }
    tools("other");
    for arguments in [&with[..], &["qwen3"]] {
        for input in [&stream[..], body] {
            let output = out(&resplit(arguments, input)).to_owned();
            assert!(output.contains("<tool_call>") && !output.contains("tool_calls"), "{arguments:?}: {output}");
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn reads_the_formats_that_are_asked_for() {
    let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"<think>hm</think>Yes.\"}}]}\n\n";
    let message = "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"<think>hm</think>Yes.\"}]}";
    for (arguments, reads_chat, reads_message) in [
        (&["qwen3"][..], true, false),
        (&["qwen3", "--formats", "messages"], false, true),
        (&["qwen3", "--formats=chat,messages"], true, true),
        (&["qwen3", "--formats=all", "--responses-as=summary"], true, true),
        (&["qwen3", "--formats=ollama,completions,responses"], false, false),
    ] {
        for (input, is_read) in [(chat, reads_chat), (message, reads_message)] {
            let output = resplit(arguments, input.as_bytes());
            assert!(output.status.success(), "{output:?}");
            assert_eq!(!out(&output).contains("</think>"), is_read, "{arguments:?}: {}", out(&output));
        }
    }
}

#[test]
fn has_the_options_of_a_rewriter() {
    let empty = "data:\n\n";
    assert_eq!(out(&resplit(&["qwen3"], empty.as_bytes())), empty);
    assert!(out(&resplit(&["qwen3", "--repair"], empty.as_bytes())).starts_with(':'));
    let output = resplit(&["qwen3", "--stats", "--promote-empty", "--merge"], IN.as_bytes());
    assert!(output.status.success() && err(&output).contains("content_bytes: 4,"), "{}", err(&output));
}

#[test]
fn says_what_is_wrong_with_tools() {
    let folder = std::env::temp_dir().join(format!("aside-resplit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text, said) in [
        ("none.json", None, "none.json: "),
        ("bad.json", Some("[{\"name\": \"f\"}"), "bad.json: tools: not JSON, or nested too deep, at line 1, column 15"),
        ("object.json", Some("{}"), "object.json: tools: not a JSON array"),
    ] {
        let file = folder.join(name);
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let output = resplit(&["qwen3", "--calls", "--tools", file.to_str().unwrap()], IN.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(output.stdout.is_empty() && err(&output).contains(said), "{name}: {}", err(&output));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn says_that_a_stream_is_compressed() {
    let gzip = b"\x1F\x8B\x08\0\0";
    let output = resplit(&["qwen3"], gzip);
    assert!(output.status.success() && output.stdout == gzip);
    assert!(err(&output).contains("compressed"), "{}", err(&output));
}
