//! Writes the words of the Python package: those of its stub, and the value of each in the extension, which is written in Rust
//! and needs no numbers; and its options: the function that takes them, its stub, and their description.

use crate::description::{Description, Enumeration, Form};
use crate::options::{Choice, Kind, Options, Words, default_of};
use crate::words::{FIXED, camel, translated, wrap};

const WORDS: Words = Words { on: "If True, ", off: "If False, ", zero: "None: ", not_set: "None: " };

/// Returns the function of the extension that makes an object with options. rustfmt changes nothing in it.
pub fn options_new(all: &Options<'_>) -> String {
    let options = &all.options;
    let class = camel(all.object, &[]);
    let defaults: Vec<_> =
        options.iter().map(|option| format!("{}{FIXED}={FIXED}{}", option.name, default(option, "false"))).collect();
    let signature = wrap(&format!("(dialect, *, {}))]", defaults.join(", ")), 100).join("\n        ");
    let parameters: String =
        options.iter().map(|option| format!("        {}: {},\n", option.name, rust_type(option))).collect();
    let (of_scanner, own): (Vec<_>, Vec<_>) = options.iter().partition(|option| is_of_scanner(all, option));
    let chain = |options: Vec<&Choice<'_>>| options.into_iter().filter_map(set).collect::<String>();
    let (scanner, own) = (chain(of_scanner), chain(own));
    let scanner = match scanner.trim_end() {
        "" => String::new(),
        chain => format!("        let scanner = ScannerOptions::new()\n{chain};\n"),
    };
    let with_scanner = if scanner.is_empty() { "" } else { "            .scanner(scanner)\n" };
    let calls = if all.has("calls") { "        let calls = calls || tools.is_some();\n" } else { "" };
    let more = if all.has("id_prefix") { "id_prefix, " } else { "" };
    format!(
        "    #[new]
    #[pyo3(signature = {signature}
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn new(
        dialect: DialectLike<'_>,
{parameters}    ) -> PyResult<{class}> {{
        let tools = self::tools(tools, max_tools)?;
{calls}{scanner}        let options = Options::new()
{with_scanner}{};
        {class}::open(&dialect.find()?, options, {more}max_tools)
    }}
",
        own.trim_end(),
    )
}

/// Returns the call that sets an option in the crate's type; None for an option that is read together with another.
fn set(option: &Choice<'_>) -> Option<String> {
    let name = option.name;
    let value = match option.kind {
        _ if ["max_tools", "id_prefix", "budget_unit", "budget_scope"].contains(&name) => return None,
        _ if name == "budget" => "self::budget(budget, budget_unit, budget_scope)?".to_owned(),
        Kind::Value(enumeration) => match default_of(enumeration) {
            Some(_) => format!("words::find({name:?}, {name})?"),
            None => format!("self::{name}({name})?"),
        },
        Kind::Bits(enumeration) => {
            format!("words::{}({name}.as_ref())?", enumeration.rust.to_ascii_lowercase())
        }
        Kind::Flag | Kind::Number | Kind::Text | Kind::Tools => name.to_owned(),
    };
    Some(format!("            .{name}({value})\n"))
}

/// Returns the declaration of that function for the stub.
pub fn options_stub(options: &Options<'_>) -> String {
    let parameter = |option: &Choice<'_>| {
        let what = match option.kind {
            Kind::Flag => "bool".to_owned(),
            Kind::Number => "int | None".to_owned(),
            Kind::Value(enumeration) => match default_of(enumeration) {
                Some(_) => type_of(enumeration),
                None => type_of(enumeration) + " | None",
            },
            Kind::Bits(enumeration) => {
                format!("{0} | Sequence[{0}] | None", type_of(enumeration).trim_end_matches('s'))
            }
            Kind::Text => "str | None".to_owned(),
            Kind::Tools => "_Tools | None".to_owned(),
        };
        format!("        {}: {what} = {},\n", option.name, default(option, "False"))
    };
    let parameters: String = options.options.iter().map(parameter).collect();
    format!(
        "    def __new__(\n        cls,\n        dialect: Dialect | str,\n        *,\n{parameters}    ) -> Self: ...\n"
    )
}

/// Returns the description of the options for the class.
pub fn options_text(description: &Description, options: &Options<'_>) -> String {
    let mut out = String::new();
    for option in &options.options {
        let symbols = match option.kind {
            Kind::Value(enumeration) => format!(" One of {}.", enumeration.quoted()),
            Kind::Bits(enumeration) => format!(" One of {}, or a list.", enumeration.quoted()),
            Kind::Tools if options.has("calls") => " A list implies `calls`.".to_owned(),
            _ => String::new(),
        };
        let text = translated(&(option.text(&WORDS) + &symbols), |word| match description.enumerator(word) {
            Some((_, short)) if short == "default" => Some("None".to_owned()),
            Some((_, short)) => Some(format!("{short:?}")),
            None => description.mentioned(word).map(|method| format!("`{method}`")),
        });
        let text = format!("- `{}`: {text}", option.name);
        out += &(wrap(&text, 118).join("\n  ") + "\n");
    }
    out
}

/// Returns whether an option of an answer is one of its scanner.
pub fn is_of_scanner(options: &Options<'_>, option: &Choice<'_>) -> bool {
    options.object == "answer"
        && (["start", "stray_close", "calls_in_thinking", "leading_tags"].contains(&option.name)
            || option.name.starts_with("budget"))
}

/// Returns the default of an option; `off` is the language's word for it.
fn default(option: &Choice<'_>, off: &str) -> String {
    match option.kind {
        Kind::Flag => off.to_owned(),
        Kind::Value(enumeration) => default_of(enumeration).map_or("None".to_owned(), |word| format!("{word:?}")),
        Kind::Number | Kind::Bits(_) | Kind::Text | Kind::Tools => "None".to_owned(),
    }
}

fn rust_type(option: &Choice<'_>) -> &'static str {
    match option.kind {
        Kind::Flag => "bool",
        Kind::Number if option.is_wide() => "Option<u64>",
        Kind::Number => "Option<usize>",
        Kind::Value(enumeration) if default_of(enumeration).is_some() => "&str",
        Kind::Value(_) | Kind::Text => "Option<&str>",
        Kind::Bits(_) => "Option<SeveralWords>",
        Kind::Tools => "Option<&Bound<'_, PyAny>>",
    }
}

fn type_of(enumeration: &Enumeration) -> String {
    enumeration.type_name(&[])
}

/// Returns a type for each enumeration that the stub mentions.
pub fn literals(description: &Description, stub: &str) -> String {
    let mut out = String::new();
    for enumeration in description.enumerations.iter().filter(|one| one.form != Form::Status) {
        let name = type_of(enumeration);
        let name = if enumeration.form == Form::Bits { name.trim_end_matches('s') } else { &name };
        if mentions(stub, name) {
            // In Python, None is the default.
            let names =
                enumeration.short().filter(|(short, _)| short != "default").map(|(short, _)| format!("{short:?}"));
            let names: Vec<_> = names.collect();
            let line = format!("{name}: TypeAlias = Literal[{}]\n", names.join(", "));
            if line.len() <= 120 {
                out += &line;
            } else {
                out += &format!("{name}: TypeAlias = Literal[\n    {},\n]\n", names.join(",\n    "));
            }
        }
    }
    out
}

/// Returns whether a text contains this word.
pub fn mentions(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|is| is == word)
}
