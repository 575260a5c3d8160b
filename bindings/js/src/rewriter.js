// The rewriter: the bytes of a server's answer in, the same bytes out with its text split into fields.

import { bytesOf, concat, optionTexts, textOf, toolsTexts } from "./core.js";
import { dialectOf } from "./dialect.js";
import { Handle } from "./handle.js";
import { STATS } from "./words.js";

export class Rewriter extends Handle {
  // The dialects of the rewriter, kept so that they are not garbage-collected.
  #dialect;

  constructor(dialect, options) {
    const found = dialectOf(dialect);
    const core = Handle.core(found);
    const number = core.call(core.functions.rewriter_new, optionTexts(options), Handle.number(found));
    super(core, number, "rewriter_free");
    this.#dialect = found;
  }

  get dialect() {
    return this.#dialect;
  }

  feed(data) {
    const core = Handle.core(this);
    const bytes = bytesOf(data);
    if (core.fits(bytes)) return this.#feed(core, bytes);
    const parts = [];
    for (const piece of core.pieces(bytes)) parts.push(this.#feed(core, piece));
    return concat(parts);
  }

  #feed(core, bytes) {
    const length = core.write(bytes);
    let result;
    try {
      result = core.rewrite(Handle.number(this), length);
    } catch (error) {
      core.fail(error);
    }
    core.end(result);
    return core.output();
  }

  finish() {
    const core = Handle.core(this);
    core.call(core.functions.rewriter_finish, [], Handle.number(this));
    return core.output();
  }

  reset() {
    const core = Handle.core(this);
    core.call(core.functions.rewriter_reset, [], Handle.number(this));
  }

  useDialect(dialect, { start } = {}) {
    const core = Handle.core(this);
    const found = dialect === null || dialect === undefined ? null : dialectOf(dialect);
    // Only one instance exists at a time, so the dialect is in the rewriter's instance.
    if (found) Handle.core(found);
    const texts = start === undefined || start === null ? [] : [String(start)];
    core.call(core.functions.rewriter_use_dialect, texts, Handle.number(this), found ? Handle.number(found) : -1);
    if (found) this.#dialect = found;
  }

  useTools(tools) {
    const core = Handle.core(this);
    core.call(core.functions.rewriter_use_tools, toolsTexts(tools), Handle.number(this));
  }

  startFromPrompt(tail) {
    const core = Handle.core(this);
    core.call(core.functions.rewriter_prompt, [textOf(tail)], Handle.number(this));
    return core.read().string();
  }

  get stats() {
    const core = Handle.core(this);
    core.call(core.functions.rewriter_stats, [], Handle.number(this));
    const reader = core.read();
    const stats = Object.fromEntries(STATS.map((name) => [name, reader.long()]));
    return { ...stats, encoded: stats.encoded === 1 };
  }
}
