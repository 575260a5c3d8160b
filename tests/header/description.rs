//! Reads the sources in `src/ffi` into data: enumerations, structs with their layout, functions. Every generated file is written
//! from this data, so that each declaration has only one source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, FnArg, GenericArgument, Ident, Item, Lit, Pat, PathArguments, ReturnType, Token, braced};

use crate::root;
use crate::words::camel;

/// The C interface.
#[derive(Default)]
pub struct Description {
    pub enumerations: Vec<Enumeration>,
    /// Numbers that belong to no enumeration.
    pub numbers: Vec<Enumerator>,
    /// The opaque structs.
    pub opaque: Vec<Named>,
    pub structs: Vec<Struct>,
    pub callbacks: Vec<Callback>,
    pub functions: Vec<Function>,
}

/// A name with its comment.
pub struct Named {
    pub name: String,
    pub doc: Doc,
}

/// The lines of a doc comment.
pub type Doc = Vec<String>;

pub struct Enumeration {
    pub name: String,
    /// The description of the type, as a sentence without a verb.
    pub about: String,
    /// The description of its values, which may be empty.
    pub values: Doc,
    pub form: Form,
    /// The corresponding type of Rust, as source text.
    pub rust: String,
    pub enumerators: Vec<Enumerator>,
    /// Whether it belongs to the functions for tool results.
    pub is_of_compress: bool,
}

/// The type of an enumeration's numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Status,
    Values,
    Bits,
}

pub struct Enumerator {
    pub name: String,
    pub doc: Doc,
    pub value: i64,
    /// Its value in Rust, or empty if it is the number.
    pub rust: String,
}

pub struct Struct {
    pub name: String,
    pub doc: Doc,
    pub fields: Vec<Field>,
    /// The size on a machine of 64 bits.
    pub size: usize,
}

pub struct Field {
    pub name: String,
    pub doc: Doc,
    pub what: Type,
    /// The offset on a machine of 64 bits.
    pub at: usize,
}

pub struct Callback {
    pub name: String,
    pub doc: Doc,
    pub signature: Signature,
}

pub struct Function {
    pub name: String,
    pub doc: Doc,
    pub signature: Signature,
}

pub struct Signature {
    pub parameters: Vec<(String, Type)>,
    pub result: Type,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Type {
    Void,
    Char,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Size,
    Double,
    Pointer {
        is_const: bool,
        to: Box<Type>,
    },
    Array(Box<Type>, usize),
    /// A type with a name that the headers declare.
    Named(String),
}

impl Enumeration {
    /// Returns the name as a type of a language; `initials` are words that are all capitals.
    pub fn type_name(&self, initials: &[&str]) -> String {
        camel(self.name.trim_start_matches("aside_"), initials)
    }

    /// Returns the names of all enumerators, each in backticks.
    pub fn quoted(&self) -> String {
        let names: Vec<_> = self.enumerators.iter().map(|one| format!("`{}`", one.name)).collect();
        names.join(", ")
    }

    /// Returns the part of an enumerator's name that it shares with the others.
    pub fn prefix(&self) -> String {
        let name = self.name.to_ascii_uppercase();
        match self.form {
            Form::Status => "ASIDE_".into(),
            Form::Values => name + "_",
            Form::Bits => name.strip_suffix('S').expect("a set of bits has a plural").to_owned() + "_",
        }
    }

    /// Returns each enumerator with its name in lower case, without the part that it shares with the others.
    pub fn short(&self) -> impl Iterator<Item = (String, &Enumerator)> {
        let prefix = self.prefix();
        self.enumerators.iter().map(move |enumerator| {
            let short = enumerator.name.strip_prefix(&prefix);
            let short = short.unwrap_or_else(|| panic!("{} does not begin with {prefix}", enumerator.name));
            (short.to_ascii_lowercase(), enumerator)
        })
    }
}

impl Description {
    pub fn read() -> Description {
        let mut description = Description::default();
        for path in sources() {
            let text = fs::read_to_string(&path).unwrap();
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let is_of_compress = path.parent().is_some_and(|folder| folder.ends_with("compress"));
            file.items.iter().for_each(|item| description.take(item, is_of_compress));
        }
        description.lay_out();
        description
    }

    fn take(&mut self, item: &Item, is_of_compress: bool) {
        match item {
            Item::Macro(item) if item.mac.path.segments.last().is_some_and(|name| name.ident == "enumeration") => {
                if let Ok(read) = item.mac.parse_body::<Enumeration>() {
                    self.enumerations.push(Enumeration { is_of_compress, ..read });
                } else {
                    panic!("an `enumeration!` cannot be read: {:?}", item.mac.parse_body::<Enumeration>().err());
                }
            }
            Item::Const(item) if item.ident.to_string().starts_with("ASIDE_") => {
                let (name, doc) = (item.ident.to_string(), doc(&item.attrs));
                self.numbers.push(Enumerator { name, doc, value: integer(&item.expr), rust: String::new() });
            }
            Item::Type(item) if item.ident.to_string().starts_with("aside_") => {
                let signature = callback(&item.ty).expect("a type that is not a callback is an `enumeration!`");
                self.callbacks.push(Callback { name: item.ident.to_string(), doc: doc(&item.attrs), signature });
            }
            Item::Struct(item) if item.ident.to_string().starts_with("aside_") => {
                let (name, doc) = (item.ident.to_string(), doc(&item.attrs));
                if !has(&item.attrs, "repr", "C") {
                    self.opaque.push(Named { name, doc });
                    return;
                }
                let fields = item.fields.iter().map(|field| Field {
                    name: field.ident.as_ref().expect("a struct with named fields").to_string(),
                    doc: self::doc(&field.attrs),
                    what: Type::of(&field.ty),
                    at: 0,
                });
                self.structs.push(Struct { name, doc, fields: fields.collect(), size: 0 });
            }
            Item::Fn(item) if has(&item.attrs, "unsafe", "no_mangle") && !is_conditional(&item.attrs) => {
                let abi = item.sig.abi.as_ref().and_then(|abi| abi.name.as_ref());
                assert!(abi.is_some_and(|abi| abi.value() == "C"), "{} is not of C", item.sig.ident);
                let parameters = item.sig.inputs.iter().map(|input| {
                    let FnArg::Typed(input) = input else { panic!("a method is exported") };
                    let Pat::Ident(name) = &*input.pat else { panic!("a parameter without a name is exported") };
                    (name.ident.to_string(), Type::of(&input.ty))
                });
                let signature = Signature { parameters: parameters.collect(), result: result(&item.sig.output) };
                self.functions.push(Function { name: item.sig.ident.to_string(), doc: doc(&item.attrs), signature });
            }
            _ => {}
        }
    }

    /// Computes sizes and offsets, as C and Rust both do.
    fn lay_out(&mut self) {
        let mut known = BTreeMap::new();
        while known.len() < self.structs.len() {
            let before = known.len();
            for index in 0..self.structs.len() {
                let fields = self.structs[index].fields.iter();
                let measures: Option<Vec<_>> = fields.map(|field| self.measure(&field.what, &known)).collect();
                let Some(measures) = measures else { continue };
                let one = &mut self.structs[index];
                let (mut at, mut most) = (0_usize, 1);
                for (field, (size, align)) in one.fields.iter_mut().zip(measures) {
                    field.at = at.next_multiple_of(align);
                    at = field.at + size;
                    most = most.max(align);
                }
                one.size = at.next_multiple_of(most);
                known.insert(one.name.clone(), (one.size, most));
            }
            assert!(known.len() > before, "structs contain each other, or one that is not declared");
        }
    }

    /// Returns the size and the alignment of a type, or None for a struct that is not in `known`.
    fn measure(&self, what: &Type, known: &BTreeMap<String, (usize, usize)>) -> Option<(usize, usize)> {
        Some(match what {
            Type::Void | Type::Char => panic!("a field has no such type"),
            Type::Int32 | Type::Uint32 => (4, 4),
            Type::Int64 | Type::Uint64 | Type::Size | Type::Double | Type::Pointer { .. } => (8, 8),
            Type::Array(of, count) => self.measure(of, known).map(|(size, align)| (size * count, align))?,
            Type::Named(name) if self.enumeration(name).is_some() => (4, 4),
            Type::Named(name) if self.callbacks.iter().any(|callback| callback.name == *name) => (8, 8),
            Type::Named(name) => *known.get(name)?,
        })
    }

    /// Returns the enumerations that every language has. Grammars are made in the languages of engines.
    pub fn general_enumerations(&self) -> impl Iterator<Item = &Enumeration> {
        self.enumerations.iter().filter(|one| one.form != Form::Status && one.name != "aside_grammar_format")
    }

    pub fn enumeration(&self, name: &str) -> Option<&Enumeration> {
        self.enumerations.iter().find(|one| one.name == name)
    }

    pub fn find_struct(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|one| one.name == name)
    }

    pub fn is_opaque(&self, name: &str) -> bool {
        self.opaque.iter().any(|one| one.name == name)
    }

    /// Returns the enumeration and the short name of an enumerator.
    pub fn enumerator(&self, name: &str) -> Option<(&Enumeration, String)> {
        self.enumerations.iter().find_map(|enumeration| {
            enumeration.short().find(|(_, enumerator)| enumerator.name == name).map(|(short, _)| (enumeration, short))
        })
    }

    /// Returns the name of a function that a comment mentions with its parentheses, without the name of its object.
    pub fn mentioned<'a>(&self, word: &'a str) -> Option<&'a str> {
        let function = word.strip_suffix("()").filter(|word| word.starts_with("aside_"))?;
        Some(self.method(function))
    }

    /// Returns the name of a function without the prefix of its object: `feed` for `aside_scanner_feed`.
    pub fn method<'a>(&self, function: &'a str) -> &'a str {
        let objects = self.opaque.iter().filter_map(|object| function.strip_prefix(&object.name)?.strip_prefix('_'));
        objects.min_by_key(|rest| rest.len()).unwrap_or(function.strip_prefix("aside_").unwrap_or(function))
    }
}

/// Returns the Rust files of the interface.
pub fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    look(&root().join("src/ffi"), &mut files);
    files
}

/// Finds all Rust files of a folder in the order of their names, then those of its folders.
fn look(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort_by_key(|path| (path.is_dir(), path.clone()));
    for path in paths {
        if path.is_dir() {
            look(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns whether an attribute `#[name(word)]` is among these.
fn has(attributes: &[Attribute], name: &str, word: &str) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident(name) && attribute.parse_args::<Ident>().is_ok_and(|found| found == word)
    })
}

fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

fn doc(attributes: &[Attribute]) -> Doc {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).map(|attribute| {
        let value = &attribute.meta.require_name_value().unwrap().value;
        let Expr::Lit(value) = value else { panic!("a doc comment that is not written out") };
        let Lit::Str(text) = &value.lit else { panic!("a doc comment that is no text") };
        let text = text.value();
        text.strip_prefix(' ').unwrap_or(&text).to_owned()
    });
    lines.collect()
}

fn integer(value: &Expr) -> i64 {
    match value {
        Expr::Unary(minus) => -integer(&minus.expr),
        Expr::Lit(number) => match &number.lit {
            Lit::Int(number) => number.base10_parse().unwrap(),
            _ => panic!("a constant of the interface is no number"),
        },
        _ => panic!("a constant of the interface is not written as a number"),
    }
}

/// Returns the signature of `Option<unsafe extern "C" fn(…) -> …>`.
fn callback(what: &syn::Type) -> Option<Signature> {
    let syn::Type::Path(path) = what else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    let GenericArgument::Type(syn::Type::BareFn(function)) = arguments.args.first()? else { return None };
    let parameters = function.inputs.iter().map(|input| {
        let (name, _) = input.name.as_ref().expect("a callback whose parameters have names");
        (name.to_string(), Type::of(&input.ty))
    });
    Some(Signature { parameters: parameters.collect(), result: result(&function.output) })
}

fn result(output: &ReturnType) -> Type {
    match output {
        ReturnType::Default => Type::Void,
        ReturnType::Type(_, what) => Type::of(what),
    }
}

impl Type {
    fn of(what: &syn::Type) -> Type {
        match what {
            syn::Type::Ptr(pointer) => {
                Type::Pointer { is_const: pointer.mutability.is_none(), to: Box::new(Type::of(&pointer.elem)) }
            }
            syn::Type::Array(array) => {
                let len = usize::try_from(integer(&array.len)).unwrap();
                Type::Array(Box::new(Type::of(&array.elem)), len)
            }
            syn::Type::Path(path) => match path.path.segments.last().unwrap().ident.to_string().as_str() {
                "c_void" => Type::Void,
                "c_char" => Type::Char,
                "i32" => Type::Int32,
                "u32" => Type::Uint32,
                "i64" => Type::Int64,
                "u64" => Type::Uint64,
                "size_t" => Type::Size,
                "f64" => Type::Double,
                name if name.starts_with("aside_") => Type::Named(name.to_owned()),
                name => panic!("{name} is not for C"),
            },
            _ => panic!("a type is not for C"),
        }
    }

    /// Returns the type that a pointer points to.
    pub fn target(&self) -> Option<&Type> {
        match self {
            Type::Pointer { to, .. } => Some(to),
            _ => None,
        }
    }

    pub fn is_pointer_to(&self, name: &str, constant: bool) -> bool {
        matches!(self, Type::Pointer { is_const, to }
            if *is_const == constant && matches!(&**to, Type::Named(named) if named == name))
    }
}

/// Reads the contents of `enumeration! { … }`; src/ffi/constants.rs documents them.
impl Parse for Enumeration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Enumeration> {
        let mut paragraphs = self::doc(&input.call(Attribute::parse_outer)?);
        let split = paragraphs.iter().position(String::is_empty);
        let values = split.map_or_else(Vec::new, |split| paragraphs.split_off(split)[1..].to_vec());
        let name = input.parse::<Ident>()?.to_string();
        input.parse::<Token![:]>()?;
        let word = input.fork().parse::<Ident>()?;
        let form = match word.to_string().as_str() {
            "i32" => Form::Status,
            "bits" => Form::Bits,
            _ => Form::Values,
        };
        if word == "bits" || word == "number" {
            // `of` and the type follow.
            input.parse::<Ident>()?;
            input.parse::<Ident>()?;
        }
        let mut rust = String::new();
        while !input.peek(syn::token::Brace) {
            rust += &input.parse::<proc_macro2::TokenTree>()?.to_string();
        }
        let inside;
        braced!(inside in input);
        let enumerators = Punctuated::<Enumerator, Token![,]>::parse_terminated(&inside)?.into_iter().collect();
        let about = paragraphs.join(" ");
        Ok(Enumeration { name, about, values, form, rust, enumerators, is_of_compress: false })
    }
}

impl Parse for Enumerator {
    fn parse(input: ParseStream<'_>) -> syn::Result<Enumerator> {
        let doc = self::doc(&input.call(Attribute::parse_outer)?);
        let name = input.parse::<Ident>()?.to_string();
        input.parse::<Token![=]>()?;
        let value = integer(&input.parse::<Expr>()?);
        if input.peek(Token![=>]) {
            input.parse::<Token![=>]>()?;
        }
        let mut rust = String::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            rust += &input.parse::<proc_macro2::TokenTree>()?.to_string();
        }
        Ok(Enumerator { name, doc, value, rust })
    }
}
