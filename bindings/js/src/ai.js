// Middleware for the AI SDK: a loop over the parts of each text of a model.

import { Answer, Dialect, UnknownDialectError } from "libaside";

// The AI SDK's reasons for the end of a text, with the corresponding reason of an answer.
const REASONS = { stop: "ended", length: "cut_off" };

// Returns middleware. Without a dialect, the model's name decides; the dialect of an unknown model is `any`. The tools are
// those of each request.
export function asideMiddleware(dialect = null, options = {}) {
  new Answer(dialect ?? "any", options).free();
  const answerFor = ({ modelId }, { tools = [] }, isWhole) => {
    const functions = tools.filter((tool) => tool.type === "function");
    return new Answer(dialect ?? dialectFor(modelId), {
      tools: functions.map(({ name, inputSchema }) => ({ name, parameters: inputSchema })),
      // Ids must be unique in a conversation.
      idPrefix: `call_${Math.random().toString(36).slice(2)}_`,
      ...(isWhole && { notWhole: "text" }),
      ...options,
      // Parts that were sent in a stream cannot be moved.
      mayTakeBack: isWhole,
    });
  };
  return {
    specificationVersion: "v3",
    async wrapGenerate({ doGenerate, params, model }) {
      const result = await doGenerate();
      const content = [];
      let hasCalls = false;
      for (const part of result.content) {
        if (part.type !== "text") {
          content.push(part);
          continue;
        }
        const answer = answerFor(model, params, true);
        const split = [...answer.feed(part.text), ...answer.finish(word(result.finishReason))];
        answer.free();
        const { thinking, text, calls } = message(split);
        if (thinking && options.thinking !== "drop") content.push({ type: "reasoning", text: thinking });
        if (text) content.push({ ...part, text });
        content.push(...calls);
        hasCalls ||= calls.length > 0;
      }
      return { ...result, content, finishReason: reason(result.finishReason, hasCalls) };
    },
    async wrapStream({ doStream, params, model }) {
      const result = await doStream();
      return { ...result, stream: result.stream.pipeThrough(splitParts(() => answerFor(model, params, false))) };
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

const word = ({ unified }) => REASONS[unified] ?? "unknown";

// Returns the reason why an answer ends, which is a tool call if a call was found in its text.
const reason = (given, hasCalls) => (hasCalls && given.unified === "stop" ? { ...given, unified: "tool-calls" } : given);

const callOf = (toolCallId, toolName, input) => ({ type: "tool-call", toolCallId, toolName, input });

// Returns the texts and the whole calls of an answer's parts.
function message(parts) {
  let said = { thinking: "", content: "" };
  const calls = [];
  const whole = [];
  for (const { kind, text, index, id, name, isWhole, lateId, from, to } of parts) {
    if (kind === "thinking" || kind === "content") said[kind] += text;
    else if (kind === "moved") said = { thinking: "", content: "", [to]: said[to] + said[from] };
    else if (kind === "call") calls[index] = callOf(id, name, "");
    else if (kind === "arguments") calls[index].input += text;
    else if (kind === "call_end" && isWhole) whole.push({ ...calls[index], toolCallId: lateId ?? calls[index].toolCallId });
  }
  return { thinking: said.thinking, text: said.content, calls: whole };
}

// Splits the text blocks of a stream.
function splitParts(newAnswer) {
  // The current text block, until the next part shows why the block has ended.
  let block = null;
  let hasCalls = false;
  const end = (controller, why) => {
    block?.end(controller, why);
    hasCalls ||= block?.hasCalls ?? false;
    block = null;
  };
  return new TransformStream({
    transform(part, controller) {
      if (part.type === "text-start") {
        end(controller);
        block = new TextBlock(part, newAnswer());
      } else if (part.type === "text-delta" && block) {
        block.feed(part.delta, controller);
      } else if (part.type === "text-end" && block) {
        block.hasEnded = true;
      } else if (part.type === "finish") {
        end(controller, word(part.finishReason));
        controller.enqueue({ ...part, finishReason: reason(part.finishReason, hasCalls) });
      } else {
        // Raw chunks, and a provider's messages between two pieces of text, do not end a text.
        if (block?.hasEnded || part.type.startsWith("tool-") || part.type.startsWith("reasoning-")) end(controller);
        controller.enqueue(part);
      }
    },
    flush(controller) {
      end(controller);
    },
  });
}

// A text of a model, which is sent as blocks of reasoning and text, and as calls.
class TextBlock {
  hasEnded = false;
  hasCalls = false;
  #start;
  #answer;
  // The block that is open: `text` or `reasoning`, and its id.
  #open = null;
  #count = 0;
  #call = null;

  constructor(start, answer) {
    this.#start = start;
    this.#answer = answer;
  }

  feed(text, controller) {
    for (const part of this.#answer.feed(text)) this.#send(part, controller);
  }

  end(controller, why) {
    for (const part of this.#answer.finish(why)) this.#send(part, controller);
    this.#answer.free();
    this.#close(controller);
  }

  #send({ kind, text, id, name, isWhole }, controller) {
    switch (kind) {
      case "thinking":
        this.#say("reasoning", text, controller);
        break;
      case "content":
        this.#say("text", text, controller);
        break;
      case "call":
        this.#close(controller);
        this.#call = callOf(id, name, "");
        controller.enqueue({ type: "tool-input-start", id, toolName: name });
        break;
      case "arguments":
        this.#call.input += text;
        controller.enqueue({ type: "tool-input-delta", id: this.#call.toolCallId, delta: text });
        break;
      case "call_end":
        controller.enqueue({ type: "tool-input-end", id: this.#call.toolCallId });
        // A call that is not whole is reported, and must not be run.
        if (isWhole) controller.enqueue(this.#call);
        this.hasCalls ||= isWhole;
    }
  }

  #say(type, delta, controller) {
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
}
