//! Tests tags of other dialects, extra closers and extra ends of turns with the library, whole and byte by byte.

use aside::{Channel, Dialect, LeadingTags, Scanner, ScannerOptions, Start};
use support::columns::{pair, split, split_by, split_with};

#[test]
fn a_leading_tag_opens_the_thinking_in_all_dialects_of_models() {
    let mut count = 0;
    for file in reference::all().iter().filter(|file| !file.leading_tags().is_empty()) {
        let dialect = Dialect::find(&file.name).unwrap();
        for start in file.starts().into_iter().filter(|start| ["content", "thinking", "header"].contains(start)) {
            for name in file.leading_tags() {
                let text = format!("\n<{name}>\nhm\n</{name}>\n\nYes. <{name}>No.");
                let options = ScannerOptions::new().start(start.parse::<Start>().unwrap());
                let (thinking, content) = split_with(&dialect, &options, &text);
                let about = format!("{} from {start}: {text:?}", file.name);
                assert_eq!(thinking.trim_start_matches('\n'), "hm", "{about}");
                assert_eq!(content.trim_start_matches('\n'), format!("Yes. <{name}>No."), "{about}");
                let text = options.leading_tags(LeadingTags::Text);
                let (thinking, content) = split_with(&dialect, &text, &format!("<{name}>hm"));
                assert_eq!(format!("{thinking}{content}"), format!("<{name}>hm"), "{about}, as text");
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn a_leading_tag_is_ended_by_the_closer_of_the_family() {
    assert_eq!(split("kimi-k3", "<think>hm<|close|>think<|sep|>Yes."), pair("hm", "Yes."));
    assert_eq!(split("qwen3", "<thinking>\nhm\n</think>\n\nYes."), pair("hm", "Yes."));
    assert_eq!(split("harmony", "<think>hm<|end|>Yes."), pair("hm", "Yes."));
    assert_eq!(split("harmony", "<think>hm<|end|>\n\nYes."), pair("hm", "Yes."));
    assert_eq!(split("harmony", "<think>hm<|channel|>final<|message|>Yes."), pair("hm", "Yes."));
    assert_eq!(split("qwen3", "a<thinking>b</thinking>"), pair("", "a<thinking>b</thinking>"));
}

#[test]
fn a_leading_tag_counts_after_a_prompt() {
    let kimi = Dialect::find("kimi-k3").unwrap();
    let qwen = Dialect::find("qwen3").unwrap();
    let cases = [
        (&kimi, "<|open|>think<|sep|>", "<think>hm</think>Yes.", pair("hm", "Yes.")),
        (&qwen, "<|im_start|>assistant\n<think>\n\n</think>\n\n", "<thought>hm</thought>Yes.", pair("hm", "Yes.")),
        // The prompt has already begun the answer.
        (&qwen, "<|im_start|>assistant\nSure, ", "<thought>hm</thought>", pair("", "<thought>hm</thought>")),
    ];
    for (dialect, prompt, text, wanted) in cases {
        for size in [1, usize::MAX] {
            let mut scanner = Scanner::new(dialect);
            scanner.start_from_prompt(prompt).unwrap();
            assert_eq!(split_by(&mut scanner, text, size), wanted, "{prompt:?} {text:?}");
        }
    }
}

#[test]
fn after_a_prompt_that_closed_the_thinking_a_closer_goes_alone() {
    for (name, prompt) in [
        ("qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
        ("nemotron", "<|im_start|>assistant\n<think></think>"),
        ("deepseek-v3", "<｜Assistant｜></think>"),
    ] {
        let mut scanner = Scanner::new(&Dialect::find(name).unwrap());
        scanner.start_from_prompt(prompt).unwrap();
        let wanted = pair("", "First.Final.");
        assert_eq!(split_by(&mut scanner, "\n\n</think>First.</think>Final.", usize::MAX), wanted, "{name}");
    }
    // If the start is set by an option, the dialect's rule stays.
    let content = ScannerOptions::new().start(Start::Channel(Channel::Content));
    assert_eq!(
        split_with(&Dialect::find("qwen3").unwrap(), &content, "First.</think>Final."),
        pair("First.", "Final.")
    );
}

#[test]
fn line_breaks_before_a_closer_that_comes_first_go_with_it() {
    assert_eq!(split("qwen3", "\n\n</think>\n\nHello!"), pair("", "Hello!"));
    assert_eq!(split("any", "\n\n</think>\n\nHello!"), pair("", "Hello!"));
    assert_eq!(split("kimi-k2", "<think>hm</think>\n\n</think>Yes."), pair("hm", "Yes."));
}

#[test]
fn an_end_of_the_turn_goes_where_nothing_comes_after_it() {
    for end in ["<|im_end|>", "<|eos|>", "<|eom|>", "</s>", "<|eot_id|>"] {
        assert_eq!(split("any", &format!("Yes.{end}")), pair("", "Yes."));
        assert_eq!(split("any", &format!("Yes{end}.")), pair("", &format!("Yes{end}.")));
        assert_eq!(split("any", &format!("`{end}")), pair("", &format!("`{end}")));
    }
}
