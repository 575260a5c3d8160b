//! Writes the enumerations and options of the C++ headers.

use crate::description::{Description, Enumeration, Form};
use crate::options::{Kind, Options, Words};
use crate::words::{camel, translated, wrap};

/// The maximum length of a comment's line.
const WIDTH: usize = 120;

const WORDS: Words = Words { on: "If true, ", off: "If false, ", zero: "0: ", not_set: "Not set: " };

/// Returns a struct of options, and the function that makes C's struct of it.
pub fn options(description: &Description, options: &Options<'_>) -> String {
    let object = options.object;
    let name = camel(object, &[]) + "Options";
    let article = if object.starts_with('a') { "an" } else { "a" };
    let about = format!("The options of {article} {}. The defaults follow its dialect.", object.replace('_', " "));
    let mut out = format!("\n{}struct {name} {{\n", comment(&about, ""));
    // Of the struct itself, and of the one to which it points.
    let mut assigned = [String::new(), String::new()];
    for option in &options.options {
        out += &comment(&said(description, &option.text(&WORDS)), "    ");
        let (what, default) = match option.kind {
            Kind::Flag => ("bool".to_owned(), " = false".to_owned()),
            Kind::Number => ("std::uint64_t".to_owned(), " = 0".to_owned()),
            Kind::Text | Kind::Tools => ("std::optional<std::string_view>".to_owned(), "{}".to_owned()),
            Kind::Value(enumeration) | Kind::Bits(enumeration) => {
                let default = enumeration.short().find(|(_, enumerator)| enumerator.value == 0);
                let named =
                    |(short, _): (String, _)| format!(" = {}::{}", type_of(enumeration), member(enumeration, &short));
                (type_of(enumeration), default.map_or("{}".to_owned(), named))
            }
        };
        let value = format!("options.{}", option.name);
        let for_c = match option.kind {
            Kind::Flag => format!("{value} ? 1 : 0"),
            Kind::Number => value,
            Kind::Value(_) | Kind::Bits(_) => format!("static_cast<std::uint32_t>({value})"),
            Kind::Text | Kind::Tools => format!("bytes(for_c({value}))"),
        };
        out += &format!("    {what} {}{default};\n", option.name);
        assigned[usize::from(option.is_inner)] += &format!("    raw.{} = {for_c};\n", option.name);
    }
    let [assigned, of_inner] = assigned;
    let lend = |object: &str, parameter: &str, assigned: &str| {
        format!(
            "inline aside_{object}_options lend{parameter} noexcept\n{{\n    aside_{object}_options raw{{}};\n    \
             raw.size = sizeof raw;\n{assigned}    return raw;\n}}\n"
        )
    };
    let functions = match options.inner {
        None => lend(object, &format!("(const {name} &options)"), &assigned),
        Some((field, inner)) => {
            let parameter = format!("(const {name} &options, const aside_{inner}_options &{field})");
            lend(inner, &format!("_{inner}(const {name} &options)"), &of_inner)
                + "\n"
                + &lend(object, &parameter, &format!("{assigned}    raw.{field} = &{field};\n"))
        }
    };
    format!("{out}}};\n\nnamespace detail {{\n\n{functions}\n}} // namespace detail\n")
}

/// Returns the enumerations of `aside.hpp`, or those of `aside_compress.hpp`.
pub fn enumerations(description: &Description, of_compress: bool) -> String {
    let mut out = String::new();
    for enumeration in description.enumerations.iter().filter(|one| one.is_of_compress == of_compress) {
        out += &format!("\n{}", comment(&said(description, &enumeration.about), ""));
        out += &match enumeration.form {
            Form::Status => {
                let open = "enum class [[nodiscard]] Status : aside_status {";
                format!("// clang-format off\n{open}\n    // clang-format on\n")
            }
            _ => format!("enum class {} : std::uint32_t {{\n", type_of(enumeration)),
        };
        for (short, enumerator) in enumeration.short() {
            // The comments of statuses are left out, because they are about the C functions.
            if enumeration.form != Form::Status {
                out += &comment(&said(description, &enumerator.doc.join(" ")), "    ");
            }
            out += &format!("    {} = {},\n", member(enumeration, &short), enumerator.name);
        }
        out += "};\n";
    }
    out
}

fn type_of(enumeration: &Enumeration) -> String {
    enumeration.type_name(&[])
}

fn member<'a>(enumeration: &Enumeration, short: &'a str) -> &'a str {
    match short {
        // These are keywords of C++.
        "default" => "dialect",
        "inline" => "inlined",
        short if enumeration.form == Form::Status => short.trim_start_matches("error_"),
        short => short,
    }
}

/// Returns a comment with the names of C++.
fn said(description: &Description, text: &str) -> String {
    translated(text, |word| {
        if let Some((enumeration, short)) = description.enumerator(word) {
            return Some(format!("`{}::{}`", type_of(enumeration), member(enumeration, &short)));
        }
        description.mentioned(word).map(|method| format!("`{method}()`"))
    })
}

fn comment(text: &str, indent: &str) -> String {
    wrap(text, WIDTH - indent.len()).iter().map(|line| format!("{indent}/// {line}\n")).collect()
}
