//! `aside hook --stats`: counts of the hook's results, by tool, so that a user sees whether the hook is useful.

use std::collections::BTreeMap;
use std::process::ExitCode;

use crate::output::write_out;
use crate::state::Count;
use crate::stop::Stop;

#[derive(Default)]
struct Row {
    results: usize,
    before: usize,
    after: usize,
    recalls: usize,
    is_unknown: bool,
}

pub fn show() -> Result<ExitCode, Stop> {
    let counts = Count::all().map_err(|error| Stop::io("the state folder", &error))?;
    let tools = Count::tools(&counts);
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for count in &counts {
        match count {
            Count::Result { tool, bytes, .. } => {
                let row = rows.entry(tool).or_default();
                row.results += 1;
                row.is_unknown = bytes.is_none();
                let (before, after) = bytes.unwrap_or_default();
                (row.before, row.after) = (row.before + before, row.after + after);
            }
            Count::Recall { id } => {
                rows.entry(tools.get(id.as_str()).copied().unwrap_or("aside squeeze")).or_default().recalls += 1;
            }
        }
    }
    let mut text = format!("{:24} {:>8} {:>12} {:>12} {:>8}\n", "tool", "results", "bytes in", "bytes out", "recalls");
    for (tool, row) in &rows {
        let Row { results, before, after, recalls, is_unknown } = row;
        text += &match is_unknown {
            true => format!("{tool:24} {results:>8} left alone: the form of its results is not known\n"),
            false => format!("{tool:24} {results:>8} {before:>12} {after:>12} {recalls:>8}\n"),
        };
    }
    write_out(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
