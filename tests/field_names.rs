//! Looks up published names of models: the library must find the right dialect for each (`tests/field/names.tsv`).

use aside::{Channel, Dialect, Start};

struct Case<'a> {
    model: &'a str,
    /// Names of dialects, each of which is right; `-` for none.
    dialects: Vec<&'a str>,
    /// `?`: not judged.
    start: &'a str,
    kind: &'a str,
}

fn cases() -> Vec<Case<'static>> {
    let rows = include_str!("field/names.tsv").lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| match row.split('\t').collect::<Vec<_>>()[..] {
        [model, dialects, start, kind] => Case { model, dialects: dialects.split('|').collect(), start, kind },
        _ => panic!("{row:?} has not four columns"),
    })
    .collect()
}

/// The exceptions, in which the table is out of date. DiffusionGemma is a Gemma 4, with its template and its markers. The table has
/// no dialect for models that write no thinking, but such a model may write tool calls in a known dialect.
const OTHERWISE: [(&str, &str); 7] = [
    ("diffusiongemma", "gemma-4"),
    ("llama-3.", "llama-3"),
    ("llama-4", "llama-4-pythonic"),
    ("qwen2.5", "qwen3"),
    ("qwen-2.5", "qwen3"),
    ("command-r-", "command-r-plus"),
    ("phi-4-mini", "functools"),
];

#[test]
fn names_find_their_dialect_and_its_start() {
    let cases = cases();
    assert_eq!(cases.len(), 786);
    let mut wrong = Vec::new();
    for Case { model, dialects, start, kind } in cases {
        let found = Dialect::find_for_model(model);
        let (name, begins) = match &found {
            Ok(dialect) => (dialect.name(), dialect.start().as_str()),
            Err(error) if error.candidates().is_empty() => ("-", "-"),
            Err(error) => panic!("{error}"),
        };
        let lower = model.to_lowercase();
        let otherwise = OTHERWISE.iter().filter(|_| dialects == ["-"]).find(|(part, _)| lower.contains(part));
        let is_right = match otherwise {
            Some((_, dialect)) => name == *dialect,
            None => dialects.contains(&name) && (start == "?" || begins == start),
        };
        if !is_right {
            wrong.push(format!("{model} ({kind}): {name} from {begins}, not {} from {start}", dialects.join(" or ")));
        }
    }
    assert!(wrong.is_empty(), "{} names:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_model_without_thinking_says_so() {
    let mut silent = 0;
    let mut said = 0;
    for case in cases().iter().filter(|case| case.dialects == ["-"]) {
        let Err(error) = Dialect::find_for_model(case.model) else { continue };
        let message = error.to_string();
        assert!(message.contains("`any`") && message.contains(case.model), "{message}");
        if case.kind == "point releases" {
            assert!(!error.writes_no_thinking(), "{message}");
            assert!(error.nearest().next().is_some_and(|known| known.is_elder), "{message}");
        } else {
            silent += 1;
            said += usize::from(error.writes_no_thinking());
            assert_eq!(error.writes_no_thinking(), message.contains("known to write no thinking"), "{message}");
            if !error.writes_no_thinking() {
                println!("{message}");
            }
        }
    }
    assert!(said * 100 >= silent * 90, "{said} of {silent} names are known to write no thinking");
}

#[test]
fn a_point_release_names_its_elder() {
    for (model, elder, dialect) in [
        ("qwen3.9", "qwen3.8", "qwen3-thinking"),
        ("Qwen/Qwen3.9-32B-FP8", "qwen3.8", "qwen3-thinking"),
        ("accounts/fireworks/models/glm-5p7", "glm-5.3", "glm-4.7"),
        ("kimi-k2-9-code", "kimi-k2.7", "kimi-k2"),
        ("granite4.3:8b", "granite-4.2", "nemotron"),
        ("step-4", "step-3", "step-3"),
    ] {
        let error = Dialect::find_for_model(model).unwrap_err();
        let known = error.nearest().next().unwrap();
        assert_eq!((known.model, known.dialect, known.is_elder), (elder, dialect, true), "{error}");
        let said = format!("no dialect is known for `{model}`; its elder {elder} writes {dialect}; ");
        assert!(error.to_string().starts_with(&said), "{error}");
    }
    let error = Dialect::find_for_model("qwen3.9").unwrap_err().to_string();
    assert!(error.ends_with("use its chat template, the dialect `any`, or a dialect file"), "{error}");
}

#[test]
fn a_misspelt_name_is_met_by_the_nearest() {
    let error = Dialect::find_for_model("someone/Mistrall-Small-24B").unwrap_err();
    assert!(error.to_string().contains("a similar name, mistral, belongs to the dialect mistral"), "{error}");
    assert!(Dialect::find_for_model("no-such-model").unwrap_err().nearest().next().is_none());
}

/// Checks that scanners start where the pattern of the model's name says, and that the rest of the dialect stays the same.
#[test]
fn a_dialect_that_was_found_by_a_model_starts_as_the_model_does() {
    let thinking = Start::Channel(Channel::Thinking);
    let found = Dialect::find_for_model("moonshotai/Kimi-K2.5").unwrap();
    let own = Dialect::find("kimi-k2").unwrap();
    assert_eq!((found.name(), found.start()), ("kimi-k2", thinking));
    assert_eq!(own.start(), Start::Channel(Channel::Content));
    assert_eq!(found.strip(b"hm").unwrap(), b"");
    assert_eq!(own.strip(b"hm").unwrap(), b"hm");
    let joined = found.join(b"hm", b"Yes.", &aside::JoinOptions::new()).unwrap();
    assert_eq!(joined, b"hm</think>Yes.");
    let content = Start::Channel(Channel::Content);
    assert_eq!(Dialect::find_for_model("Qwen/Qwen3.5-0.8B").unwrap().start(), content);
    assert_eq!(Dialect::find_for_model("kimi-k2-thinking").unwrap().start(), content);
}

/// Returns a file of the project, as TOML.
fn file(path: &str) -> toml::Table {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap().parse().unwrap()
}

/// Returns the patterns that a file lists under `models`.
fn patterns(file: &toml::Table) -> Vec<String> {
    let models = file.get("models").and_then(|models| models.as_array()).into_iter().flatten();
    models.map(|entry| entry.as_str().unwrap_or_else(|| entry["pattern"].as_str().unwrap()).to_owned()).collect()
}

/// Checks that a point release is found only if it is listed, in every spelling.
#[test]
fn no_release_that_is_not_listed_finds_its_elder() {
    let all: Vec<String> =
        Dialect::names().flat_map(|name| patterns(&file(&format!("dialects/{name}.toml")))).collect();
    assert!(all.len() > 100, "{} patterns", all.len());
    let mut tried = 0;
    for pattern in all.iter().filter(|pattern| pattern.ends_with(|last: char| last.is_ascii_digit())) {
        if pattern.contains('*') {
            continue;
        }
        for number in 0..10 {
            let is_listed = all.iter().any(|other| *other == format!("{pattern}.{number}"));
            for point in [".", "p", "-", "_"] {
                for tail in ["", "-32b", ":32b", "-max", "-FP8-dynamic", ".gguf"] {
                    // After a version without a point, `-0-32b` is a size.
                    if number == 0 && matches!(point, "-" | "_") {
                        continue;
                    }
                    // A version has at most one point, so this is a size too.
                    if pattern.contains('.') && matches!(point, "-" | "_") && tail == "-32b" {
                        continue;
                    }
                    let name = format!("someone/{}{point}{number}{tail}", pattern.to_uppercase());
                    let found = Dialect::find_for_model(&name);
                    assert_eq!(found.is_ok(), is_listed, "{name}: {found:?}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 5_000, "{tried} names");
}

/// Checks that models that are listed as writing no thinking are reported so: no dialect may match their names first.
#[test]
fn every_model_without_thinking_is_said_to_be_one() {
    let silent = patterns(&file("src/dialect/without_thinking.toml"));
    assert!(silent.len() > 100, "{} patterns", silent.len());
    for pattern in silent {
        for name in [pattern.clone(), format!("maker/{pattern}"), format!("us.maker.{pattern}-v1:0")] {
            let error = Dialect::find_for_model(&name).expect_err(&name);
            assert!(error.writes_no_thinking(), "{error}");
        }
        // A model whose name only contains a listed name may think.
        assert!(!Dialect::find_for_model(&format!("thinks-{pattern}")).unwrap_err().writes_no_thinking(), "{pattern}");
    }
}
