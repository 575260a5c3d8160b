// Tests answers: parts, every cut, texts and bytes, options, errors, and objects that are created and freed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Answer, AsideError, Dialect } from "libaside";
import { bytes, pieces, string, utf8 } from "./shared.js";

// Returns the thinking and the content of an answer's parts, and for each call its name, its arguments and whether it is whole.
function message(parts) {
  let said = { thinking: "", content: "" };
  const calls = [];
  for (const part of parts) {
    const text = part.text instanceof Uint8Array ? string(part.text) : part.text;
    if (part.kind === "call") calls[part.index] = [part.name, "", null];
    else if (part.kind === "arguments") calls[part.index][1] += text;
    else if (part.kind === "call_end") calls[part.index][2] = part.isWhole;
    else if (part.kind === "moved") said = { thinking: "", content: "", [part.to]: said.thinking + said.content };
    else if (part.kind !== "budget") said[part.kind] += text;
  }
  return [said.thinking, said.content, calls];
}

// The result for a text, checked to be the same at every cut.
function read(text, options = {}, dialect = "qwen3", reason = "ended") {
  const answer = new Answer(dialect, options);
  const cut = (size) => message([...pieces(text, size).flatMap((piece) => answer.feed(piece)), ...answer.finish(reason)]);
  const whole = cut(0);
  for (const size of [1, 2, 3, 7]) assert.deepEqual(cut(size), whole);
  answer.free();
  return whole;
}

const GOOD = '<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>';

test("text that is no call is content", () => {
  const odd = '<tool_call>\n{"name": 5, "arguments": {"city": "Oslo"}}\n</tool_call>';
  assert.deepEqual(read(odd), ["", odd, []]);
  const cut = 'Yes.\n<tool_call>\n{"name": "f", "argum';
  assert.deepEqual(read(cut), ["", cut, []]);
  const broken = '<tool_call>\n{"nme":"f"}\n</tool_call>';
  assert.deepEqual(read(`${GOOD}\n${broken}`), ["", broken, [["f", '{"a":1}', true]]]);
});

test("calls are as the options say", () => {
  const tools = [{ name: "f", parameters: { properties: { list: { type: "array" } } } }];
  const text = '<tool_call>{"name": "f", "arguments": {"list": "[1]"}}</tool_call><tool_call>{"name": "g", "arguments": {"x": 1';
  const told = (options) => read(text, { tools, ...options })[2];
  const first = ["f", '{"list": "[1]"}', true];
  assert.deepEqual(told({}), [first]);
  assert.deepEqual(told({ tools: [] }), []);
  assert.deepEqual(told({ unknownTool: "tell" }), [first, ["g", '{"x": 1', false]]);
  assert.deepEqual(told({ unknownTool: "tell", notWhole: "hold" }), [first]);
  assert.deepEqual(told({ unknownTool: "tell", maxCalls: 1, impliedEnd: "off" }), [first]);
  assert.deepEqual(told({ repairArguments: true }), [["f", '{"list": [1]}', true]]);
  assert.deepEqual(read('{"x": 1}', { startCall: "f" })[2], [["f", '{"x": 1}', true]]);
});

test("a part has all that is known", () => {
  const answer = new Answer("qwen3", { idPrefix: "call_7_" });
  assert.deepEqual([...answer.feed(`<think>hm</think>Yes.${GOOD}`), ...answer.finish()], [
    { kind: "thinking", text: "hm" },
    { kind: "content", text: "Yes." },
    { kind: "call", index: 0, id: "call_7_0", isMade: true, name: "f" },
    { kind: "arguments", index: 0, text: '{"a":1}' },
    { kind: "call_end", index: 0, isWhole: true, isRepaired: false, cause: "marker", lateId: null },
  ]);
  const own = new Answer("qwen3").feed('<tool_call>{"id": "x7", "name": "f", "arguments": {}}</tool_call>');
  assert.deepEqual(own[0], { kind: "call", index: 0, id: "x7", isMade: false, name: "f" });
});

test("the thinking is kept, dropped or left in the content", () => {
  const text = "<think>\nhm 雪\n</think>\n\nYes.";
  assert.deepEqual(read(text), ["hm 雪", "Yes.", []]);
  assert.deepEqual(read(text, { thinking: "drop" }), ["", "Yes.", []]);
  assert.deepEqual(read(text, { thinking: "inline" }), ["", text, []]);
});

test("text that was in the wrong channel", () => {
  const empty = "<think>It is 42.";
  assert.deepEqual(read(empty), ["It is 42.", "", []]);
  assert.deepEqual(read(empty, { promoteEmpty: true }), ["It is 42.", "It is 42.", []]);
  assert.deepEqual(read(empty, { promoteEmpty: true, mayTakeBack: true }), ["", "It is 42.", []]);
  assert.deepEqual(read("hm</think>Yes.", { mayTakeBack: true }), ["hm", "Yes.", []]);
  assert.deepEqual(read("42", {}, "deepseek-r1"), ["42", "42", []]);
  assert.deepEqual(read("42", {}, "deepseek-r1", "cut_off"), ["42", "", []]);
  assert.deepEqual(read("42", { keepGuessed: true }, "deepseek-r1"), ["42", "", []]);
});

test("bytes in are bytes out, and half a character waits", () => {
  const text = `<think>größer 😀</think>雪${GOOD}`;
  const answer = new Answer("qwen3");
  const wanted = ["größer 😀", "雪", [["f", '{"a":1}', true]]];
  for (let cut = 0; cut <= text.length; cut++)
    assert.deepEqual(message([text.slice(0, cut), text.slice(cut)].flatMap((part) => answer.feed(part)).concat(answer.finish())), wanted);
  const parts = pieces(utf8(text), 1).flatMap((piece) => answer.feed(piece)).concat(answer.finish());
  const of = (kind) => string(bytes(parts.filter((part) => part.kind === kind).map((part) => part.text)));
  assert.deepEqual([of("thinking"), of("content"), of("arguments")], ["größer 😀", "雪", '{"a":1}']);
  assert.deepEqual(message([...answer.feed("a\ud83d"), ...answer.flush(), ...answer.feed("b"), ...answer.finish()]), ["", "a\ufffdb", []]);
  answer.feed("a");
  assert.throws(() => answer.feed(utf8("b")), { name: "TypeError", message: /feed a string/ });
  assert.throws(() => answer.feed(1), TypeError);
  const long = "a😀".repeat(100_000);
  answer.reset();
  assert.ok(message([...answer.feed(`<think>${long}</think>${long}`), ...answer.finish()]).slice(0, 2).every((said) => said === long));
});

test("tokens, prompts, budgets, held bytes and counts", () => {
  const answer = new Answer("qwen3", { budget: 3, budgetUnit: "characters", budgetScope: "stream" });
  assert.equal(answer.startFromPrompt("<|im_start|>assistant\n<think>\n"), "thinking");
  const parts = answer.feed("größer</thi");
  assert.deepEqual(parts.map(({ kind, text }) => [kind, text]), [["thinking", "grö"], ["budget", undefined], ["thinking", "ßer"]]);
  assert.equal(answer.held, 5);
  assert.throws(() => answer.startFromPrompt(""), AsideError);
  assert.throws(() => answer.useTools([]), AsideError);
  assert.deepEqual(message([...answer.forceClose(), ...answer.feed("Yes."), ...answer.finish()]), ["</thi", "Yes.", []]);
  assert.deepEqual(answer.counts("content"), { bytes: 4, characters: 4, spans: 0, tokens: 0, lostThoughts: 0 });
  assert.throws(() => answer.counts("all"), TypeError);
  const tokens = [...answer.feedTokens("<think>a</think>", [7, 1, 8], [true, false, false]), ...answer.finish()];
  assert.deepEqual(message(tokens), ["a</think>", "", []]);
  assert.equal(answer.counts("thinking").tokens, 2);
  assert.throws(() => answer.feedTokens("ab", [1], [false]), AsideError);
  assert.throws(() => answer.feedTokens("ab", [1], []), TypeError);
});

test("an answer begins again after its end", () => {
  const answer = new Answer("qwen3", { tools: [{ name: "f" }] });
  const told = () => message([...answer.feed(GOOD), ...answer.finish()])[2].length;
  answer.useTools([]);
  assert.deepEqual([told(), told()], [0, 1]);
  answer.useTools('[{"name": "g"}]');
  assert.equal(told(), 0);
  assert.throws(() => answer.useTools("nothing"), { name: "AsideError", message: "tools: not a JSON array" });
});

test("options that are wrong say what to write", () => {
  const wrong = [
    [{ notWhole: "keep" }, 'notWhole: "keep" is unknown: write "tell", "hold" or "text"'],
    [{ mayTakeBack: "yes" }, 'mayTakeBack: "yes" is unknown: write "true" or "false"'],
    [{ calls: true }, 'an answer has no option "calls"'],
    [{ start: "narration" }, "the dialect has nothing of that kind to start in"],
  ];
  for (const [options, message] of wrong) assert.throws(() => new Answer("qwen3", options), { name: "AsideError", message });
  assert.throws(() => new Answer("qwen3", { tools: "[ ]", maxTools: 2 }), /3 bytes, more than 2: list fewer tools/);
  assert.throws(() => new Answer("qwen3").finish("stop"), { message: 'reason: "stop" is unknown: write "unknown", "ended" or "cut_off"' });
});

test("objects are freed, and none is used after that", () => {
  const dialect = Dialect.find("qwen3");
  const answer = new Answer(dialect);
  dialect.free();
  assert.deepEqual(message([...answer.feed("<think>a</think>b"), ...answer.finish()]), ["a", "b", []]);
  answer.free();
  answer.free();
  assert.throws(() => answer.feed("a"), (error) => error instanceof AsideError && error.message === "this object was freed");
  if (Symbol.dispose) {
    const disposed = new Answer("qwen3");
    disposed[Symbol.dispose]();
    assert.throws(() => disposed.held, /this object was freed/);
  }
});
