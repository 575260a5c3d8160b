//! The functions of the module, and the only code in this crate that needs `unsafe`: for their names, which must be unique in the
//! module. Objects and options are numbers; texts are passed in through the window (`push`, `extend`, or the number of bytes in it)
//! and out through the output. A result below 0 is a failure.

#![allow(unsafe_code)]

use crate::host::{WINDOW, run, with};
#[cfg(feature = "streams")]
use crate::{answers, dialects, gate, history, rewriters, scanners, whole};

/// Exports functions under their own names.
macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)+) => {$(
        $(#[$doc])*
        // SAFETY: the name is defined once, and no code that is linked into the module defines a second function of that name.
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> $result $body
    )+};
}

export! {
    /// Returns the address of the window.
    fn window() -> u32 { with(|host| host.window.as_ptr() as u32) }

    /// Returns the length of the window in bytes.
    fn window_size() -> u32 { WINDOW as u32 }

    /// Returns the address of the words that hold the place of the output.
    fn results() -> u32 { with(|host| host.results.as_ptr() as u32) }

    /// Makes the bytes in the window an argument of the next function. Returns 0, or 1 if there is no memory.
    fn push(len: u32) -> u32 {
        with(|host| host.arguments.push(Vec::new()));
        extend(len)
    }

    /// Adds the bytes in the window to the last argument. Returns the result of `push`.
    fn extend(len: u32) -> u32 {
        with(|host| {
            let Some(last) = host.arguments.last_mut() else { return 1 };
            let bytes = &host.window[..len as usize];
            if last.try_reserve(bytes.len()).is_err() {
                host.arguments.clear();
                return 1;
            }
            last.extend_from_slice(bytes);
            0
        })
    }
}

#[cfg(feature = "streams")]
export! {
    /// Arguments: a name, the name of a model, a template, or the text of a file.
    fn dialect_find(how: u32) -> i32 { run(|host| dialects::find(host, how)) }
    fn version() -> i32 { run(dialects::version) }
    fn dialect_names() -> i32 { run(dialects::names) }
    fn dialect_starts(dialect: u32) -> i32 { run(|host| dialects::starts(host, dialect)) }
    fn dialect_label(dialect: u32, rule: u32, tag: i32) -> i32 { run(|host| dialects::label(host, dialect, rule, tag)) }
    fn dialect_free(dialect: u32) -> u32 { with(|host| u32::from(host.objects.dialects.remove(dialect).is_some())) }

    /// Arguments: names and values of options.
    fn scanner_new(dialect: u32) -> i32 { run(|host| scanners::new(host, dialect)) }
    fn scanner_free(scanner: u32) -> u32 { with(|host| u32::from(host.objects.scanners.remove(scanner).is_some())) }
    fn scanner_events(scanner: u32, step: u32, len: u32) -> i32 { run(|host| scanners::events(host, scanner, step, len)) }
    fn scanner_split(scanner: u32, step: u32, len: u32, part: u32) -> i32 {
        run(|host| scanners::split(host, scanner, step, len, part))
    }
    /// Arguments: a text, the lengths of its tokens, and which are special.
    fn scanner_tokens(scanner: u32) -> i32 { run(|host| scanners::tokens(host, scanner)) }
    fn scanner_prompt(scanner: u32) -> i32 { run(|host| scanners::start_from_prompt(host, scanner)) }
    fn scanner_end_reason(scanner: u32) -> i32 { run(|host| scanners::end_reason(host, scanner)) }
    fn scanner_state(scanner: u32) -> i32 { run(|host| scanners::state(host, scanner)) }
    fn scanner_counts(scanner: u32) -> i32 { run(|host| scanners::counts(host, scanner)) }
    fn scanner_take_thought(scanner: u32) -> i32 { run(|host| scanners::take_thought(host, scanner)) }
    fn scanner_copy(scanner: u32) -> i32 { run(|host| scanners::copy(host, scanner)) }
    fn scanner_reset(scanner: u32) -> i32 { run(|host| scanners::reset(host, scanner)) }

    /// Arguments: names and values of options.
    fn answer_new(dialect: u32) -> i32 { run(|host| answers::new(host, dialect)) }
    fn answer_free(answer: u32) -> u32 { with(|host| u32::from(host.objects.answers.remove(answer).is_some())) }
    /// The step is 0 to feed the text in the window, 1 to flush, 2 to force the close.
    fn answer_feed(answer: u32, step: u32, len: u32) -> i32 { run(|host| answers::feed(host, answer, step, len)) }
    /// Arguments: a text, the lengths of its tokens, and which are special.
    fn answer_tokens(answer: u32) -> i32 { run(|host| answers::tokens(host, answer)) }
    /// Argument: the reason.
    fn answer_finish(answer: u32) -> i32 { run(|host| answers::finish(host, answer)) }
    fn answer_prompt(answer: u32) -> i32 { run(|host| answers::start_from_prompt(host, answer)) }
    fn answer_use_tools(answer: u32) -> i32 { run(|host| answers::use_tools(host, answer)) }
    fn answer_reset(answer: u32) -> i32 { run(|host| answers::reset(host, answer)) }
    fn answer_held(answer: u32) -> i32 { run(|host| answers::held(host, answer)) }
    fn answer_counts(answer: u32) -> i32 { run(|host| answers::counts(host, answer)) }

    /// Arguments: names and values of options.
    fn rewriter_new(dialect: u32) -> i32 { run(|host| rewriters::new(host, dialect)) }
    fn rewriter_free(rewriter: u32) -> u32 { with(|host| u32::from(host.objects.rewriters.remove(rewriter).is_some())) }
    fn rewriter_feed(rewriter: u32, len: u32) -> i32 { run(|host| rewriters::feed(host, rewriter, len)) }
    fn rewriter_finish(rewriter: u32) -> i32 { run(|host| rewriters::finish(host, rewriter)) }
    fn rewriter_reset(rewriter: u32) -> i32 { run(|host| rewriters::reset(host, rewriter)) }
    fn rewriter_use_dialect(rewriter: u32, dialect: i32) -> i32 { run(|host| rewriters::use_dialect(host, rewriter, dialect)) }
    fn rewriter_use_tools(rewriter: u32) -> i32 { run(|host| rewriters::use_tools(host, rewriter)) }
    fn rewriter_prompt(rewriter: u32) -> i32 { run(|host| rewriters::start_from_prompt(host, rewriter)) }
    fn rewriter_stats(rewriter: u32) -> i32 { run(|host| rewriters::stats(host, rewriter)) }

    fn text_strip(dialect: u32) -> i32 { run(|host| whole::strip(host, dialect)) }
    fn text_escape(dialect: u32) -> i32 { run(|host| whole::escape(host, dialect)) }
    /// Arguments: thinking, content, how markers are treated, the start, and for each call its name, arguments and id.
    fn text_join(dialect: u32) -> i32 { run(|host| whole::join(host, dialect)) }

    /// Arguments: path, content type, content encoding, formats.
    fn gate_wants(status: u32) -> i32 { run(|host| gate::wants(host, status)) }
    /// Arguments: path, method, formats.
    fn gate_hint() -> i32 { run(gate::request_hint) }
    fn gate_model() -> i32 { run(gate::request_model) }
    /// Arguments: path, body.
    fn gate_request() -> i32 { run(gate::read_request) }

    /// Arguments: the body, the format, names and values of options. The dialect is -1 if there is none.
    fn history_rewrite(dialect: i32) -> i32 { run(|host| history::rewrite(host, dialect)) }
    fn history_format() -> i32 { run(history::format) }
    /// Arguments: the name of the server, the format.
    fn history_server() -> i32 { run(history::server) }
}

#[cfg(feature = "tools")]
use crate::tools;

#[cfg(feature = "tools")]
export! {
    /// Arguments: names and values of options.
    fn compressor_new() -> i32 { run(tools::new) }
    fn compressor_free(compressor: u32) -> u32 {
        with(|host| u32::from(host.objects.compressors.remove(compressor).is_some()))
    }
    /// Arguments: the tool, its input, and the text.
    fn compressor_compress(compressor: u32, is_command: u32) -> i32 { run(|host| tools::compress(host, compressor, is_command)) }
    /// Arguments: the tool and its input.
    fn stream_new(compressor: u32, is_command: u32, memory: u32) -> i32 {
        run(|host| tools::stream(host, compressor, is_command, memory))
    }
    fn stream_free(stream: u32) -> u32 { with(|host| u32::from(host.objects.streams.remove(stream).is_some())) }
    fn stream_feed(stream: u32, len: u32) -> i32 { run(|host| tools::feed(host, stream, len)) }
    fn stream_exit_code(stream: u32, code: i32) -> i32 { run(|host| tools::set_exit_code(host, stream, code)) }
    fn stream_finish(stream: u32) -> i32 { run(|host| tools::finish(host, stream)) }
}
