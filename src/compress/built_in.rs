//! The filters that know no single tool: A1 to A7 of `docs/compress.md`.

use super::{
    budget,
    command::Invocation,
    draft::Edit,
    filter::{Kind, Pass, Stage},
    input::Input,
    long, minify, paths,
    protect::Format,
    repeats, terminal,
    text::Text,
};

/// All but the one that a host must ask for.
pub fn passes() -> Vec<Box<dyn Pass>> {
    vec![
        plain("terminal", Kind::Normalise, Stage::Terminal, |text, _, _| terminal::edits(text.bytes, text.goes_on)),
        // Of what a program read from a file, only repeats that a marker tells of; what looks like progress is none.
        plain("repeats", Kind::Select, Stage::General, |text, input, _| repeats::adjacent(text, shows_files(input))),
        Box::new(Distant),
        plain("long-lines", Kind::Select, Stage::General, |text, _, limit| long::edits(text, limit)),
        Box::new(Paths),
        plain("budget", Kind::Select, Stage::Last, |text, _, limit| budget::edits(text, limit)),
    ]
}

/// A5, the only filter for text that is protected as JSON.
pub fn minify_json() -> Box<dyn Pass> {
    Box::new(MinifyJson)
}

type Edits = fn(Text<'_>, &Input, usize) -> Vec<Edit>;

fn plain(id: &'static str, kind: Kind, stage: Stage, edits: Edits) -> Box<dyn Pass> {
    Box::new(Plain { id, kind, stage, edits })
}

/// A filter for any text of any tool.
struct Plain {
    id: &'static str,
    kind: Kind,
    stage: Stage,
    edits: Edits,
}

impl Pass for Plain {
    fn id(&self) -> &str {
        self.id
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    fn edits(&self, text: Text<'_>, input: &Input, limit: usize) -> Vec<Edit> {
        (self.edits)(text, input, limit)
    }
}

/// A3 leaves alone what a program read from a file: there a line that occurs twice is there twice.
struct Distant;

const READERS: [&str; 13] =
    ["cat", "bat", "sed", "head", "tail", "less", "more", "nl", "tac", "xxd", "od", "hexdump", "strings"];

fn shows_files(input: &Input) -> bool {
    input.invocations().iter().any(|run| run.prints() && reads_files(run))
}

fn reads_files(run: &Invocation) -> bool {
    let is_reader = |name: &str| READERS.contains(&name);
    match run.command() {
        // find -exec cat {} +
        "find" => run.words().windows(2).any(|pair| pair[0].starts_with("-exec") && is_reader(&pair[1])),
        // git show HEAD:file
        "git" => run.subcommand() == Some("show") && run.words().iter().any(|word| word.contains(':')),
        name => is_reader(name),
    }
}

impl Pass for Distant {
    fn id(&self) -> &str {
        "repeats-above"
    }

    fn kind(&self) -> Kind {
        Kind::Select
    }

    fn stage(&self) -> Stage {
        Stage::General
    }

    fn matches(&self, _: &str, input: &Input) -> bool {
        !shows_files(input)
    }

    fn edits(&self, text: Text<'_>, _: &Input, _: usize) -> Vec<Edit> {
        repeats::distant(text)
    }
}

/// A4, for programs that print lists of paths.
struct Paths;

const LISTERS: [&str; 10] = ["grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "locate"];

impl Pass for Paths {
    fn id(&self) -> &str {
        "paths"
    }

    fn kind(&self) -> Kind {
        Kind::Refold
    }

    fn stage(&self) -> Stage {
        Stage::Fold
    }

    fn matches(&self, _: &str, input: &Input) -> bool {
        input.invocation().is_some_and(|run| {
            LISTERS.contains(&run.command())
                || run.command() == "git" && matches!(run.subcommand(), Some("grep" | "ls-files"))
        })
    }

    fn edits(&self, text: Text<'_>, _: &Input, _: usize) -> Vec<Edit> {
        paths::edits(text)
    }

    fn is_undone(&self, old: &[u8], new: &[u8]) -> bool {
        paths::unfold(new) == old
    }
}

struct MinifyJson;

impl Pass for MinifyJson {
    fn id(&self) -> &str {
        "minify-json"
    }

    fn kind(&self) -> Kind {
        Kind::Refold
    }

    fn stage(&self) -> Stage {
        Stage::Tool
    }

    fn accepts(&self, format: Format) -> bool {
        format == Format::Json
    }

    fn edits(&self, text: Text<'_>, _: &Input, _: usize) -> Vec<Edit> {
        if super::protect::format(text.bytes) != Some(Format::Json) {
            return Vec::new();
        }
        let how = super::draft::How::Replace(minify::minify(text.bytes));
        vec![Edit { range: 0..text.bytes.len(), how }]
    }

    fn is_undone(&self, old: &[u8], new: &[u8]) -> bool {
        minify::same_tokens(old, new)
    }
}
