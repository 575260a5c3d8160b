// The package's exports. An entry file first sets how the wasm file is loaded.

export { Answer } from "./answer.js";
export { Dialect } from "./dialect.js";
export {
  AmbiguousDialectError,
  AsideError,
  DefectError,
  DialectError,
  JoinError,
  UnknownDialectError,
} from "./errors.js";
export { init } from "./file.js";
export { Rewriter } from "./rewriter.js";
export { Event, Scanner, Split } from "./scanner.js";
export { historyFormat, historyServer, rewriteHistory } from "./history.js";
export { escape, join, readRequest, requestHint, requestModel, split, strip, wants } from "./whole.js";
