// ollama: chat and generate (seen.cjs).
const { Ollama } = require("ollama");
const { Seen, serve } = require("./seen.cjs");

serve(async ({ url, format, stream, tools }) => {
  const client = new Ollama({ host: url });
  const seen = new Seen();
  const read = (line) => {
    const said = format === "ollama" ? line.message : line;
    seen.think(said.thinking);
    seen.say(format === "ollama" ? said.content : said.response);
    for (const call of said.tool_calls ?? []) seen.call(call.function.name, call.function.arguments);
    seen.reason = line.done ? line.done_reason : null;
  };
  const request = { model: "m", stream };
  if (tools) request.tools = tools.map((tool) => ({ type: "function", function: tool }));
  const answer = await (format === "ollama"
    ? client.chat({ ...request, messages: [{ role: "user", content: "What is twice 21?" }] })
    : client.generate({ ...request, prompt: "What is twice 21?" }));
  if (!stream) {
    read(answer);
    return [null, seen];
  }
  for await (const line of answer) read(line);
  return [seen, null];
});
