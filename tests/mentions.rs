//! Tests markers that a text only mentions with the library, whole and byte by byte.

use aside::{Dialect, Scanner, Token};
use support::columns::{Columns, pair, split};

#[test]
fn a_tag_that_the_answer_mentions_is_text() {
    let after = |text: &str| format!("So. {text}");
    for text in [
        "The tag <think> opens it and </think> closes it.",
        "The switch (/think not producing <think> tags) is off.",
        "It writes <think>, then <think>.",
        "See (<think>) and \"<think>\" and “<think>”.",
        "In '<think>x' it is quoted.",
    ] {
        for dialect in ["qwen3", "any", "glm-4.5"] {
            assert_eq!(split(dialect, &after(text)), pair("", &after(text)), "{dialect}");
        }
    }
    // An opener without a blank on both sides, at a line's beginning or before a line's end is not only mentioned.
    for (text, wanted) in [
        ("a<think>b</think>c", pair("b", "ac")),
        ("a <think>b</think>c", pair("b", "a c")),
        ("a\n<think> b</think>c", pair(" b", "a\nc")),
        ("a <think>\nb\n</think>\n\nc", pair("b", "a c")),
        ("a (<think>\nb\n</think>\n\nc", pair("b", "a (\n\nc")),
        ("a <think>", pair("", "a ")),
        ("<tool_call>x</tool_call> a", pair("", "<tool_call>x</tool_call> a")),
    ] {
        assert_eq!(split("qwen3", text), wanted, "{text:?}");
    }
    // Only the next closer on the same line belongs to the mentioned opener.
    assert_eq!(split("any", "a <think> b</think>c</think>d"), pair("a <think> b</think>c", "d"));
    assert_eq!(split("any", "a <think> b\n</think>d"), pair("a <think> b", "d"));
}

#[test]
fn a_closer_that_the_answer_mentions_is_text() {
    for text in [
        "A model ends it with </think> and then answers.",
        "It ends with </think>, then the answer.",
        "It ends with </think>.",
        "answer = output.split(\"</think>\")[-1]",
        "- **<think>** opens\n- **</think>** closes",
        "- <think>: opens\n- </think>: closes",
        "Put it in <think></think> tags.",
        "_<think>_ and *</think>*",
    ] {
        for dialect in ["qwen3", "any", "glm-4.7"] {
            let after = format!("<think>hm</think>So. {text}");
            assert_eq!(split(dialect, &after), pair("hm", &format!("So. {text}")), "{dialect}");
        }
    }
    for (text, wanted) in [
        ("<think>a</think>b </think>c", pair("a", "b c")),
        ("<think>a</think>b </think> 大模型", pair("a", "b  大模型")),
        ("<think>a</think>b </think>", pair("a", "b ")),
        ("<think>a</think>b \"</think>c\"", pair("a", "b \"c\"")),
        // The thinking has not ended before these closers.
        ("- <think>: opens\n- </think>- b", pair("- <think>: opens\n- ", "- b")),
        ("**A**<think>b</think>c", pair("b", "**A**c")),
        ("a<think></think>b", pair("", "ab")),
    ] {
        assert_eq!(split("qwen3", text), wanted, "{text:?}");
    }
}

#[test]
fn the_parameter_of_a_type_is_text_where_tags_count_in_any_case() {
    let code = "const a: Array<Thought> = [];\nlet b: Vec<Reasoning>;";
    assert_eq!(split("any", code), pair("", code));
    assert_eq!(split("any", "a<thought>b</thought>c"), pair("b", "ac"));
    assert_eq!(split("any", "a <Thought>b</Thought>c"), pair("b", "a c"));
}

#[test]
fn a_tag_between_letters_of_a_script_without_blanks_is_text() {
    for text in [
        "标签<think>表示开始，</think>表示结束。",
        "标签<think>、其他。",
        "使用<think></think>标签。",
        "タグ<think>は</think>まで。",
        "태그<think>는 시작이다.",
    ] {
        for dialect in ["qwen3", "any", "glm-4.5"] {
            assert_eq!(split(dialect, text), pair("", text), "{dialect}");
        }
    }
    // After punctuation, before another script, and at the end of a line, the tag is a marker.
    for (text, thinking, content) in [
        ("好的。<think>用户</think>是", "用户", "好的。是"),
        ("答案<think>hm</think>是", "hm", "答案是"),
        ("答案<think>\n用户\n</think>\n\n是", "用户", "答案\n\n是"),
        ("Assistant: <think>用户</think>是", "用户", "Assistant: 是"),
    ] {
        assert_eq!(split("qwen3", text), pair(thinking, content));
    }
}

#[test]
fn a_tag_that_is_indented_is_text() {
    for text in [
        "Example:\n\n    <think>a</think>\n\nYes.",
        "Example:\n\n\t<think>a</think>\n\nYes.",
        "<report>\n  <think>Costs rose.</think>\n</report>",
        "So:\r\n  <think>a\r\n  </think>\r\nYes.",
    ] {
        assert_eq!(split("qwen3", text), pair("", text));
    }
    // One blank, a line's end, and no text since the last close: it is meant.
    for (text, wanted) in [
        ("a\n <think>b</think>c", pair("b", "a\n c")),
        ("a\n  <think>\nb\n</think>c", pair("b", "a\n  c")),
        ("a\n- <think>b</think>c", pair("b", "a\n- c")),
        ("  <think>b</think>c", pair("b", "  c")),
        ("a<think>b</think>\n  <think>c</think>d", pair("bc", "a\n  d")),
    ] {
        assert_eq!(split("qwen3", text), wanted, "{text:?}");
    }
}

#[test]
fn an_opener_that_is_a_token_is_text_in_a_sentence() {
    for (dialect, text) in [
        ("any", "Magistral writes [THINK] and [/THINK] around it."),
        ("any", "Gemma 4 opens it with <|channel>thought and closes it with <channel|>. Then it answers."),
        ("any", "gpt-oss writes <|channel|>analysis<|message|> before it and <|end|> after it."),
        ("any", "It has the tokens <|start|>, <|channel|> and <|message|>."),
        ("any", "Then comes <|start|>assistant<|channel|>analysis<|message|>, and the reasoning."),
        ("any", "Its calls follow [TOOL_CALLS], or \"<|tool_call>\" (<|START_ACTION|>)."),
        ("any", "标记[THINK]表示开始。"),
        ("any", "토큰 [THINK]는 시작이다."),
        ("any", "Put it in [THINK][/THINK]."),
        ("any", "- **[THINK]** opens"),
        ("mistral", "Magistral writes [THINK] and [/THINK] around it. [/THINK]"),
        ("gemma-4", "It opens with <|channel>thought and closes with <channel|>."),
        ("harmony", "So: <|channel|>analysis<|message|> begins it."),
        ("kimi-vl", "It writes ◁think▷ and ◁/think▷ around it."),
    ] {
        let before = match dialect {
            "mistral" => "[THINK]hm[/THINK]",
            "harmony" => "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>",
            _ => "",
        };
        let thinking = if before.is_empty() { "" } else { "hm" };
        let wanted = text.strip_suffix(" [/THINK]").map_or(text.to_owned(), |text| format!("{text} [/THINK]"));
        assert_eq!(split(dialect, &format!("{before}{text}")), pair(thinking, &wanted), "{dialect}");
    }
    for (dialect, text, wanted) in [
        ("any", "Sure.[THINK]hm[/THINK]Yes.", pair("hm", "Sure.Yes.")),
        ("any", "Sure[THINK]hm[/THINK]Yes.", pair("hm", "SureYes.")),
        ("any", "Sure. [THINK]hm[/THINK]Yes.", pair("hm", "Sure. Yes.")),
        ("any", "Sure. [THINK]\nhm[/THINK]Yes.", pair("\nhm", "Sure. Yes.")),
        ("any", "Sure. <|channel>thought\nhm\n<channel|>Yes.", pair("hm", "Sure. Yes.")),
        ("any", "Sure. <|channel|>analysis<|message|>hm<|end|>Yes.", pair("hm", "Sure. Yes.")),
        ("any", "Sure. [TOOL_CALLS] [{\"name\": \"f\"}]", pair("", "Sure. ")),
        ("gemma-4", "Sure. <|channel>thought", pair("thought", "Sure. ")),
        ("glm-4.5", "It is <|begin_of_box|> so <|end_of_box|>.", pair("", "It is  so .")),
    ] {
        assert_eq!(split(dialect, text), wanted, "{dialect}: {text:?}");
    }
}

#[test]
fn a_token_that_the_answer_mentions_is_text() {
    for (text, wanted) in [
        ("The token <|im_end|> ends a turn.", "The token <|im_end|> ends a turn."),
        ("So: <|im_end|> 是", "So: <|im_end|> 是"),
        ("Yes.<|im_end|>", "Yes."),
        ("Yes.<|im_end|> ", "Yes. "),
        ("Yes.<|im_end|>\nand", "Yes.\nand"),
        ("Yes.<|im_end|>and", "Yes.and"),
        ("Yes.<|im_end|> 1", "Yes. 1"),
        ("<|im_end|> Yes.", " Yes."),
        ("a <think> <|im_end|> b </think> c", "a <think> <|im_end|> b </think> c"),
    ] {
        assert_eq!(split("qwen3", text), pair("", wanted), "{text:?}");
    }
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    let mut columns = Columns::default();
    let tokens = [Token::text(5), Token::special(10), Token::text(2)];
    scanner.feed_tokens("So is<|im_end|> a", &tokens, |event| columns.hear(&event)).unwrap();
    scanner.finish(|event| columns.hear(&event)).unwrap();
    assert_eq!(columns.split(), pair("", "So is a"));
}

#[test]
fn a_closer_that_the_thinking_quotes_is_text() {
    for quote in ['`', '\'', '"', '*', '_'] {
        let text = format!(
            "<think>I write {quote}</think>{quote} and\n{quote}</think>{quote} ({quote}</think>{quote}.</think>Yes."
        );
        let thinking = &text["<think>".len()..text.len() - "</think>Yes.".len()];
        assert_eq!(split("deepseek-r1", &text), pair(thinking, "Yes."));
    }
    assert_eq!(split("deepseek-r1", "<think>hm \"x\"</think>\"Hello\""), pair("hm \"x\"", "\"Hello\""));
    assert_eq!(split("deepseek-r1", "<think>hm `</think>"), pair("hm `", ""));
    assert_eq!(split("deepseek-r1", "<think>hm `</think>'"), pair("hm `", "'"));
}

#[test]
fn a_flush_takes_such_a_marker_for_one() {
    let dialect = Dialect::find("deepseek-r1").unwrap();
    let mut scanner = Scanner::new(&dialect);
    let mut columns = Columns::default();
    scanner.feed("<think>hm `</think>", |event| columns.hear(&event)).unwrap();
    assert_eq!(scanner.held(), b"</think>");
    scanner.flush(|event| columns.hear(&event)).unwrap();
    scanner.feed("` and", |event| columns.hear(&event)).unwrap();
    scanner.finish(|event| columns.hear(&event)).unwrap();
    assert_eq!(columns.split(), pair("hm `", "` and"));
}

#[test]
fn a_special_token_always_counts() {
    let dialect = Dialect::find("deepseek-r1").unwrap();
    let mut scanner = Scanner::new(&dialect);
    let mut columns = Columns::default();
    let tokens =
        [Token::special(7), Token::text(4), Token::special(8), Token::text(6), Token::special(7), Token::text(2)];
    scanner.feed_tokens("<think>hm '</think>' Yes <think> a", &tokens, |event| columns.hear(&event)).unwrap();
    scanner.finish(|event| columns.hear(&event)).unwrap();
    assert_eq!(columns.split(), pair("hm ' a", "' Yes "));
}
