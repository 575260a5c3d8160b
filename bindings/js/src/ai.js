// Middleware for the AI SDK. A rewriter reads the text of a model as an answer of chat completions, so that thinking and calls
// are the same as for every other client of aside.

import { Dialect, Rewriter, UnknownDialectError } from "libaside";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// The reasons why an answer ends: the words of the AI SDK, with those of chat completions.
const REASONS = { stop: "stop", length: "length", "tool-calls": "tool_calls", "content-filter": "content_filter" };

// Returns middleware. Without a dialect, the model's name decides; the dialect of an unknown model is `any`. The tools are
// those of each request.
export function asideMiddleware(dialect = null, options = {}) {
  new Rewriter(dialect ?? "any", { calls: true, ...options }).free();
  const rewriterFor = (model, params, body) => {
    const tools = (params.tools ?? [])
      .filter((tool) => tool.type === "function")
      .map(({ name, inputSchema }) => ({ name, parameters: inputSchema }));
    const own = options.calls === false ? {} : { calls: true, tools };
    return new Rewriter(dialect ?? dialectFor(model.modelId), { formats: "chat", ...own, ...options, body });
  };
  return {
    specificationVersion: "v3",
    async wrapGenerate({ doGenerate, params, model }) {
      const result = await doGenerate();
      const content = [];
      let { finishReason } = result;
      for (const part of result.content) {
        if (part.type !== "text") {
          content.push(part);
          continue;
        }
        const rewriter = rewriterFor(model, params, "json");
        const answer = { index: 0, message: { role: "assistant", content: part.text }, finish_reason: word(finishReason) };
        const out = decoder.decode(joined(rewriter.feed(encoder.encode(JSON.stringify({ choices: [answer] }))), rewriter.finish()));
        rewriter.free();
        const [{ message, finish_reason }] = JSON.parse(out).choices;
        if (message.reasoning_content) content.push({ type: "reasoning", text: message.reasoning_content });
        if (message.content) content.push({ ...part, text: message.content });
        for (const call of message.tool_calls ?? []) content.push(callOf(call.id, call.function.name, call.function.arguments));
        finishReason = reason(finishReason, finish_reason);
      }
      return { ...result, content, finishReason };
    },
    async wrapStream({ doStream, params, model }) {
      const result = await doStream();
      return { ...result, stream: result.stream.pipeThrough(splitParts(() => rewriterFor(model, params, "events"))) };
    },
  };
}

function dialectFor(model) {
  try {
    return Dialect.findForModel(model);
  } catch (error) {
    if (!(error instanceof UnknownDialectError)) throw error;
    return "any";
  }
}

const word = ({ unified }) => REASONS[unified] ?? null;

// Returns the reason why an answer ends, which is a tool call if a call was found in its text.
const reason = (given, found) => (found === "tool_calls" ? { ...given, unified: "tool-calls" } : given);

const callOf = (toolCallId, toolName, input) => ({ type: "tool-call", toolCallId, toolName, input });

function joined(first, second) {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

// Splits the text blocks of a stream.
function splitParts(rewriterFor) {
  // The text block that is read now, until the next part says why the block has ended.
  let block = null;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === "text-start") {
        block?.end(controller, null);
        block = new TextBlock(part, rewriterFor());
      } else if (part.type === "text-delta" && block) {
        block.feed(part.delta, controller);
      } else if (part.type === "text-end" && block) {
        block.hasEnded = true;
      } else if (part.type === "finish") {
        const found = block?.end(controller, word(part.finishReason));
        block = null;
        controller.enqueue({ ...part, finishReason: reason(part.finishReason, found) });
      } else {
        // Raw chunks, and a provider's notices between two pieces of text, do not end a text.
        if (block?.hasEnded || part.type.startsWith("tool-") || part.type.startsWith("reasoning-")) {
          block?.end(controller, null);
          block = null;
        }
        controller.enqueue(part);
      }
    },
    flush(controller) {
      block?.end(controller, null);
    },
  });
}

// A text of a model, which is sent as blocks of reasoning and text, and as calls.
class TextBlock {
  hasEnded = false;
  #start;
  #rewriter;
  // The block that is open: `text` or `reasoning`, and its id.
  #open = null;
  #count = 0;
  #call = null;
  #rest = "";
  #reason = null;
  #decoder = new TextDecoder();

  constructor(start, rewriter) {
    this.#start = start;
    this.#rewriter = rewriter;
  }

  feed(content, controller) {
    this.#write({ index: 0, delta: { content } }, controller);
  }

  // Ends the text and returns why it has ended.
  end(controller, finishReason) {
    if (finishReason) this.#write({ index: 0, delta: {}, finish_reason: finishReason }, controller);
    this.#read(this.#rewriter.finish(), controller);
    this.#rewriter.free();
    this.#closeCall(controller);
    this.#close(controller);
    return this.#reason;
  }

  #write(choice, controller) {
    const data = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [choice] })}\n\n`;
    this.#read(this.#rewriter.feed(encoder.encode(data)), controller);
  }

  #read(bytes, controller) {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) this.#send(JSON.parse(line.slice(6)).choices[0], controller);
  }

  #send({ delta, finish_reason }, controller) {
    this.#say("reasoning", delta.reasoning_content, controller);
    this.#say("text", delta.content, controller);
    for (const { id, function: { name, arguments: more } } of delta.tool_calls ?? []) {
      if (id) {
        this.#closeCall(controller);
        this.#close(controller);
        this.#call = { id, name, input: "" };
        controller.enqueue({ type: "tool-input-start", id, toolName: name });
      }
      if (!more) continue;
      this.#call.input += more;
      controller.enqueue({ type: "tool-input-delta", id: this.#call.id, delta: more });
    }
    this.#reason = finish_reason ?? this.#reason;
  }

  #say(type, delta, controller) {
    if (!delta) return;
    this.#closeCall(controller);
    if (this.#open?.type !== type) {
      this.#close(controller);
      const { id } = this.#start;
      this.#open = { type, id: this.#count === 0 && type === "text" ? id : `${id}-${this.#count}` };
      this.#count++;
      controller.enqueue({ ...this.#start, type: `${type}-start`, id: this.#open.id });
    }
    controller.enqueue({ type: `${type}-delta`, id: this.#open.id, delta });
  }

  #close(controller) {
    if (this.#open) controller.enqueue({ type: `${this.#open.type}-end`, id: this.#open.id });
    this.#open = null;
  }

  // A call that was cut off is reported, and must not be run.
  #closeCall(controller) {
    if (!this.#call) return;
    const { id, name, input } = this.#call;
    this.#call = null;
    controller.enqueue({ type: "tool-input-end", id });
    try {
      JSON.parse(input);
    } catch {
      return;
    }
    controller.enqueue(callOf(id, name, input));
  }
}
