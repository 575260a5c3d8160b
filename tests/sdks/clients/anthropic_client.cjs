// @anthropic-ai/sdk: messages (seen.cjs).
const { Anthropic } = require("@anthropic-ai/sdk");
const { Seen, serve } = require("./seen.cjs");

serve(async ({ url, stream, tools }) => {
  const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const request = { model: "m", max_tokens: 1000, messages: [{ role: "user", content: "What is twice 21?" }] };
  if (tools) request.tools = tools.map(({ name, parameters }) => ({ name, input_schema: parameters }));
  if (!stream) return [null, blocks(await client.messages.create(request))];
  const seen = new Seen();
  const events = client.messages.stream(request);
  for await (const { type, content_block, delta } of events)
    if (type === "content_block_start" && content_block.type === "tool_use") seen.call(content_block.name);
    else if (type === "message_delta") seen.reason = delta.stop_reason;
    else if (type === "content_block_delta") {
      seen.think(delta.thinking);
      seen.say(delta.text);
      if (delta.type === "input_json_delta") seen.more(delta.partial_json);
    }
  return [seen, blocks(await events.finalMessage())];
});

function blocks(message) {
  const seen = new Seen();
  for (const block of message.content)
    if (block.type === "tool_use") seen.call(block.name, block.input);
    else {
      seen.think(block.thinking);
      seen.say(block.text);
    }
  seen.reason = message.stop_reason;
  return seen;
}
