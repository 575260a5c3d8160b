// LangChain's client of OpenAI over `withAside`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { withAside } from "libaside/fetch";
import { z } from "zod";
import { withServer } from "../server.js";

const CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris", "days": 2}}\n</tool_call>';
const TEXT = `<think>\nI could ask, größer 🙂.\n</think>\n\nI ask 雪.\n${CALL}`;

test("LangChain: thinking, content and calls", async () => {
  await withServer(async (server) => {
    server.text = TEXT;
    for (const [characters, bytes] of [[1, 7], [7, 1], [0, 0]]) {
      Object.assign(server, { characters, bytes });
      const model = new ChatOpenAI({
        model: "m", apiKey: "none", maxRetries: 0,
        configuration: { baseURL: `${server.url}/v1`, fetch: withAside(fetch, { dialect: "qwen3", calls: true }) },
      }).bindTools([tool(() => "", { name: "weather", schema: z.object({ city: z.string(), days: z.number() }) })]);
      let streamed;
      for await (const chunk of await model.stream("?")) streamed = streamed ? streamed.concat(chunk) : chunk;
      for (const message of [await model.invoke("?"), streamed]) {
        assert.deepEqual([message.text, message.additional_kwargs.reasoning_content], ["I ask 雪.", "I could ask, größer 🙂."]);
        assert.deepEqual(message.tool_calls.map(({ name, args }) => [name, args]), [["weather", { city: "Paris", days: 2 }]]);
      }
    }
  });
});
