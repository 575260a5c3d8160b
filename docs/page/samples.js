// The texts to choose from: recordings and outputs of examples/, which scripts/page copies, and a log that is generated here.

export const MODELS = ["Qwen/Qwen3-32B", "openai/gpt-oss-20b", "deepseek-ai/DeepSeek-R1", "zai-org/GLM-4.5", "moonshotai/Kimi-K2-Thinking"];

export const OUTPUTS = [
  ["an answer with thinking (Qwen3)", "qwen3", "qwen3"],
  ["two tool calls, the thinking never closed (Qwen3)", "qwen3-tool", "qwen3"],
  ["cut off inside the thinking (Qwen3)", "qwen3-cut", "qwen3"],
  ["analysis, commentary, calls, final (gpt-oss)", "harmony", "harmony"],
  ["a tool call with quoted markers (Gemma 4)", "gemma-4", "gemma-4"],
  ["Chinese, Japanese and emoji (GLM-4.5)", "glm-4.5", "glm-4.5"],
  ["a literal <think> in a code fence", "inline-think", "inline-think"],
  ["thoughts in attributes", "thought-stream", "thought-stream"],
  ["thoughts, narration, answer", "thought-narrate", "thought-narrate"],
].map(([title, file, model]) => ({ title, url: new URL(`samples/${file}.txt`, import.meta.url), model }));

function build() {
  const lines = [];
  for (let unit = 1; unit <= 400; unit++) {
    lines.push(`[${unit}/400] cc -O2 -Wall -c src/unit_${unit}.c -o build/unit_${unit}.o`);
    if (unit % 60 === 0) lines.push(`src/unit_${unit}.c:${unit}:9: warning: unused variable 'n' [-Wunused-variable]`, `  ${unit} |     int n;`, "      |         ^");
    if (unit === 287)
      lines.push("src/unit_287.c: In function 'total':", "src/unit_287.c:41:12: error: 'item' undeclared (first use in this function)",
        "   41 |     return item->price;", "      |            ^~~~", "make: *** [Makefile:12: build/unit_287.o] Error 1");
  }
  return lines.concat("make: Target 'all' not remade because of errors.", "").join("\n");
}

export const LOGS = [
  { title: "make: one of 400 units fails", text: build(), command: "make -k all", exit: 2 },
  { title: "phpunit: one of 201 tests fails", url: new URL("samples/phpunit.txt", import.meta.url), command: "vendor/bin/phpunit --testdox", exit: 1 },
];

const DIALECT = `# Thinking between [think] and [/think].
name = "mine"

[[span]]
channel = "thinking"
open = ["[think]"]
close = ["[/think]"]
framing = { after_open = "\\n", before_close = "\\n", after_close = "\\n\\n" }

[[example]]
about = "the ordinary answer"
input = "[think]\\nhm\\n[/think]\\n\\nYes."
thinking = "hm"
content = "Yes."
`;

const TEMPLATE = `{
  "start_anchor": "<|assistant|>",
  "fields": {
    "reasoning_content": {
      "open": "[think]",
      "close_pattern": "\\\\[/think\\\\]\\\\s*"
    },
    "content": {
      "close_pattern": "<\\\\|end\\\\|>\\\\s*|$"
    }
  }
}
`;

const TEXT = "[think]\nTwice 21.\n[/think]\n\nIt is 42.";
export const FILES = [
  { title: "a dialect file", file: DIALECT, text: TEXT },
  { title: "a response_template (tokenizer_config.json)", file: TEMPLATE, text: `${TEXT}<|end|>` },
];

export async function textOf(sample) {
  if (sample.text !== undefined) return sample.text;
  const answer = await fetch(sample.url);
  if (!answer.ok) throw new Error(`${sample.url} was answered by ${answer.status}`);
  return answer.text();
}
