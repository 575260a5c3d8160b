// A wasm file and its instance: how texts and numbers are passed (wasm/src/host.rs has the module's part), and recovery after a
// trap.

import { DefectError, failure } from "./errors.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// Up to this length, a loop is faster than an encoder or a decoder.
const SHORT = 48;

const EMPTY = new Uint8Array();

// One wasm file. Each entry of the package sets a function that loads it: `load`, which is asynchronous, or `loadNow`.
export class WasmFile {
  load = null;
  loadNow = null;
  #module = null;
  #core = null;

  // Loads the file, or its argument: a module, its bytes, or a Response with them. Calls after the first do nothing.
  async init(source) {
    if (this.#module) return;
    if (source === undefined && this.loadNow) {
      this.#module = this.loadNow();
      return;
    }
    if (source === undefined && !this.load) throw new Error("pass the wasm file to init: a module, its bytes or a Response");
    const module = await compile(await (source === undefined ? this.load() : source));
    this.#module ??= module;
  }

  // The instance. After a trap, a new one is made.
  get core() {
    const core = this.#core;
    return core && !core.trap ? core : this.#instantiate();
  }

  #instantiate() {
    if (!this.#module) {
      if (!this.loadNow) throw new Error("libaside is not loaded: call `await init()` first");
      this.#module = this.loadNow();
    }
    return (this.#core = new Core(this.#module));
  }
}

async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (typeof Response === "function" && source instanceof Response) {
    if (!source.ok) throw new Error(`the wasm file cannot be loaded: ${source.url} answers ${source.status}`);
    // A server that does not know the media type of wasm files sends a different type, which streaming compilation refuses.
    if (source.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(source);
    source = await source.arrayBuffer();
  }
  return WebAssembly.compile(source);
}

// An instance with its memory.
export class Core {
  trap = null;
  #reader = new Reader();

  constructor(module) {
    const { exports } = new WebAssembly.Instance(module, {});
    this.functions = exports;
    // The functions that are called for each token: a look-up in the exports would be slower.
    ({
      scanner_events: this.events,
      scanner_split: this.split,
      answer_feed: this.answer,
      rewriter_feed: this.rewrite,
    } = exports);
    this.windowAt = exports.window();
    this.windowSize = exports.window_size();
    this.resultsAt = exports.results() >> 2;
    this.view();
  }

  // Creates the views again, because memory that has grown has a new buffer.
  view() {
    const { buffer } = this.functions.memory;
    this.bytes = new Uint8Array(buffer);
    this.words = new Uint32Array(buffer);
    this.window = new Uint8Array(buffer, this.windowAt, this.windowSize);
  }

  // Calls a function after its texts have become its arguments. A result below 0 is a failure.
  call(run, texts, a, b, c, d) {
    for (const text of texts) this.#push(text);
    return this.end(this.enter(run, a, b, c, d));
  }

  // Calls a function. A trap ends the instance.
  enter(run, a, b, c, d) {
    if (this.trap) this.refuse();
    try {
      return run(a, b, c, d);
    } catch (error) {
      this.fail(error);
    }
  }

  // Ends the instance, which has trapped.
  fail(error) {
    this.trap = error;
    this.refuse("a defect of libaside has ended this object: please report it with the input that led to it");
  }

  // Refuses an object of an instance that has ended.
  refuse(why = "a defect of libaside, met by this object or by another one, has ended it: make a new one") {
    throw new DefectError(why, { cause: this.trap });
  }

  // Returns the result of a function; throws the failure that the module has written if the result is below 0.
  end(result) {
    if (this.bytes.length === 0) this.view();
    if (result < 0) throw failure(this.read());
    return result;
  }

  // Puts a text into the window and returns the number of its bytes there. The text must fit: each UTF-16 unit of a string takes at
  // most 3 bytes.
  write(text) {
    if (this.bytes.length === 0) this.view();
    if (typeof text !== "string") {
      this.window.set(text);
      return text.length;
    }
    const { length } = text;
    if (length <= SHORT) {
      const { window } = this;
      let at = 0;
      for (; at < length; at++) {
        const unit = text.charCodeAt(at);
        if (unit > 127) break;
        window[at] = unit;
      }
      if (at === length) return at;
    }
    return encoder.encodeInto(text, this.window).written;
  }

  fits(text) {
    return (typeof text === "string" ? text.length * 3 : text.length) <= this.windowSize;
  }

  // Cuts a text into pieces that fit into the window, between characters.
  *pieces(text) {
    const isString = typeof text === "string";
    const size = isString ? Math.floor(this.windowSize / 3) : this.windowSize;
    for (let at = 0; at < text.length; ) {
      let end = Math.min(at + size, text.length);
      if (isString && end < text.length && isFirstHalf(text.charCodeAt(end - 1))) end--;
      yield isString ? text.slice(at, end) : text.subarray(at, end);
      at = end;
    }
  }

  #push(text) {
    const { push, extend } = this.functions;
    let add = push;
    if (this.fits(text)) {
      if (this.enter(push, this.write(text))) throw new RangeError("out of memory");
      return;
    }
    for (const piece of this.pieces(text)) {
      if (this.enter(add, this.write(piece))) throw new RangeError("out of memory");
      add = extend;
    }
  }

  // Returns a reader of the last function's output.
  read() {
    this.#reader.begin(this);
    return this.#reader;
  }

  // Returns a copy of all bytes of the output.
  output() {
    const at = this.words[this.resultsAt + 2];
    const length = this.words[this.resultsAt + 3];
    return length === 0 ? EMPTY : this.bytes.slice(at, at + length);
  }

  // Returns the offset of a result that has no output.
  offset() {
    return this.words[this.resultsAt + 5] + this.words[this.resultsAt + 6] * 0x1_0000_0000;
  }
}

// Reads the output's values in the order in which they were written.
class Reader {
  begin(core) {
    const { words, resultsAt } = core;
    this.words = words;
    this.bytes = core.bytes;
    this.word = words[resultsAt] >> 2;
    this.byte = this.first = words[resultsAt + 2];
    this.end = this.first + words[resultsAt + 3];
    this.isAscii = words[resultsAt + 4] === 1;
    this.all = null;
  }

  number() {
    return this.words[this.word++];
  }

  skip(numbers) {
    this.word += numbers;
    return this;
  }

  flag() {
    return this.words[this.word++] === 1;
  }

  long() {
    return this.number() + this.number() * 0x1_0000_0000;
  }

  // Returns a double, which the module writes as its bits.
  double() {
    const bits = new Uint32Array([this.number(), this.number()]);
    return new Float64Array(bits.buffer)[0];
  }

  string() {
    const at = this.byte;
    const end = (this.byte += this.number());
    if (at === end) return "";
    if (this.isAscii) {
      if (end - at <= SHORT) {
        let text = "";
        for (let next = at; next < end; next++) text += String.fromCharCode(this.bytes[next]);
        return text;
      }
      // All of the output is decoded in one call, and its texts are slices of the result.
      this.all ??= decoder.decode(this.bytes.subarray(this.first, this.end));
      return this.all.slice(at - this.first, end - this.first);
    }
    return decoder.decode(this.bytes.subarray(at, end));
  }

  // Returns a text in the form of the stream: a string, or bytes.
  text(isString) {
    if (isString) return this.string();
    const at = this.byte;
    this.byte += this.number();
    return this.bytes.slice(at, this.byte);
  }

  optional() {
    return this.flag() ? this.string() : null;
  }

  list() {
    const texts = [];
    for (let left = this.number(); left > 0; left--) texts.push(this.string());
    return texts;
  }
}

// Returns all of the output as a string, or as bytes.
export function whole(core, isString) {
  const bytes = core.output();
  return isString ? decoder.decode(bytes) : bytes;
}

export function isFirstHalf(unit) {
  return (unit & 0xfc00) === 0xd800;
}

// Returns a text as a string or as bytes.
export function textOf(text) {
  if (typeof text === "string" || text instanceof Uint8Array) return text;
  throw new TypeError(`a text is a string or a Uint8Array, not ${text === null ? "null" : typeof text}`);
}

// Returns the bytes of any buffer.
export function bytesOf(data) {
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new TypeError(`a rewriter takes bytes, a Uint8Array or another buffer, not ${data === null ? "null" : typeof data}`);
}

// Options whose values must be numbers, and not strings of digits.
const NUMBERS = new Set(["budget", "budgetTokens", "collect", "maxBody", "maxCalls", "maxEvent", "maxHeld", "maxTools", "memory"]);

// Returns names and values of options as texts. Those that are undefined or null are left out.
export function optionTexts(options = {}) {
  if (options === null || typeof options !== "object") throw new TypeError("options are an object");
  const texts = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "string" && NUMBERS.has(name)) throw new TypeError(`${name} is a number, not the string ${JSON.stringify(value)}`);
    texts.push(name, ...(name === "tools" ? toolsTexts(value) : [String(value)]));
  }
  return texts;
}

// Returns the tools of a request as JSON: no text, if they are not known.
export function toolsTexts(tools) {
  if (tools === undefined || tools === null) return [];
  return [typeof tools === "string" ? tools : JSON.stringify(tools)];
}

// Returns the parts joined into one.
export function concat(parts) {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
