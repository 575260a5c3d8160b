// Measures the processor time of the calls for each token and each frame, and of the first use of a dialect, in a separate process; and
// how much memory 100,000 scanners leave in use after they are freed. Prints one line of JSON. `scripts/test-js --bench` runs it on the
// package as installed, and native.c, which makes the same calls to the native library.

import { execFileSync } from "node:child_process";
import { Dialect, Rewriter, Scanner } from "libaside";

const FRAME = new TextEncoder().encode(
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word"}}]}\n\n',
);
const ROUNDS = 7;
const COUNT = 200_000;

// Returns the shortest time of several rounds, in nanoseconds per call.
function least(call) {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage().user;
    for (let count = 0; count < COUNT; count++) call();
    least = Math.min(least, ((process.cpuUsage().user - before) * 1000) / COUNT);
  }
  return Math.round(least);
}

// Returns the memory in kB that remains in use after this many scanners were used and freed, after a warm-up with three times as many.
function kept(count) {
  const use = () => {
    for (let at = 0; at < count; at++) {
      const scanner = new Scanner("qwen3");
      scanner.feed("<think>hm");
      scanner.free();
    }
    globalThis.gc();
    return process.memoryUsage().rss / 1024;
  };
  use();
  use();
  const before = use();
  return Math.round(use() - before);
}

if (process.argv[2]) {
  Dialect.names();
  // A different dialect has been used before, so only the work for this dialect is measured.
  Dialect.find("inline-think");
  const before = process.cpuUsage();
  Dialect.find(process.argv[2]);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
} else {
  const [scanner, splitter, rewriter] = [new Scanner("qwen3"), new Scanner("qwen3"), new Rewriter("qwen3")];
  const first = (name) => Number(execFileSync(process.execPath, [process.argv[1], name], { encoding: "utf8" })).toFixed(1);
  console.log(
    JSON.stringify({
      feed_ns: least(() => scanner.feed("word")),
      split_ns: least(() => splitter.split("word")),
      frame_ns: least(() => rewriter.feed(FRAME)),
      frame_bytes: FRAME.length,
      kept_kb_of_100000_scanners: kept(100_000),
      first_use_ms: Object.fromEntries(["qwen3", "harmony", "any"].map((name) => [name, Number(first(name))])),
    }),
  );
}
