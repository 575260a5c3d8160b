// The vectors, examples and calls that every implementation runs, through the package: as they are cut, at 1, at 7 and whole.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Answer, Dialect, join, Scanner, split, strip } from "libaside";
import { parse } from "smol-toml";
import { bytes, files, lines, pieces, read, string, textOf, utf8 } from "./shared.js";

const CHANNELS = ["content", "thinking", "narration", "tool"];
const SIZES = [1, 7, 0];

const fromBase64 = (text) => new Uint8Array(Buffer.from(text, "base64"));

function events(scanner, texts) {
  return texts.flatMap((text) => scanner.feed(text)).concat(scanner.finish());
}

function check(vector, chunks) {
  const scanner = new Scanner(vector.dialect, { start: vector.start, collect: true });
  const found = events(scanner, chunks);
  const isString = typeof chunks[0] !== "object";
  const stream = isString ? found.map((event) => event.text).join("") : bytes(found.map((event) => event.text));
  assert.deepEqual(stream, isString ? chunks.join("") : bytes(chunks), "no byte is lost");
  const texts = isString ? found : found.map((event) => ({ ...event, text: Buffer.from(event.text).toString("latin1") }));
  for (const channel of CHANNELS) {
    const got = textOf(texts, channel);
    const wanted = vector[channel] ?? (vector[`${channel}_b64`] && fromBase64(vector[`${channel}_b64`]));
    if (wanted === undefined) continue;
    const asStream = isString ? (typeof wanted === "string" ? wanted : string(wanted)) : Buffer.from(wanted).toString("latin1");
    assert.equal(got, asStream, channel);
  }
  if (vector.causes)
    assert.deepEqual(
      found.filter((event) => event.kind === "close").map((event) => event.cause),
      vector.causes.map((cause) => cause.replaceAll(" ", "_")),
    );
  const text = (value) => (typeof value === "string" ? value : string(value));
  if (vector.attributes)
    assert.deepEqual(
      found.filter((event) => event.attribute).map(({ attribute }) => [text(attribute.name), text(attribute.value)]),
      vector.attributes,
    );
  if (vector.thoughts) {
    const thoughts = [];
    for (let thought; (thought = scanner.takeThought()); ) thoughts.push(thought);
    assert.deepEqual(
      thoughts.map((thought, at) =>
        typeof vector.thoughts[at] === "string"
          ? text(thought.text)
          : {
              thought: text(thought.text),
              thought_type: thought.thoughtType === null ? null : text(thought.thoughtType),
              confidence: thought.confidence,
            },
      ),
      vector.thoughts,
    );
  }
  scanner.free();
}

for (const path of [...files("tests/vectors", ".jsonl"), ...files("../shared/vectors", ".jsonl")])
  test(path, () => {
    for (const vector of lines(path)) {
      const chunks = vector.chunks ?? vector.chunks_b64.map(fromBase64);
      const whole = typeof chunks[0] === "object" ? bytes(chunks) : chunks.join("");
      for (const cut of [chunks, ...SIZES.map((size) => pieces(whole, size))])
        try {
          check(vector, cut);
        } catch (error) {
          error.message += ` (${vector.about ?? vector.id}, ${JSON.stringify(cut).slice(0, 200)})`;
          throw error;
        }
    }
  });

for (const path of files("dialects", ".toml"))
  test(path, () => {
    const file = parse(read(path));
    assert.ok(file.example.length > 0);
    for (const example of file.example)
      for (const size of SIZES) {
        const scanner = new Scanner(file.name, { start: example.start });
        if (example.end_reason) scanner.endReason(example.end_reason);
        const found = events(scanner, pieces(example.input, size));
        for (const channel of CHANNELS)
          if (example[channel] !== undefined) assert.equal(textOf(found, channel), example[channel], example.input);
        scanner.free();
      }
  });

for (const name of ["cases", "malformed"])
  test(`tests/calls/${name}.jsonl`, () => {
    const rows = lines(`tests/calls/${name}.jsonl`);
    assert.ok(rows.length > 0);
    for (const row of rows)
      for (const size of SIZES) {
        const answer = new Answer(row.dialect, { start: row.start, tools: row.tools });
        const parts = pieces(row.input, size).flatMap((text) => answer.feed(text)).concat(answer.finish());
        const calls = [];
        for (const { kind, index, name, text } of parts)
          if (kind === "call") calls[index] = { name, arguments: "" };
          else if (kind === "arguments") calls[index].arguments += text;
        assert.deepEqual(
          calls.map((call) => call.name),
          row.calls.map((call) => call.name),
          row.input,
        );
        for (const [at, call] of calls.entries()) {
          const wanted = row.calls[at].arguments;
          if (typeof wanted === "string") assert.equal(call.arguments, wanted, row.input);
          else assert.deepEqual(JSON.parse(call.arguments), wanted, row.input);
        }
        answer.free();
      }
  });

test("what is joined splits back", () => {
  let joined = 0;
  for (const name of Dialect.names()) {
    let text;
    try {
      text = join("Twice 21.", "It is 42.", name);
    } catch {
      continue; // The dialect does not write thinking.
    }
    const parts = split(text, name);
    assert.deepEqual([parts.thinking, parts.content], ["Twice 21.", "It is 42."], name);
    assert.equal(strip(text, name), "It is 42.");
    assert.deepEqual(strip(utf8(text), name), utf8("It is 42."));
    joined++;
  }
  assert.ok(joined > 30);
});
