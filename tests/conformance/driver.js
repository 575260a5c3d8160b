// The driver of JavaScript: README.md says what it reads and writes.

import { createInterface } from "node:readline";
import { Dialect, Rewriter, Scanner } from "libaside";
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

function calls(dialect, start, tools, chunks) {
  const json = tools === "-" ? null : Buffer.from(tools, "hex").toString();
  const scanner = new Scanner(dialect, { start, calls: true, tools: json });
  const said = [];
  for (const split of [...chunks.map((chunk) => scanner.split(bytes(chunk))), scanner.finishSplit()])
    for (const delta of split.calls) {
      if (delta.name !== null) said.push([delta.name, "", "0"]);
      said.at(-1)[1] += delta.arguments;
      if (delta.end?.isWhole) said.at(-1)[2] = "1";
    }
  scanner.free();
  return said.map(([name, text, whole]) => `${hexed(name)} ${hexed(text)} ${whole}`).join(" ");
}

function rewrite(dialect, start, chunks) {
  const rewriter = new Rewriter(dialect, { start });
  const out = chunks.map((chunk) => rewriter.feed(bytes(chunk)));
  out.push(rewriter.finish());
  rewriter.free();
  return hexed(Buffer.concat(out));
}

// Returns the errors of a scanner that was freed and of a stream that has ended, each after a failure with another message.
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
    return what === "calls" ? calls(dialect, from, rest[0], rest.slice(1)) : rewrite(dialect, from, rest);
  } catch (error) {
    return `! ${error.message}`;
  }
}

for await (const line of createInterface({ input: process.stdin })) console.log(answer(line.split(" ")));
