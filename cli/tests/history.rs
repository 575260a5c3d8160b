//! Runs `aside history`: its options, and its message about a request that it does not read.

use std::process::{Command, Output};

use support::program::{err, feed, out};

const IN: &str = "{\"messages\": [{\"role\": \"assistant\", \"content\": \"b\", \"reasoning_content\": \"a\"}]}\n";

fn history(arguments: &[&str], input: &str) -> Output {
    feed(Command::new(env!("CARGO_BIN_EXE_aside")).arg("history").args(arguments), input.as_bytes())
}

#[test]
fn the_thinking_goes_where_it_is_asked_for() {
    let thinking = |name: &str| IN.replace("reasoning_content", name);
    for (arguments, wanted) in [
        (&[][..], IN.to_owned()),
        (&["--server", "vllm"], thinking("reasoning")),
        (&["--server=vllm", "--name=thinking"], thinking("thinking")),
        (&["--name", "reasoning_content"], IN.to_owned()),
        (&["--turns", "none"], IN.replace(", \"reasoning_content\": \"a\"", "")),
        (&["--turns=none", "--missing=empty", "--server=vllm"], thinking("reasoning").replace("\"a\"", "\"\"")),
        (
            &["--name=text", "--dialect=qwen3"],
            IN.replace("\"b\", \"reasoning_content\": \"a\"", "\"<think>\\na\\n</think>\\n\\nb\""),
        ),
        // The server has no requests of this format.
        (&["--server=mistral", "--format=messages"], IN.to_owned()),
    ] {
        let output = history(arguments, IN);
        assert!(output.status.success(), "{output:?}");
        assert_eq!((&*out(&output), err(&output)), (&*wanted, ""), "{arguments:?}");
    }
    let output = history(&["--report", "--format=messages", "--made=remove"], IN);
    assert!(err(&output).starts_with("outcome: the request was read\nchanged: 0 "), "{}", err(&output));
}

#[test]
fn what_is_not_read_passes_and_is_said() {
    for (arguments, input, why) in [
        (&[][..], "[1]", "it is not a request of this format"),
        (&[], "{\"a\":1,\"a\":1}", "a member is there twice"),
        (&["--format=responses"], "{\"conversation\":\"c\",\"input\":[]}", "the server has the history"),
    ] {
        let output = history(arguments, input);
        assert_eq!((output.status.code(), &*out(&output)), (Some(0), input));
        assert_eq!(err(&output), format!("aside history: the request has passed as it came: {why}\n"));
    }
}

#[test]
fn options_that_are_wrong_are_refused() {
    for (arguments, code, message) in [
        (&["--server", "vlm"][..], 2, "no server `vlm`; the nearest is vllm"),
        (&["--name", "text"], 2, "--dialect"),
        (&["--name=text", "--dialect=qwn3"], 2, "no dialect `qwn3`"),
        (&["--server-file", "/nowhere.toml"], 1, "/nowhere.toml"),
        (&["--server=vllm", "--server-file=x"], 2, "cannot be used with"),
        (&["--format", "ollama"], 2, "invalid value"),
    ] {
        let output = history(arguments, IN);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert!(err(&output).contains(message), "{arguments:?}: {}", err(&output));
    }
}
