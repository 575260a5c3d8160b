// Tests tool results, whose code is in a separate wasm file.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AsideError, Compressor, DialectError } from "libaside/tools";
import { pieces, utf8 } from "./shared.js";

const ERROR = "main.c:3:1: error: unknown type name 'item' 雪";
const LOG = Array.from({ length: 500 }, (_, at) => `compiling unit ${at}\n`).join("") + ERROR + "\n";
const CALL = { toolId: "bash", input: { command: "make", exit_code: 2 } };

test("the line that matters stays", () => {
  const { text, report } = new Compressor({ budget: 1024 }).compress(LOG, CALL);
  assert.ok(utf8(text).length <= 1024 && text.includes(ERROR));
  assert.deepEqual([report.before, report.after], [utf8(LOG).length, utf8(text).length]);
  assert.ok(report.filters.length > 0 && !report.cutProtected);
  const data = new Compressor({ budget: 1024 }).compress(utf8(LOG), CALL);
  assert.deepEqual(data.text, utf8(text));
});

test("a budget in tokens is estimated", () => {
  const { text } = new Compressor({ budgetTokens: 600 }).compress(LOG.repeat(5), CALL);
  assert.ok(utf8(text).length <= 3600 && text.includes(ERROR));
  assert.throws(() => new Compressor({ budgetTokens: 511 }), /the least is 512/);
});

test("a stream, cut anywhere, also inside characters", () => {
  const compressor = new Compressor({ budget: 1024 });
  const outs = [1, 7, 0].map((size) => {
    const stream = compressor.stream({ toolId: "bash", input: "make" });
    assert.equal(stream.report, null);
    let out = "";
    for (const piece of pieces(LOG, size)) out += stream.feed(piece);
    stream.setExitCode(2);
    out += stream.finish();
    assert.ok(out.includes(ERROR) && utf8(out).length <= 1024);
    assert.equal(stream.report.before, utf8(LOG).length);
    assert.throws(() => stream.feed("a"), (error) => error instanceof AsideError && /the stream has ended/.test(error.message));
    return out;
  });
  assert.ok(outs.every((out) => out === outs[0]));
  const stream = compressor.stream({ toolId: "bash", input: "make" });
  assert.ok(stream.feed(utf8("a")) instanceof Uint8Array);
  assert.throws(() => stream.feed("a"), TypeError);
});

test("options and filters", () => {
  assert.throws(() => new Compressor({ budget: 5 }), { name: "AsideError", message: /1024/ });
  assert.throws(() => new Compressor({ bugdet: 5000 }), /a compressor has no option "bugdet"/);
  assert.throws(() => new Compressor({ filters: ["name = 3"] }), DialectError);
  assert.throws(() => new Compressor().compress("a", { toolId: "bash" }), TypeError);
  const { text } = new Compressor({ budget: 1024, switchOff: "Ask for all of it." }).compress(LOG, CALL);
  assert.ok(text.includes("Ask for all of it."));
});
