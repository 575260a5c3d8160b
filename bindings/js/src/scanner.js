// The scanner: one stream of text, cut anywhere, split into its channels.

import { optionTexts, textOf } from "./core.js";
import { dialectOf } from "./dialect.js";
import { Form, tokenTexts } from "./form.js";
import { Handle } from "./handle.js";
import { CAUSES, CHANNELS, KINDS } from "./words.js";

const [FEED, FLUSH, FORCE_CLOSE, FINISH] = [0, 1, 2, 3];

export class Event {
  constructor(kind, channel, text, offset, cause, rule, isRepaired, attribute, firstToken, tokens) {
    this.kind = kind;
    this.channel = channel;
    this.text = text;
    this.offset = offset;
    this.cause = cause;
    this.rule = rule;
    this.isRepaired = isRepaired;
    this.attribute = attribute;
    this.firstToken = firstToken;
    this.tokens = tokens;
  }
}

function readEvent(reader, isString) {
  const kind = KINDS[reader.number()];
  const channel = CHANNELS[reader.number()];
  const cause = reader.number();
  const rule = reader.number();
  const isRepaired = reader.flag();
  const offset = reader.long();
  const firstToken = reader.long();
  const tokens = reader.number();
  // Skip the tag, and the number of the call.
  reader.skip(2);
  const text = reader.text(isString);
  const attribute = kind === "attribute" ? { name: reader.text(isString), value: reader.text(isString) } : null;
  // Skip the attribute's place in its marker.
  if (attribute) reader.skip(4);
  return new Event(
    kind, channel, text, offset, cause > 0 ? CAUSES[cause - 1] : null, rule > 0 ? rule - 1 : null, isRepaired, attribute,
    firstToken, tokens,
  );
}

// The text of each channel.
export class Split {
  constructor(thinking, content, narration, tool) {
    this.thinking = thinking;
    this.content = content;
    this.narration = narration;
    this.tool = tool;
  }
}

const NO_BYTES = new Uint8Array();

// Returns the counts of a channel that a function writes.
export function countsOf(core, channel, run, number) {
  const at = CHANNELS.indexOf(channel);
  if (at < 0) throw new TypeError(`channel: ${String(channel)} is unknown: write one of ${CHANNELS.join(", ")}`);
  core.call(run, [], number);
  const reader = core.read();
  const counts = CHANNELS.map(() => ({
    bytes: reader.long(),
    characters: reader.long(),
    spans: reader.long(),
    tokens: reader.long(),
  }));
  return counts[at];
}

export class Scanner extends Handle {
  #dialect;
  #form = new Form();

  constructor(dialect, options, copied) {
    if (copied) {
      super(copied.core, copied.number, "scanner_free");
      this.#dialect = dialect;
      return;
    }
    const found = dialectOf(dialect);
    const core = Handle.core(found);
    const number = core.call(core.functions.scanner_new, optionTexts(options), Handle.number(found));
    super(core, number, "scanner_free");
    this.#dialect = found;
  }

  feed(text) {
    const core = Handle.core(this);
    text = this.#form.take(text);
    if (core.fits(text)) return this.#events(core, FEED, text);
    const events = [];
    for (const piece of core.pieces(text)) for (const event of this.#events(core, FEED, piece)) events.push(event);
    return events;
  }

  split(text) {
    const core = Handle.core(this);
    text = this.#form.take(text);
    if (core.fits(text)) return this.#split(core, FEED, text, 0);
    let before = "";
    for (const piece of core.pieces(text)) {
      this.#split(core, FEED, before, 1);
      before = piece;
    }
    return this.#split(core, FEED, before, 0);
  }

  // Splits a whole text.
  static whole(scanner, text) {
    const core = Handle.core(scanner);
    scanner.#form.take(text);
    for (const piece of core.pieces(text)) scanner.#split(core, FEED, piece, 1);
    return scanner.#split(core, FINISH, "", 0);
  }

  feedTokens(text, lengths, special) {
    if (lengths.length !== special.length)
      throw new TypeError("lengths and special must have the same length, one entry for each token");
    const core = Handle.core(this);
    const texts = tokenTexts(this.#form.take(text), lengths, special);
    core.call(core.functions.scanner_tokens, texts, Handle.number(this));
    return this.#read(core);
  }

  finish() {
    return this.#step(FINISH);
  }

  flush() {
    return this.#step(FLUSH);
  }

  forceClose() {
    return this.#step(FORCE_CLOSE);
  }

  finishSplit() {
    const core = Handle.core(this);
    if (this.#form.half !== "") this.#split(core, FEED, this.#form.release(), 1);
    const split = this.#split(core, FINISH, "", 0);
    this.#form.isString = null;
    return split;
  }

  startFromPrompt(tail) {
    const core = Handle.core(this);
    core.call(core.functions.scanner_prompt, [textOf(tail)], Handle.number(this));
    return core.read().string();
  }

  endReason(reason) {
    const core = Handle.core(this);
    core.call(core.functions.scanner_end_reason, [String(reason)], Handle.number(this));
  }

  counts(channel) {
    const core = Handle.core(this);
    const counts = countsOf(core, channel, core.functions.scanner_counts, Handle.number(this));
    return { ...counts, lostThoughts: channel === "thinking" ? core.read().skip(4 * 8).long() : 0 };
  }

  takeThought() {
    const core = Handle.core(this);
    if (core.call(core.functions.scanner_take_thought, [], Handle.number(this)) === 0) return null;
    const isString = this.#form.isString !== false;
    const reader = core.read();
    const text = reader.text(isString);
    const attributes = Array.from({ length: reader.number() }, () => [reader.text(isString), reader.text(isString)]);
    const thoughtType = reader.flag() ? reader.text(isString) : null;
    const hasConfidence = reader.flag();
    const confidence = reader.double();
    return {
      text,
      attributes,
      thoughtType,
      confidence: hasConfidence ? confidence : null,
      offset: reader.long(),
      cause: CAUSES[reader.number()],
      truncated: reader.flag(),
    };
  }

  copy() {
    const core = Handle.core(this);
    const number = core.call(core.functions.scanner_copy, [], Handle.number(this));
    const copy = new Scanner(this.#dialect, undefined, { core, number });
    copy.#form = this.#form.copy();
    return copy;
  }

  reset() {
    const core = Handle.core(this);
    core.call(core.functions.scanner_reset, [], Handle.number(this));
    this.#form = new Form();
  }

  get dialect() {
    return this.#dialect;
  }

  get start() {
    return this.#state().string();
  }

  get isStartGuessed() {
    const reader = this.#state();
    reader.string();
    return reader.flag();
  }

  // The bytes that are held back now.
  get held() {
    const reader = this.#state();
    reader.string();
    reader.flag();
    return reader.number();
  }

  #state() {
    const core = Handle.core(this);
    core.call(core.functions.scanner_state, [], Handle.number(this));
    return core.read();
  }

  #step(step) {
    const core = Handle.core(this);
    const before = this.#form.half === "" ? [] : this.#events(core, FEED, this.#form.release());
    const events = this.#events(core, step, "");
    if (step === FINISH) this.#form.isString = null;
    return before.length === 0 ? events : before.concat(events);
  }

  #events(core, step, text) {
    const length = core.write(text);
    let result;
    try {
      result = core.events(Handle.number(this), step, length);
    } catch (error) {
      core.fail(error);
    }
    core.end(result);
    // The whole text is one event, unless it has characters other than ASCII.
    if (result > 0) {
      const own = this.#form.isString ? text : text.slice();
      return [new Event("text", CHANNELS[result - 1], own, core.offset(), null, null, false, null, 0, 0)];
    }
    return this.#read(core);
  }

  #read(core) {
    const reader = core.read();
    const isString = this.#form.isString !== false;
    const count = reader.number();
    const events = [];
    for (let left = count; left > 0; left--) events.push(readEvent(reader, isString));
    return events;
  }

  #split(core, step, text, part) {
    const length = core.write(text);
    let result;
    try {
      result = core.split(Handle.number(this), step, length, part);
    } catch (error) {
      core.fail(error);
    }
    core.end(result);
    const isString = this.#form.isString !== false;
    // The whole text belongs to one channel, unless it has characters other than ASCII.
    if (result > 0) {
      const none = isString ? "" : NO_BYTES;
      const own = isString ? text : text.slice();
      const of = (channel) => (CHANNELS[result - 1] === channel ? own : none);
      return new Split(of("thinking"), of("content"), of("narration"), of("tool"));
    }
    if (part === 1) return null;
    const reader = core.read();
    const content = reader.text(isString);
    const thinking = reader.text(isString);
    return new Split(thinking, content, reader.text(isString), reader.text(isString));
  }
}
