//! Writes the declarations of the C interface for the Rust tests, which call the same functions as C, with the same numbers and
//! layouts; and the words of the crate's own enumerations.

use crate::description::{Callback, Description, Enumeration, Form, Function, Signature, Struct, Type};
use crate::python::mentions;
use crate::words::camel;

/// Returns the words of each enumeration whose type the file imports.
pub fn words(description: &Description, rest: &str) -> String {
    let imported = description.enumerations.iter().filter(|one| mentions(rest, &one.rust));
    imported.map(words_of).collect::<Vec<_>>().join("\n")
}

/// Returns the words of an enumeration as rustfmt lays them out.
fn words_of(enumeration: &Enumeration) -> String {
    let rust = &enumeration.rust;
    let value = |value: &str| match enumeration.form {
        Form::Bits => format!("{rust}::{value}"),
        _ => value.to_owned(),
    };
    let words = enumeration.short().map(|(short, enumerator)| format!("({short:?}, {})", value(&enumerator.rust)));
    let words: Vec<_> = words.collect();
    let line = format!("&[{}];", words.join(", "));
    let before = "    const WORDS: &'static [(&'static str, Self)] =";
    let list = if before.len() + 1 + line.len() <= 120 {
        format!(" {line}")
    } else if 8 + line.len() <= 120 {
        format!("\n        {line}")
    } else {
        format!(" &[\n        {},\n    ];", words.join(",\n        "))
    };
    format!("impl Words for {rust} {{\n{before}{list}\n}}\n")
}

pub fn declarations(description: &Description) -> String {
    let mut out = "//! The C interface, as a caller declares it. Texts are bytes, and an object is a `Handle`.\n\
                   //! Generated from src/ffi by tests/header: do not edit.\n\n\
                   use std::ffi::c_void;\n\n\
                   /// A pointer to an object that the library keeps for itself.\n\
                   pub type Handle = *mut c_void;\n"
        .to_owned();
    for enumeration in &description.enumerations {
        out.push('\n');
        let number = if enumeration.form == Form::Status { "i32" } else { "u32" };
        for enumerator in &enumeration.enumerators {
            out += &format!("pub const {}: {number} = {};\n", constant(&enumerator.name), enumerator.value);
        }
    }
    out.push('\n');
    for one in &description.numbers {
        out += &format!("pub const {}: i32 = {};\n", constant(&one.name), one.value);
    }
    let writer = Writer { description };
    out += &description.callbacks.iter().map(|one| writer.callback(one)).collect::<String>();
    out += &description.structs.iter().map(|one| writer.structure(one)).collect::<String>();
    out += "\nunsafe extern \"C\" {\n";
    out += &description.functions.iter().map(|one| writer.function(one)).collect::<String>();
    out + "}\n"
}

/// Returns the name of a constant without `ASIDE_` and `ERROR_`: `NULL` for `ASIDE_ERROR_NULL`.
fn constant(name: &str) -> &str {
    let short = name.strip_prefix("ASIDE_").expect("a constant has the library's name");
    short.strip_prefix("ERROR_").unwrap_or(short)
}

fn type_name(name: &str) -> String {
    camel(name.strip_prefix("aside_").expect("a type has the library's name"), &[])
}

struct Writer<'a> {
    description: &'a Description,
}

impl Writer<'_> {
    fn callback(&self, callback: &Callback) -> String {
        let Signature { parameters, result } = &callback.signature;
        let parameters: Vec<_> = parameters.iter().map(|(_, what)| self.shown(what)).collect();
        let result = self.result(result);
        format!(
            "\npub type {} = Option<unsafe extern \"C\" fn({}){result}>;\n",
            type_name(&callback.name),
            parameters.join(", ")
        )
    }

    fn structure(&self, one: &Struct) -> String {
        let name = type_name(&one.name);
        let fields = one.fields.iter().map(|field| format!("    pub {}: {},\n", field.name, self.shown(&field.what)));
        let fields: String = fields.collect();
        // If a struct begins with its size, the caller must set the size.
        let (doc, made) = match one.fields.first().is_some_and(|field| field.name == "size") {
            true => (
                "Returns a value that is all 0 except for its size.",
                format!("{name} {{ size: size_of::<{name}>(), ..unsafe {{ std::mem::zeroed() }} }}"),
            ),
            false => ("Returns a value that is all 0.", "unsafe { std::mem::zeroed() }".to_owned()),
        };
        format!(
            "\n#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{\n{fields}}}\n\n\
             impl Default for {name} {{\n    /// {doc}\n    fn default() -> {name} {{\n        {made}\n    }}\n}}\n"
        )
    }

    fn function(&self, function: &Function) -> String {
        let Signature { parameters, result } = &function.signature;
        let parameters: Vec<_> =
            parameters.iter().map(|(name, what)| format!("{name}: {}", self.shown(what))).collect();
        format!("    pub fn {}({}){};\n", function.name, parameters.join(", "), self.result(result))
    }

    fn result(&self, what: &Type) -> String {
        if *what == Type::Void { String::new() } else { format!(" -> {}", self.shown(what)) }
    }

    fn shown(&self, what: &Type) -> String {
        match what {
            Type::Void => "c_void".into(),
            Type::Char => "u8".into(),
            Type::Int32 => "i32".into(),
            Type::Uint32 => "u32".into(),
            Type::Int64 => "i64".into(),
            Type::Uint64 => "u64".into(),
            Type::Size => "usize".into(),
            Type::Double => "f64".into(),
            Type::Array(of, count) => format!("[{}; {count}]", self.shown(of)),
            Type::Pointer { to, .. } if matches!(&**to, Type::Named(name) if self.description.is_opaque(name)) => {
                "Handle".into()
            }
            Type::Pointer { is_const, to } => {
                format!("*{} {}", if *is_const { "const" } else { "mut" }, self.shown(to))
            }
            Type::Named(name) => match self.description.enumeration(name) {
                Some(one) if one.form == Form::Status => "i32".into(),
                Some(_) => "u32".into(),
                None => type_name(name),
            },
        }
    }
}
