//! Writes the C files: the headers, with the declarations in the order of their templates `src/ffi/*.h.in`; plain headers without
//! comments, for programs that read C without a preprocessor; and the test of numbers and layouts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::description::{Description, Doc, Enumeration, Enumerator, Form, Signature, Type};
use crate::words::wrap;
use crate::{root, version_symbol};

/// The headers. The others include the first one.
pub const HEADERS: [&str; 3] = ["aside.h", "aside_compress.h", "aside_unstable.h"];

/// The longest line.
const WIDTH: usize = 125;

pub fn template(name: &str) -> String {
    fs::read_to_string(root().join("src/ffi").join(format!("{name}.in"))).unwrap()
}

/// Returns the name between the `@` of a template's line, which a declaration replaces.
pub fn placed(line: &str) -> Option<&str> {
    line.trim().strip_prefix('@')?.strip_suffix('@').filter(|name| !name.contains('@'))
}

/// Writes the headers: in a template, each `@name@` becomes the declaration of that name, and a line that begins with `@@ ` becomes
/// a heading. An enumeration without a place in a template is written before the first declaration that needs it.
pub fn headers(description: &Description) -> [String; 3] {
    let templates = HEADERS.map(template);
    let declarations = declarations(description);
    let mut due: Vec<&str> = description.enumerations.iter().map(|one| &*one.name).collect();
    due.retain(|name| !templates.iter().flat_map(|template| template.lines()).any(|line| placed(line) == Some(*name)));
    let headers = templates.map(|template| fill(&template, &declarations, &mut due));
    assert!(due.is_empty(), "no declaration needs {due:?}");
    headers
}

fn fill(template: &str, declarations: &BTreeMap<String, String>, due: &mut Vec<&str>) -> String {
    let rule = "=".repeat(74);
    let mut out = String::new();
    let mut lines = template.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("@@ ") {
            out += &format!("/* {rule} *\n * {heading}\n");
            let mut blank = " *\n";
            while let Some(text) = lines.peek().and_then(|line| line.strip_prefix("@@ ")) {
                out += &format!("{blank} * {text}\n");
                blank = "";
                lines.next();
            }
            out += &format!(" * {rule} */\n");
        } else if let Some(name) = placed(line) {
            let declaration = declarations.get(name).unwrap_or_else(|| panic!("src/ffi has no {name}"));
            let plain = without_comments(declaration);
            let words: BTreeSet<&str> = plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
            due.retain(|name| {
                if words.contains(name) {
                    out += &format!("{}\n\n", declarations[*name]);
                }
                !words.contains(name)
            });
            out += &format!("{declaration}\n");
        } else {
            let line =
                line.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@VERSION_SYMBOL@", &version_symbol());
            out += &format!("{line}\n");
        }
    }
    out
}

/// Returns the declarations with their comments, by name.
fn declarations(description: &Description) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut add = |name: &str, doc: &[String], text: String| {
        let documented = format!("{}{text}", comment(doc, ""));
        assert!(all.insert(name.to_owned(), documented).is_none(), "{name} is declared twice");
    };
    for enumeration in &description.enumerations {
        add(&enumeration.name, &[about(enumeration)], self::enumeration(enumeration));
    }
    for number in &description.numbers {
        let text = if number.name == "ASIDE_ABI_VERSION" {
            format!("#define {} {}", number.name, number.value)
        } else {
            format!("enum {{ {} = {} }};", number.name, number.value)
        };
        add(&number.name, &number.doc, text);
    }
    for opaque in &description.opaque {
        add(&opaque.name, &opaque.doc, format!("typedef struct {0} {0};", opaque.name));
    }
    for one in &description.structs {
        let fields = one.fields.iter().map(|field| {
            let declared = declare(description, &field.what, &field.name, false);
            format!("{}    {declared};\n", comment(&field.doc, "    "))
        });
        let fields = fields.collect::<String>();
        add(&one.name, &one.doc, format!("typedef struct {0} {{\n{fields}}} {0};", one.name));
    }
    for callback in &description.callbacks {
        let name = format!("(*{})", callback.name);
        add(&callback.name, &callback.doc, prototype(description, "typedef ", &name, &callback.signature));
    }
    for function in &description.functions {
        add(&function.name, &function.doc, prototype(description, "", &function.name, &function.signature));
    }
    all
}

fn about(enumeration: &Enumeration) -> String {
    let what = if enumeration.form == Form::Bits { "bits" } else { "values" };
    format!("{}: the {what} of `{}`.", enumeration.about.trim_end_matches('.'), enumeration.name)
}

fn enumeration(enumeration: &Enumeration) -> String {
    let lines = enumeration
        .enumerators
        .iter()
        .map(|Enumerator { name, doc, value, .. }| format!("{}    {name} = {value},\n", comment(doc, "    ")));
    let lines = lines.collect::<String>();
    let prefix = enumeration.prefix();
    let what = match enumeration.form {
        Form::Bits => format!("`{prefix}` bits."),
        _ => format!("An `{prefix}` value."),
    };
    let doc = if enumeration.values.is_empty() { vec![what] } else { enumeration.values.clone() };
    let number = if enumeration.form == Form::Status { "int32_t" } else { "uint32_t" };
    format!("enum {{\n{lines}}};\n\n{}typedef {number} {};", comment(&doc, ""), enumeration.name)
}

fn comment(doc: &[String], indent: &str) -> String {
    match doc {
        [] => String::new(),
        [line] if indent.len() + line.len() + 7 <= WIDTH => format!("{indent}/** {line} */\n"),
        [line] if line.len() + indent.len() + 3 > WIDTH => comment(&wrap(line, WIDTH - 3 - indent.len()), indent),
        lines => {
            let lines = lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n");
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}

/// Returns a function's declaration, on one line if that is short enough.
fn prototype(description: &Description, before: &str, name: &str, signature: &Signature) -> String {
    let parameters =
        signature.parameters.iter().map(|(name, what)| declare(description, what, name, false)).collect::<Vec<_>>();
    let parameters = if parameters.is_empty() { vec!["void".to_owned()] } else { parameters };
    let begin = format!("{before}{}(", declare(description, &signature.result, name, false));
    let short = format!("{begin}{});", parameters.join(", "));
    if short.len() <= WIDTH {
        return short;
    }
    format!("{begin}{});", parameters.join(&format!(",\n{}", " ".repeat(begin.len()))))
}

/// Returns the name of a type in C.
pub fn name_of(description: &Description, what: &Type) -> String {
    match what {
        Type::Void => "void".into(),
        Type::Char => "char".into(),
        Type::Int32 => "int32_t".into(),
        Type::Uint32 => "uint32_t".into(),
        Type::Int64 => "int64_t".into(),
        Type::Uint64 => "uint64_t".into(),
        Type::Size => "size_t".into(),
        Type::Double => "double".into(),
        Type::Named(name) if description.is_opaque(name) || description.find_struct(name).is_some() => {
            format!("struct {name}")
        }
        Type::Named(name) => name.clone(),
        Type::Pointer { .. } | Type::Array(..) => unreachable!("it is part of what is declared"),
    }
}

/// Returns a type with a name, such as `const char *name`.
fn declare(description: &Description, what: &Type, name: &str, is_const: bool) -> String {
    let constant = if is_const { "const " } else { "" };
    match what {
        Type::Pointer { is_const: to_const, to } => declare(description, to, &format!("*{constant}{name}"), *to_const),
        Type::Array(of, len) => declare(description, of, &format!("{name}[{len}]"), is_const),
        plain => format!("{constant}{} {name}", name_of(description, plain)),
    }
}

/// Removes comments, preprocessor lines and parts for C++. The rest is the declarations, which cffi and LuaJIT can read.
pub fn plain(header: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in without_comments(header).lines().map(str::trim_end) {
        if let Some(number) = line.strip_prefix("#define ASIDE_ABI_VERSION ") {
            out += &format!("enum {{ ASIDE_ABI_VERSION = {number} }};\n");
        }
        inside |= line.starts_with("#ifdef __cplusplus");
        if !inside && !line.is_empty() && !line.starts_with('#') {
            out += &format!("{line}\n");
        }
        inside &= !line.starts_with("#endif");
    }
    out
}

fn without_comments(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain += before;
        rest = comment.split_once("*/").expect("the comment's end").1;
    }
    plain + rest
}

/// Returns a header's declarations, one by one, without comments and preprocessor lines.
fn blocks(header: &str) -> Vec<String> {
    let (mut blocks, mut block, mut depth) = (Vec::new(), String::new(), 0);
    for line in without_comments(header).lines().map(str::trim) {
        let around = line.starts_with('#') || line.starts_with("extern \"C\"") || line.starts_with("}  //");
        if line.is_empty() || around || depth == 0 && line == "}" {
            continue;
        }
        depth += i32::from(line.contains('{')) - i32::from(line.contains('}'));
        block += line;
        block += "\n";
        if depth == 0 && line.ends_with(';') {
            blocks.push(std::mem::take(&mut block));
        }
    }
    blocks
}

/// Returns the C test of numbers and layouts.
pub fn layout(description: &Description) -> String {
    let mut numbers = String::new();
    let enumerators = description.enumerations.iter().flat_map(|enumeration| &enumeration.enumerators);
    for Enumerator { name, value, .. } in enumerators.chain(&description.numbers) {
        numbers += &format!("    CHECK({name} == {value});\n");
    }
    let (mut fixed, mut wide) = (String::new(), String::new());
    for one in &description.structs {
        let name = &one.name;
        let mut lines = vec![format!("CHECK(sizeof({name}) == {});\n", one.size)];
        lines.extend(
            one.fields.iter().map(|field| format!("CHECK(offsetof({name}, {0}) == {1});\n", field.name, field.at)),
        );
        if one.fields.iter().all(|field| is_fixed(description, &field.what)) {
            fixed += &lines.iter().map(|line| format!("    {line}")).collect::<String>();
        } else {
            wide += &lines.iter().map(|line| format!("        {line}")).collect::<String>();
        }
    }
    format!(
        "\
/* Numbers and layouts that can never change: a program that was compiled against an older header relies on them.
 * Generated from src/ffi: do not edit. */
#include \"check.h\"
#include <aside_unstable.h>
#include <stddef.h>

int main(void)
{{
{numbers}
{fixed}    if (sizeof(void *) == 8) {{
{wide}    }}
    return 0;
}}
"
    )
}

/// Returns whether a type has the same size on every machine.
fn is_fixed(description: &Description, what: &Type) -> bool {
    match what {
        Type::Size | Type::Pointer { .. } => false,
        Type::Array(of, _) => is_fixed(description, of),
        Type::Named(name) => description.enumeration(name).is_some(),
        _ => true,
    }
}

/// Returns the structs, callbacks and functions that a header declares, without blanks.
pub fn declared(header: &str) -> BTreeSet<String> {
    let blocks = blocks(header).into_iter().map(|block| block.split_whitespace().collect::<String>());
    blocks.filter(|block| !block.starts_with("enum") && (block.contains('{') || block.contains('('))).collect()
}

/// Returns the names of the functions that a header declares.
pub fn functions(header: &str) -> BTreeSet<String> {
    blocks(header)
        .iter()
        .filter(|block| !block.starts_with("typedef") && !block.starts_with("enum"))
        .filter_map(|block| block.split('(').next()?.split_whitespace().last())
        .map(|name| name.trim_start_matches('*').to_owned())
        .collect()
}

/// Returns the declarations that have no comment.
pub fn undocumented(description: &Description) -> Vec<String> {
    let enumerations = description.enumerations.iter();
    let about = enumerations.clone().map(|one| (&one.name, one.about.is_empty()));
    let empty = |name, doc: &Doc| (name, doc.is_empty());
    let enumerators = enumerations.flat_map(|one| &one.enumerators).chain(&description.numbers);
    let fields = description.structs.iter().flat_map(|one| &one.fields);
    about
        .chain(enumerators.map(|one| empty(&one.name, &one.doc)))
        .chain(description.opaque.iter().map(|one| empty(&one.name, &one.doc)))
        .chain(description.structs.iter().map(|one| empty(&one.name, &one.doc)))
        .chain(fields.map(|one| empty(&one.name, &one.doc)))
        .chain(description.callbacks.iter().map(|one| empty(&one.name, &one.doc)))
        .chain(description.functions.iter().map(|one| empty(&one.name, &one.doc)))
        .filter(|(_, is_empty)| *is_empty)
        .map(|(name, _)| name.clone())
        .collect()
}
