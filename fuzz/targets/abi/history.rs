//! Rewrites requests through the C functions: any body with any options. The results must be those of the Rust functions.

use std::ptr;

use aside::history::{Format, Made, Missing, Name, Options, Outcome, Server, Turns, rewrite};
use support::c::*;

use super::super::Input;
use super::BUILT_IN;
use super::texts::owned;
use super::version::{Version, is_version, size};

/// Parts of requests, some of which form a whole request.
const PARTS: [&str; 24] = [
    "{\"messages\":[",
    "{\"input\":[",
    "{\"role\":\"assistant\",\"content\":",
    "{\"role\":\"user\",\"content\":\"a\"}",
    "{\"type\":\"reasoning\",\"id\":\"rs_msg_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"a\"}]}",
    "\"reasoning_content\":\"a\"",
    "\"thinking\":\"</think>\"",
    "\"reasoning\":null",
    "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"\\ud83d\"}]",
    "[{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"\"},{\"type\":\"text\",\"text\":\"b\"}]",
    "{\"type\":\"thinking\",\"thinking\":\"\"}",
    "\"b\"",
    "null",
    "[",
    "]",
    "}",
    ",",
    "]}",
    " \n",
    "\"role\":\"assistant\"",
    "\"conversation\":1",
    "\\",
    "\u{e9}",
    "{",
];

/// Returns a whole request of one message, or some parts.
fn body(input: &mut Input<'_>) -> Vec<u8> {
    let mut part = || PARTS[input.below(PARTS.len())];
    let parts: Vec<&str> = match part() {
        "{\"messages\":[" => vec!["{\"messages\":[", PARTS[2], PARTS[9 + part().len() % 4], ",", part(), "}]}"],
        "{\"input\":[" => vec!["{\"input\":[", PARTS[4], ",", part(), "]}"],
        first => (0..part().len() % 9).map(|_| part()).chain([first]).collect(),
    };
    let mut body = parts.concat().into_bytes();
    let at = input.below(body.len() + 1);
    body.splice(at..at, input.bytes(usize::from(at % 16 == 15)).iter().copied());
    body
}

pub fn run(input: &mut Input<'_>) {
    let body = body(input);
    let pair = BUILT_IN[input.below(BUILT_IN.len())];
    let name = &pair.reference.name;
    let options = HistoryOptions {
        size: size::<HistoryOptions>(input),
        dialect: match input.byte() {
            0..250 => unsafe { aside_dialect_find(name.as_ptr(), name.len()) },
            _ => ptr::null_mut(),
        },
        max_body: [0, 0, 0, 40][input.below(4)],
        format: input.one_of(&[FORMAT_CHAT, FORMAT_RESPONSES, FORMAT_MESSAGES]),
        name: input.one_of(&[
            HISTORY_NAME_AS_IS,
            HISTORY_NAME_REASONING_CONTENT,
            HISTORY_NAME_REASONING,
            HISTORY_NAME_THINKING,
            HISTORY_NAME_REASONING_DETAILS,
            HISTORY_NAME_PARTS,
            HISTORY_NAME_REASONING_TEXT,
            HISTORY_NAME_SUMMARY,
            HISTORY_NAME_TEXT,
        ]),
        turns: input.one_of(&[HISTORY_TURNS_ALL, HISTORY_TURNS_SINCE_USER, HISTORY_TURNS_NONE]),
        missing: input.one_of(&[HISTORY_MISSING_LEAVE, HISTORY_MISSING_EMPTY, HISTORY_MISSING_REMOVE]),
        made: input.one_of(&[HISTORY_MADE_KEEP, HISTORY_MADE_REMOVE]),
        reserved: u32::from(input.byte() == 255),
    };
    let mut given = Version::given(input, options);
    let mut report = Version::new(HistoryReport { size: size::<HistoryReport>(input), ..HistoryReport::default() });
    let got = owned(|len| unsafe { aside_history_rewrite(given.at(), body.as_ptr(), body.len(), report.at(), len) });
    let is_text = options.name == HISTORY_NAME_TEXT;
    let refused = match options {
        _ if !is_version(options.size, size_of::<HistoryOptions>()) => SIZE,
        _ if given.has_more() || options.reserved != 0 => OPTION,
        _ if is_text && options.dialect.is_null() => NULL,
        _ if [options.name, options.format, options.turns, options.missing, options.made].contains(&99) => OPTION,
        _ if !is_version(report.get().size, size_of::<HistoryReport>()) => SIZE,
        _ => OK,
    };
    if refused != OK {
        return assert_eq!(got, Err(refused));
    }
    let rust = rust(&options, &pair.library);
    let (wanted, done) = rewrite(&body, &rust).unwrap();
    assert_eq!(got.unwrap(), wanted);
    let report = report.get();
    let outcome = [
        (HISTORY_OUTCOME_READ, Outcome::Read),
        (HISTORY_OUTCOME_TOO_LONG, Outcome::TooLong),
        (HISTORY_OUTCOME_NOT_UTF8, Outcome::NotUtf8),
        (HISTORY_OUTCOME_NOT_REQUEST, Outcome::NotRequest),
        (HISTORY_OUTCOME_REPEATED, Outcome::Repeated),
        (HISTORY_OUTCOME_STORED, Outcome::Stored),
    ];
    assert!(outcome.contains(&(report.outcome, done.outcome)));
    assert_eq!(
        (report.changed, report.refused, report.unread, report.thinking_off),
        (done.changed, done.refused, done.unread, u32::from(done.thinking_off)),
    );
    let (again, second) = rewrite(&wanted, &rust).unwrap();
    assert!(again == wanted && second.changed == 0 || done.outcome == Outcome::TooLong, "{}", body.escape_ascii());
    servers(input, &body);
}

/// Returns the options for Rust.
fn rust(options: &HistoryOptions, dialect: &aside::Dialect) -> Options {
    let format = match options.format {
        FORMAT_CHAT => Format::Chat,
        FORMAT_RESPONSES => Format::Responses,
        _ => Format::Messages,
    };
    let name = match options.name {
        HISTORY_NAME_AS_IS => Name::AsIs,
        HISTORY_NAME_REASONING_CONTENT => Name::ReasoningContent,
        HISTORY_NAME_REASONING => Name::Reasoning,
        HISTORY_NAME_THINKING => Name::Thinking,
        HISTORY_NAME_REASONING_DETAILS => Name::ReasoningDetails,
        HISTORY_NAME_PARTS => Name::Parts,
        HISTORY_NAME_REASONING_TEXT => Name::ReasoningText,
        HISTORY_NAME_SUMMARY => Name::Summary,
        _ => Name::Text(dialect.clone()),
    };
    Options::new(format)
        .name(name)
        .turns([Turns::All, Turns::SinceUser, Turns::None][options.turns as usize])
        .missing([Missing::Leave, Missing::Empty, Missing::Remove][options.missing as usize])
        .made([Made::Keep, Made::Remove][options.made as usize])
        .max_body((options.max_body > 0).then_some(options.max_body as usize))
}

/// Arbitrary names, files and paths.
fn servers(input: &mut Input<'_>, text: &[u8]) {
    let names: Vec<&str> = Server::names().collect();
    let index = input.below(names.len() + 2);
    let mut options = HistoryOptions { size: size_of::<HistoryOptions>(), ..HistoryOptions::default() };
    let (mut len, mut format) = (77, 77);
    unsafe {
        let name = aside_history_server_name_at(index, &mut len);
        assert_eq!(name.is_null(), index >= names.len());
        if let Some(known) = names.get(index) {
            assert_eq!(std::slice::from_raw_parts(name, len), known.as_bytes());
            let status = aside_history_server_find(name, len, FORMAT_CHAT, &mut options);
            let wanted = Server::find(known).unwrap().options(Format::Chat).is_some();
            assert_eq!(status, if wanted { OK } else { NONE });
        }
        assert_eq!(aside_history_server_find(ptr::null(), 1, FORMAT_CHAT, &mut options), NULL);
        assert_eq!(aside_history_server_load(text.as_ptr(), text.len(), FORMAT_CHAT, &mut options), DIALECT);
        let path = [&b"/v1/messages"[..], b"/v1/models", text][index % 3];
        let wanted = Format::of_path(path);
        let status = aside_history_format(path.as_ptr(), path.len(), &mut format);
        assert_eq!(status, if wanted.is_some() { OK } else { NONE });
        assert_eq!(format, wanted.map_or(77, |format| format as u32));
    }
}
