//! The Rust code of pages that show a few lines of a program: it is repeated here, and runs.

use std::error::Error;

/// Checks that this file has the Rust code of a page, line by line.
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
