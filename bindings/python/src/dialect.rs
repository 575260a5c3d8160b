//! Dialects: found by name, model or template, or read from a file's text.

use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors;
use crate::text::Text;
use crate::words;

/// The way in which a family of models marks its thinking, its answer and its tool calls.
///
/// A dialect never changes, and may be used by all threads.
///
///     >>> from libaside import Dialect
///     >>> Dialect.find_for_model("Qwen/Qwen3-32B").name
///     'qwen3'
#[pyclass(frozen, module = "libaside")]
#[derive(Clone)]
pub struct Dialect {
    pub inner: aside::Dialect,
    origin: Origin,
}

/// The origin of a dialect, from which another process can make it again.
#[derive(Clone)]
enum Origin {
    Name,
    Model(String),
    File(String),
    ResponseTemplate(String),
    /// The library's object, without a known origin.
    Unknown,
}

impl From<aside::Dialect> for Dialect {
    fn from(inner: aside::Dialect) -> Dialect {
        Dialect { inner, origin: Origin::Unknown }
    }
}

/// A dialect that was drafted from a chat template.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct Draft {
    /// The text of the dialect file.
    toml: String,
    /// The dialect that the file describes.
    dialect: Dialect,
    /// The parts of the dialect that the template did not show, with the assumption for each: a line for each part.
    doubts: Vec<String>,
}

/// A grammar of calls, from `Dialect.grammar`.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct ToolGrammar {
    /// The grammar in its language.
    text: String,
    /// The facts that the schemas of the tools have and the grammar does not, in English.
    limits: Vec<String>,
}

/// A dialect, or the name of one.
pub enum DialectLike<'py> {
    Dialect(Bound<'py, Dialect>),
    Name(String),
}

impl<'py> FromPyObject<'_, 'py> for DialectLike<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<DialectLike<'py>> {
        if let Ok(dialect) = value.cast::<Dialect>() {
            return Ok(DialectLike::Dialect(dialect.to_owned()));
        }
        let name = value.cast::<PyString>();
        let name = name.map_err(|_| errors::wrong_type("a dialect is a Dialect or the name of one", &value))?;
        Ok(DialectLike::Name(name.to_str()?.to_owned()))
    }
}

impl DialectLike<'_> {
    /// Finds the dialect from the arguments of a function that takes a text and then a dialect. If only the text is the name of
    /// a dialect, the error says that the arguments are in the wrong order.
    pub fn find_after(&self, text: &Text<'_>) -> PyResult<aside::Dialect> {
        let DialectLike::Name(name) = self else { return self.find() };
        let is_name = |text: &[u8]| str::from_utf8(text).is_ok_and(|text| aside::Dialect::find(text).is_ok());
        aside::Dialect::find(name).map_err(|error| match text.bytes() {
            Ok(text) if is_name(text) => unknown(&error, "; the text comes first, then the dialect"),
            _ => unknown(&error, ""),
        })
    }

    pub fn find(&self) -> PyResult<aside::Dialect> {
        match self {
            DialectLike::Dialect(dialect) => Ok(dialect.get().inner.clone()),
            DialectLike::Name(name) => find(name),
        }
    }
}

pub fn find(name: &str) -> PyResult<aside::Dialect> {
    aside::Dialect::find(name).map_err(|error| unknown(&error, ""))
}

/// Returns the exception for a name that is not known, with advice after its message.
fn unknown(error: &aside::UnknownDialect, advice: &str) -> PyErr {
    let nearest = error.nearest().iter().map(ToString::to_string).collect();
    errors::unknown(format!("{error}{advice}"), nearest)
}

#[pymethods]
impl Dialect {
    /// Return the built-in dialect of this name. Raises UnknownDialectError, which has the nearest names.
    #[staticmethod]
    fn find(name: &str) -> PyResult<Dialect> {
        Ok(Dialect { inner: find(name)?, origin: Origin::Name })
    }

    /// Return the built-in dialect of a model, by the name that it has on a hub or in a server. Raises UnknownDialectError.
    #[staticmethod]
    fn find_for_model(model: &str) -> PyResult<Dialect> {
        let found = aside::Dialect::find_for_model(model);
        let inner = found.map_err(|error| {
            let nearest = error.nearest().map(|known| known.model.to_owned()).collect();
            errors::unknown(error.to_string(), nearest)
        })?;
        Ok(Dialect { inner, origin: Origin::Model(model.to_owned()) })
    }

    /// Return the built-in dialect that a chat template is written for, and where generation starts after its prompt: a
    /// pair of a dialect and a start. The template is read, never rendered, so the start is that of the branches that are taken
    /// by default. Raises UnknownDialectError; if several dialects fit equally well, AmbiguousDialectError, which has their names
    /// as `candidates`.
    ///
    ///     >>> from libaside import Dialect
    ///     >>> template = "{% if add_generation_prompt %}{{ '<|turn>model\\n<|channel>' }}{% endif %}"
    ///     >>> Dialect.find_for_template(template)
    ///     (Dialect("gemma-4"), 'thinking')
    #[staticmethod]
    fn find_for_template(py: Python<'_>, template: &str) -> PyResult<(Dialect, &'static str)> {
        let found = py.detach(|| aside::Dialect::find_for_template(template));
        let (inner, start) = found.map_err(|error| errors::template(&error))?;
        Ok((Dialect { inner, origin: Origin::Name }, start.as_str()))
    }

    /// Render a chat template with the variables of one request, and return the built-in dialect that it is written for, and
    /// where generation starts after this prompt: a pair of a dialect and a start. Variables that are left out, such as
    /// `messages`, have defaults. Raises UnknownDialectError, and AsideError if the template cannot be rendered.
    ///
    ///     >>> from libaside import Dialect
    ///     >>> template = "<|turn>model\\n{% if enable_thinking %}<|channel>{% endif %}"
    ///     >>> Dialect.find_for_rendered_template(template, {"enable_thinking": True})
    ///     (Dialect("gemma-4"), 'thinking')
    ///     >>> Dialect.find_for_rendered_template(template, {"enable_thinking": False})
    ///     (Dialect("gemma-4"), 'content')
    #[staticmethod]
    fn find_for_rendered_template(
        py: Python<'_>,
        template: &str,
        variables: &Bound<'_, PyDict>,
    ) -> PyResult<(Dialect, &'static str)> {
        let variables = to_json(variables.as_any())?;
        let found = py.detach(|| aside::Dialect::find_for_rendered_template(template, &variables));
        let (inner, start) = found.map_err(|error| errors::template(&error))?;
        Ok((Dialect { inner, origin: Origin::Name }, start.as_str()))
    }

    /// Draft a dialect from a chat template, for a model that has none: the template is rendered for conversations that differ in
    /// one part, and the differences show the text around thoughts, answers and calls. The draft has the text of a dialect file,
    /// for a person to read and to correct, and lists the parts that the template did not show.
    ///
    /// `name` is the name of the dialect; the name of a model, a file or a folder is accepted too. `bos_token` and `eos_token` are
    /// the texts of these variables, `special_tokens` the tokens that the tokenizer added. Raises AsideError if nothing can be
    /// drafted.
    ///
    ///     >>> from libaside import Dialect, strip
    ///     >>> turn = "<|{{ m.role }}|>{% if m.reasoning %}[[{{ m.reasoning }}]]{% endif %}{{ m.content }}<|end|>"
    ///     >>> prompt = "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    ///     >>> draft = Dialect.draft("{% for m in messages %}" + turn + "{% endfor %}" + prompt)
    ///     >>> strip("[[hm]]Yes.<|end|>", draft.dialect)
    ///     'Yes.'
    ///     >>> draft.doubts
    ///     ['no calls were seen']
    #[staticmethod]
    #[pyo3(signature = (template, *, name=None, bos_token=None, eos_token=None, special_tokens=Vec::new()))]
    fn draft(
        py: Python<'_>,
        template: &str,
        name: Option<&str>,
        bos_token: Option<String>,
        eos_token: Option<String>,
        special_tokens: Vec<String>,
    ) -> PyResult<Draft> {
        let mut source = aside::ChatTemplate::new(template).named(name.unwrap_or_default());
        (source.begin_of_text, source.end_of_text, source.special) = (bos_token, eos_token, special_tokens);
        let draft = py.detach(|| aside::Dialect::draft(&source));
        let draft = draft.map_err(|error| errors::AsideError::new_err(error.to_string()))?;
        let dialect = Dialect { inner: draft.dialect, origin: Origin::File(draft.toml.clone()) };
        Ok(Draft { toml: draft.toml, dialect, doubts: draft.doubts })
    }

    /// Return the dialect that a dialect file describes; `toml` is the text of the file. Raises DialectError, which has the
    /// line and the key.
    ///
    ///     >>> from libaside import Dialect, strip
    ///     >>> toml = 'name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["[["]\nclose = ["]]"]'
    ///     >>> strip("[[hm]] Yes.", Dialect.load(toml))
    ///     'Yes.'
    #[staticmethod]
    fn load(py: Python<'_>, toml: &str) -> PyResult<Dialect> {
        let inner = py.detach(|| aside::Dialect::load(toml)).map_err(|error| errors::file(&error))?;
        Ok(Dialect { inner, origin: Origin::File(toml.to_owned()) })
    }

    /// Return the dialect that a response template describes; `json` is the `response_template` of a model's
    /// `tokenizer_config.json`, or that file's text. Raises DialectError, which has the key of the part that is not read.
    ///
    ///     >>> import json
    ///     >>> from libaside import Dialect, strip
    ///     >>> fields = {"thinking": {"open": "<t>", "close_pattern": r"</t>\s*"}, "content": {}}
    ///     >>> template = json.dumps({"start_anchor": "<|assistant|>", "fields": fields})
    ///     >>> strip("<t>hm</t> Yes.", Dialect.from_response_template(template))
    ///     'Yes.'
    #[staticmethod]
    fn from_response_template(py: Python<'_>, json: &str) -> PyResult<Dialect> {
        let read = py.detach(|| aside::Dialect::from_response_template(json));
        let inner = read.map_err(|error| errors::file(&error))?;
        Ok(Dialect { inner, origin: Origin::ResponseTemplate(json.to_owned()) })
    }

    /// Return the names of the built-in dialects, in alphabetical order.
    ///
    ///     >>> from libaside import Dialect
    ///     >>> "qwen3" in Dialect.names()
    ///     True
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        aside::Dialect::names().collect()
    }

    /// The dialect's name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The span that is open where a stream starts, unless the scanner has an option `start`.
    #[getter]
    fn start(&self) -> &'static str {
        self.inner.start().as_str()
    }

    /// The spans that may be open where a stream starts.
    #[getter]
    fn starts(&self) -> PyResult<Vec<&'static str>> {
        let channels = aside::Channel::ALL.into_iter().map(aside::Start::Channel);
        let mut starts = Vec::new();
        for start in channels.chain([aside::Start::Header]) {
            match aside::Scanner::with_options(&self.inner, &aside::ScannerOptions::new().start(start)) {
                Ok(_) => starts.push(start.as_str()),
                Err(aside::Error::NoSuchStart) => {}
                Err(error) => return Err(errors::scanner(error)),
            }
        }
        Ok(starts)
    }

    /// The largest number of bytes of a stream that are held back until their role is clear.
    #[getter]
    fn max_hold(&self) -> usize {
        self.inner.max_hold()
    }

    /// Return a grammar that makes a model of the dialect write calls of these tools, as a structural tag for xgrammar
    /// (`format="xgrammar"`) or as Lark for llguidance (`"lark"`). `tools` are those of a request, as a list or as JSON.
    ///
    /// With the choice `auto`, the grammar has free text with any number of calls in it; with `required`, one call or several and
    /// nothing else; with the name of a tool, one call of that tool and nothing else. `start` is the place at which the text begins that
    /// the grammar constrains. None: after the thinking, so that no thinking may come; "content": before the thinking, which may
    /// come; "header": the same in a dialect with headers, if the prompt has begun the header; "thinking": in the thinking, whose
    /// opener is in the prompt. Raise ValueError if the tools cannot be read, if no tool has the name, if the dialect does not
    /// describe how calls are written, or if no grammar of the dialect starts there.
    ///
    ///     >>> from libaside import Dialect
    ///     >>> grammar = Dialect.find("glm-4.5").grammar("lark", [{"name": "now"}], "now")
    ///     >>> grammar.text.splitlines()[1].startswith('start: "<tool_call>"'), grammar.limits
    ///     (True, [])
    #[pyo3(signature = (format, tools, choice = "auto", start = None))]
    fn grammar(
        &self,
        format: &str,
        tools: &Bound<'_, PyAny>,
        choice: &str,
        start: Option<&str>,
    ) -> PyResult<ToolGrammar> {
        let format = words::find("format", format)?;
        let choice = aside::ToolChoice::named(choice);
        let grammar = self.inner.grammar(format, &json_of(tools)?, choice, self::start(start)?);
        let aside::ToolGrammar { text, limits, .. } = grammar.map_err(errors::value)?;
        Ok(ToolGrammar { text, limits })
    }

    /// Returns how pickle makes the dialect again: the function and its argument.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&str,))> {
        let (function, argument) = match &self.origin {
            Origin::Name => ("find", self.inner.name()),
            Origin::Model(model) => ("find_for_model", model.as_str()),
            Origin::File(toml) => ("load", toml.as_str()),
            Origin::ResponseTemplate(json) => ("from_response_template", json.as_str()),
            Origin::Unknown => {
                let message = "this dialect is a scanner's or a server's: pickle the one that it was made with";
                return Err(PyTypeError::new_err(message));
            }
        };
        Ok((py.get_type::<Dialect>().getattr(function)?, (argument,)))
    }

    fn __repr__(&self) -> String {
        format!("Dialect({:?})", self.inner.name())
    }
}

/// Returns JSON that the caller has given as a text, or as an object.
pub fn json_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract::<String>().or_else(|_| to_json(value))
}

/// Returns a Python value as JSON; raises an exception if JSON cannot represent the value.
pub fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.py().import("json")?.call_method1("dumps", (value,))?.extract()
}

/// Returns the start of this name.
pub fn start(name: Option<&str>) -> PyResult<Option<aside::Start>> {
    name.map(|name| name.parse().map_err(errors::value)).transpose()
}
