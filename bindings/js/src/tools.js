// Tool results made shorter, in a separate wasm file, so that only agents need to load it.

import { concat, optionTexts, textOf, WasmFile } from "./core.js";
import { AsideError } from "./errors.js";
import { Handle } from "./handle.js";

export { AsideError, DefectError, DialectError } from "./errors.js";

export const file = new WasmFile();

// Loads the wasm file. Only browsers need this call, before all other calls.
export const init = (source) => file.init(source);

// The default limit of the bytes that a stream holds: 1 MiB.
const MEMORY = 1 << 20;

function readReport(reader) {
  return {
    filters: reader.list(),
    before: reader.number(),
    after: reader.number(),
    beforeUnits: reader.number(),
    afterUnits: reader.number(),
    failed: Array.from({ length: reader.number() }, () => ({ filter: reader.string(), reason: reader.string() })),
    cutProtected: reader.flag(),
    unexplained: reader.flag(),
  };
}

// Returns whether a tool was called with a command line, and the tool's input as text.
function inputOf(input) {
  if (typeof input === "string") return [1, input];
  if (input === undefined) throw new TypeError("input is the tool's input: a command line, or a value that JSON can have");
  return [0, JSON.stringify(input)];
}

export class Compressor extends Handle {
  constructor({ filters = [], ...options } = {}) {
    const texts = optionTexts(options);
    for (const filter of filters) texts.push("filter", filter);
    const make = () => {
      const { core } = file;
      return [core, core.call(core.functions.compressor_new, texts)];
    };
    super(...make(), "compressor_free", make);
  }

  compress(text, { toolId, input }) {
    const core = Handle.core(this);
    const [isCommand, inputText] = inputOf(input);
    core.call(core.functions.compressor_compress, [String(toolId), inputText, textOf(text)], Handle.number(this), isCommand);
    const reader = core.read();
    return { text: reader.text(typeof text === "string"), report: readReport(reader) };
  }

  stream({ toolId, input, memory = MEMORY }) {
    const core = Handle.core(this);
    const [isCommand, inputText] = inputOf(input);
    const number = core.call(core.functions.stream_new, [String(toolId), inputText], Handle.number(this), isCommand, memory);
    return new ToolStream(core, number);
  }
}

export class ToolStream extends Handle {
  #decoder = null;
  #isString = null;
  #report = null;

  constructor(core, number) {
    super(core, number, "stream_free");
  }

  feed(text) {
    const core = this.#core();
    const isString = typeof textOf(text) === "string";
    this.#isString ??= isString;
    if (this.#isString !== isString) throw new TypeError("a stream consists of strings or of bytes, not of both");
    const parts = [];
    for (const piece of core.fits(text) ? [text] : core.pieces(text)) {
      const length = core.write(piece);
      core.end(core.enter(core.functions.stream_feed, Handle.number(this), length));
      parts.push(core.output());
    }
    return this.#join(parts, true);
  }

  setExitCode(code) {
    const core = this.#core();
    core.call(core.functions.stream_exit_code, [], Handle.number(this), code);
  }

  finish() {
    const core = this.#core();
    core.call(core.functions.stream_finish, [], Handle.number(this));
    const reader = core.read();
    const rest = reader.text(false);
    this.#report = readReport(reader);
    this.free();
    return this.#join([rest], false);
  }

  get report() {
    return this.#report;
  }

  #core() {
    if (this.#report) throw new AsideError("the stream has ended: make another one");
    return Handle.core(this);
  }

  // Joins the parts of the output. A long line may be cut inside a character, which the next chunk then completes.
  #join(parts, stream) {
    if (this.#isString === false) return parts.length === 1 ? parts[0] : concat(parts);
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    const text = parts.map((part) => this.#decoder.decode(part, { stream: true })).join("");
    return stream ? text : text + this.#decoder.decode();
  }
}
