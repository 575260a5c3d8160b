// Tests the rewriting of a request's history.

import assert from "node:assert/strict";
import test from "node:test";

import { historyFormat, historyServer, rewriteHistory } from "libaside";

const body = '{"messages": [{"role": "assistant", "reasoning_content": "Twice 21.", "content": "42"}]}';

test("thinking goes under the name that the server reads", () => {
  const out = body.replace("reasoning_content", "reasoning");
  const report = { changed: 1, refused: 0, unread: 0, outcome: "read", thinkingOff: false };
  assert.deepEqual(rewriteHistory(body, { format: "chat", name: "reasoning" }), { body: out, report });
  assert.deepEqual(rewriteHistory(body, historyServer("vllm", "chat")), { body: out, report });
  const bytes = rewriteHistory(new TextEncoder().encode(body), { format: "chat", turns: "none" }).body;
  assert.equal(new TextDecoder().decode(bytes), '{"messages": [{"role": "assistant", "content": "42"}]}');
  const text = rewriteHistory(body, { format: "chat", name: "text", dialect: "qwen3" });
  assert.match(text.body, /<think>\\nTwice 21\.\\n<\/think>/);
});

test("what cannot be read comes back", () => {
  assert.equal(rewriteHistory(body, { format: "chat", maxBody: 9 }).report.outcome, "too_long");
  assert.deepEqual(rewriteHistory("[]", { format: "chat" }).body, "[]");
  assert.throws(() => rewriteHistory(body, { format: "chat", name: "text" }), /needs a dialect/);
  assert.throws(() => rewriteHistory(body, { format: "chat", name: "other" }), /name: "other" is unknown/);
  assert.throws(() => rewriteHistory(body, {}), /format: "" is unknown/);
  assert.throws(() => historyServer("mine", "chat"), /mine/);
});

test("the format of a path", () => {
  assert.deepEqual([historyFormat("/v1/messages"), historyFormat("/v1/models")], ["messages", null]);
  assert.equal(historyServer("ollama", "messages"), null);
});
