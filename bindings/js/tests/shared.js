// Helpers that the tests share: the project's folder, texts in pieces, and joined events.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = process.env.ASIDE_ROOT;

export const read = (path) => readFileSync(join(ROOT, path), "utf8");

export const lines = (path) => read(path).split("\n").filter(Boolean).map((line) => JSON.parse(line));

export const files = (folder, end) =>
  existsSync(join(ROOT, folder))
    ? readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(end)).sort().map((name) => join(folder, name))
    : [];

// Cuts a text, or bytes, into pieces of a given length; with 0, the whole is one piece.
export function pieces(text, size) {
  if (size === 0) return [text];
  const cut = [];
  for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size));
  return cut;
}

// The text of a channel, joined from events as a program would join it.
export function textOf(events, channel) {
  let content = "";
  let thinking = "";
  const texts = { narration: "", tool: "" };
  for (const event of events) {
    if (event.kind === "reclassify") {
      if (event.channel === "thinking") [thinking, content] = [content + thinking, ""];
      else [thinking, content] = ["", thinking + content];
    } else if (event.kind === "text" || (event.channel === "tool" && event.kind.startsWith("call"))) {
      if (event.channel === "content") content += event.text;
      else if (event.channel === "thinking") thinking += event.text;
      else texts[event.channel] += event.text;
    }
  }
  return { content, thinking, ...texts }[channel];
}

export const utf8 = (text) => new TextEncoder().encode(text);

export const string = (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

export function bytes(parts) {
  return new Uint8Array(Buffer.concat(parts));
}
