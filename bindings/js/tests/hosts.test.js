// Streams, `fetch` and the AI SDK, over a real server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Anthropic } from "@anthropic-ai/sdk";
import { generateText, jsonSchema, streamText, tool, wrapLanguageModel } from "ai";
import { Ollama } from "ollama";
import { OpenAI } from "openai";
import { asideMiddleware } from "libaside/ai";
import { withAside } from "libaside/fetch";
import { scanStream, splitStream } from "libaside/stream";
import { withServer } from "./server.js";
import { bytes, pieces, string, utf8 } from "./shared.js";

globalThis.AI_SDK_LOG_WARNINGS = false;

const THINKING = "I could write <tool_call> here, größer 🙂.";
const CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris </tool_call> é", "days": 2}}\n</tool_call>';
const TEXT = `<think>\n${THINKING}\n</think>\n\nI ask 雪.\n${CALL}`;
const ARGUMENTS = { city: "Paris </tool_call> é", days: 2 };
const PARAMETERS = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };
const CUTS = [[1, 7], [7, 1], [7, 7], [0, 0]];

async function at(cuts, run) {
  await withServer(async (server) => {
    server.text = TEXT;
    for (const [characters, size] of cuts) {
      Object.assign(server, { characters, bytes: size });
      await run(server);
    }
  });
}

async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

test("splitStream", async () => {
  const body = utf8(JSON.stringify({ choices: [{ message: { content: TEXT } }] }));
  for (const size of [1, 7, 0]) {
    const out = await collect(ReadableStream.from(pieces(body, size)).pipeThrough(splitStream("qwen3")));
    const { message } = JSON.parse(string(bytes(out))).choices[0];
    assert.deepEqual([message.reasoning_content, message.content], [THINKING, `I ask 雪.\n${CALL}`]);
  }
});

test("scanStream", async () => {
  for (const size of [1, 7, 0]) {
    const parts = await collect(ReadableStream.from(pieces(TEXT, size)).pipeThrough(scanStream("qwen3")));
    const text = (channel) => parts.filter((part) => part.channel === channel).map((part) => part.text).join("");
    assert.deepEqual([text("thinking"), text("content"), text("tool")], [THINKING, "I ask 雪.\n", CALL]);
  }
  const data = await collect(ReadableStream.from([utf8(TEXT)]).pipeThrough(scanStream("qwen3")));
  assert.equal(string(data[0].text), THINKING);
  // A reader that leaves.
  await ReadableStream.from([TEXT, TEXT]).pipeThrough(scanStream("qwen3")).cancel();
});

test("openai: chat and responses", async () => {
  await at(CUTS, async ({ url }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0, fetch: withAside(fetch, { dialect: "qwen3", calls: true }) });
    const request = {
      model: "m", messages: [{ role: "user", content: "?" }],
      tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }],
    };
    const whole = (await client.chat.completions.create(request)).choices[0];
    assert.deepEqual([whole.message.reasoning_content, whole.message.content, whole.finish_reason], [THINKING, "I ask 雪.", "tool_calls"]);
    assert.deepEqual(JSON.parse(whole.message.tool_calls[0].function.arguments), ARGUMENTS);
    let thinking = "";
    const chunks = client.chat.completions.stream(request);
    for await (const chunk of chunks) thinking += chunk.choices[0].delta.reasoning_content ?? "";
    const final = (await chunks.finalChatCompletion()).choices[0];
    assert.deepEqual([thinking, final.message.content, final.finish_reason], [THINKING, "I ask 雪.", "tool_calls"]);
    assert.deepEqual(JSON.parse(final.message.tool_calls[0].function.arguments), ARGUMENTS);

    const asked = { model: "m", input: "?", tools: [{ type: "function", name: "weather", parameters: PARAMETERS, strict: true }] };
    const events = client.responses.stream(asked);
    const streamed = await events.finalResponse();
    for (const { output } of [await client.responses.create(asked), streamed]) {
      // Deltas that cut a character in two differ from the server's whole text at the end, which is then split again.
      assert.deepEqual(output.slice(0, 3).map((item) => item.type), ["reasoning", "message", "function_call"]);
      assert.equal(output[0].content[0].text, THINKING);
      assert.deepEqual([output[2].name, JSON.parse(output[2].arguments)], ["weather", ARGUMENTS]);
    }
  });
});

test("anthropic", async () => {
  await at(CUTS, async ({ url }) => {
    const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0, fetch: withAside(fetch, { dialect: "qwen3", calls: true }) });
    const request = {
      model: "m", max_tokens: 1000, messages: [{ role: "user", content: "?" }],
      tools: [{ name: "weather", input_schema: PARAMETERS }],
    };
    for (const message of [await client.messages.create(request), await client.messages.stream(request).finalMessage()]) {
      assert.deepEqual(message.content.map((block) => block.type), ["thinking", "text", "tool_use"]);
      assert.equal(message.content[0].thinking, THINKING);
      assert.deepEqual([message.content[2].input, message.stop_reason], [ARGUMENTS, "tool_use"]);
    }
  });
});

test("ollama", async () => {
  await at(CUTS, async ({ url }) => {
    const client = new Ollama({ host: url, fetch: withAside(fetch, { dialect: "qwen3", calls: true }) });
    const request = {
      model: "m", messages: [{ role: "user", content: "?" }],
      tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }],
    };
    const told = { thinking: "", content: "", calls: [] };
    for await (const { message } of await client.chat({ ...request, stream: true })) {
      told.thinking += message.thinking ?? "";
      told.content += message.content;
      told.calls.push(...(message.tool_calls ?? []));
    }
    const { message } = await client.chat({ ...request, stream: false });
    for (const { thinking, content, calls } of [told, { ...message, calls: message.tool_calls }]) {
      assert.deepEqual([thinking, content], [THINKING, "I ask 雪."]);
      assert.deepEqual(calls.map((call) => [call.function.name, call.function.arguments]), [["weather", ARGUMENTS]]);
    }
  });
});

async function ai(model, tools) {
  const request = { model, maxRetries: 0, prompt: "?", tools };
  const streamed = streamText({ ...request, onError: () => {} });
  const order = [];
  for await (const part of streamed.fullStream) {
    if (part.type === "error") throw part.error;
    if (["reasoning-start", "text-start", "tool-call"].includes(part.type)) order.push(part.type);
  }
  const answers = [];
  for (const result of [streamed, await generateText(request)])
    answers.push({
      thinking: await result.reasoningText,
      content: await result.text,
      calls: (await result.toolCalls).map((call) => [call.toolName, call.input]),
      reason: await result.finishReason,
    });
  return { order, answers };
}

const TOOLS = { weather: tool({ inputSchema: jsonSchema(PARAMETERS) }) };

test("the AI SDK: middleware", async () => {
  // The provider reads the events, so only deltas are cut.
  await at([[1, 0], [7, 0], [0, 0]], async ({ url }) => {
    const provider = createOpenAICompatible({ name: "server", baseURL: `${url}/v1`, apiKey: "none" });
    const told = { thinking: THINKING, content: "I ask 雪.", calls: [["weather", ARGUMENTS]], reason: "tool-calls" };
    const untold = { thinking: THINKING, content: `I ask 雪.\n${CALL}`, calls: [], reason: "stop" };
    // Finds the dialect by its name, or by the model's name.
    for (const [name, dialect] of [["m", "qwen3"], ["qwen3-8b", undefined]]) {
      const model = wrapLanguageModel({ model: provider(name), middleware: asideMiddleware(dialect) });
      const { order, answers } = await ai(model, TOOLS);
      assert.deepEqual(order, ["reasoning-start", "text-start", "tool-call"]);
      assert.deepEqual(answers, [told, told]);
    }
    const model = wrapLanguageModel({ model: provider("m"), middleware: asideMiddleware("qwen3") });
    assert.deepEqual((await ai(model, undefined)).answers, [untold, untold]);
    const without = wrapLanguageModel({ model: provider("m"), middleware: asideMiddleware("qwen3", { tools: [] }) });
    assert.deepEqual((await ai(without, TOOLS)).answers, [untold, untold]);
  });
});

test("the AI SDK: fetch", async () => {
  await at(CUTS, async ({ url }) => {
    const split = withAside(fetch, { dialect: "qwen3", calls: true });
    const provider = createOpenAICompatible({ name: "server", baseURL: `${url}/v1`, apiKey: "none", fetch: split });
    const told = { thinking: THINKING, content: "I ask 雪.", calls: [["weather", ARGUMENTS]], reason: "tool-calls" };
    assert.deepEqual((await ai(provider("m"), TOOLS)).answers, [told, told]);
  });
});

test("an answer that is cut off, or has no thinking", async () => {
  await withServer(async (server) => {
    const provider = createOpenAICompatible({ name: "server", baseURL: `${server.url}/v1`, apiKey: "none" });
    const model = wrapLanguageModel({ model: provider("m"), middleware: asideMiddleware("qwen3") });
    for (const [text, told] of [
      ["It is 42, and 1 < 2.", { thinking: undefined, content: "It is 42, and 1 < 2." }],
      ["a <", { thinking: undefined, content: "a <" }],
      ["<think>\nhm", { thinking: "hm", content: "" }],
      [`Yes.\n${CALL.slice(0, 50)}`, { thinking: undefined, content: `Yes.\n${CALL.slice(0, 50)}` }],
      ["One.<think>\nHm.\n</think>\n\nTwo.", { thinking: "Hm.", content: "One.\n\nTwo." }],
    ]) {
      server.text = text;
      for (const answer of (await ai(model)).answers)
        assert.deepEqual(answer, { ...told, calls: [], reason: "stop" });
    }
    // A call that breaks off is not run. In a stream, the client has seen its beginning.
    server.text = `Yes.\n${CALL.slice(0, 50)}`;
    const { answers: [streamed, whole] } = await ai(model, TOOLS);
    assert.deepEqual(streamed, { thinking: undefined, content: "Yes.", calls: [], reason: "stop" });
    assert.deepEqual(whole, { ...streamed, content: server.text });
  });
});

test("what a fetch passes", async () => {
  const answer = (body, headers = {}, status = 200) =>
    withAside(async () => new Response(body, { status, headers: { "content-type": "application/json", ...headers } }), { dialect: "qwen3" });
  const body = '{"choices":[{"message":{"content":"<think>hm</think>Yes."}}]}';
  const want = '{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}';
  const post = { method: "POST", body: "{}" };
  const url = "http://localhost/v1/chat/completions";
  const split = await answer(body, { "content-length": String(body.length), etag: "x", "x-own": "y" })(url, post);
  assert.deepEqual([split.headers.get("content-length"), split.headers.get("etag"), split.headers.get("x-own")], [null, null, "y"]);
  assert.equal(await split.text(), want);
  assert.equal(await (await answer(body)(new Request(url, post))).text(), want);
  assert.equal(await (await answer(body)(new URL(url), { ...post, method: "post" })).text(), want);
  for (const [path, init, headers, status] of [
    ["/v1/models", post], ["/v1/chat/completions", { method: "GET" }], ["/v1/chat/completions", post, { "content-type": "text/html" }],
    ["/v1/chat/completions", post, {}, 500],
  ])
    assert.equal(await (await answer(body, headers, status)(`http://localhost${path}`, init)).text(), body, path);
  assert.throws(() => withAside(fetch, { dialect: "quen3" }), { name: "UnknownDialectError" });
  assert.throws(() => withAside(fetch, { reparir: true }), { name: "AsideError" });
  // The model that the request names decides the dialect; for an unknown model, it is `any`.
  const byModel = withAside(async () => new Response('{"choices":[{"message":{"content":"<|channel>hm<channel|>Yes."}}]}',
    { headers: { "content-type": "application/json" } }));
  const asked = async (model) => (await (await byModel(url, { method: "POST", body: JSON.stringify({ model }) })).json()).choices[0].message;
  assert.equal((await asked("google/gemma-4-31b-it")).reasoning_content, "hm");
  assert.ok((await asked("m")).content.includes("Yes."));
});

test("a request that is aborted ends", async () => {
  await withServer(async (server) => {
    Object.assign(server, { text: TEXT.repeat(100), bytes: 1 });
    const controller = new AbortController();
    const init = { method: "POST", body: '{"stream":true}', signal: controller.signal };
    const response = await withAside(fetch, { dialect: "qwen3" })(`${server.url}/v1/chat/completions`, init);
    const reader = response.body.getReader();
    await reader.read();
    controller.abort();
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    }, { name: "AbortError" });
  });
});
