// The AI SDK with the provider that argv[2] names (seen.cjs).
const { createAnthropic } = require("@ai-sdk/anthropic");
const { createOpenAI } = require("@ai-sdk/openai");
const { createOpenAICompatible } = require("@ai-sdk/openai-compatible");
const { generateText, jsonSchema, streamText, tool } = require("ai");
const { Seen, serve } = require("./seen.cjs");

globalThis.AI_SDK_LOG_WARNINGS = false;

const providers = {
  compatible: (settings) => createOpenAICompatible({ name: "gateway", ...settings }),
  anthropic: createAnthropic,
  openai: createOpenAI,
};
const models = { chat: "chat", completions: "completion", messages: "messages", responses: "responses" };

serve(async ({ url, format, stream, tools }) => {
  const provider = providers[process.argv[2]]({ baseURL: url + "/v1", apiKey: "none" });
  const name = process.argv[2] === "compatible" ? models[format] + "Model" : models[format];
  const request = { model: provider[name]("m"), maxRetries: 0, prompt: "What is twice 21?" };
  if (tools)
    request.tools = Object.fromEntries(
      tools.map(({ name, parameters }) => [name, tool({ inputSchema: jsonSchema(parameters) })]),
    );
  if (!stream) return [null, await final(await generateText(request))];
  const seen = new Seen();
  const result = streamText({ ...request, onError: () => {} });
  for await (const part of result.fullStream)
    switch (part.type) {
      case "reasoning-delta":
        seen.think(part.text);
        break;
      case "text-delta":
        seen.say(part.text);
        break;
      case "tool-call":
        seen.call(part.toolName, part.input);
        break;
      case "finish":
        seen.reason = part.finishReason;
        break;
      case "error":
        throw part.error;
    }
  return [seen, await final(result)];
});

async function final(result) {
  const seen = new Seen();
  for (const part of await result.content)
    if (part.type === "reasoning") seen.think(part.text);
    else if (part.type === "text") seen.say(part.text);
    else if (part.type === "tool-call") seen.call(part.toolName, part.input);
  seen.reason = await result.finishReason;
  return seen;
}
