// Sends a chat request to the server at argv[2] with the openai package, whole and streamed, and prints each piece as a line of
// JSON.
const { OpenAI } = require("openai");

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: "What is twice 21?" }];

function show(mode, piece) {
  for (const field of ["reasoning_content", "content"])
    if (piece[field]) console.log(JSON.stringify([mode, field, piece[field]]));
  for (const call of piece.tool_calls ?? []) console.log(JSON.stringify([mode, "call", call.function.name]));
}

(async () => {
  show("whole", (await client.chat.completions.create({ model: "m", messages })).choices[0].message);
  for await (const chunk of await client.chat.completions.create({ model: "m", messages, stream: true }))
    for (const choice of chunk.choices) show("streamed", choice.delta);
})();
