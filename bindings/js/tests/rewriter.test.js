// The rewriter: every format at every cut, and the gate.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AsideError, readRequest, requestHint, requestModel, Rewriter, wants } from "libaside";
import { bytes, pieces, string, utf8 } from "./shared.js";

const TEXT = "<think>\nTwice 21, größer.\n</think>\n\nIt is 42.";

export function events(size) {
  const chunks = pieces(TEXT, size).map((content) => ({ id: "c", choices: [{ index: 0, delta: { content } }] }));
  chunks.push({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  return utf8(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") + "data: [DONE]\n\n");
}

function read(stream) {
  const told = { thinking: "", content: "" };
  for (const line of string(stream).split("\n"))
    if (line.startsWith("data: {"))
      for (const { delta } of JSON.parse(line.slice(6)).choices) {
        told.thinking += delta.reasoning_content ?? "";
        told.content += delta.content ?? "";
      }
  return told;
}

const all = (rewriter, parts) => bytes([...parts.map((part) => rewriter.feed(part)), rewriter.finish()]);

test("every cut gives the same", () => {
  for (const size of [1, 7, 0]) {
    const stream = events(size);
    const rewriter = new Rewriter("qwen3");
    const whole = all(rewriter, [stream]);
    assert.deepEqual(read(whole), { thinking: "Twice 21, größer.", content: "It is 42." });
    for (let cut = 0; cut < stream.length; cut += 11)
      assert.deepEqual(all(rewriter, [stream.subarray(0, cut), stream.subarray(cut)]), whole);
    const { thinkingBytes, contentBytes, encoded, held } = rewriter.stats;
    assert.ok(thinkingBytes > 0 && contentBytes > 0 && !encoded && held === 0);
  }
});

test("any buffer is taken, and no text", () => {
  const body = '{"choices":[{"message":{"content":"<think>hm</think>Yes."}}]}';
  const want = '{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}';
  const data = utf8(body);
  for (const part of [data, Buffer.from(body), data.buffer, new DataView(data.buffer)])
    assert.equal(string(all(new Rewriter("qwen3"), [part])), want);
  assert.throws(() => new Rewriter("qwen3").feed(body), { name: "TypeError", message: /a rewriter takes bytes/ });
});

test("a long body goes in pieces", () => {
  const text = "雪".repeat(200_000);
  const body = JSON.stringify({ choices: [{ message: { content: `<think>${text}</think>${text}` } }] });
  const message = JSON.parse(string(all(new Rewriter("qwen3"), [utf8(body)]))).choices[0].message;
  assert.ok(message.reasoning_content === text && message.content === text);
});

test("all formats are read unless some are named", () => {
  const message = utf8('{"type":"message","role":"assistant","content":[{"type":"text","text":"<think>hm</think>Yes."}]}');
  for (const [formats, changes] of [[undefined, true], ["all", true], [["chat", "messages"], true], ["chat", false]])
    assert.equal(string(all(new Rewriter("qwen3", { formats }), [message])).includes('"thinking":"hm"'), changes);
  assert.throws(() => new Rewriter("qwen3", { formats: "chats" }), { name: "AsideError", message: /formats: "chats" is unknown/ });
});

test("options", () => {
  const content = (text, options) => {
    const body = utf8(JSON.stringify({ choices: [{ message: { content: text }, finish_reason: "stop" }] }));
    return JSON.parse(string(all(new Rewriter("qwen3", options), [body]))).choices[0];
  };
  const calling = new Rewriter("qwen3", { calls: true });
  all(calling, [utf8(JSON.stringify({ choices: [{ message: { content: '<tool_call>{"name": "h", "arguments": {}}</tool_call>' } }] }))]);
  assert.equal(calling.stats.calls, 1);
  assert.equal(content("<think>hm</think>Yes.", { field: "reasoning" }).message.reasoning, "hm");
  assert.equal(content("hm</think>Yes.", { start: "thinking" }).message.reasoning_content, "hm");
  assert.equal(content("<think>hm</think>Yes.", { off: true }).message.content, "<think>hm</think>Yes.");
  assert.equal(content("<think>hm</think>", { promoteEmpty: true }).message.content, "hm");
  assert.equal(content("It ends</think>.", { strayClose: "text" }).message.content, "It ends</think>.");
  const call = '<tool_call>{"name": "h", "arguments": {"a": 1}}</tool_call>';
  const { message, finish_reason } = content(call, { calls: true });
  assert.deepEqual([message.tool_calls[0].function, finish_reason], [{ name: "h", arguments: '{"a": 1}' }, "tool_calls"]);
  assert.equal(content(call, { tools: [] }).message.content, call);
  assert.equal(content(call, { tools: [], unknownTool: "drop" }).message.content, "");
  assert.equal(content("{}", { calls: true, startCall: "h" }).message.tool_calls[0].function.name, "h");
  assert.throws(() => new Rewriter("qwen3", { reparir: true }), /a rewriter has no option "reparir"/);
});

test("comments are sent, left out, or replaced by events", () => {
  const of = (options) => string(all(new Rewriter("qwen3", options), [utf8(": a\n\n")]));
  assert.equal(of({}), ": a\n\n");
  assert.equal(of({ comments: "drop" }), "");
  assert.equal(of({ comments: "chunk", formats: "messages" }), 'event: ping\ndata: {"type": "ping"}\n\n');
  assert.throws(() => new Rewriter("qwen3", { comments: "pass" }), /comments/);
});

test("the next answer may have another dialect, start and tools", () => {
  const rewriter = new Rewriter("qwen3", { calls: true });
  const body = utf8('{"choices":[{"message":{"content":"hm</think>Yes."}}]}');
  const want = '{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}';
  rewriter.useDialect(null, { start: "thinking" });
  assert.equal(string(all(rewriter, [body])), want);
  rewriter.useDialect("qwen3-thinking");
  assert.equal(string(all(rewriter, [body])), want);
  assert.throws(() => rewriter.useDialect(null, { start: "narration" }), AsideError);
  assert.equal(rewriter.startFromPrompt("<think>\n"), "thinking");
  rewriter.useTools([]);
  rewriter.useTools(null);
  rewriter.feed(utf8("{"));
  assert.throws(() => rewriter.useDialect("qwen3"), /begun/);
  rewriter.reset();
  rewriter.feed(Uint8Array.of(0x1f, 0x8b, 8, 0));
  assert.equal(rewriter.stats.encoded, true);
});

test("one shape of servers' answers", () => {
  const server = utf8('{"choices":[{"message":{"thinking":"A","content":[{"type":"text","text":"Hi."}]}}]}');
  const shape = (options) => new TextDecoder().decode(new Rewriter("qwen3", options).feed(server));
  const shaped = '{"choices":[{"message":{"reasoning_content":"A","content":"Hi."}}]}';
  assert.equal(shape({ normalise: ["field", "lists"] }), shaped);
  assert.equal(shape({ normalise: "all", thinking: "drop" }), '{"choices":[{"message":{"content":"Hi."}}]}');
  assert.equal(shape({ label: true }), new TextDecoder().decode(server));
  assert.throws(() => shape({ normalise: ["filed"] }), /normalise: "filed" is unknown/);
  const request = (body) => readRequest({ path: "/v1/messages", body });
  assert.deepEqual(request("{}"), { thinks: null, thinking: "drop", tools: "[]" });
  const body = '{"thinking":{"type":"enabled"},"tools":[{"name":"f"}]}';
  assert.deepEqual(request(body), { thinks: true, thinking: "keep", tools: '[{"name":"f"}]' });
});

test("the gate", () => {
  const answer = { status: 200, path: "/v1/messages", contentType: "text/event-stream" };
  assert.equal(wants(answer), "events");
  assert.equal(wants({ ...answer, formats: "chat" }), null);
  assert.equal(wants({ ...answer, contentEncoding: "gzip" }), null);
  assert.equal(wants({ ...answer, status: 404 }), null);
  assert.equal(wants({ ...answer, contentType: null }), "json");
  assert.equal(wants({ ...answer, contentType: "image/png" }), null);
  assert.equal(wants({ status: 200, path: "/api/chat", contentType: "application/x-ndjson", formats: ["ollama"] }), "lines");
  assert.equal(requestHint({ path: "/v1/chat/completions", method: "POST" }), "identity");
  assert.equal(requestHint({ path: "/v1/messages", method: "POST", formats: "chat" }), null);
  assert.equal(requestHint({ path: "/v1/models", method: "GET" }), null);
  assert.deepEqual([requestModel('{"model":"a"}'), requestModel(utf8('{"model":"é"}')), requestModel("{}")], ["a", "é", null]);
  assert.throws(() => wants({ ...answer, formats: [] }), /name at least one/);
});
