// Memory: objects that are freed or collected leave no memory in use; and the effects of a trap. Needs --expose-gc.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { AsideError, DefectError, Dialect, Rewriter, Scanner, split, strip } from "libaside";
import { utf8 } from "./shared.js";

// Memory outside JavaScript's heap: the module's memory, which only grows, and texts that are not collected yet.
async function external() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc();
    await setTimeout(5);
  }
  return process.memoryUsage().external;
}

test("100,000 scanners and rewriters, freed", async () => {
  const round = () => {
    for (let count = 0; count < 50_000; count++) {
      const scanner = new Scanner("qwen3", { collect: true });
      scanner.feed("<think>a</think>b");
      scanner.free();
      const rewriter = new Rewriter("qwen3");
      rewriter.feed(utf8('data: {"choices":[{"delta":{"content":"<think>hm"}}]}\n\n'));
      rewriter.free();
    }
  };
  round();
  const before = await external();
  round();
  assert.ok((await external()) - before < 1 << 20, "memory grows");
});

test("100,000 scanners that nobody frees are collected", async () => {
  const round = async () => {
    for (let count = 0; count < 10; count++) {
      for (let made = 0; made < 5_000; made++) new Scanner("qwen3").feed("<think>a");
      globalThis.gc();
      await setTimeout(1);
    }
  };
  await round();
  const before = await external();
  await round();
  assert.ok((await external()) - before < 4 << 20, "memory grows");
});

test("whole texts leave nothing behind", async () => {
  const text = "<think>hm</think>" + "Yes.".repeat(100_000);
  for (let count = 0; count < 5; count++) assert.ok(strip(text, "qwen3") === split(text, "qwen3").content);
  const before = await external();
  for (let count = 0; count < 50; count++) strip(text, "qwen3");
  assert.ok((await external()) - before < 1 << 20);
});

test("after a trap all objects throw, and new ones work", () => {
  const scanner = new Scanner("any");
  const dialect = Dialect.find("qwen3");
  scanner.feed("<think>a");
  let trap = null;
  // At some depth the stack is large enough for this file, and too small for the module.
  const dive = () => {
    try {
      dive();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if (trap) return;
    try {
      scanner.feed("b");
    } catch (error) {
      if (error instanceof DefectError) trap = error;
    }
  };
  dive();
  assert.ok(trap, "the module had stack enough");
  assert.ok(trap.cause instanceof RangeError || trap.cause instanceof WebAssembly.RuntimeError);
  assert.ok(!(trap instanceof AsideError));
  assert.throws(() => scanner.feed("c"), DefectError);
  assert.throws(() => scanner.reset(), DefectError);
  assert.throws(() => new Scanner(dialect), DefectError);
  scanner.free();
  assert.equal(new Scanner("qwen3").split("<think>a</think>b").content, "b");
});
