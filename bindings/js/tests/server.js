// A model's server that does not split thinking: it implements four APIs, and sends the model's text unchanged, in deltas and
// writes of a given size.

import { once } from "node:events";
import { createServer } from "node:http";
import { setImmediate } from "node:timers/promises";
import { pieces, utf8 } from "./shared.js";

const sse = (events) => events.map((event) => (event.type ? `event: ${event.type}\n` : "") + `data: ${JSON.stringify(event)}\n\n`).join("");

const FORMATS = {
  "/chat/completions": {
    type: "text/event-stream",
    body: (text) => ({
      id: "c1", object: "chat.completion", created: 1, model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    }),
    stream(deltas) {
      const chunk = (delta, finish_reason) => ({
        id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }],
      });
      const chunks = deltas.map((content) => chunk({ content }, null));
      return sse([chunk({ role: "assistant", content: "" }, null), ...chunks, chunk({}, "stop")]) + "data: [DONE]\n\n";
    },
  },
  "/messages": {
    type: "text/event-stream",
    body: (text) => ({
      id: "msg_1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text }], stop_reason: "end_turn",
      stop_sequence: null, usage: { input_tokens: 9, output_tokens: 3 },
    }),
    stream: (deltas) =>
      sse([
        {
          type: "message_start",
          message: {
            id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null,
            usage: { input_tokens: 9, output_tokens: 1 },
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        ...deltas.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 3 } },
        { type: "message_stop" },
      ]),
  },
  "/responses": {
    type: "text/event-stream",
    body: (text) => response("completed", [message(text, "completed")]),
    stream(deltas) {
      const text = deltas.join("");
      const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
      const events = [
        { type: "response.created", response: response("in_progress", []) },
        { type: "response.output_item.added", output_index: 0, item: { ...message("", "in_progress"), content: [] } },
        { type: "response.content_part.added", ...at, part: message("").content[0] },
        ...deltas.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
        { type: "response.output_text.done", ...at, text, logprobs: [] },
        { type: "response.content_part.done", ...at, part: message(text).content[0] },
        { type: "response.output_item.done", output_index: 0, item: message(text, "completed") },
        { type: "response.completed", response: response("completed", [message(text, "completed")]) },
      ];
      return sse(events.map((event, sequence_number) => ({ ...event, sequence_number })));
    },
  },
  "/api/chat": {
    type: "application/x-ndjson",
    body: (text) => line(text, { done: true, done_reason: "stop" }),
    stream: (deltas) =>
      [...deltas.map((text) => line(text, { done: false })), line("", { done: true, done_reason: "stop" })]
        .map((row) => JSON.stringify(row) + "\n")
        .join(""),
  },
};

const line = (content, end) => ({ model: "m", created_at: "2026-07-28T06:38:03Z", message: { role: "assistant", content }, ...end });

const message = (text, status) => ({
  id: "msg_1", type: "message", role: "assistant", status, content: [{ type: "output_text", annotations: [], logprobs: [], text }],
});

const response = (status, output) => ({
  id: "resp_1", object: "response", created_at: 1, status, error: null, incomplete_details: null, instructions: null, model: "m", output,
  parallel_tool_calls: true, tool_choice: "auto", tools: [], temperature: 1, top_p: 1, metadata: {},
  usage: {
    input_tokens: 9, input_tokens_details: { cached_tokens: 0 }, output_tokens: 3, output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 12,
  },
});

// Runs a test with a server. `server.text` is the model's text; each delta has `server.characters` of it, and each write
// `server.bytes`; 0 means all.
export async function withServer(run) {
  const server = { text: "", characters: 7, bytes: 0, asked: null };
  const http = createServer(async (request, answer) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    server.asked = { headers: request.headers, body: JSON.parse(Buffer.concat(parts)) };
    const format = FORMATS[Object.keys(FORMATS).find((end) => request.url.endsWith(end))];
    const streamed = server.asked.body.stream ?? false;
    answer.setHeader("content-type", streamed ? format.type : "application/json");
    const text = streamed
      ? format.stream(server.characters === 0 ? [server.text] : pieces(server.text, server.characters))
      : JSON.stringify(format.body(server.text));
    const data = utf8(text);
    answer.setHeader("content-length", data.length);
    for (const piece of pieces(data, server.bytes)) {
      answer.write(piece);
      if (server.bytes > 0) await setImmediate();
    }
    answer.end();
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  server.url = `http://127.0.0.1:${http.address().port}`;
  try {
    return await run(server);
  } finally {
    http.closeAllConnections();
    http.close();
  }
}
