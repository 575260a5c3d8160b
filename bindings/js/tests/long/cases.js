// The cases that every runtime runs: the vectors at three cuts, and an answer through a stream. This file uses only the web
// platform.

import { Scanner } from "libaside";
import { splitStream } from "libaside/stream";

const CHANNELS = ["content", "thinking", "narration", "tool"];
const encoder = new TextEncoder();

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function join(parts) {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  parts.reduce((at, part) => (joined.set(part, at), at + part.length), 0);
  return joined;
}

function scan(vector, chunks) {
  const texts = Object.fromEntries(CHANNELS.map((channel) => [channel, []]));
  const scanner = new Scanner(vector.dialect, { start: vector.start });
  for (const { kind, channel, text } of [...chunks.flatMap((chunk) => scanner.feed(chunk)), ...scanner.finish()]) {
    if (kind === "text") texts[channel].push(text);
    if (kind === "reclassify") {
      const other = channel === "thinking" ? "content" : "thinking";
      texts[channel].push(...texts[other].splice(0));
    }
  }
  scanner.free();
  return texts;
}

// Runs the lines of vectors, and returns how many passed, and the failures.
export async function run(lines) {
  const said = { passed: 0, wrong: [], answer: "" };
  for (const line of lines.split("\n").filter(Boolean)) {
    const vector = JSON.parse(line);
    const chunks = vector.chunks?.map((chunk) => encoder.encode(chunk)) ?? vector.chunks_b64.map(fromBase64);
    const whole = join(chunks);
    const bytes = Array.from({ length: whole.length }, (_, at) => whole.subarray(at, at + 1));
    for (const cut of [chunks, [whole], bytes]) {
      const texts = scan(vector, cut);
      const isRight = (channel) => {
        const wanted = vector[channel] ?? null;
        const wantedBytes = wanted === null ? vector[`${channel}_b64`] && fromBase64(vector[`${channel}_b64`]) : encoder.encode(wanted);
        return wantedBytes === undefined || String(join(texts[channel])) === String(wantedBytes);
      };
      if (CHANNELS.every(isRight)) said.passed++;
      else said.wrong.push(line);
    }
  }
  const body = new Blob(['{"choices":[{"message":{"content":"<think>hm</think>Yes."}}]}']).stream();
  said.answer = await new Response(body.pipeThrough(splitStream("qwen3"))).text();
  return said;
}
