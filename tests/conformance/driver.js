// The driver of JavaScript: README.md says what it reads and writes.

import { createInterface } from "node:readline";
import { Answer, Dialect, Rewriter, Scanner } from "libaside";
import { Compressor } from "libaside/tools";

const CHANNELS = ["content", "thinking", "narration", "tool"];

const bytes = (hex) => new Uint8Array(Buffer.from(hex.replace("-", ""), "hex"));
const hexed = (text) => Buffer.from(text).toString("hex") || "-";

function* events(scanner, chunks) {
  for (const chunk of chunks) yield* scanner.feed(bytes(chunk));
  yield* scanner.finish();
  scanner.free();
}

function scan(dialect, start, chunks) {
  const texts = Object.fromEntries(CHANNELS.map((channel) => [channel, []]));
  for (const { kind, channel, text } of events(new Scanner(dialect, { start }), chunks)) {
    if (kind === "text") texts[channel].push(text);
    if (kind === "reclassify") {
      const other = channel === "thinking" ? "content" : "thinking";
      texts[channel].push(...texts[other]);
      texts[other] = [];
    }
  }
  return Object.values(texts).map((parts) => hexed(Buffer.concat(parts))).join(" ");
}

function read(dialect, start, tools, chunks) {
  const json = tools === "-" ? null : Buffer.from(tools, "hex").toString();
  const answer = new Answer(dialect, { start, tools: json });
  const texts = { thinking: [], content: [] };
  const calls = [];
  for (const parts of [...chunks.map((chunk) => answer.feed(bytes(chunk))), answer.finish()])
    for (const { kind, text, index, name, isWhole } of parts) {
      if (kind === "call") calls[index] = { name, text: [], isWhole: false };
      else if (kind === "arguments") calls[index].text.push(text);
      else if (kind === "call_end") calls[index].isWhole = isWhole;
      else texts[kind]?.push(text);
    }
  answer.free();
  const said = Object.values(texts).map((parts) => hexed(Buffer.concat(parts)));
  for (const { name, text, isWhole } of calls) said.push(hexed(name), hexed(Buffer.concat(text)), Number(isWhole));
  return said.join(" ");
}

function rewrite(dialect, start, chunks) {
  const rewriter = new Rewriter(dialect, { start });
  const out = chunks.map((chunk) => rewriter.feed(bytes(chunk)));
  out.push(rewriter.finish());
  rewriter.free();
  return hexed(Buffer.concat(out));
}

// Returns the errors of a freed scanner and of an ended stream. Another failure with another message precedes each.
function gone(dialect) {
  const scanner = new Scanner(dialect);
  scanner.free();
  const stream = new Compressor().stream({ toolId: "bash", input: "make" });
  stream.finish();
  return [scanner, stream].map((object) => {
    try {
      Dialect.find("nobody");
    } catch {}
    try {
      object.feed("a");
    } catch (error) {
      return `${hexed(error.constructor.name)} ${hexed(error.message)}`;
    }
  }).join(" ");
}

function answer([what, dialect, start, ...rest]) {
  const from = start === "-" ? null : start;
  try {
    if (what === "gone") return gone(dialect);
    if (what === "scan") return scan(dialect, from, rest);
    return what === "answer" ? read(dialect, from, rest[0], rest.slice(1)) : rewrite(dialect, from, rest);
  } catch (error) {
    return `! ${error.message}`;
  }
}

for await (const line of createInterface({ input: process.stdin })) console.log(answer(line.split(" ")));
