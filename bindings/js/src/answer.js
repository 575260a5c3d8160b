// The answer: one text of a model, cut anywhere, in; thinking, content and tool calls out.

import { optionTexts, textOf, toolsTexts } from "./core.js";
import { dialectOf } from "./dialect.js";
import { Form, tokenTexts } from "./form.js";
import { Handle } from "./handle.js";
import { countsOf } from "./scanner.js";
import { CAUSES, CHANNELS, PART_KINDS } from "./words.js";

const [FEED, FLUSH, FORCE_CLOSE] = [0, 1, 2];

function readPart(reader, isString) {
  const kind = PART_KINDS[reader.number()];
  const cause = reader.number();
  const from = reader.number();
  const to = reader.number();
  const isMade = reader.flag();
  const isWhole = reader.flag();
  const isRepaired = reader.flag();
  const index = reader.long();
  const text = kind === "call" ? reader.string() : reader.text(isString);
  const id = reader.string();
  switch (kind) {
    case "thinking":
    case "content":
      return { kind, text };
    case "call":
      return { kind, index, id, isMade, name: text };
    case "arguments":
      return { kind, index, text };
    case "call_end":
      return { kind, index, isWhole, isRepaired, cause: CAUSES[cause], lateId: id || null };
    case "moved":
      return { kind, from: CHANNELS[from], to: CHANNELS[to] };
    default:
      return { kind };
  }
}

export class Answer extends Handle {
  #dialect;
  #form = new Form();

  constructor(dialect, options) {
    const found = dialectOf(dialect);
    const core = Handle.core(found);
    super(core, core.call(core.functions.answer_new, optionTexts(options), Handle.number(found)), "answer_free");
    this.#dialect = found;
  }

  feed(text) {
    const core = Handle.core(this);
    text = this.#form.take(text);
    const parts = [];
    if (core.fits(text)) return this.#feed(core, FEED, text, parts);
    for (const piece of core.pieces(text)) this.#feed(core, FEED, piece, parts);
    return parts;
  }

  feedTokens(text, lengths, special) {
    if (lengths.length !== special.length)
      throw new TypeError("lengths and special must have the same length, one entry for each token");
    const core = Handle.core(this);
    const texts = tokenTexts(this.#form.take(text), lengths, special);
    core.call(core.functions.answer_tokens, texts, Handle.number(this));
    return this.#read(core, []);
  }

  flush() {
    return this.#step(FLUSH);
  }

  forceClose() {
    return this.#step(FORCE_CLOSE);
  }

  finish(reason = "unknown") {
    const core = Handle.core(this);
    const parts = this.#released(core);
    core.call(core.functions.answer_finish, [String(reason)], Handle.number(this));
    this.#read(core, parts);
    this.#form.isString = null;
    return parts;
  }

  startFromPrompt(tail) {
    const core = Handle.core(this);
    core.call(core.functions.answer_prompt, [textOf(tail)], Handle.number(this));
    return core.read().string();
  }

  useTools(tools) {
    const core = Handle.core(this);
    core.call(core.functions.answer_use_tools, toolsTexts(tools), Handle.number(this));
  }

  counts(channel) {
    const core = Handle.core(this);
    return { ...countsOf(core, channel, core.functions.answer_counts, Handle.number(this)), lostThoughts: 0 };
  }

  reset() {
    const core = Handle.core(this);
    core.call(core.functions.answer_reset, [], Handle.number(this));
    this.#form = new Form();
  }

  get dialect() {
    return this.#dialect;
  }

  get held() {
    const core = Handle.core(this);
    return core.call(core.functions.answer_held, [], Handle.number(this));
  }

  #step(step) {
    const core = Handle.core(this);
    return this.#feed(core, step, "", this.#released(core));
  }

  // Feeds the waiting half of a character, and returns its parts.
  #released(core) {
    return this.#form.half === "" ? [] : this.#feed(core, FEED, this.#form.release(), []);
  }

  #feed(core, step, text, parts) {
    const length = core.write(text);
    let result;
    try {
      result = core.answer(Handle.number(this), step, length);
    } catch (error) {
      core.fail(error);
    }
    core.end(result);
    return this.#read(core, parts);
  }

  #read(core, parts) {
    const reader = core.read();
    const isString = this.#form.isString !== false;
    for (let left = reader.number(); left > 0; left--) parts.push(readPart(reader, isString));
    return parts;
  }
}
