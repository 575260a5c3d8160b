//! Grammars of a dialect's calls for C, as one text with the limits of the grammar after it, so that one call frees both.

use libc::{c_char, size_t};

use super::bytes::{aside_bytes, optional_text, return_text};
use super::constants::*;
use super::dialect::aside_dialect;
use super::numbers::value;
use super::status::{fail_no_handle, fail_null, fail_with};
use crate::ToolChoice;

/// Returns a grammar that makes a model of the dialect write calls of these tools. `tools` has the tools of a request, as JSON.
/// `choice` is `auto` for free text with any number of calls in it, `required` for one call or several and nothing else, or the name
/// of a tool for one call of that tool and nothing else. Neither text needs a NUL. `docs/tool-calls.md` describes the grammars.
///
/// `start` is the place at which the text begins that the grammar constrains. `ASIDE_START_DEFAULT`: after the thinking, so that no
/// thinking may come. `ASIDE_START_CONTENT`: before the thinking, which may come; `ASIDE_START_HEADER`: the same in a dialect with
/// headers, if the prompt has begun the header. `ASIDE_START_THINKING`: in the thinking, whose opener is in the prompt.
///
/// The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. After this NUL, at
/// `result + *out_len + 1`, is a second text that ends in a NUL. It lists, in English, what the schemas of the tools demand and the
/// grammar cannot express, one line for each demand. NULL if that fails; `aside_last_status()` is then `ASIDE_ERROR_OPTION` with a message if the tools cannot
/// be read or are an empty list, if no tool has the name, if the format is unknown, if the dialect does not describe how calls are
/// written (with `auto`: nothing shows where a call begins), or if no grammar of the dialect starts there; `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. `*out_len` is written on success only.
///
/// Memory: if it runs out while the grammar is made, the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_grammar(
    dialect: *const aside_dialect,
    format: aside_grammar_format,
    tools: *const c_char,
    tools_len: size_t,
    choice: *const c_char,
    choice_len: size_t,
    start: aside_start,
    out_len: *mut size_t,
) -> *mut c_char {
    let mut grammar_len = 0;
    // SAFETY: the caller promises a dialect that is NULL or valid, texts of these lengths, and a length that may be written.
    unsafe {
        let out = return_text(out_len, || {
            let dialect = dialect.as_ref().ok_or_else(|| fail_no_handle("dialect"))?;
            let text = |at, len, what| optional_text(aside_bytes { at, len }, what)?.ok_or_else(|| fail_null(what));
            let (tools, choice) = (text(tools, tools_len, "tools")?, text(choice, choice_len, "choice")?);
            let (format, start) = (value(format, "format")?, value(start, "start")?);
            let grammar = dialect.dialect.grammar(format, tools, ToolChoice::named(choice), start);
            let grammar = grammar.map_err(|error| fail_with(ASIDE_ERROR_OPTION, error))?;
            grammar_len = grammar.text.len();
            Ok([grammar.text, grammar.limits.join("\n")].join("\0").into_bytes())
        });
        if !out.is_null() {
            out_len.write_unaligned(grammar_len);
        }
        out
    }
}
