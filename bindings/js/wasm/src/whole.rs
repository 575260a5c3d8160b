//! Whole texts: stripped, joined and escaped. The result is the output's bytes.

use aside::{JoinCall, JoinOptions};

use crate::failure::Failure;
use crate::host::Host;
use crate::options::start;
use crate::words;

pub fn strip(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let text = host.arguments().bytes();
    host.output.bytes = host.objects.dialects.get(dialect)?.strip(text)?;
    Ok(0)
}

pub fn escape(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let text = host.arguments().bytes();
    host.output.bytes = host.objects.dialects.get(dialect)?.escape(text)?;
    Ok(0)
}

pub fn join(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (thinking, content) = (arguments.bytes(), arguments.bytes());
    let markers = words::find("markers", &arguments.text())?;
    let from = arguments.text();
    let from = if from.is_empty() { None } else { Some(start(&from)?) };
    let mut calls = Vec::new();
    while let Some(name) = arguments.next_text() {
        calls.push((name, arguments.text(), arguments.text()));
    }
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, arguments, id)| JoinCall::new(name, arguments).id((!id.is_empty()).then_some(&**id)))
        .collect();
    let options = JoinOptions::new().start(from).markers(markers).calls(&calls);
    host.output.bytes = host.objects.dialects.get(dialect)?.join(thinking, content, &options)?;
    Ok(0)
}
