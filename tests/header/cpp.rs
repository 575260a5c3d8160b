//! Writes the enumerations of the C++ headers.

use crate::description::{Description, Enumeration, Form};
use crate::words::{camel, translated, wrap};

/// The longest line of a comment.
const WIDTH: usize = 120;

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
            // Those of statuses are about the functions of C.
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
    camel(enumeration.name.trim_start_matches("aside_"), &[])
}

fn member<'a>(enumeration: &Enumeration, short: &'a str) -> &'a str {
    match short {
        "default" => "dialect", // a keyword of C++
        short if enumeration.form == Form::Status => short.trim_start_matches("error_"),
        short => short,
    }
}

/// Returns a comment in the words of C++.
fn said(description: &Description, text: &str) -> String {
    translated(text, |word| {
        if let Some((enumeration, short)) = description.enumerator(word) {
            return Some(format!("`{}::{}`", type_of(enumeration), member(enumeration, &short)));
        }
        let function = word.strip_suffix("()").filter(|word| word.starts_with("aside_"))?;
        Some(format!("`{}()`", description.method(function)))
    })
}

fn comment(text: &str, indent: &str) -> String {
    wrap(text, WIDTH - indent.len()).iter().map(|line| format!("{indent}/// {line}\n")).collect()
}
