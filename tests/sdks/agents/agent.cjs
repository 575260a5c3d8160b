// The same agent as agent.py, with the tool runner of the openai package.
const { OpenAI } = require("openai");

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });

const tool = (name, properties, run) => ({
  type: "function",
  function: { name, parse: JSON.parse, parameters: { type: "object", properties }, function: run },
});

(async () => {
  const runner = client.chat.completions.runTools({
    model: "m",
    stream: process.argv[3] === "streamed",
    messages: [{ role: "user", content: "How is Paris, and when?" }],
    tools: [
      tool("weather", { city: { type: "string" }, days: { type: "integer" } }, ({ city, days }) => `${days} days of rain in ${city}`),
      tool("clock", {}, () => "noon"),
    ],
  });
  console.log(await runner.finalContent());
})();
