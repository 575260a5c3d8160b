// Tests that objects that are freed or collected leave no memory in use, and tests the effects of a trap. Needs
// --expose-gc.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Answer, AsideError, DefectError, Dialect, Rewriter, Scanner, split, strip } from "libaside";
import { Compressor } from "libaside/tools";
import { utf8 } from "./shared.js";

// Imports a file that the package does not export, in the instance that the package itself uses.
const { resolve } = createRequire(import.meta.url);
const inside = (next, name) => import(new URL(name, pathToFileURL(resolve(next))));
const { Handle } = await inside("libaside/aside.wasm", "./handle.js");

// Memory outside JavaScript's heap: the module's memory, which only grows, and texts that are not collected yet.
async function external() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc();
    await setTimeout(5);
  }
  return process.memoryUsage().external;
}

test("150,000 scanners, answers and rewriters, freed", async () => {
  const round = () => {
    for (let count = 0; count < 50_000; count++) {
      const scanner = new Scanner("qwen3", { collect: true });
      scanner.feed("<think>a</think>b");
      scanner.free();
      const answer = new Answer("qwen3");
      answer.feed("<think>a</think>b<tool_call>{");
      answer.free();
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

// Calls each function, and returns the errors that they throw.
function thrown(calls) {
  return calls.map((call) => {
    try {
      return call();
    } catch (error) {
      return error;
    }
  });
}

// Checks that existing streams end with an error that has the cause of the trap, and that everything else works.
function checkAfterTrap(trap, streams, dialects) {
  assert.ok(trap instanceof DefectError && !(trap instanceof AsideError));
  for (const error of thrown(streams)) {
    assert.ok(error instanceof DefectError, String(error));
    assert.match(error.message, /by this object or by another one, has ended it: make a new one/);
    assert.equal(error.cause, trap.cause);
  }
  for (const dialect of dialects) {
    assert.equal(new Scanner(dialect).split("<think>a</think>b").content, "b");
    assert.equal(strip("<think>a</think>b", dialect), "b");
    const rewriter = new Rewriter("any");
    rewriter.useDialect(dialect);
    rewriter.free();
    assert.ok(typeof dialect === "string" || dialect.starts.includes("thinking"));
  }
}

test("a trap in one stream ends those of its instance, and dialects work in the next one", async () => {
  const { file } = await inside("libaside/aside.wasm", "./file.js");
  const own = Dialect.load("name = 'own'\nspan = [{ channel = 'thinking', open = ['<think>'], close = ['</think>'] }]");
  const freed = Dialect.find("any");
  freed.free();
  for (let round = 0; round < 3; round++) {
    const [scanner, other, answer, rewriter] = [new Scanner("qwen3"), new Scanner("any"), new Answer("qwen3"), new Rewriter("qwen3")];
    const dialects = ["qwen3", Dialect.find("qwen3"), Dialect.findForModel("Qwen/Qwen3-8B"), own];
    const copy = other.copy();
    other.split("<think>a");
    // A text that is longer than the window: the module panics.
    const { core } = file;
    const [trap] = thrown([() => core.enter(core.functions.scanner_events, Handle.number(scanner), 0, core.windowSize + 1)]);
    assert.ok(trap.cause instanceof WebAssembly.RuntimeError, String(trap.cause));
    assert.match(trap.message, /report it/);
    const streams = [
      () => scanner.feed("c"), () => other.split("</think>c"), () => copy.finish(), () => other.reset(), () => other.held,
      () => answer.feed("c"), () => answer.finish(),
      () => rewriter.feed(utf8("data: {}\n\n")), () => rewriter.useDialect("qwen3"),
    ];
    checkAfterTrap(trap, streams, dialects);
    assert.throws(() => new Scanner(freed), /this object was freed/);
    for (const object of [scanner, other, answer, rewriter, dialects[1]]) object.free();
    assert.notEqual(file.core, core);
  }
});

test("a compressor works after a trap", async () => {
  const { file } = await inside("libaside/aside-tools.wasm", "./tools.js");
  const log = "compiling\n".repeat(500) + "main.c:3:1: error: unknown type name\n";
  const call = { toolId: "bash", input: "make" };
  const compressor = new Compressor({ budget: 1024 });
  const wanted = compressor.compress(log, call).text;
  const stream = compressor.stream(call);
  const { core } = file;
  const [trap] = thrown([() => core.enter(core.functions.stream_feed, Handle.number(stream), core.windowSize + 1)]);
  assert.ok(trap.cause instanceof WebAssembly.RuntimeError);
  assert.equal(thrown([() => stream.feed("a")])[0].cause, trap.cause);
  assert.equal(compressor.compress(log, call).text, wanted);
});

test("a stack that is too short for the module", () => {
  const scanner = new Scanner("any");
  const dialect = Dialect.find("qwen3");
  scanner.feed("<think>a");
  let trap = null;
  // At some depth of recursion, the rest of the stack is large enough for this file and too small for the module.
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
  checkAfterTrap(trap, [() => scanner.feed("c"), () => scanner.reset()], [dialect, "qwen3"]);
  scanner.free();
});
