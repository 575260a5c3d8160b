//! The Rust code of pages that show only some lines of a program. It is repeated and run here.

use std::error::Error;

/// Checks that this file contains the Rust code of a page, line by line.
fn is_shown(page: &str) {
    let mut own = include_str!("manual.rs").lines().map(str::trim);
    let (_, code) = page.split_once("```rust\n").unwrap();
    for line in code.split_once("```").unwrap().0.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.split("  //").next().unwrap().trim_end();
        assert!(own.any(|other| other == line), "{line:?} is not here, or not in this order");
    }
}

#[test]
fn histories() -> Result<(), Box<dyn Error>> {
    is_shown(include_str!("../docs/histories.md"));
    let qwen3 = aside::Dialect::find("qwen3")?;
    let text = qwen3.join(b"Twice 21.", b"It is 42.", &aside::JoinOptions::new())?;
    assert_eq!(text, b"<think>\nTwice 21.\n</think>\n\nIt is 42.");
    assert_eq!(qwen3.escape(b"What is <think>?")?, "What is <\u{200b}think>?".as_bytes());
    Ok(())
}

#[test]
fn history() -> Result<(), Box<dyn Error>> {
    is_shown(include_str!("../docs/history.md"));
    use aside::history::{Format, Server, rewrite};

    let vllm = Server::find("vllm")?;
    if let Some(options) = Format::of_path("/v1/chat/completions").and_then(|format| vllm.options(format)) {
        let body = r#"{"messages":[{"role":"assistant","content":"42","reasoning_content":"Twice 21."}]}"#;
        let (body, report) = rewrite(body, options)?;
        assert_eq!(body, br#"{"messages":[{"role":"assistant","content":"42","reasoning":"Twice 21."}]}"#);
        assert_eq!(report.changed, 1);
    }
    Ok(())
}

#[test]
fn streams() -> Result<(), Box<dyn Error>> {
    is_shown(include_str!("../docs/streams.md"));
    let prompt = b"<|im_start|>assistant\n<think>\n";

    use aside::{Budget, BudgetScope, BudgetUnit, Dialect, Scanner, ScannerOptions};

    let dialect = Dialect::find_for_model("Qwen/Qwen3-32B-AWQ")?;
    let budget = Budget::new(4000, BudgetUnit::Characters, BudgetScope::Span);
    let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().budget(budget))?;
    scanner.start_from_prompt(prompt)?;

    let mut is_over = false;
    scanner.feed("word ".repeat(1000), |event| is_over |= event.kind == aside::Kind::Budget)?;
    assert!(is_over);
    Ok(())
}

#[test]
fn tool_calls() -> Result<(), Box<dyn Error>> {
    is_shown(include_str!("../docs/tool-calls.md"));
    use aside::answer::{Answer, Options, Part, Tools};
    use aside::{Dialect, EndReason};

    let request_tools = r#"[{"type": "function", "function": {"name": "get_time"}}]"#;
    let chunks =
        ["<think>\nhm\n</think>\n\nYes.\n<tool_call>{\"name\": \"get_time\", ", "\"arguments\": {}}</tool_call>"];
    let (mut thinking, mut content, mut calls) = (Vec::new(), Vec::new(), Vec::new());

    let tools = Tools::read(request_tools)?;
    let mut answer = Answer::new(&Dialect::find("qwen3")?, &Options::new().tools(tools))?;
    let mut take = |part: Part<'_>| match part {
        Part::Thinking(text) => thinking.extend_from_slice(text),
        Part::Content(text) => content.extend_from_slice(text),
        Part::Call { name, .. } => calls.push((name.to_owned(), String::new(), false)),
        Part::Arguments { index, json } => calls[index as usize].1 += json,
        Part::CallEnd { index, is_whole, .. } => calls[index as usize].2 = is_whole,
        _ => {}
    };
    for chunk in chunks {
        answer.feed(chunk, &mut take)?;
    }
    answer.finish(EndReason::Ended, &mut take)?;
    assert_eq!([thinking, content], [b"hm".to_vec(), b"Yes.".to_vec()]);
    assert_eq!(calls, [("get_time".to_owned(), "{}".to_owned(), true)]);
    Ok(())
}
