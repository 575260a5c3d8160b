// Whole texts: split, stripped, joined and escaped; and the HTTP facts about a request and its answer.

import { bytesOf, textOf, whole } from "./core.js";
import { Dialect, dialectOf } from "./dialect.js";
import { UnknownDialectError } from "./errors.js";
import { file } from "./file.js";
import { Handle } from "./handle.js";
import { Scanner } from "./scanner.js";

// Returns the dialect from the arguments of a function that takes a text and then a dialect. If only the text is the name of a
// dialect, the error says that the arguments are in the wrong order.
function dialectAfter(text, dialect) {
  try {
    return dialectOf(dialect);
  } catch (error) {
    if (error instanceof UnknownDialectError && typeof text === "string" && Dialect.names().includes(text))
      error.message += "; the text comes first, then the dialect";
    throw error;
  }
}

function of(name, text, dialect) {
  const found = dialectAfter(textOf(text), dialect);
  const core = Handle.core(found);
  core.call(core.functions[name], [text], Handle.number(found));
  return whole(core, typeof text === "string");
}

export const strip = (text, dialect) => of("text_strip", text, dialect);

export const escape = (text, dialect) => of("text_escape", text, dialect);

export function split(text, dialect, options) {
  const scanner = new Scanner(dialectAfter(textOf(text), dialect), options);
  try {
    return Scanner.whole(scanner, text);
  } finally {
    scanner.free();
  }
}

// Returns name, arguments and id of a call in a history: an object with these members, or an entry of a message's `tool_calls`.
function callTexts(call) {
  const { name, arguments: given } = call.function ?? call;
  return [String(name), typeof given === "string" ? given : JSON.stringify(given), call.id ?? ""];
}

export function join(thinking, content, dialect, { calls = [], markers = "refuse", start } = {}) {
  const found = dialectOf(dialect);
  const isString = typeof textOf(thinking) === "string";
  if (isString !== (typeof textOf(content) === "string"))
    throw new TypeError("thinking and content are both strings or both bytes");
  const core = Handle.core(found);
  const texts = [thinking, content, String(markers), start ?? "", ...calls.flatMap(callTexts)];
  core.call(core.functions.text_join, texts, Handle.number(found));
  return whole(core, isString);
}

function formatsText(formats) {
  if (formats === undefined || formats === null) return "";
  const text = String(formats);
  if (text === "") throw new TypeError("formats is empty: name at least one, or leave it out for all");
  return text;
}

export function wants({ status = 0, path = "", contentType, contentEncoding, formats } = {}) {
  const { core } = file;
  const texts = [path, contentType ?? "", contentEncoding ?? "", formatsText(formats)];
  core.call(core.functions.gate_wants, texts, status);
  return core.read().optional();
}

export function requestHint({ path = "", method = "", formats } = {}) {
  const { core } = file;
  return core.call(core.functions.gate_hint, [path, method, formatsText(formats)]) === 1 ? "identity" : null;
}

export function readRequest({ path = "", body }) {
  const { core } = file;
  const thinks = core.call(core.functions.gate_request, [path, typeof body === "string" ? body : bytesOf(body)]);
  const result = core.read();
  return { thinks: [null, true, false][thinks], thinking: result.optional(), tools: result.optional() };
}

export function requestModel(body) {
  const { core } = file;
  core.call(core.functions.gate_model, [typeof body === "string" ? body : bytesOf(body)]);
  return core.read().optional();
}
