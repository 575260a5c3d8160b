// Processor time of the calls for each token and each frame, and of the first use of a dialect, in a separate process. Prints one line of
// JSON. `scripts/test-js --bench` runs it on the package as installed.

import { execFileSync } from "node:child_process";
import { Dialect, Rewriter, Scanner } from "libaside";

const FRAME = new TextEncoder().encode(
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word"}}]}\n\n',
);
const ROUNDS = 7;
const COUNT = 200_000;

// The least of some rounds, in nanoseconds a call.
function least(call) {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage().user;
    for (let count = 0; count < COUNT; count++) call();
    least = Math.min(least, ((process.cpuUsage().user - before) * 1000) / COUNT);
  }
  return Math.round(least);
}

if (process.argv[2]) {
  Dialect.names();
  // Another dialect has been used before, so that only the dialect's own part is measured.
  Dialect.find("inline-think");
  const before = performance.now();
  Dialect.find(process.argv[2]);
  console.log(performance.now() - before);
} else {
  const [scanner, splitter, rewriter] = [new Scanner("qwen3"), new Scanner("qwen3"), new Rewriter("qwen3")];
  const first = (name) => Number(execFileSync(process.execPath, [process.argv[1], name], { encoding: "utf8" })).toFixed(1);
  console.log(
    JSON.stringify({
      feed_ns: least(() => scanner.feed("word")),
      split_ns: least(() => splitter.split("word")),
      frame_ns: least(() => rewriter.feed(FRAME)),
      frame_bytes: FRAME.length,
      first_use_ms: Object.fromEntries(["qwen3", "harmony", "any"].map((name) => [name, Number(first(name))])),
    }),
  );
}
