// The package's exports, once its wasm file can be loaded.

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
export { escape, join, requestHint, requestModel, requestThinking, split, strip, wants } from "./whole.js";
