//! The log: lines of JSON on standard error. Callers must never pass a body, a query or a credential.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// Whether there is a log. The program has one, and tests do not.
static IS_ON: AtomicBool = AtomicBool::new(false);

pub fn turn_on() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Writes one line. `fields` is an object made by [`serde_json::json`]; members that are null are left out.
fn write(level: &str, message: &str, fields: Value) {
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    let mut line = Map::new();
    line.insert("ts".into(), ((time * 1000.0).round() / 1000.0).into());
    line.insert("level".into(), level.into());
    line.insert("msg".into(), message.into());
    if let Value::Object(fields) = fields {
        line.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
    }
    let mut text = Value::Object(line).to_string();
    text.push('\n');
    // A failure is ignored, because streams must continue if the log cannot be written.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

pub fn info(message: &str, fields: Value) {
    write("info", message, fields);
}

pub fn warn(message: &str, fields: Value) {
    write("warn", message, fields);
}
