// The same agent as three.py, with the AI SDK, which keeps the history itself.
import { createRequire } from "node:module";

// Packages are searched for in NODE_PATH, because import does not read it.
const require = createRequire(import.meta.url);
const { createOpenAICompatible } = require("@ai-sdk/openai-compatible");
const { generateText, stepCountIs, tool } = require("ai");
const { z } = require("zod");

const provider = createOpenAICompatible({ name: "gateway", baseURL: `${process.argv[2]}/v1`, apiKey: "none" });
const result = await generateText({
  model: provider("m"),
  maxRetries: 0,
  stopWhen: stepCountIs(4),
  prompt: "How is Paris, and when?",
  tools: {
    weather: tool({ inputSchema: z.object({ city: z.string(), days: z.number().int() }), execute: async () => "noon" }),
    clock: tool({ inputSchema: z.object({}), execute: async () => "noon" }),
  },
});
console.log(result.text);
