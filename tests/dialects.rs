//! Loads invalid dialect files: the message must name the error, its line and its key. Looks up also names that no built-in dialect
//! has.

use aside::{Channel, Dialect, Kind, Start};

/// The lines of a valid file, which the tests break one by one.
const GOOD: [&str; 9] = [
    r#"name = "mine""#,
    r#"start = "content""#,
    "",
    "[[span]]",
    r#"channel = "thinking""#,
    r#"open = ["<a>"]"#,
    r#"close = ["</a>"]"#,
    r#"framing = { after_open = "\n" }"#,
    "",
];

fn good() -> String {
    GOOD.join("\n")
}

/// Returns the valid file with another text in one line, counted from 1.
fn with(line: usize, text: &str) -> String {
    let mut lines = GOOD;
    lines[line - 1] = text;
    lines.join("\n")
}

/// Checks that a file is refused with this line, a key that ends in `key`, and all of these words in the message.
fn refused(file: &str, line: usize, key: &str, words: &[&str]) {
    let error = match Dialect::load(file) {
        Ok(_) => panic!("this is no dialect, yet it was read:\n{file}"),
        Err(error) => error,
    };
    assert_eq!(error.line(), Some(line), "{error}\n{file}");
    assert!(error.key().ends_with(key), "the key is {:?}, not {key:?}: {error}\n{file}", error.key());
    for word in words {
        assert!(error.message().contains(word), "no {word:?} in: {error}\n{file}");
    }
    let shown = error.to_string();
    assert!(shown.starts_with(&format!("line {line}")), "{shown}");
    assert!(shown.contains(error.message()), "{shown}");
}

#[test]
fn the_good_file_is_good() {
    let dialect = Dialect::load(&good()).unwrap();
    assert_eq!(dialect.name(), "mine");
    assert_eq!(dialect.start(), Start::Channel(Channel::Content));
    assert_eq!(dialect.strip(b" <a>\nx</a> y ").unwrap(), b"y");
}

#[test]
fn patterns_of_models_are_checked() {
    let models = |models: &str| with(3, models);
    assert!(GOOD[2].is_empty(), "{GOOD:?}");
    for good in ["[]", "['a-1', { pattern = 'a-2', start = 'thinking' }, { start = 'content', pattern = 'a-*' }]"] {
        let dialect = Dialect::load(&models(&format!("models = {good}"))).unwrap();
        assert_eq!(dialect.start(), Start::Channel(Channel::Content));
    }
    refused(&models("models = ['a', '']"), 3, "models", &["an empty pattern"]);
    refused(&models("models = ['a', { pattern = '', start = 'content' }]"), 3, "models", &["an empty pattern"]);
    refused(&models("models = [{ pattern = 'a', start = 'narration' }]"), 3, "models", &["no narration to start in"]);
    refused(&models("models = [{ pattern = 'a', start = 'header' }]"), 3, "models", &["no header to start in"]);
    refused(&models("models = [{ pattern = 'a', start = 'here' }]"), 3, "models", &["`here` is none of content"]);
    refused(&models("models = [{ pattern = 'a' }]"), 3, "models", &["`models` has no `start`"]);
    refused(
        &models("models = [{ pattern = 'a', begin = 'content' }]"),
        3,
        "models",
        &["unknown key `begin`", "`pattern`"],
    );
    refused(&models("models = [['a', 'content']]"), 3, "models", &["a text, or a table of `pattern` and `start`"]);
    refused(&models("models = [5]"), 3, "models", &["a text, or a table of `pattern` and `start`"]);
}

#[test]
fn every_built_in_file_loads_at_run_time_too() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("dialects");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let loaded = Dialect::load(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let built_in = Dialect::find(loaded.name()).unwrap();
        assert_eq!(path.file_stem().unwrap(), built_in.name());
        assert_eq!(loaded.max_hold(), built_in.max_hold());
        assert_eq!(loaded.aliases(), built_in.aliases());
    }
}

#[test]
fn an_unknown_key_is_named() {
    refused(&with(2, r#"strat = "content""#), 2, "strat", &["strat"]);
    refused(&with(6, r#"opne = ["<a>"]"#), 6, "opne", &["opne"]);
    refused(&with(8, r#"framing = { behind_open = "\n" }"#), 8, "framing", &["behind_open"]);
    refused(&format!("{}[headers]\nbegin = []\n", good()), 9, "headers", &["headers"]);
    refused(&with(4, "[[span]] # the first").replace("\nopen", "\nopne"), 6, "span.opne", &["opne"]);
}

#[test]
fn what_stands_in_a_text_is_no_key() {
    let unknown = |rows: &str, line: usize| {
        let file = format!("{}[[example]]\n{rows}\ncontet = 'y'\n", good());
        refused(&file, GOOD.len() + line, "example.contet", &["unknown key `contet`"]);
    };
    unknown("input = '''\n[THINK]\nhm = 1\n[/THINK]\n'''", 6);
    // An escaped quote does not end a string, and quotes may precede its end.
    unknown("input = \"\"\"\\\"\"\"\n[THINK]\n\\\\\"\"\"\"\" # '''", 4);
    unknown("thoughts = ['''a'''', '''\n[THINK]\n''']", 4);
    // None of these strings continues in the next row.
    for row in ["input = \"'''\"", "input = '\"\"\"'", "input = \"\\\"'''\"", "input = '''a''' # it's \"\"\""] {
        let file = format!("{}[[example]]\n{row}\n[[span]]\nopne = []\n", good());
        refused(&file, GOOD.len() + 3, "span.opne", &["unknown key `opne`"]);
    }
    refused(&with(8, "keep = '''\n[THINK]\nhm = 1\n'''"), 8, "span.keep", &["bool"]);
}

/// Checks a large file, for which comparing all pairs of markers would take minutes.
#[test]
fn however_many_markers_there_are_one_too_many_is_enough() {
    for (key, line, channel) in [("drop", 2, "content"), ("close", 7, "thinking")] {
        let list: Vec<String> = (0..200_000).map(|number| format!("\"<{number:06}>\"")).collect();
        let file = with(line, &format!("{key} = [{}]", list.join(",")));
        refused(&file, line, key, &["more than 128", channel]);
    }
}

#[test]
fn an_empty_marker_is_refused() {
    refused(&with(6, r#"open = [""]"#), 6, "open", &["empty"]);
    refused(&with(7, r#"close = ["</a>", ""]"#), 7, "close", &["empty"]);
    refused(&with(2, r#"drop = [""]"#), 2, "drop", &["empty"]);
    refused(&with(8, r#"quote = """#), 8, "quote", &["empty"]);
}

#[test]
fn an_empty_framing_is_refused() {
    refused(&with(8, r#"framing = { after_open = "" }"#), 8, "framing", &["empty"]);
}

#[test]
fn what_is_missing_is_named() {
    refused(&with(5, ""), 4, "span", &["channel"]);
    let error = Dialect::load(&with(1, "")).unwrap_err();
    assert!(error.message().contains("name"), "{error}");
    let error = Dialect::load(&with(6, "")).unwrap_err();
    assert!(error.message().contains("open"), "{error}");
    let error = Dialect::load(r#"name = "mine""#).unwrap_err();
    assert!(error.message().contains("span"), "{error}");
}

#[test]
fn a_wrong_type_is_refused() {
    refused(&with(1, "name = 1"), 1, "name", &["string"]);
    refused(&with(6, r#"open = "<a>""#), 6, "open", &[]);
    refused(&with(6, "open = [1]"), 6, "open", &["string"]);
    refused(&with(8, r#"keep = "yes""#), 8, "keep", &["bool"]);
    refused(&with(4, "[span]"), 4, "span", &[]);
}

/// Checks the advice in a file's error. `line` is 0 if the error is about the whole file.
fn advised(file: &str, line: usize, key: &str, message: &str) {
    let error = Dialect::load(file).map(drop).expect_err(file);
    let place = (error.line().unwrap_or_default(), error.key());
    assert_eq!((place, error.message()), ((line, key), message), "{file}");
}

#[test]
fn single_brackets_where_there_may_be_several_tables() {
    let behind = |more: &str| format!("{}{more}\n", good());
    for (file, line, table) in [
        (with(4, "[span]"), 4, "span"),
        (with(4, "[ span ] # the first"), 4, "span"),
        (behind("[example]\ninput = 'a'"), 9, "example"),
        (behind("[header]\nbegin = ['<|']\nend = ['|>']\n[header.route]\nchannel = 'tool'"), 12, "header.route"),
        // If the table is written twice, the TOML library refuses it first.
        (with(4, "[span]") + "[span]\nchannel = 'tool'\nopen = ['<b>']", 9, "span"),
    ] {
        advised(&file, line, table, &format!("write [[{table}]]: there may be several"));
    }
    advised(&behind("[route]\nchannel = 'tool'"), 9, "route", "unknown table `route`: write [[header.route]]");
    advised(&behind("[[route]]\nchannel = 'tool'"), 9, "route", "unknown table `route`: write [[header.route]]");
    advised(&behind("[[header]]\nbegin = ['<|']"), 9, "header", "write [header]: there is only one");
    advised(&behind("[header]\n[header]"), 10, "header", "the table [header] is there twice");
    advised(&behind("keep = true\nkeep = true"), 10, "span.keep", "the key `keep` is there twice");
}

#[test]
fn a_key_of_another_table_is_put_there() {
    for key in ["name = 'x'", "start = 'content'", "drop = ['x']", "models = ['x']", "guard = ['inline']"] {
        let name = key.split(' ').next().unwrap();
        let message = format!("put `{name}` above the first [[span]]: it is a key of the whole file");
        advised(&with(8, key), 8, &format!("span.{name}"), &message);
        let example = format!("{}[[example]]\ninput = 'a'\n{key}\n", good());
        if name != "start" {
            advised(&example, 11, &format!("example.{name}"), &message);
        }
    }
    advised(&with(2, "open = ['<a>']"), 2, "open", "`open` is not a key here: put it below [[span]]");
    advised(&with(2, "family = 'x'"), 2, "family", "`family` is not a key here: put it below [[span]] or [header]");
    advised(&with(8, "example = []"), 8, "span.example", "`example` is a separate table: write [[example]]");
}

#[test]
fn what_is_not_there_is_said() {
    for file in [with(1, ""), with(1, "\n# no name"), String::new(), "# x\nstart = 'content'".into()] {
        advised(&file, 0, "", "the file has no `name`");
        assert_eq!(Dialect::load(&file).unwrap_err().to_string(), "the file has no `name`");
    }
    advised(&with(5, ""), 4, "span", "this [[span]] has no `channel`");
    advised(&with(8, "tag = {}"), 8, "span.tag", "`tag` has no `names`");
    advised(&format!("{}[header]\nbegin = []", good()), 9, "header", "this [header] has no `end`");
}

#[test]
fn an_unknown_key_has_a_nearest_one() {
    for (row, key, nearest) in
        [("opne = ['a']", "opne", "open"), ("chanel = 'tool'", "chanel", "channel"), ("KEEP = true", "KEEP", "keep")]
    {
        let file = with(8, row);
        refused(&file, 8, key, &[&format!("unknown key `{key}`: the nearest is `{nearest}`; known here: `channel`, ")]);
    }
    refused(&with(2, "strat = 'content'"), 2, "strat", &["unknown key `strat`: the nearest is `start`"]);
    refused(&with(4, "[[spam]]"), 4, "spam", &["unknown table `spam`: the nearest is `span`"]);
    // The key looks like a message of serde.
    refused(&with(2, "\"a`, expected `b\" = 1"), 2, "", &["unknown key `a`, expected `b`"]);
}

#[test]
fn a_wrong_type_says_what_to_write() {
    for (row, key, message) in [
        (r#"quote = 1"#, "quote", r#"`quote` takes a string in quotes, not a number: write `quote = "1"`"#),
        (r#"quote = true # x"#, "quote", r#"`quote` takes a string in quotes, not a boolean: write `quote = "true"`"#),
        (r#"quote = ["a"]"#, "quote", "`quote` takes a string in quotes, not a list"),
        (r#"quote = { a = 1 }"#, "quote", "`quote` takes a string in quotes, not a table"),
        (r#"keep = "yes""#, "keep", "`keep` takes a boolean, `true` or `false` without quotes, not a string"),
        (r#"framing = "\n""#, "framing", "`framing` takes a table, not a string: write `framing = { … }`"),
        (r#"tag = { names = ["a"], space = "1" }"#, "tag", "`tag` takes a whole number, without quotes, not a string"),
        (
            r#"tag = { names = ["a"], space = -1 }"#,
            "tag",
            "`-1` is out of range: write a whole number from 0 to 4294967295",
        ),
        (r#"where = "end""#, "where", "`end` is not known here: write `anywhere`, `start` or `lead`"),
        (r#"where = 1"#, "where", "write a string in quotes"),
    ] {
        advised(&with(8, row), 8, &format!("span.{key}"), message);
    }
    advised(
        &with(6, r#"open = "<a>""#),
        6,
        "span.open",
        r#"`open` takes a list, not a string: write `open = ["<a>"]`"#,
    );
    advised(&with(6, "open = ['a', 1]"), 6, "span.open", "`open` takes a string in quotes, not a number");
    let long = format!("open = \"{}\"", "é".repeat(99));
    advised(&with(6, &long), 6, "span.open", "`open` takes a list, not a string: write it in brackets, `[…]`");
    let pairs = format!("{}[[example]]\ninput = 'a'\nattributes = [['a']]\n", good());
    advised(&pairs, 11, "example.attributes", r#"write pairs of strings: `[["name", "value"]]`"#);
}

#[test]
fn an_opener_that_is_a_closer_too_is_said() {
    let same = |close: &str| with(7, close).replace("<a>", "||");
    let message = "`||` is both an opener and a closer: write two different markers, and both count in the thinking";
    advised(&same("close = ['||']"), 6, "span.open", message);
    advised(&same("close = ['</a>', '||']"), 6, "span.open", message);
    let any_case = with(2, "case = 'ascii'").replace("<a>", "End").replace("</a>", "END");
    refused(&any_case, 6, "span.open", &["is both an opener and a closer"]);
}

/// Checks that messages have a bounded length and end with a whole character, however long the quoted text is.
#[test]
fn what_messages_quote_is_cut() {
    let long = "é".repeat(100_000);
    for file in [
        with(2, &format!("\"{long}\" = 1")),
        with(2, &format!("{} = 1", "k".repeat(100_000))),
        with(2, &format!("start = \"{long}\"")),
        with(4, &format!("[{}]", "k".repeat(100_000))),
        with(5, &format!("channel = \"{}\"", "\\u0000".repeat(100_000))),
        with(2, &format!("drop = [\"{}\", \"{}\"]", &long[..1000], &long[..1002])),
        with(8, &format!("keep = \"{long}\"")),
        with(2, &format!("guard = ['inline']\n[header]\nbegin = [\"`{long}\"]\nend = ['<']\nroute = []")),
    ] {
        let error = Dialect::load(&file).map(drop).expect_err("long");
        assert!(error.message().len() < 5000 && error.key().len() < 300, "{} bytes", error.to_string().len());
        assert!(error.to_string().contains('…') || error.message().contains("takes"), "{error}");
    }
}

/// Checks that the error does not treat the values of an array as keys.
#[test]
fn an_array_is_no_table() {
    let words = ["takes a table, not a list: write `"];
    for framing in [r#"framing = ["\n", "\n"]"#, "framing = ['a', 'b', 'c', 'd', 'e']", "framing = []"] {
        refused(&with(8, framing), 8, "span.framing", &words);
    }
    refused(&with(8, "tag = [['think'], 'any', 64]"), 8, "span.tag", &words);
    refused(&with(8, "thought = ['a', 'b', 'c']"), 8, "span.thought", &words);
    refused("name = 'mine'\nspan = [['thinking']]", 2, "span", &words);
    refused(&format!("{}[[header]]\nbegin = ['<|']\n", good()), 9, "header", &["write [header]"]);
    refused(&format!("{}[[span.framing]]\n", good()), 9, "span.framing", &["write [span.framing]"]);
    let behind = |more: &str, line: usize, key| refused(&format!("{}{more}\n", good()), 8 + line, key, &words);
    behind("[header]\nbegin = ['<|']\nend = ['|>']\nroute = [[{}, 'tool']]", 4, "header.route");
    refused(&with(2, "example = [['', 'a']]"), 2, "example", &words);
    let thoughts = format!("{}[[example]]\ninput = 'a'\nthoughts = [['a', 'b', 0.5]]\n", good());
    refused(&thoughts, 11, "example.thoughts", &["a thought is a text or a table"]);
}

#[test]
fn a_value_that_is_none_of_the_known_ones_is_refused() {
    refused(&with(5, r#"channel = "thoughts""#), 5, "channel", &["thoughts"]);
    refused(&with(2, r#"start = "reasoning""#), 2, "start", &["reasoning"]);
    refused(&with(8, r#"where = "middle""#), 8, "where", &["middle"]);
    refused(&with(8, r#"again = "never""#), 8, "again", &["never"]);
    refused(&with(2, r#"case = "unicode""#), 2, "case", &["unicode"]);
    refused(&with(2, r#"extra_close = "keep""#), 2, "extra_close", &["keep"]);
    refused(&with(2, r#"guard = ["quotes"]"#), 2, "guard", &["quotes"]);
    for len in ["5", "11", "\"9\"", "-1"] {
        refused(&with(2, &format!("call_ids = {len}")), 2, "call_ids", &[]);
    }
}

#[test]
fn a_start_that_no_span_has_is_refused() {
    refused(&with(2, r#"start = "tool""#), 2, "start", &["tool"]);
    refused(&with(2, r#"start = "header""#), 2, "start", &["header"]);
}

#[test]
fn what_is_no_toml_is_refused_with_its_line() {
    refused(&with(6, "open = <a>"), 6, "open", &[]);
    let error = Dialect::load("name = \"mine\"\nname = \"yours\"\n").unwrap_err();
    assert_eq!(error.line(), Some(2), "{error}");
}

#[test]
fn a_key_of_too_many_parts_is_refused_with_its_line() {
    let deep = ["a"; 100].join(".");
    for row in [format!("{deep} = 1"), format!("tag = {{ {deep} = 1 }}"), format!("[{deep}]")] {
        refused(&with(8, &format!("quote = \"\"\"\n{deep} = 1\n\"\"\"\n{row}\n[[span]]")), 11, "", &["too many parts"]);
    }
    refused(&format!("x = {}", "[".repeat(100)), 1, "x", &["recurse"]);
}

/// Checks that both markers of a conflict are in the message.
fn conflict(file: &str, line: usize, first: &str, second: &str) {
    let error = match Dialect::load(file) {
        Ok(_) => panic!("two markers that cannot be distinguished:\n{file}"),
        Err(error) => error,
    };
    let message = error.message();
    let quoted = |marker: &str| message.contains(&format!("`{marker}`")) || message.contains(&format!("{marker:?}"));
    assert!(quoted(first) && quoted(second), "{error} does not name {first:?} and {second:?}");
    assert_eq!(error.line(), Some(line), "{error}\n{file}");
}

#[test]
fn markers_that_cannot_be_told_apart_are_named_both() {
    conflict(&with(6, r#"open = ["<a>", "<a>b"]"#), 6, "<a>", "<a>b");
    conflict(&with(7, r#"close = ["</a>x", "</a>"]"#), 7, "</a>", "</a>x");
    let other = "[[span]]\nchannel = \"tool\"\nopen = [\"<a\"]\nclose = [\"/\"]\n";
    conflict(&format!("{}{other}", good()), 11, "<a", "<a>");
    let ends = "[[span]]\nchannel = \"tool\"\nopen = [\"</a>!\"]\nclose = [\"/\"]\nends = \"thinking\"\n";
    conflict(&format!("{}{ends}", good()), 11, "</a>", "</a>!");
    conflict(&with(2, r#"drop = ["<a>>"]"#), 2, "<a>", "<a>>");
}

/// Checks that the valid file with these additional lines has a conflict. `line` is counted from the first additional line.
fn conflict_behind(more: &str, line: usize, first: &str, second: &str) {
    conflict(&format!("{}{more}", good()), GOOD.len() - 1 + line, first, second);
}

#[test]
fn a_tag_and_a_literal_that_cannot_be_told_apart() {
    let tag = |names: &str, rest: &str| format!("[[span]]\nchannel = \"tool\"\ntag = {{ names = [{names}]{rest} }}\n");
    conflict_behind(&tag("\"a\"", ""), 3, "<a>", "<a>");
    // A tag with a longer name is a different tag. A literal that continues after `<b>` begins with that tag.
    Dialect::load(&format!("{}{}", good(), tag("\"ab\"", ""))).unwrap();
    let long = with(6, r#"open = ["<b>c"]"#);
    conflict(&format!("{long}{}", tag("\"b\"", "")), 11, "<b>c", "<b>");
    let suffixed = with(6, r#"open = ["<b:"]"#);
    conflict(&format!("{suffixed}{}", tag("\"b\"", ", suffix = 8")), 11, "<b:", "<b>");
    let spaced = with(6, r#"open = ["< b"]"#);
    conflict(&format!("{spaced}{}", tag("\"b\"", ", space = 8")), 11, "< b", "<b>");
    let twice = tag("\"b\", \"b\"", "");
    let error = Dialect::load(&format!("{}{twice}", good())).unwrap_err();
    assert!(error.message().contains("`b` is there twice"), "{error}");
}

#[test]
fn removed_markers_that_cannot_be_told_apart() {
    // The removed marker has the text of the closer, which counts only as a special token. If the removed marker also counts as
    // ordinary text, the file must be refused, because the two cannot be distinguished.
    let like_closer = |special: &str| {
        let drop = format!("drop = [{{ marker = '[b]', thinking = true{special} }}]");
        Dialect::load(&format!(
            "name = 'made'\n{drop}\n[[span]]\nchannel = 'thinking'\nopen = ['[a]']\nclose = ['[b]']\nspecial = true"
        ))
    };
    let error = like_closer("").unwrap_err();
    assert!(error.message().contains("`[b]` is there twice"), "{error}");
    assert!(like_closer(", special = true").is_ok());
    // A closer that is removed in the content also counts there.
    let drop = |key: &str| good().replace(r#"start = "content""#, &format!("{key}\ndrop = [\"</a>b\"]"));
    assert!(Dialect::load(&drop("")).is_ok(), "the closer counts inside alone");
    for key in ["extra_close = \"drop\"", "stray_close = \"drop\""] {
        conflict(&drop(key), 3, "</a>", "</a>b");
    }
}

#[test]
fn framing_counts_as_a_part_of_its_marker() {
    let framed = with(8, r#"framing = { before_close = "\n" }"#);
    let tool = |open: &str| format!("[[span]]\nchannel = \"tool\"\nopen = [\"{open}\"]\nends = \"thinking\"\n");
    conflict(&format!("{framed}{}", tool("\\n</a")), 11, "\n</a", "\n</a>");
    Dialect::load(&format!("{framed}{}", tool("\\n<b"))).unwrap();
}

#[test]
fn a_quote_and_a_closer_that_cannot_be_told_apart() {
    conflict(&with(8, r#"quote = "</""#), 8, "</", "</a>");
}

#[test]
fn a_closing_fence_and_a_literal_that_cannot_be_told_apart() {
    let fence = "[[span]]\nchannel = \"thinking\"\nfence = \"b\"\n";
    let tool = "[[span]]\nchannel = \"tool\"\nopen = [\"`x\"]\nends = \"thinking\"\n";
    let error = Dialect::load(&format!("{}{fence}{tool}", good())).unwrap_err();
    assert!(error.message().contains("`x") && error.message().contains("fence"), "{error}");
    assert_eq!(error.line(), Some(14), "{error}");
}

#[test]
fn headers_that_cannot_be_told_apart() {
    let file = |lists: &str| format!("name = \"x\"\n[header]\n{lists}\n[[header.route]]\nchannel = \"content\"\n");
    let good = "begin = [\"<b>\"]\nend = [\"<e>\"]\nclose = [\"<c>\"]\nkeys = { k = \"k=\" }";
    Dialect::load(&file(good)).unwrap();
    conflict(&file(&good.replace("[\"<e>\"]", "[\"<e>\", \"<e>f\"]")), 4, "<e>", "<e>f");
    conflict(&file(&good.replace("[\"<b>\"]", "[\"<b>\", \"<b>c\"]")), 3, "<b>", "<b>c");
    conflict(&file(&good.replace("[\"<c>\"]", "[\"<b>c\"]")), 5, "<b>", "<b>c");
    conflict(&file(&good.replace("k=\"", "<e\"")), 6, "<e", "<e>");
    refused(
        &file(&good.replace("k = \"k=\"", "k = \"k=\", l = \"k=l\"")),
        6,
        "keys",
        &["`k=l` begins with the key `k=`"],
    );
    refused(&format!("{}write = \"\"\n", file(good)), 9, "write", &["empty"]);
}

#[test]
fn a_marker_that_begins_as_code_does_is_refused_beside_code() {
    let guarded = |text: &str| with(2, r#"guard = ["fences"]"#).replace(r#"["<a>"]"#, text);
    Dialect::load(&guarded(r#"["<`>"]"#)).unwrap();
    refused(&guarded(r#"["<b>", "```"]"#), 6, "open", &["```", "guard"]);
    // The spaces before a fence would be markers.
    refused(&guarded(r#"["<b>", "  "]"#), 6, "open", &["`  `", "guard"]);
    Dialect::load(&guarded(r#"["<b>"]"#).replace(r#"after_open = "\n""#, r#"before_open = " ""#)).unwrap();
    refused(&format!("{}quote = \"~\"\n", guarded(r#"["<b>"]"#)), 9, "quote", &["~", "guard"]);
    let fenced = |open: &str| format!("{}[[span]]\nchannel = \"tool\"\nfence = \"tool\"\n", with(6, open));
    Dialect::load(&fenced(r#"open = ["<`>"]"#)).unwrap();
    refused(&fenced(r#"open = [" `x"]"#), 6, "open", &[" `x", "fence"]);
}

#[test]
fn a_quote_beside_a_fence_of_its_channel_is_refused() {
    let file = |channel: &str| {
        let fence = format!("[[span]]\nchannel = \"{channel}\"\nfence = \"it\"\n");
        format!("{}{fence}", with(8, "quote = \"'\""))
    };
    Dialect::load(&file("tool")).unwrap();
    refused(&file("thinking"), 8, "quote", &["fence"]);
}

#[test]
fn a_key_with_a_line_end_is_refused() {
    let header = "[header]\nbegin = [\"<h>\"]\nend = [\"<m>\"]\nkeys = { to = \"to\\n=\" }\n";
    let file = format!("name = \"x\"\n{header}[[header.route]]\nchannel = \"content\"\n");
    refused(&file, 5, "keys", &["line end"]);
}

#[test]
fn a_header_is_held_to_what_can_be_found_fast() {
    let file = |key: &str, whole: &str| {
        let header =
            format!("[header]\nbegin = [\"<h>\"]\nend = [\"<m>\"]\nkeys = {{ to = \"{key}\" }}\nwhole = [{whole}]\n");
        format!("name = \"x\"\n{header}[[header.route]]\nchannel = \"content\"\n")
    };
    Dialect::load(&file(&"k".repeat(64), "")).unwrap();
    refused(&file(&"k".repeat(65), ""), 5, "keys", &["64 bytes"]);
    Dialect::load(&file("<k=", "")).unwrap();
    refused(&file("k<=", ""), 5, "keys", &["`<`"]);
    refused(&file("k=", &"\"k=\", ".repeat(33)), 2, "header", &["at most 32"]);
}

#[test]
fn a_marker_that_ends_in_a_backtick_is_refused_beside_a_fence() {
    let drops = with(2, r#"drop = ["<`"]"#);
    Dialect::load(&drops).unwrap();
    refused(&format!("{drops}[[span]]\nchannel = \"tool\"\nfence = \"it\"\n"), 2, "drop", &["`<``", "fence"]);
}

#[test]
fn what_no_text_could_mean_is_refused() {
    refused(&with(8, r#"quote = "\n""#), 8, "quote", &["blank"]);
    let pauses = "[[span]]\nchannel = \"content\"\nopen = [\"<w>\"]\npauses = \"thinking\"\n";
    refused(&format!("{}{pauses}", good()), 12, "pauses", &["content"]);
    let tag = format!("name = \"x\"\n[[span]]\nchannel = \"thinking\"\ntag.names = [\"{}\"]\n", "n".repeat(1025));
    refused(&tag, 4, "tag.names", &["1024 bytes"]);
}

#[test]
fn the_same_marker_for_two_spans_is_a_conflict() {
    let other = "[[span]]\nchannel = \"tool\"\nopen = [\"<a>\"]\nclose = [\"</b>\"]\n";
    let error = Dialect::load(&format!("{}{other}", good())).unwrap_err();
    assert!(error.message().contains("<a>"), "{error}");
    assert_eq!(error.line(), Some(11), "{error}");
}

#[test]
fn markers_of_different_states_are_no_conflict() {
    // A closer may begin with an opener's bytes, and two spans may share a closer, because these markers never count at the same
    // place.
    let other = "[[span]]\nchannel = \"tool\"\nopen = [\"</a>b\"]\nclose = [\"</a>\"]\nagain = \"text\"\n";
    Dialect::load(&format!("{}{other}", good())).unwrap();
}

#[test]
fn case_decides_what_is_a_conflict() {
    let file = with(6, r#"open = ["<a>", "<A>"]"#);
    Dialect::load(&file).unwrap();
    let any_case = file.replace(r#"start = "content""#, r#"case = "ascii""#);
    assert!(Dialect::load(&any_case).is_err());
}

#[test]
fn an_unknown_dialect_names_the_nearest() {
    for (asked, nearest) in
        [("qwen-3", "qwen3"), ("Harmony", "harmony"), ("thinking-tag", "thinking-tags"), ("glm-46", "glm-4.6")]
    {
        let error = Dialect::find(asked).unwrap_err();
        assert_eq!(error.nearest().first(), Some(&nearest), "{error}");
        let shown = error.to_string();
        assert!(shown.contains(asked) && shown.contains(nearest), "{shown}");
    }
    let names: Vec<&str> = Dialect::names().collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
}

/// Anyone may have written a file or a name, and errors are shown on terminals and in logs, so they must not contain control
/// characters.
#[test]
fn errors_hold_no_controls() {
    let name = "x\u{1b}[2J\u{0}";
    let mut errors = vec![
        Dialect::find(name).unwrap_err().to_string(),
        Dialect::find_for_model(name).unwrap_err().to_string(),
        name.parse::<Start>().unwrap_err().to_string(),
    ];
    let files = [
        with(1, r#"name = "a\u001b[2J\u0000""#),
        with(
            1,
            r#"name = "a"
            aliases = ["b\u0000"]"#,
        ),
        with(4, "[\u{1b}[2J]"),
        with(3, r#""a\u001b[2J" = 1"#),
        with(6, r#"open = ["<a\u001b[2J>", "<a\u001b[2J>b"]"#),
    ];
    errors.extend(files.map(|file| Dialect::load(&file).err().unwrap_or_else(|| panic!("{file}")).to_string()));
    for error in errors {
        assert!(!error.contains(|character: char| character.is_control() && character != '\n'), "{error:?}");
    }
}

#[test]
fn numbers_that_would_cost_too_much_are_refused() {
    let tag =
        |rule: &str| format!("name = \"x\"\n[[span]]\nchannel = \"thinking\"\ntag = {{ names = [\"t\"], {rule} }}\n");
    for rule in ["space = 4294967295", "suffix = 2000", "attributes = 4294967295"] {
        let error = Dialect::load(&tag(rule)).unwrap_err();
        assert!(error.message().contains("at most"), "{rule}: {error}");
        assert!(error.line().is_some(), "{rule}: {error}");
    }
}

#[test]
fn any_case_holds_for_all_that_the_file_spells() {
    let file = r#"
name = "x"
case = "ascii"
drop = ["<E>"]
[[span]]
channel = "thinking"
open = ["<T>"]
close = ["</t>"]
framing = { before_open = "B", after_open = "a\n", after_close = "Z" }
[[span]]
channel = "narration"
fence = "Plan"
[header]
begin = ["<|H|>"]
end = ["<|m|>"]
keys = { to = "To=" }
[[header.route]]
when = { to = "Self" }
channel = "tool"
[[header.route]]
channel = "narration"
"#;
    let dialect = Dialect::load(file).unwrap();
    for (text, content) in [
        ("1B<T>a\n2</t>Z3<E>", "13"),
        ("1b<t>A\n2</T>z3<e>", "13"),
        ("1\n```PLAN\n2\n```\n3", "1\n\n3"),
        ("1<|h|>tO=sELF<|M|>2", "1"),
    ] {
        let mut got = Vec::new();
        let mut scanner = aside::Scanner::new(&dialect);
        let mut add = |event: aside::Event<'_>| match (event.kind, event.channel) {
            (Kind::Text, Channel::Content) => got.extend_from_slice(event.bytes),
            (Kind::Text, channel) => assert_eq!(event.bytes.trim_ascii(), b"2", "{text:?}: {channel}"),
            (Kind::Open { rule: 2, .. }, channel) => assert_eq!(channel, Channel::Tool, "{text:?}"),
            _ => {}
        };
        scanner.feed(text.as_bytes(), &mut add).unwrap();
        scanner.finish(add).unwrap();
        assert_eq!(got, content.as_bytes(), "{text:?}");
    }
    conflict(
        &file.replace("</t>", "<|h|>x").replace("channel = \"thinking\"", "channel = \"content\""),
        8,
        "<|h|>x",
        "<|h|>",
    );
    let keys = file.replace("to = \"To=\"", "to = \"To=\", by = \"tO=x\"");
    let error = Dialect::load(&keys).unwrap_err();
    assert!(error.message().contains("begins with the key `To=`"), "{error}");
    assert!(Dialect::load(&keys.replace("case = \"ascii\"", "")).is_ok());
}

#[test]
fn a_name_with_a_colon_is_no_other_name_with_a_suffix() {
    let file = |suffix: u32| {
        let tag = format!("tag = {{ names = [\"seed:think\", \"seed\", \"seedling\"], suffix = {suffix} }}");
        with(6, &tag).replace(GOOD[6], "").replace(GOOD[7], "")
    };
    Dialect::load(&file(0)).unwrap();
    conflict(&file(8), 6, "seed:think", "seed");
}

#[test]
fn what_opens_a_span_has_words() {
    let dialect = Dialect::find("any").unwrap();
    let words = |rule, tag| dialect.family(rule).zip(dialect.opener(rule, tag));
    assert_eq!(words(2, 8), Some(("any", "seed:think")));
    assert_eq!(words(4, 0), Some(("mistral", "[THINK]")));
    assert_eq!(words(12, 0), Some(("fenced-thinking", "thinking")));
    assert_eq!(words(20, 0), Some(("qwen3", "<tool_call>")));
    assert_eq!(words(21, 1), Some(("harmony", "<|channel|>")));
    assert_eq!((dialect.family(22), dialect.opener(22, 0)), (None, None));
    assert_eq!((dialect.opener(0, 12), dialect.opener(u32::MAX, u32::MAX)), (None, None));
    refused(&with(8, r#"family = """#), 8, "family", &["empty"]);
    let named = Dialect::load(&with(8, r#"family = "yours""#)).unwrap();
    assert_eq!((named.family(0), named.opener(0, 0)), (Some("yours"), Some("<a>")));
    assert_eq!(Dialect::load(&good()).unwrap().family(0), Some("mine"));
}

/// Checks that a call's end must not contain the end of its span. Otherwise, the span would continue to the end of the text.
#[test]
fn a_marker_that_another_one_takes_first_is_refused() {
    let file = |span: &str, call: &str| {
        let value = r#"value = ["<v>", "</v>"]"#;
        format!(
            "name = 'own'\n[[span]]\nchannel = 'tool'\n{span}\n[[span.call]]\nbody = 'tags'\nname_end = ['<a>']\n{value}\n{call}\n"
        )
    };
    let literals = "open = ['<t>']\nclose = ['</t>']";
    let key = r#"key = ["<k>", "</k>"]"#;
    for (span, call, line, member, says) in [
        (literals, format!("{key}\nend = '</t>'"), 11, "end", "leave `end` out"),
        (literals, format!("{key}\nend = '</t>\\n'"), 11, "end", "cannot be distinguished"),
        ("tag = { names = ['t'] }", format!("{key}\nend = '</t>'"), 10, "end", "the span's closer"),
        (literals, r#"key = ["</t>k", "</k>"]"#.to_owned(), 10, "key", "after a value"),
        (literals, "key = [\"</e>\", \"</k>\"]\nend = '</e>'".to_owned(), 10, "key", "after a value"),
    ] {
        let toml = file(span, &call).replace("'</t>\\n'", "\"</t>\\n\"");
        refused(&toml, line, member, &[says]);
    }
    let good = Dialect::load(&file(literals, &format!("{key}\nend = '</e>'")));
    assert!(good.is_ok(), "{good:?}");
    // The span's closer also ends the call.
    let mut scanner = aside::Scanner::with_options(
        &Dialect::load(&file(literals, key)).unwrap(),
        &aside::ScannerOptions::new().calls(true),
    );
    let scanner = scanner.as_mut().unwrap();
    scanner.feed("<t>f<a><k>x</k><v>1</v></t>Yes.", |_| ()).unwrap();
    assert_eq!(scanner.counts(aside::Channel::Content).bytes, 4);
}

#[test]
fn a_path_is_not_the_text_of_a_file() {
    for path in ["mine.toml", "dialects/mine", r"C:\dialects\mine.toml"] {
        let error = Dialect::load(path).unwrap_err();
        assert_eq!(error.to_string(), format!("`{path}` looks like a path: pass the text of the file"));
    }
    assert!(!Dialect::load("name = 'dialects/mine.toml").unwrap_err().to_string().contains("path"));
}

#[test]
fn a_name_is_near_or_not_named() {
    assert_eq!(Dialect::find("qwen-3").unwrap_err().nearest()[0], "qwen3");
    assert!(Dialect::find("glm").unwrap_err().nearest().contains(&"glm-4.5"));
    let error = Dialect::find("zzzzzzz").unwrap_err();
    assert!(error.nearest().is_empty());
    assert_eq!(error.to_string(), "no dialect `zzzzzzz`, and none with a name like it");
}
