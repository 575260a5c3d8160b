// Tests scanners: texts and bytes, every cut, options, errors, and objects that are created and
// freed.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as libaside from "libaside";
import { Answer, Dialect, escape, join, Scanner, split, strip } from "libaside";
import { pieces, read, textOf, utf8 } from "./shared.js";

const TEXT = "<think>\nTwice 21, größer: 😀\n</think>\n\nIt is 42.";
const THINKING = "Twice 21, größer: 😀";

const all = (scanner, texts) => texts.flatMap((text) => scanner.feed(text)).concat(scanner.finish());

test("every cut gives the same, between the halves of a character too", () => {
  const scanner = new Scanner("qwen3");
  for (let cut = 0; cut <= TEXT.length; cut++) {
    const events = all(scanner, [TEXT.slice(0, cut), TEXT.slice(cut)]);
    assert.equal(textOf(events, "thinking"), THINKING);
    assert.equal(textOf(events, "content"), "It is 42.");
    assert.equal(events.map((event) => event.text).join(""), TEXT);
  }
  assert.equal(textOf(all(scanner, pieces(TEXT, 1)), "thinking"), THINKING);
});

test("half a character that stays alone becomes U+FFFD", () => {
  const scanner = new Scanner("qwen3");
  const text = (events) => events.map((event) => event.text).join("");
  assert.equal(text(scanner.feed("a\ud83d")) + text(scanner.finish()), "a\ufffd");
  assert.equal(text(scanner.feed("a\ud83d")) + text(scanner.feed("b")) + text(scanner.finish()), "a\ufffdb");
  assert.equal(text(scanner.feed("a\ude00b")) + text(scanner.finish()), "a\ufffdb");
  assert.equal(text(scanner.feed("a\ud83d")) + text(scanner.flush()) + text(scanner.feed("b")), "a\ufffdb");
  scanner.reset();
  scanner.feed("\ud83d");
  scanner.reset();
  assert.equal(text(all(scanner, ["b"])), "b");
});

test("bytes in are bytes out, and may be cut inside characters", () => {
  const data = utf8(TEXT);
  const scanner = new Scanner("qwen3");
  for (let cut = 0; cut <= data.length; cut++) {
    const events = all(scanner, [data.slice(0, cut), data.slice(cut)]);
    assert.deepEqual(new Uint8Array(Buffer.concat(events.map((event) => event.text))), data);
  }
  const odd = Uint8Array.of(97, 0xff, 0, 98);
  assert.deepEqual(new Uint8Array(Buffer.concat(all(scanner, [odd]).map((event) => event.text))), odd);
  // The result is a copy, and does not change with the next feed.
  const [{ text }] = scanner.feed(utf8("word"));
  scanner.feed(utf8("other"));
  assert.deepEqual(text, utf8("word"));
});

test("forms do not mix, and other types are refused", () => {
  const scanner = new Scanner("qwen3");
  scanner.feed("a");
  assert.throws(() => scanner.feed(utf8("b")), { name: "TypeError", message: /feed a string/ });
  scanner.finish();
  scanner.feed(utf8("b"));
  assert.throws(() => scanner.feed("b"), { name: "TypeError", message: /feed a Uint8Array/ });
  for (const text of [1, null, undefined, {}, ["a"]]) assert.throws(() => scanner.feed(text), TypeError);
  assert.throws(() => new Scanner(3), { name: "TypeError", message: "a dialect is a Dialect or the name of one, not number" });
  assert.throws(() => new Scanner("qwen3", "thinking"), { name: "TypeError", message: "options are an object" });
});

test("a byte order mark is text", () => {
  for (const text of ["\ufeffword", "\ufeff" + "é".repeat(100)]) {
    assert.equal(textOf(all(new Scanner("qwen3"), [text, "<think>"]), "content"), text);
    assert.equal(strip(text, "qwen3"), text);
  }
});

test("long texts", () => {
  for (const unit of ["a", "é", "雪", "😀", "a😀"]) {
    const thinking = unit.repeat(100_000);
    const text = `<think>\n${thinking}\n</think>\n\n${thinking}!`;
    const scanner = new Scanner("qwen3");
    const events = all(scanner, [text]);
    assert.equal(textOf(events, "thinking"), thinking);
    assert.equal(events.map((event) => event.text).join(""), text);
    for (const [at, event] of events.entries())
      if (at > 0) assert.equal(event.offset, events[at - 1].offset + utf8(events[at - 1].text).length);
    const parts = split(text, "qwen3");
    assert.ok(parts.thinking === thinking && parts.content === `${thinking}!`);
    assert.ok(scanner.split(text).thinking === thinking);
    assert.equal(scanner.finishSplit().content, "");
    assert.ok(strip(text, "qwen3") === `${thinking}!`);
    assert.ok(join(thinking, thinking, "qwen3") === text.slice(0, -1));
    assert.ok(escape(text, "qwen3").startsWith("<\u200bthink>"));
    const data = split(utf8(text), "qwen3");
    assert.deepEqual(Buffer.from(data.thinking), Buffer.from(thinking));
  }
});

test("content that turns out to have been thinking is moved in a whole text", () => {
  const text = `${"hm ".repeat(40_000)}</think>Yes.`;
  const parts = split(text, "qwen3");
  assert.ok(parts.thinking === "hm ".repeat(40_000) && parts.content === "Yes.");
});

test("split is what is called for each token", () => {
  const scanner = new Scanner("qwen3");
  const parts = [...pieces(TEXT, 1).map((text) => scanner.split(text)), scanner.finishSplit()];
  assert.equal(parts.map((part) => part.thinking).join(""), THINKING);
  assert.equal(parts.map((part) => part.content).join(""), "It is 42.");
  assert.deepEqual({ ...split(TEXT, "qwen3") }, { thinking: THINKING, content: "It is 42.", narration: "", tool: "" });
});

test("an event has all that is known", () => {
  const scanner = new Scanner("qwen3");
  scanner.feed("ab");
  assert.deepEqual({ ...scanner.feed("word")[0] }, {
    kind: "text", channel: "content", text: "word", offset: 2, cause: null, rule: null, isRepaired: false, attribute: null,
    firstToken: 0, tokens: 0,
  });
  const [open, attribute] = new Scanner("thought-stream").feed('<thinking type="plan &amp; check">');
  assert.deepEqual([open.kind, open.rule, open.text], ["open", 0, '<thinking type="plan &amp; check">']);
  assert.deepEqual([attribute.kind, attribute.text, attribute.attribute], ["attribute", "", { name: "type", value: "plan & check" }]);
});

test("the parts of calls are events", () => {
  const text = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo 雪"}}\n</tool_call>';
  for (const size of [1, 7, 0]) {
    const events = all(new Scanner("qwen3", { calls: true }), pieces(text, size));
    const of = (kind) => events.filter((event) => event.kind === kind).map((event) => event.text).join("");
    assert.deepEqual([of("call_name"), of("call_value")], ["weather", '{"city": "Oslo 雪"}']);
  }
});

test("options that are wrong say what to write", () => {
  const wrong = [
    [{ strayClose: "keep" }, 'strayClose: "keep" is unknown: write "dialect", "text" or "drop"'],
    [{ calls: "yes" }, 'calls: "yes" is unknown: write "true" or "false"'],
    [{ budget: -1 }, 'budget: "-1" is not a whole number from 0 on'],
    [{ cals: true }, 'a scanner has no option "cals"'],
    [{ start: "narration" }, "the dialect has nothing of that kind to start in"],
    [{ start: "middle" }, "start: `middle` is none of content, thinking, narration, tool, header, calls"],
  ];
  for (const [options, message] of wrong)
    assert.throws(() => new Scanner("qwen3", options), { name: "AsideError", message });
  new Scanner("qwen3", { start: null, calls: undefined }).free();
});

test("dialects are found", () => {
  assert.ok(Dialect.names().includes("qwen3"));
  assert.deepEqual(Dialect.names(), Dialect.names().toSorted?.() ?? Dialect.names());
  assert.equal(Dialect.findForModel("Qwen/Qwen3-32B").name, "qwen3");
  const qwen3 = Dialect.find("qwen3");
  assert.ok(qwen3.maxHold > 0 && qwen3.starts.includes("thinking") && qwen3.start === "content");
  assert.throws(() => Dialect.find("quen3"), (error) => {
    assert.ok(error instanceof libaside.UnknownDialectError && error instanceof libaside.AsideError);
    return error.nearest.includes("qwen3");
  });
  assert.throws(() => Dialect.findForModel("nobody/nothing-7b"), libaside.UnknownDialectError);
  assert.throws(() => Dialect.load("name = 3"), (error) => {
    assert.ok(error instanceof libaside.DialectError);
    return error.line === 1 && error.key === "name";
  });
  const template = { start_anchor: "<s>", fields: { thinking: { open: "<t>", close_pattern: "</t>\\s*" }, content: {} } };
  const read = Dialect.fromResponseTemplate(JSON.stringify(template));
  assert.equal(strip("<t>hm</t> Yes.", read), "Yes.");
  template.fields.content.close_pattern = ".*";
  assert.throws(() => Dialect.fromResponseTemplate(JSON.stringify(template)), /fields.content.close_pattern: the pattern `.\*`/);
  const mine = Dialect.load('name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<a>"]\nclose = ["</a>"]');
  const parts = split("<a>b</a>c", mine);
  assert.deepEqual([mine.name, parts.thinking, parts.content], ["mine", "b", "c"]);
  assert.throws(() => Dialect.find(1), TypeError);
});

test("a template is read", () => {
  const { dialect, start } = Dialect.findForTemplate(read("tests/templates/qwen3-thinking.jinja"));
  assert.deepEqual([dialect.name, start], ["qwen3-thinking", "thinking"]);
  assert.throws(() => Dialect.findForTemplate("{{ '[unused16]◁think▷' }}"), (error) => {
    assert.ok(error instanceof libaside.AmbiguousDialectError);
    assert.deepEqual(error.candidates, ["kimi-vl", "openpangu"]);
    return error.nearest.length === 0;
  });
  assert.throws(() => Dialect.findForTemplate("{{ messages }}"), { name: "UnknownDialectError", nearest: [] });
});

test("starts, budgets, thoughts and counts", () => {
  const scanner = new Scanner("qwen3", { start: "thinking", budget: 3, collect: true });
  const events = scanner.feed("abcdef</think>g");
  assert.deepEqual(events.filter((event) => event.kind === "budget").map((event) => event.offset), [3]);
  assert.deepEqual(scanner.counts("thinking"), { bytes: 6, characters: 6, spans: 1, tokens: 0, lostThoughts: 0 });
  assert.equal(scanner.takeThought().text, "abcdef");
  assert.equal(scanner.takeThought(), null);
  const copy = scanner.copy();
  assert.equal(copy.split("h").content, "h");
  assert.equal(scanner.counts("content").bytes, 1);
  scanner.reset();
  assert.equal(scanner.startFromPrompt("<|im_start|>assistant\n<think>\n"), "thinking");
  assert.deepEqual([scanner.start, scanner.isStartGuessed, scanner.held], ["thinking", false, 0]);
  scanner.feed("a</thi");
  assert.equal(scanner.held, 5);
  assert.deepEqual(scanner.forceClose().filter((event) => event.kind === "close").map((event) => event.cause), ["forced"]);
  assert.throws(() => scanner.startFromPrompt("<think>"), libaside.AsideError);
  assert.throws(() => scanner.counts("all"), TypeError);
  const lost = new Scanner("inline-think", { collect: true });
  lost.feed("<think>a</think>".repeat(1030));
  assert.equal(lost.counts("thinking").lostThoughts, 6);
});

test("a guessed thinking that was the answer", () => {
  const scanner = new Scanner("qwen3-thinking");
  assert.deepEqual([scanner.start, scanner.isStartGuessed], ["thinking", true]);
  scanner.endReason("ended");
  const events = [...scanner.feed("Yes."), ...scanner.finish()];
  assert.deepEqual(events.slice(-2).map((event) => [event.kind, event.channel]), [["reclassify", "content"], ["close", "thinking"]]);
  assert.throws(() => scanner.endReason("stop"), { message: 'reason: "stop" is unknown: write "unknown", "ended" or "cut_off"' });
});

test("events say which tokens they have", () => {
  const tokens = [["<think>", true], ["\n", false], ["Tw", false], ["ice", false], [" 21.\n", false], ["</think>", true], ["Yes", false]];
  for (const sizes of [[7], [1, 1, 1, 1, 1, 1, 1], [2, 5], [3, 3, 1]]) {
    const scanner = new Scanner("qwen3");
    const events = [];
    let at = 0;
    for (const size of sizes) {
      const some = tokens.slice(at, (at += size));
      const lengths = some.map(([text]) => text.length);
      events.push(...scanner.feedTokens(some.map(([text]) => text).join(""), lengths, some.map(([, special]) => special)));
    }
    events.push(...scanner.finish());
    assert.equal(events.reduce((sum, event) => sum + event.tokens, 0), tokens.length);
    for (const [index, event] of events.entries())
      if (index > 0) assert.equal(event.firstToken, events[index - 1].firstToken + events[index - 1].tokens);
  }
  const scanner = new Scanner("qwen3");
  const events = [...scanner.feedTokens("<think>a</think>", [7, 1, 8], [true, false, false]), ...scanner.finish()];
  assert.equal(events.filter((event) => event.kind === "text").map((event) => event.text).join(""), "a</think>");
  assert.throws(() => scanner.feedTokens("ab", [1], [false]), libaside.AsideError);
  assert.throws(() => scanner.feedTokens("ab", [1], []), TypeError);
});

test("whole texts", () => {
  assert.equal(strip("<think>hm</think>Yes.", "qwen3"), "Yes.");
  assert.equal(join("Twice 21.", "It is 42.", Dialect.find("qwen3")), "<think>\nTwice 21.\n</think>\n\nIt is 42.");
  assert.deepEqual(join(utf8("hm"), utf8("Yes."), "qwen3"), utf8(join("hm", "Yes.", "qwen3")));
  assert.equal(escape("What is <think>?", "qwen3"), "What is <\u200bthink>?");
  const calls = [{ name: "f", arguments: { x: "雪" } }];
  const text = join("hm", "", "qwen3", { calls });
  const entry = { type: "function", function: { name: "f", arguments: '{"x":"雪"}' } };
  assert.equal(text, join("hm", "", "qwen3", { calls: [entry] }));
  assert.ok(join("hm", "", "qwen3", { calls: [{ id: "x7", ...entry }] }).includes('"x7"'));
  assert.equal(new Answer("qwen3").feed(text).find((part) => part.kind === "arguments").text, '{"x":"雪"}');
  assert.throws(() => join("a</think>b", "c", "qwen3"), (error) => {
    assert.ok(error instanceof libaside.JoinError);
    return error.part === "thinking" && error.offset === 1;
  });
  assert.equal(split(join("a</think>b", "c", "qwen3", { markers: "escape" }), "qwen3").content, "c");
  assert.throws(() => join("a", utf8("b"), "qwen3"), TypeError);
  for (const call of [strip, split, escape])
    assert.throws(() => call("qwen3", "<think>hm"), /no dialect `<think>hm.*the text comes first, then the dialect/);
});

test("objects are freed, and none is used after that", () => {
  const scanner = new Scanner("qwen3");
  scanner.free();
  scanner.free();
  assert.throws(() => scanner.feed("a"), (error) => error instanceof libaside.AsideError && error.message === "this object was freed");
  for (const budget of ["2", "two"]) assert.throws(() => new Scanner("qwen3", { budget }), /TypeError: budget is a number, not the string "/);
  const dialect = Dialect.load('name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<a>"]\nclose = ["</a>"]');
  const other = new Scanner(dialect);
  dialect.free();
  assert.equal(other.split("<a>b</a>c").thinking, "b");
  assert.throws(() => new Scanner(dialect), /this object was freed/);
  if (Symbol.dispose) {
    const disposed = new Scanner("qwen3");
    disposed[Symbol.dispose]();
    assert.throws(() => disposed.feed("a"), /this object was freed/);
  }
});

test("a budget may be of bytes, and of each span", () => {
  const at = (options) => {
    const events = new Scanner("thought-stream", { budget: 2, ...options }).feed("<thinking>éaé</thinking>b<thinking>éaé</thinking>");
    return events.filter(({ kind }) => kind === "budget").map(({ offset }) => offset);
  };
  assert.deepEqual(at({}), [13]);
  assert.deepEqual(at({ budgetUnit: "bytes" }), [12]);
  assert.deepEqual(at({ budgetScope: "span" }), [13, 40]);
  assert.throws(() => at({ budgetUnit: "words" }), { name: "AsideError", message: /budgetUnit: "words" is unknown/ });
});
