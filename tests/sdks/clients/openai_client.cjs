// openai: chat completions, completions and responses (seen.cjs).
const { OpenAI } = require("openai");
const { Seen, serve } = require("./seen.cjs");

const messages = [{ role: "user", content: "What is twice 21?" }];

async function chat(client, stream, tools) {
  const request = { model: "m", messages };
  if (tools) request.tools = tools.map((tool) => ({ type: "function", function: tool }));
  if (!stream) return [null, message(await client.chat.completions.create(request))];
  const seen = new Seen();
  const chunks = client.chat.completions.stream(request);
  for await (const chunk of chunks)
    for (const { delta, finish_reason } of chunk.choices) {
      seen.think(delta.reasoning_content);
      seen.say(delta.content);
      for (const call of delta.tool_calls ?? []) {
        if (call.index === seen.calls.length) seen.call(call.function.name);
        seen.more(call.function.arguments);
      }
      seen.reason = finish_reason ?? seen.reason;
    }
  return [seen, message(await chunks.finalChatCompletion())];
}

function message(completion) {
  const seen = new Seen();
  const { message, finish_reason } = completion.choices[0];
  seen.think(message.reasoning_content);
  seen.say(message.content);
  for (const call of message.tool_calls ?? []) seen.call(call.function.name, call.function.arguments);
  seen.reason = finish_reason;
  return seen;
}

async function completions(client, stream) {
  const request = { model: "m", prompt: "What is twice 21?" };
  const seen = new Seen();
  const read = (part) => {
    for (const choice of part.choices) {
      seen.think(choice.reasoning_content);
      seen.say(choice.text);
      seen.reason = choice.finish_reason ?? seen.reason;
    }
  };
  if (!stream) {
    read(await client.completions.create(request));
    return [null, seen];
  }
  for await (const part of await client.completions.create({ ...request, stream: true })) read(part);
  return [seen, null];
}

async function responses(client, stream, tools) {
  const request = { model: "m", input: "What is twice 21?" };
  if (tools) request.tools = tools.map((tool) => ({ type: "function", ...tool, strict: true }));
  if (!stream) return [null, items(await client.responses.create(request))];
  const seen = new Seen();
  const events = client.responses.stream(request);
  for await (const event of events)
    switch (event.type) {
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        seen.think(event.delta);
        break;
      case "response.output_text.delta":
        seen.say(event.delta);
        break;
      case "response.output_item.added":
        if (event.item.type === "function_call") seen.call(event.item.name);
        break;
      case "response.function_call_arguments.delta":
        seen.more(event.delta);
        break;
      case "response.completed":
      case "response.incomplete":
        seen.reason = event.response.status;
    }
  return [seen, items(await events.finalResponse())];
}

function items(response) {
  const seen = new Seen();
  for (const item of response.output)
    switch (item.type) {
      case "reasoning":
        for (const part of [...(item.content ?? []), ...item.summary]) seen.think(part.text);
        break;
      case "message":
        for (const part of item.content) seen.say(part.text);
        break;
      case "function_call":
        seen.call(item.name, item.arguments);
    }
  seen.reason = response.status;
  return seen;
}

const formats = { chat, completions, responses };
serve(({ url, format, stream, tools }) =>
  formats[format](new OpenAI({ baseURL: url + "/v1", apiKey: "none", maxRetries: 0 }), stream, tools),
);
