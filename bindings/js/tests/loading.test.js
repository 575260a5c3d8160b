// Tests loading as in a browser: by `init`, with each form of the file. This process does not load the file in
// any other way.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const path = createRequire(import.meta.url).resolve("libaside/aside.wasm");
const bytes = readFileSync(path);

// Imports the package again. Its entry for browsers fetches the file, but Node cannot fetch a file URL.
async function fresh(count) {
  const { WasmFile } = await import(new URL(`./core.js?${count}`, pathToFileURL(path)));
  return new WasmFile();
}

test("before init all else says what to call", async () => {
  const { init, split } = await import(new URL("./browser.js", pathToFileURL(path)));
  assert.throws(() => split("<think>hm</think>Yes.", "qwen3"), /libaside is not loaded: call `await init\(\)` first/);
  await init(bytes);
  await init(bytes);
  assert.equal(split("<think>hm</think>Yes.", "qwen3").content, "Yes.");
});

test("a module, bytes, and responses", async () => {
  const type = { headers: { "content-type": "application/wasm" } };
  const sources = [
    await WebAssembly.compile(bytes), bytes, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    new Response(bytes, type), new Response(bytes), Promise.resolve(new Response(bytes, type)),
  ];
  for (const [count, source] of sources.entries()) {
    const file = await fresh(count);
    await file.init(source);
    assert.ok(file.core.functions.window_size() > 0);
  }
  const file = await fresh("none");
  await assert.rejects(() => file.init(), /pass the wasm file to init/);
  await assert.rejects(() => file.init(new Response("not here", { status: 404 })), /answers 404/);
  await assert.rejects(() => file.init(Uint8Array.of(1, 2, 3)), WebAssembly.CompileError);
});
