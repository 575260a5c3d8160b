//! The driver of Rust: README.md says what it reads and writes.

use std::error::Error;
use std::io::{BufRead, Write};

use aside::answer::{Answer, Options, Part, Tools};
use aside::sse::Rewriter;
use aside::{Channel, Dialect, EndReason, Event, Kind, Scanner, ScannerOptions, Start, sse};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split(' ').collect();
        let answer = answer(&fields).unwrap_or_else(|error| format!("! {error}"));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(fields: &[&str]) -> Result<String, Box<dyn Error>> {
    let (dialect, start) = (Dialect::find(fields[1])?, fields[2]);
    let start: Option<Start> = (start != "-").then(|| start.parse()).transpose()?;
    match fields[0] {
        "scan" => scan(&dialect, start, &fields[3..]),
        "answer" => read(&dialect, start, fields[3], &fields[4..]),
        _ => rewrite(&dialect, start, &fields[3..]),
    }
}

fn scan(dialect: &Dialect, start: Option<Start>, chunks: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start))?;
    let mut texts = [const { Vec::new() }; 4];
    let mut take = |event: Event<'_>| match event.kind {
        Kind::Text => texts[event.channel as usize].extend_from_slice(event.bytes),
        Kind::Reclassify => {
            let other = if event.channel == Channel::Thinking { Channel::Content } else { Channel::Thinking };
            let moved = std::mem::take(&mut texts[other as usize]);
            texts[event.channel as usize].extend(moved);
        }
        _ => {}
    };
    for chunk in chunks {
        scanner.feed(bytes(chunk)?, &mut take)?;
    }
    scanner.finish(&mut take)?;
    Ok(texts.map(|text| hex(&text)).join(" "))
}

fn read(dialect: &Dialect, start: Option<Start>, tools: &str, chunks: &[&str]) -> Result<String, Box<dyn Error>> {
    let tools = match tools {
        "-" => None,
        tools => Some(Tools::read(&String::from_utf8(bytes(tools)?)?)?),
    };
    let options = Options::new().scanner(ScannerOptions::new().start(start)).tools(tools);
    let mut answer = Answer::new(dialect, &options)?;
    let (mut thinking, mut content, mut calls) = (Vec::new(), Vec::new(), Vec::<(String, String, bool)>::new());
    let mut take = |part: Part<'_>| match part {
        Part::Thinking(text) => thinking.extend_from_slice(text),
        Part::Content(text) => content.extend_from_slice(text),
        Part::Call { name, .. } => calls.push((name.to_owned(), String::new(), false)),
        Part::Arguments { index, json } => calls[index as usize].1.push_str(json),
        Part::CallEnd { index, is_whole, .. } => calls[index as usize].2 = is_whole,
        _ => {}
    };
    for chunk in chunks {
        answer.feed(bytes(chunk)?, &mut take)?;
    }
    answer.finish(EndReason::Unknown, &mut take)?;
    let of_call = |(name, arguments, is_whole): (String, String, bool)| {
        format!("{} {} {}", hex(name.as_bytes()), hex(arguments.as_bytes()), u8::from(is_whole))
    };
    let texts = [hex(&thinking), hex(&content)];
    Ok(texts.into_iter().chain(calls.into_iter().map(of_call)).collect::<Vec<_>>().join(" "))
}

fn rewrite(dialect: &Dialect, start: Option<Start>, chunks: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut rewriter = Rewriter::new(dialect, &sse::Options::new().start(start))?;
    let mut out = Vec::new();
    for chunk in chunks {
        rewriter.feed(bytes(chunk)?, &mut out)?;
    }
    rewriter.finish(&mut out)?;
    Ok(hex(&out))
}

fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = if hex == "-" { "" } else { hex };
    (0..digits.len()).step_by(2).map(|at| Ok(u8::from_str_radix(&digits[at..at + 2], 16)?)).collect()
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { bytes.iter().map(|byte| format!("{byte:02x}")).collect() }
}
