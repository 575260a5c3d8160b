// The same agent as agent.py, with the AI SDK and its provider for servers that are compatible with OpenAI's.
import { createRequire } from "node:module";

// Packages are searched for in NODE_PATH, because import does not read it.
const require = createRequire(import.meta.url);
const { createOpenAICompatible } = require("@ai-sdk/openai-compatible");
const { generateText, stepCountIs, streamText, tool } = require("ai");
const { z } = require("zod");

const provider = createOpenAICompatible({ name: "gateway", baseURL: process.argv[2], apiKey: "none" });
const request = {
  model: provider("m"),
  maxRetries: 0,
  stopWhen: stepCountIs(3),
  prompt: "How is Paris, and when?",
  tools: {
    weather: tool({
      inputSchema: z.object({ city: z.string(), days: z.number().int() }),
      execute: async ({ city, days }) => `${days} days of rain in ${city}`,
    }),
    clock: tool({ inputSchema: z.object({}), execute: async () => "noon" }),
  },
};

if (process.argv[3] === "whole") {
  console.log((await generateText(request)).text);
} else {
  const result = streamText({ ...request, onError: ({ error }) => { throw error; } });
  console.log(await result.text);
}
