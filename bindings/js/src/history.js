// Rewrites the history of requests: moves the thinking of earlier turns to the place where the server reads it.

import { bytesOf, optionTexts, textOf } from "./core.js";
import { dialectOf } from "./dialect.js";
import { file } from "./file.js";
import { Handle } from "./handle.js";

export function rewriteHistory(body, { format, dialect = null, ...options } = {}) {
  const isString = typeof body === "string";
  const found = dialect === null ? null : dialectOf(dialect);
  const core = found === null ? file.core : Handle.core(found);
  const texts = [isString ? body : bytesOf(body), String(format ?? ""), ...optionTexts(options)];
  core.call(core.functions.history_rewrite, texts, found === null ? -1 : Handle.number(found));
  const reader = core.read();
  return {
    body: reader.text(isString),
    report: {
      changed: reader.long(),
      refused: reader.long(),
      unread: reader.long(),
      outcome: reader.string(),
      thinkingOff: reader.flag(),
    },
  };
}

export function historyFormat(path) {
  const { core } = file;
  core.call(core.functions.history_format, [textOf(path)]);
  return core.read().optional();
}

export function historyServer(name, format) {
  const { core } = file;
  core.call(core.functions.history_server, [textOf(name), textOf(format)]);
  const reader = core.read();
  if (!reader.flag()) return null;
  return {
    format,
    name: reader.string(),
    dialect: reader.optional(),
    turns: reader.string(),
    missing: reader.string(),
    made: reader.string(),
  };
}
