//! Writes the counts of a rewriter in every language. The struct in `src/ffi` is their only description.

use crate::description::{Description, Field, Type};
use crate::words::{camel, translated, uncapitalized, wrap};

/// A count, or a flag, which C has as a number.
pub struct Count<'d> {
    name: &'d str,
    is_flag: bool,
    text: String,
}

pub fn read(description: &Description) -> Vec<Count<'_>> {
    let found = description.find_struct("aside_rewriter_stats").expect("a struct with the counts of a rewriter");
    let fields = found.fields.iter().filter(|field| !["size", "reserved"].contains(&&*field.name));
    fields.map(count).collect()
}

fn count(field: &Field) -> Count<'_> {
    let is_flag = field.what == Type::Uint32;
    let doc = field.doc.join(" ");
    let text = if is_flag { doc.replacen("1 if", "Whether", 1).replace(" Otherwise 0.", "") } else { doc };
    Count { name: &field.name, is_flag, text }
}

impl Count<'_> {
    /// Returns the comment. `word` writes the names in it.
    fn comment(&self, start: &str, width: usize, word: impl Fn(&str) -> String) -> String {
        let is_name = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let text = translated(&self.text, |text| is_name(text).then(|| word(text)));
        wrap(&text, width - start.len()).iter().map(|line| format!("{start}{line}\n")).collect()
    }

    fn of_javascript(&self) -> String {
        uncapitalized(&camel(self.name, &[]))
    }
}

/// Joins a line for each count.
fn lines(counts: &[Count<'_>], line: impl Fn(&Count<'_>) -> String) -> String {
    counts.iter().map(line).collect()
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Returns the struct, and the function that reads C's.
pub fn cpp(counts: &[Count<'_>]) -> String {
    let field = |count: &Count<'_>| {
        let what = if count.is_flag { "bool" } else { "std::uint64_t" };
        let default = if count.is_flag { "false" } else { "0" };
        format!("{}    {what} {} = {default};\n", count.comment("    /// ", 120, quoted), count.name)
    };
    let read = |count: &Count<'_>| {
        let is_set = if count.is_flag { " != 0" } else { "" };
        format!("    stats.{0} = raw.{0}{is_set};\n", count.name)
    };
    format!(
        "\n/// The counts of a rewriter since it was made or last reset.\nstruct Stats {{\n{}}};\n\nnamespace detail {{\n\n\
         inline Stats stats_of(const aside_rewriter_stats &raw) noexcept\n{{\n    Stats stats;\n{}    return stats;\n}}\n\n\
         }} // namespace detail\n",
        lines(counts, field),
        lines(counts, read),
    )
}

/// Returns Go's struct.
pub fn go(counts: &[Count<'_>]) -> String {
    let field = |count: &Count<'_>| {
        let what = if count.is_flag { "bool" } else { "uint64" };
        let comment = count.comment("\t// ", 118, |name| camel(name, &[]));
        format!("{}\t{} {what}\n", comment.replace('`', ""), camel(count.name, &[]))
    };
    let about = "Stats has the counts of a rewriter since it was made, or since the last Reset.";
    format!("\n// {about}\ntype Stats struct {{\n{}}}\n", lines(counts, field))
}

/// Returns the function that reads C's struct.
pub fn go_of_c(counts: &[Count<'_>]) -> String {
    let read = |count: &Count<'_>| {
        let value = match count.is_flag {
            true => format!("c.{} != 0", count.name),
            false => format!("uint64(c.{})", count.name),
        };
        format!("\tstats.{} = {value}\n", camel(count.name, &[]))
    };
    let head =
        "// statsOf returns the counts of a struct of C.\nfunc statsOf(c *C.aside_rewriter_stats) (stats Stats) {\n";
    format!("\n{head}{}\treturn stats\n}}\n", lines(counts, read))
}

/// Returns the function that reads the numbers that the WebAssembly writes.
pub fn go_of_numbers(counts: &[Count<'_>]) -> String {
    let read = |count: &Count<'_>| {
        let is_set = if count.is_flag { " != 0" } else { "" };
        format!("\tstats.{} = r.long(){is_set}\n", camel(count.name, &[]))
    };
    let head = "// stats reads the counts of a rewriter.\nfunc (r *reader) stats() (stats Stats) {\n";
    format!("\n{head}{}\treturn stats\n}}\n", lines(counts, read))
}

pub fn ruby(counts: &[Count<'_>]) -> String {
    let comment = |count: &Count<'_>| {
        let text = count.comment("", 110, |name| format!("+{name}+")).replace("`A", "<tt>A").replace('`', "</tt>");
        format!("    # +{}+:: {}\n", count.name, text.trim_end().replace('\n', "\n    #   "))
    };
    let members = counts.iter().map(|count| format!(":{}", count.name)).collect::<Vec<_>>().join(", ");
    let members = wrap(&members, 106).join("\n                       ");
    let about = "The counts of a rewriter since it was made or last reset, frozen:";
    format!("\n    # {about}\n    #\n{}    Stats = Struct.new({members})\n", lines(counts, comment))
}

pub fn ruby_signature(counts: &[Count<'_>]) -> String {
    lines(counts, |count| {
        let what = if count.is_flag { "bool" } else { "Integer" };
        format!("      attr_reader {}: {what}\n", count.name)
    })
}

/// Returns the class of the extension, and the function that makes it.
pub fn python(counts: &[Count<'_>]) -> String {
    let field = |count: &Count<'_>| {
        let what = if count.is_flag { "bool" } else { "u64" };
        format!("{}    {}: {what},\n", count.comment("    /// ", 120, quoted), count.name)
    };
    format!(
        "/// The counts of a rewriter since it was made or reset.\n#[pyclass(frozen, get_all, module = \"libaside\")]\n\
         pub struct Stats {{\n{}}}\n\nimpl From<aside::sse::Stats> for Stats {{\n    \
         fn from(stats: aside::sse::Stats) -> Stats {{\n        Stats {{\n{}        }}\n    }}\n}}\n",
        lines(counts, field),
        lines(counts, |count| format!("            {0}: stats.{0},\n", count.name)),
    )
}

pub fn python_stub(counts: &[Count<'_>]) -> String {
    lines(counts, |count| {
        let what = if count.is_flag { "bool" } else { "int" };
        format!("    @property\n    def {}(self) -> {what}: ...\n", count.name)
    })
}

/// Returns the list of names, in the order in which the WebAssembly writes the numbers.
pub fn javascript_list(counts: &[Count<'_>]) -> String {
    let names: Vec<_> = counts.iter().map(|count| format!("{:?}", count.of_javascript())).collect();
    format!("export const STATS = [\n  {},\n];\n", names.join(",\n  "))
}

pub fn javascript_types(counts: &[Count<'_>]) -> String {
    lines(counts, |count| {
        let what = if count.is_flag { "boolean" } else { "number" };
        let text = count.comment("", 115, |name| quoted(&uncapitalized(&camel(name, &[]))));
        let text = text.trim_end().replace('\n', "\n   * ");
        format!("  /** {text} */\n  readonly {}: {what};\n", count.of_javascript())
    })
}
