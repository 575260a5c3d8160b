//! Runs `aside resplit`: its options, and its messages about impossible requests.

use std::process::{Command, Output};

use support::program::{err, feed, out};
use support::{ROOT, told};

const IN: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hm</think>Yes.\"}}]}\n\n";

fn resplit(arguments: &[&str], input: &[u8]) -> Output {
    feed(Command::new(env!("CARGO_BIN_EXE_aside")).arg("resplit").args(arguments), input)
}

#[test]
fn starts_where_it_is_told() {
    for arguments in [
        &["--start", "thinking", "--dialect=qwen3"][..],
        &["--dialect=qwen3", "--start=thinking"],
        &["--dialect=qwen3", "--field=reasoning", "--start", "thinking"],
        &["--dialect=qwen3-thinking"],
    ] {
        let field = if arguments.contains(&"--field=reasoning") { "reasoning" } else { "reasoning_content" };
        let output = resplit(arguments, IN.as_bytes());
        assert!(output.status.success(), "{output:?}");
        assert!(out(&output).contains(&format!("{{\"{field}\":\"hm\"}}")), "{}", out(&output));
        assert!(out(&output).ends_with("{\"content\":\"Yes.\"}}]}\n\n"), "{}", out(&output));
    }
    let output = resplit(&["--dialect=qwen3-thinking", "--start", "content"], "data: {\"choices\":[]}\n\n".as_bytes());
    assert_eq!(out(&output), "data: {\"choices\":[]}\n\n");
}

#[test]
fn a_stray_closer_stays_where_that_is_asked_for() {
    for arguments in [&["--stray-close", "text", "--dialect=qwen3"][..], &["--dialect=qwen3", "--stray-close=text"]] {
        assert_eq!(out(&resplit(arguments, IN.as_bytes())), IN, "{arguments:?}");
    }
    for arguments in [&["--dialect=qwen3"][..], &["--dialect=qwen3", "--stray-close=dialect"]] {
        let output = resplit(arguments, IN.as_bytes());
        assert!(output.status.success() && !out(&output).contains("</think>"), "{arguments:?}: {}", out(&output));
    }
}

#[test]
fn calls_are_as_a_host_asks() {
    let body = |content: &str| {
        let content = content.replace('"', "\\\"");
        format!(r#"{{"id":"c1","choices":[{{"message":{{"content":"{content}"}},"finish_reason":"stop"}}]}}"#)
    };
    let call = r#"{"name":"f","arguments":{"x":1}}"#;
    let two = format!("<tool_call>{call}</tool_call><tool_call>{call}</tool_call>");
    let cut = "<tool_call><function=f>\\n<parameter=x>\\n1\\n</parameter>";
    // Without a schema, a value between markers is text in this dialect.
    let told = |answer: &str| {
        let number = r#"{"name":"f","arguments":"{\"x\":1}"}"#;
        let text = r#"{"name":"f","arguments":"{\"x\":\"1\"}"}"#;
        answer.matches(number).count() + answer.matches(text).count()
    };
    for (arguments, content, calls) in [
        (&[][..], &*two, 2),
        (&["--max-calls", "1"], &two, 1),
        (&["--not-whole=hold"], &two, 2),
        (&[], cut, 1),
        (&["--no-implied-end"], cut, 0),
        (&["--start", "calls"], &format!("[{call}]"), 1),
        (&["--start-call", "f"], r#"{"x":1}"#, 1),
        (&["--repair-arguments", "--unknown-tool=tell"], &two, 2),
    ] {
        let output = resplit(&[&["--dialect=qwen3", "--calls"], arguments].concat(), body(content).as_bytes());
        assert!(output.status.success(), "{arguments:?}: {}", err(&output));
        assert_eq!(told(&out(&output)), calls, "{arguments:?}: {}", out(&output));
        assert_eq!(out(&output).contains(r#""finish_reason":"tool_calls""#), calls > 0, "{arguments:?}");
    }
}

#[test]
fn refuses_what_it_does_not_know() {
    for (arguments, said) in [
        (&["--dialect=qwen33"][..], "aside resplit: no dialect `qwen33`; the nearest are qwen3"),
        (&["--field", "text"], "[possible values: reasoning_content, reasoning, thinking]"),
        (&["answer.sse", "more"], "unexpected argument 'more'"),
        (&["--repairs"], "a similar argument exists: '--repair'"),
        (&["--start"], "a value is required for '--start <WHAT>'"),
        (&["--start", "middle"], "middle"),
        (&["--stray-close", "keep"], "[possible values: dialect, text, drop]"),
        (&["--calls", "--tools"], "a value is required for '--tools <FILE>'"),
        (&["--tools", "tools.json"], "--calls"),
        (&["--calls=x"], "unexpected value 'x' for '--calls'"),
        (&["--max-calls=1"], "--calls"),
        (&["--calls", "--not-whole=keep"], "[possible values: tell, hold, text]"),
        (&["--calls", "--unknown-tool=keep"], "[possible values: text, drop, tell]"),
        (&["--formats"], "a value is required for '--formats <LIST>'"),
        (&["--formats=chat,gemini"], "invalid value 'gemini' for '--formats <LIST>'"),
        (&["--responses-as=text"], "[possible values: reasoning_text, summary]"),
        (&["--comments=pass"], "[possible values: keep, drop, chunk]"),
        (&["--dialect=inline-think", "--start", "header"], "aside resplit: inline-think: "),
    ] {
        let output = resplit(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(out(&output).is_empty() && err(&output).contains(said), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains("--help"), "{arguments:?}: {}", err(&output));
    }
}

#[test]
fn a_file_is_read_and_any_dialect_where_none_is_given() {
    let stream = format!("{ROOT}/tests/sse/qwen3.sse");
    let output = resplit(&[&stream], b"");
    assert!(output.status.success() && out(&output).contains("reasoning_content"), "{output:?}");
    assert!(!out(&output).contains("<think>"), "{}", out(&output));
    let output = resplit(&["no/such.sse"], b"");
    assert_eq!(err(&output), "aside resplit: no/such.sse: No such file or directory\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn makes_calls_of_the_text() {
    let stream = std::fs::read(format!("{ROOT}/tests/sse/qwen3-tool.sse")).unwrap();
    let body = br#"{"id":"c","choices":[{"message":{"content":"<tool_call>{\"name\": \"weather\"}</tool_call>"}}]}"#;
    let file = std::env::temp_dir().join(format!("aside-tools-{}.json", std::process::id()));
    let tools = |name: &str| std::fs::write(&file, format!("[{{\"name\": \"{name}\"}}]")).unwrap();
    let with = ["--calls", "--tools", file.to_str().unwrap(), "--dialect=qwen3"];
    tools("weather");
    for arguments in [&with[..], &["--dialect=qwen3", "--calls"], &["--dialect=qwen3", "--calls", "--start", "content"]]
    {
        let streamed = out(&resplit(arguments, &stream)).to_owned();
        let said = told::client(&streamed).remove(&0).unwrap();
        assert_eq!((&*said.calls[0][1], &*said.calls[0][2]), ("weather", "{\"city\": \"K\u{f6}ln\"}"), "{arguments:?}");
        assert_eq!((said.calls.len(), &*said.finish), (1, "tool_calls"), "{arguments:?}: {streamed}");
        assert!(out(&resplit(arguments, body)).contains("\"content\":null,\"tool_calls\":[{\"id\":\"call_c_0_0\","));
    }
    tools("other");
    for arguments in [&with[..], &["--dialect=qwen3"]] {
        for input in [&stream[..], body] {
            let output = out(&resplit(arguments, input)).to_owned();
            assert!(output.contains("<tool_call>") && !output.contains("tool_calls"), "{arguments:?}: {output}");
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn leaves_out_comments() {
    let chunk = "data: {\"choices\":[]}\n\n";
    let output = resplit(&["--comments=drop"], format!(": keep-alive\n\n{chunk}").as_bytes());
    assert_eq!(out(&output), chunk);
}

#[test]
fn reads_the_formats_that_are_asked_for() {
    let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"<think>hm</think>Yes.\"}}]}\n\n";
    let message = "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"<think>hm</think>Yes.\"}]}";
    for (arguments, reads_chat, reads_message) in [
        (&["--dialect=qwen3"][..], true, true),
        (&["--dialect=qwen3", "--formats=chat"], true, false),
        (&["--dialect=qwen3", "--formats", "messages"], false, true),
        (&["--dialect=qwen3", "--formats=chat,messages"], true, true),
        (&["--dialect=qwen3", "--formats=all", "--responses-as=summary"], true, true),
        (&["--dialect=qwen3", "--formats=ollama,completions,responses"], false, false),
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
    assert_eq!(out(&resplit(&["--dialect=qwen3"], empty.as_bytes())), empty);
    assert!(out(&resplit(&["--dialect=qwen3", "--repair"], empty.as_bytes())).starts_with(':'));
    let text = IN.replace("hm", "<think>hm");
    let output = resplit(&["--dialect=qwen3", "--stats", "--promote-empty", "--merge"], text.as_bytes());
    assert!(output.status.success(), "{}", err(&output));
    let said = err(&output);
    assert!(said.starts_with("-- qwen3:\n   events ") && said.contains("\n   content_bytes          4\n"), "{said}");
    let output = resplit(&["--dialect=qwen3", "--stats=json"], text.as_bytes());
    let stats: serde_json::Value = serde_json::from_str(err(&output)).unwrap();
    assert!(stats["thinking_bytes"].is_u64() && stats["encoded"] == 0, "{stats}");
}

#[test]
fn one_shape_is_made_and_thinking_left_out() {
    let body = r#"{"choices":[{"message":{"thinking":"A","content":[{"type":"text","text":"Hi."}]}}]}"#;
    let shaped = r#"{"choices":[{"message":{"reasoning":"A","content":"Hi."}}]}"#;
    for arguments in [&["--normalise", "--field=reasoning"][..], &["--normalise=field,lists", "--field", "reasoning"]] {
        assert_eq!(out(&resplit(arguments, body.as_bytes())), shaped, "{arguments:?}");
    }
    let output = resplit(&["--normalise=all", "--thinking=drop"], body.as_bytes());
    assert_eq!(out(&output), r#"{"choices":[{"message":{"content":"Hi."}}]}"#);
    assert_eq!(err(&output), "");
}

#[test]
fn says_if_it_recognises_nothing() {
    let said = "aside resplit: the input has passed as it came: nothing in it is an answer in one of the formats\n";
    for (arguments, input) in [(&[][..], "a text\n"), (&[], "{\"a\":1}"), (&["--formats=messages"], IN), (&[], "")] {
        assert_eq!(err(&resplit(arguments, input.as_bytes())), said, "{arguments:?} {input}");
    }
    let output = resplit(&["--dialect=inline-think", "--calls"], IN.as_bytes());
    let said = "aside resplit: --calls finds nothing: the dialect inline-think does not say how calls are written\n";
    assert_eq!(err(&output), said);
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
        let output = resplit(&["--dialect=qwen3", "--calls", "--tools", file.to_str().unwrap()], IN.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(output.stdout.is_empty() && err(&output).contains(said), "{name}: {}", err(&output));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn says_that_a_stream_is_compressed() {
    let gzip = b"\x1F\x8B\x08\0\0";
    let output = resplit(&["--dialect=qwen3"], gzip);
    assert!(output.status.success() && output.stdout == gzip);
    assert!(err(&output).contains("compressed"), "{}", err(&output));
}
