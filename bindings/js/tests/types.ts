// Programs in TypeScript, checked by `tsc --strict` and never run; each line marked as an error must be an error.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Anthropic } from "@anthropic-ai/sdk";
import { wrapLanguageModel } from "ai";
import { Ollama } from "ollama";
import { OpenAI } from "openai";
import {
  Answer, type Cause, type Channel, Dialect, escape, type Event, init, join, JoinError, type Part, requestHint, requestModel, Rewriter,
  Scanner, split, strip, wants,
} from "libaside";
import { asideMiddleware } from "libaside/ai";
import { withAside } from "libaside/fetch";
import { type Part as Stretch, scanStream, splitStream } from "libaside/stream";
import { Compressor } from "libaside/tools";

await init();
const { dialect, start } = Dialect.findForTemplate("");
const scanner = new Scanner(dialect, { start, collect: true, calls: true });
const events: Event[] = scanner.feed("a");
const answer = new Answer(dialect, { start, tools: [{ name: "f" }], notWhole: "hold", mayTakeBack: true });
const told: Part[] = [...answer.feed("a"), ...answer.finish("ended")];
for (const part of told) {
  if (part.kind === "call") part.name.toUpperCase() satisfies string;
  if (part.kind === "call_end") part.cause satisfies Cause;
  // @ts-expect-error
  part.text;
}
const own: Uint8Array[] = new Answer<Uint8Array>("qwen3").feed(new Uint8Array()).flatMap((part) => ("text" in part ? [part.text] : []));
// @ts-expect-error
answer.finish("stop");
// @ts-expect-error
new Answer("qwen3", { calls: true });
for (const { kind, text, channel } of events) if (kind === "call_end") text.toUpperCase() satisfies string, channel satisfies Channel;
const data = new Scanner<Uint8Array>("qwen3");
const bytes: Uint8Array = data.feed(new Uint8Array())[0]!.text;
data.takeThought()?.text.byteLength;
// @ts-expect-error
data.feed("a");
// @ts-expect-error
new Scanner("qwen3", { start: "middle" });
// @ts-expect-error
new Scanner("qwen3", { bugdet: 1 });
// @ts-expect-error
new Dialect();

const out: Uint8Array = new Rewriter("qwen3", { formats: ["chat", "messages"], field: "reasoning" }).feed(new ArrayBuffer(1));
// @ts-expect-error
new Rewriter("qwen3", { formats: "chats" });
const text: string = strip("a", "qwen3") + escape("a", dialect) + split("a", "qwen3").thinking + join("a", "b", "qwen3", { calls: [{ name: "f", arguments: {} }] });
const buffer: Uint8Array = strip(bytes, "qwen3");
try {
  join("a", "b", "qwen3", { markers: "escape" });
} catch (error) {
  if (error instanceof JoinError) error.offset?.toFixed();
}
wants({ status: 200, path: "/v1/messages", contentType: null })?.toUpperCase();
requestHint({ path: "/v1/messages", method: "POST" });
requestModel(bytes);

const answers: ReadableStream<Uint8Array> = new Response().body!.pipeThrough(splitStream("qwen3", { repair: true }));
const parts: ReadableStream<Stretch> = new ReadableStream<string>().pipeThrough(scanStream("qwen3"));
const options = { apiKey: "none", fetch: withAside(fetch, { dialect: "qwen3", calls: true }) };
new OpenAI(options);
new Anthropic(options);
new Ollama({ fetch: options.fetch });
const provider = createOpenAICompatible({ name: "server", baseURL: "http://localhost", fetch: options.fetch });
wrapLanguageModel({ model: provider("m"), middleware: asideMiddleware("qwen3", { keepGuessed: true }) });

const compressor = new Compressor({ budget: 10_000 });
compressor.compress("a", { toolId: "bash", input: "make" }).text.toUpperCase();
const stream = compressor.stream({ toolId: "bash", input: { command: "make" }, memory: 1 << 20 });
stream.setExitCode(2);
stream.finish().toUpperCase();
stream.report?.filters.join();

export { answers, buffer, out, own, parts, text };
