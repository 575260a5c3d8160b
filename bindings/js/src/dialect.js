// Dialects: the markers of families of models.

import { Handle } from "./handle.js";
import { file } from "./file.js";

const [BY_NAME, BY_MODEL, BY_TEMPLATE, BY_FILE, BY_RESPONSE_TEMPLATE] = [0, 1, 2, 3, 4];

// The dialects that callers have named, so that each is made only once.
const named = new Map();

export class Dialect extends Handle {
  #name;
  #start;
  #maxHold;

  constructor(core, number, reader, make) {
    super(core, number, "dialect_free", make);
    this.#name = reader.string();
    this.#start = reader.string();
    this.#maxHold = reader.number();
  }

  static #find(how, text) {
    if (typeof text !== "string") throw new TypeError(`a string is needed, not ${text === null ? "null" : typeof text}`);
    const make = () => {
      const { core } = file;
      return [core, core.call(core.functions.dialect_find, [text], how)];
    };
    const [core, number] = make();
    const reader = core.read();
    const dialect = new Dialect(core, number, reader, make);
    return [dialect, reader.string()];
  }

  static find(name) {
    return Dialect.#find(BY_NAME, name)[0];
  }

  static findForModel(model) {
    return Dialect.#find(BY_MODEL, model)[0];
  }

  static findForTemplate(template) {
    const [dialect, start] = Dialect.#find(BY_TEMPLATE, template);
    return { dialect, start };
  }

  static load(toml) {
    return Dialect.#find(BY_FILE, toml)[0];
  }

  static fromResponseTemplate(json) {
    return Dialect.#find(BY_RESPONSE_TEMPLATE, json)[0];
  }

  static names() {
    const { core } = file;
    core.call(core.functions.dialect_names, []);
    return core.read().list();
  }

  get name() {
    return this.#name;
  }

  get start() {
    return this.#start;
  }

  get maxHold() {
    return this.#maxHold;
  }

  get starts() {
    const core = Handle.core(this);
    core.call(core.functions.dialect_starts, [], Handle.number(this));
    return core.read().list();
  }
}

// Returns a dialect that the caller has given as an object or by its name.
export function dialectOf(dialect) {
  if (dialect instanceof Dialect) return dialect;
  if (typeof dialect !== "string")
    throw new TypeError(`a dialect is a Dialect or the name of one, not ${dialect === null ? "null" : typeof dialect}`);
  let found = named.get(dialect);
  if (!found || Handle.isFreed(found)) named.set(dialect, (found = Dialect.find(dialect)));
  return found;
}
