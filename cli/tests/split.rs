//! Runs `aside split` as a user would: on the recordings, on streams, on files that do not exist.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use support::ROOT;
use support::program::{err, out, run, scratch, spawn};

#[test]
fn every_recording_comes_out_the_same_however_it_is_cut() {
    for path in recordings() {
        for mode in
            [&[][..], &["--only", "content"], &["--only", "thinking"], &["--only", "narration"], &["--only", "tool"]]
        {
            let split = |chunk: &str| run(split_of(&path).args(mode).arg(format!("--chunk={chunk}")));
            let whole = run(split_of(&path).args(mode));
            assert!(whole.status.success(), "{}: {}", path.display(), err(&whole));
            for chunk in ["1", "2", "3", "7", "4096"] {
                let cut = split(chunk);
                assert_eq!(out(&cut), out(&whole), "{} {mode:?} in feeds of {chunk}", path.display());
                assert_eq!(err(&cut), err(&whole), "{} {mode:?} in feeds of {chunk}", path.display());
            }
        }
    }
}

#[test]
fn events_joined_are_the_input() {
    for path in recordings() {
        let input = fs::read_to_string(&path).unwrap();
        for chunk in ["1", "5", "4096"] {
            let output = run(split_of(&path).args(["--events", "--chunk", chunk]));
            assert_eq!(String::from_utf8(joined(&output)).unwrap(), input, "{} in feeds of {chunk}", path.display());
        }
    }
}

#[test]
fn channels_of_the_recordings() {
    let starts = |file: &str, channel: &str, text: &str| {
        let got = out(&run(split_of(&recording(file)).args(["--only", channel])));
        assert!(got.starts_with(text), "{file}, {channel}: {got}");
    };
    let ends = |file: &str, channel: &str, text: &str| {
        let got = out(&run(split_of(&recording(file)).args(["--only", channel])));
        assert!(got.ends_with(text), "{file}, {channel}: {got}");
    };
    let whole = |file: &str, channel: &str, text: &str| {
        assert_eq!(out(&run(split_of(&recording(file)).args(["--only", channel]))), text, "{file}, {channel}");
    };
    starts("qwen3.txt", "content", "Run this:\n\n```sh\ngit reset");
    starts("qwen3.txt", "thinking", "Okay, the user wants");
    ends("qwen3.txt", "thinking", "then a small table.");
    whole("qwen3-cut.txt", "content", "");
    ends("qwen3-cut.txt", "thinking", "149 + 81 + 4");
    starts("qwen3-tool.txt", "tool", "<tool_call>\n{\"name\": \"run\"");
    whole("qwen3-tool.txt", "content", "\n");
    // Everything after the leading block is content, including tags in code.
    let text = fs::read_to_string(recording("inline-think.txt")).unwrap();
    whole("inline-think.txt", "content", text.split_once("</think>").unwrap().1);
    starts("thinking-tags.txt", "content", "\nThe failing test is right");
    ends("thinking-tags.txt", "content", "\nNo other caller has to change.\n");
    ends("thought-narrate.txt", "narration", "I'm changing the order, not the timeout.");
    ends("thought-narrate.txt", "content", "I ran the test 200 times after the change: 200 passed.\n");
    starts("thought-stream.txt", "content", "Let me compare the two quotes. \n\nQuote B is cheaper by 14 euros");
    starts("thought-stream.txt", "thinking", "\nThe setup fee is paid once.");
    starts("fenced-thinking.txt", "content", "\nHere is a script");
    ends("fenced-thinking.txt", "thinking", "and mention a dry run.\n");
    whole("gemma-4.txt", "content", "I will look at the forecast for Lisbon.\n");
    ends("gemma-4.txt", "tool", "the answer must not hold <tool_call|><|\"|>}<tool_call|>");
    starts("glm-4.5.txt", "content", "**塞翁失马，焉知非福** 🐎✨");
    ends("glm-4.5.txt", "content", "一句话总结：祸福相依，先别急着下结论。👍🏽\n");
    starts("glm-4.5.txt", "thinking", "用户想知道");
    whole("harmony.txt", "tool", r#"{"city": "Oslo", "unit": "celsius"}{"city": "Bergen", "unit": "celsius"}"#);
    starts("harmony.txt", "content", "I will check both cities.Bergen is warmer");
    starts("harmony.txt", "thinking", "The user asks");
}

#[test]
fn a_pipe_gets_labels() {
    let output = feed(&["--dialect", "thought-narrate"], b"<thought>a\nb</thought><narrate>c</narrate>d");
    assert_eq!(out(&output), "[thinking]\na\nb\n[narration]\nc\n[content]\nd\n");
    let output = feed(&["--dialect", "thought-stream"], b"A <thinking thought='\"x\"'/>B\n");
    assert_eq!(out(&output), "[content]\nA \n[thinking thought=\"\\\"x\\\"\"]\n[content]\nB\n");
    let output = feed(&["--dialect", "glm-4.5"], b"It is <|begin_of_box|>42<|end_of_box|>.");
    assert_eq!(out(&output), "[content]\nIt is 42.\n");
    assert_eq!(out(&feed(&[], b"")), "");
}

#[test]
fn the_summary_counts() {
    let wide = scratch("wide.txt");
    fs::File::create(&wide).unwrap().set_len(110_000_000).unwrap();
    let row =
        err(&run(split().args(["--dialect=qwen3", "--start=content"]).arg(&wide).stdout(Stdio::null()))).to_owned();
    assert!(row.contains("   content       0 110000000   110000000\n"), "{row}");
    let output = feed(&["--dialect", "qwen3"], "<think>\nhä\n</think>\n\n日本.<think>x".as_bytes());
    let words: Vec<Vec<_>> = err(&output).lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["--", "qwen3,", "37", "bytes:"]);
    assert_eq!(words[2], ["thinking", "2", "4", "3"]);
    assert_eq!(words[3], ["content", "0", "7", "3"]);
    assert_eq!(words[4], ["markers", "26"]);
    assert_eq!(words[5].join(" "), "last span: thinking, cut off by the end of the stream");
    assert_eq!(err(&feed(&["--only", "content", "--dialect=qwen3"], b"x")), "", "--only is for pipes");
}

/// Checks that the summary is written to a terminal, and not to a pipe.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_told_which_dialect_was_taken() {
    let said = |args: &str| {
        let line = format!("'{PROGRAM}' split {args} </dev/null 2>&1 >/dev/null");
        out(&run(Command::new("script").args(["-qec", &line, "/dev/null"])))
    };
    let note = "aside split: no dialect was given, so `any` is taken; see --dialect and --model";
    assert_eq!(said("--only=content -").matches(note).count(), 1);
    assert_eq!(said("--only=content --dialect=qwen3 -"), "");
    assert_eq!(err(&feed(&["--only=content"], b"x")), "");
}

#[test]
fn standard_input_is_split_as_it_arrives() {
    let mut child = spawn(split().args(["--dialect", "qwen3"]));
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    // Each line is read before more is written: a program that waited would hang here.
    input.write_all(b"<think>\nfirst\nsec").unwrap();
    assert_eq!([next(), next()], ["[thinking]", "first"]);
    input.write_all(b"ond\n</think>\n\nyes\n").unwrap();
    assert_eq!([next(), next(), next()], ["second", "[content]", "yes"]);
    drop(input);
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn options() {
    assert_eq!(out(&feed(&["--start", "thinking", "--only", "thinking"], b"a</think>b")), "a");
    assert_eq!(out(&feed(&["--start=thinking", "--only=content", "-"], b"a</think>b")), "b");
    for (what, content) in [("dialect", "ab"), ("text", "a\n</think>\n\nb"), ("drop", "a\n\n\nb")] {
        let arguments = ["--dialect=qwen3", "--only=content", "--stray-close", what];
        assert_eq!(out(&feed(&arguments, b"a\n</think>\n\nb")), content, "{what}");
    }
    // Every option takes its value in both forms, and a size with its unit.
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/templates/qwen3.jinja");
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/qwen3.toml");
    for (option, value) in [
        ("--dialect", "qwen3"),
        ("--dialect-file", own),
        ("--model", "qwen3-32b"),
        ("--template", template),
        ("--start", "content"),
        ("--chunk", "4k"),
        ("--chunk", "64K"),
        ("--only", "content"),
    ] {
        let text = b"<think>\na\n</think>\n\nb";
        let (apart, joined) = (feed(&[option, value], text), feed(&[&format!("{option}={value}")], text));
        assert!(apart.status.success(), "{option}: {}", err(&apart));
        assert_eq!((out(&apart), err(&apart)), (out(&joined), err(&joined)), "{option}");
    }
}

#[test]
fn a_dialect_by_model_or_template() {
    let output = feed(&["--model", "unsloth/gpt-oss-20b-GGUF", "--only=content"], b"<|channel|>final<|message|>Yes.");
    assert_eq!(out(&output), "Yes.");
    // The template has opened the thinking.
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/templates/glm-4.7.jinja");
    assert_eq!(out(&feed(&["--template", template, "--only=thinking"], b"hm</think>Yes.")), "hm");
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/templates/no-marker.jinja");
    let output = feed(&["--template", template], b"");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no-marker.jinja: the template has the markers of no dialect")
    );
    assert_eq!(output.status.code(), Some(1));
    let prose = scratch("prose.txt");
    fs::write(&prose, "see <think> tags").unwrap();
    let output = feed(&["--template", prose.to_str().unwrap()], b"");
    assert!(err(&output).contains("prose.txt: this is not a Jinja template: "), "{}", err(&output));
    assert_eq!(output.status.code(), Some(2));
}

/// Checks that `any` names the dialects of calls that it does not read, and no other dialects.
#[test]
fn calls_of_other_dialects_are_said() {
    let said = |arguments: &[&str], text: &str| err(&feed(arguments, text.as_bytes())).to_owned();
    let call = "Yes.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0";
    for arguments in [&[][..], &["--chunk=1"], &["--dialect=any", "--calls"]] {
        let said = said(arguments, call);
        let hint = said.lines().last().unwrap();
        assert!(hint.starts_with("aside split: `<|tool_calls_section_begin|>` is written by kimi-k2"), "{said}");
        assert!(hint.ends_with(": choose one with --dialect"), "{said}");
    }
    assert!(!said(&["--dialect=qwen3"], call).contains("is written by"));
    let path = recording("qwen3-tool.txt");
    let output = run(split().arg(&path));
    assert!(out(&output).contains("[tool]\n<tool_call>\n{\"name\": "), "{}", out(&output));
    assert!(!err(&output).contains("is written by"));
    for text in ["[TOOL_CALLS]f[ARGS]{}", "```json\n{}\n```", "Action:", "a <tool", "<user>", "functools"] {
        assert!(!err(&feed(&[], text.as_bytes())).contains("--dialect"), "{text}");
    }
}

/// Checks that a rendered template has the start of the given request.
#[test]
fn the_variables_of_a_template() {
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/field/templates/ik_Qwen3.5-4B.jinja");
    let variables = "--variables={\"enable_thinking\": false}";
    let output = feed(&["--template", template, variables, "--only=content"], b"Yes.");
    if cfg!(feature = "templates") {
        assert_eq!(out(&output), "Yes.");
        let output = feed(&["--template", template, "--variables=[]"], b"");
        assert!(err(&output).contains("Qwen3.5-4B.jinja: the variables are not a JSON object"), "{}", err(&output));
    } else {
        assert!(err(&output).contains("build it with --features templates"), "{}", err(&output));
    }
    assert_eq!(out(&feed(&["--template", template, "--only=thinking"], b"hm</think>Yes.")), "hm");
}

#[test]
fn a_dialect_of_ones_own() {
    let path = scratch("own.toml");
    fs::write(&path, "name = \"own\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"((\"]\nclose = [\"))\"]\n").unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(out(&feed(&["--dialect-file", path, "--only=content"], b"a((b))c")), "ac");
    fs::write(path, "name = \"own\"\ncolour = 3\n").unwrap();
    let output = feed(&["--dialect-file", path], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with(&format!("aside split: {path}: line 2")), "{}", err(&output));
}

#[test]
fn what_is_not_there() {
    let output = run(split().arg("no/such/file"));
    assert_eq!(
        (output.status.code(), err(&output)),
        (Some(1), "aside split: no/such/file: No such file or directory\n")
    );
    let output = run(split().arg(env!("CARGO_MANIFEST_DIR")));
    assert_eq!(output.status.code(), Some(1));
    let output = feed(&["--dialect-file", "no.toml"], b"");
    assert_eq!((output.status.code(), err(&output)), (Some(1), "aside split: no.toml: No such file or directory\n"));
    let filter = concat!(env!("CARGO_MANIFEST_DIR"), "/../filters/cargo.toml");
    let output = feed(&["--dialect-file", filter], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).ends_with(": this is a filter file, for aside squeeze --filter\n"), "{}", err(&output));
}

#[test]
fn bad_usage_is_said() {
    let bad = |args: &[&str], says: &str| {
        let output = feed(args, b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(err(&output).contains(says) && err(&output).contains("--help"), "{args:?}: {}", err(&output));
        assert!(out(&output).is_empty(), "{args:?}");
    };
    bad(&["--dialect", "quen3"], "aside split: no dialect `quen3`; the nearest are qwen3");
    bad(&["--dialect"], "a value is required for '--dialect <NAME>'");
    bad(&["--model", "gpt-4o"], "`gpt-4o` is known to write no thinking");
    bad(&["--model", "qwen3.9"], "its elder qwen3.8 writes qwen3-thinking");
    bad(&["--model=qwq", "--template=x"], "cannot be used with");
    bad(&["--dialects", "qwen3"], "a similar argument exists: '--dialect'");
    bad(&["--dialect=qwen3", "--variables={}"], "cannot be used with");
    bad(&["--variables={}"], "--template <FILE>");
    bad(&["--events=yes"], "unexpected value 'yes' for '--events'");
    bad(&["--chunk", "0"], "--chunk <N>': not a number from 1 to 65536");
    bad(&["--chunk", "x"], "'x'");
    bad(&["--only", "answers"], "[possible values: content, thinking, narration, tool]");
    bad(&["--only", "contents"], "a similar value exists: 'content'");
    bad(&["--start", "nowhere"], "`nowhere`");
    bad(&["--stray-close", "keep"], "[possible values: dialect, text, drop]");
    bad(&["--dialect=inline-think", "--start", "tool"], "inline-think: ");
    bad(&["--events", "--only=tool"], "cannot be used with");
    bad(&["--calls", "--only=tool"], "cannot be used with");
    bad(&["--dialect=qwen3", "--dialect-file=x"], "cannot be used with");
    bad(&["a", "b"], "unexpected argument 'b'");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    for mode in ["--events", "--only=content"] {
        let mut child = spawn(split().args(["--dialect=inline-think", mode]));
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        input.write_all(b"a line\n").unwrap();
        BufReader::new(output).read_line(&mut String::new()).unwrap();
        // The reader has closed its end. `split` notices this when it writes, and the test when `split` stops reading.
        while input.write_all(&[b'x'; 4096]).is_ok() {}
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), err(&output)), (Some(0), ""));
    }
}

#[test]
fn bytes_that_are_not_utf8_pass_through() {
    let input: Vec<u8> = (0..=255).chain("é".bytes()).chain([0xe2, 0x82]).collect();
    for chunk in ["--chunk=1", "--chunk=4096"] {
        assert_eq!(feed(&["--only=content", chunk], &input).stdout, input);
        assert_eq!(joined(&feed(&["--events", chunk], &input)), input);
        let shown = feed(&[chunk], &input).stdout;
        assert_eq!(shown, [b"[content]\n", &input[..], b"\n"].concat());
    }
    let path = scratch("latin1.txt");
    fs::write(&path, b"<think>\xfc</think>\xe4").unwrap();
    assert_eq!(run(split_of(&path).arg("--only=thinking")).stdout, b"\xfc");
}

/// Runs a program on a separate terminal, with `script`, which every Debian has.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_thinking_dimmed() {
    let on_terminal = |set: &str, args: &str| {
        let line = format!("{set} '{PROGRAM}' split --dialect inline-think {args} 2>/dev/null");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm");
        out(&run(&mut command)).replace("\r\n", "\n")
    };
    let path = scratch("terminal.txt");
    fs::write(&path, "<think>a</think>b").unwrap();
    let path = path.display();
    assert_eq!(on_terminal("", &format!("'{path}'")), "\u{1b}[2ma\u{1b}[0m\nb\n");
    assert_eq!(on_terminal("NO_COLOR=1", &format!("'{path}'")), "[thinking]\na\n[content]\nb\n");
    assert_eq!(on_terminal("TERM=dumb", &format!("'{path}'")), "[thinking]\na\n[content]\nb\n");
    assert_eq!(on_terminal("NO_COLOR=", &format!("--only thinking '{path}'")), "a");
}

// ---- helpers ----

const PROGRAM: &str = env!("CARGO_BIN_EXE_aside");

fn split() -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("split");
    command
}

/// Splits a recording in the dialect that it is named after, or any other file in that of `<think>`.
fn split_of(path: &Path) -> Command {
    let mut name = path.file_stem().unwrap().to_str().unwrap();
    while aside::Dialect::find(name).is_err() {
        name = name.rsplit_once('-').map_or("inline-think", |(shorter, _)| shorter);
    }
    let mut command = split();
    command.args(["--dialect", name]).arg(path);
    command
}

/// Runs the program with a short text as standard input.
fn feed(args: &[&str], input: &[u8]) -> Output {
    support::program::feed(split().args(args), input)
}

/// Returns the bytes of `--events`, whose offsets must not have gaps.
fn joined(output: &Output) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in out(output).lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "attribute" {
            continue;
        }
        assert_eq!(event["offset"], bytes.len(), "{line}");
        match event["text_hex"].as_str() {
            None => bytes.extend_from_slice(event["text"].as_str().unwrap().as_bytes()),
            Some(hex) => {
                bytes.extend((0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()))
            }
        }
        assert_eq!(event["offset"].as_u64().unwrap() + event["length"].as_u64().unwrap(), bytes.len() as u64, "{line}");
    }
    bytes
}

fn recording(name: &str) -> PathBuf {
    Path::new(ROOT).join("examples/recordings").join(name)
}

fn recordings() -> Vec<PathBuf> {
    let folder = fs::read_dir(recording("")).unwrap();
    let paths: Vec<_> =
        folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension() == Some("txt".as_ref())).collect();
    assert!(paths.len() >= 9, "{paths:?}");
    paths
}

#[test]
fn calls_are_shown_as_they_build_up() {
    let file = scratch("calls.toml");
    let table = "name = \"mine\"\n[[span]]\nchannel = \"tool\"\nopen = [\"<tool_call>\"]\nclose = [\"</tool_call>\"]\n\
                 [[span.call]]\nbody = \"object\"\n";
    fs::write(&file, table).unwrap();
    let text = "a<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"</tool_call>\"}}</tool_call>b\
                <tool_call>{\"name\": \"g\", \"arguments\": {\"y";
    let input = scratch("calls.txt");
    fs::write(&input, text).unwrap();
    let split = |mode: &[&str], chunk: &str| {
        let mut command = split();
        command.arg("--dialect-file").arg(&file).args(mode).args(["--calls", "--chunk", chunk]).arg(&input);
        run(&mut command)
    };
    let wanted = "[content]\na\n[tool call=\"f\" id=\"call_0\"]\n{\"x\": \"</tool_call>\"}\n[content]\nb\n\
                  [tool call=\"g\" id=\"call_1\"]\n{\"y [end of stream]\n";
    for chunk in ["1", "7", "4096"] {
        assert_eq!(out(&split(&[], chunk)), wanted, "in feeds of {chunk}");
        assert_eq!(String::from_utf8(joined(&split(&["--events"], chunk))).unwrap(), text, "in feeds of {chunk}");
    }
    let events = out(&split(&["--events"], "7"));
    let kinds = ["call", "call_name", "call_value", "call_end"];
    for kind in kinds {
        assert!(events.contains(&format!("\"event\":\"{kind}\"")), "{kind}: {events}");
    }
}
