// The types of `libaside/tools`.

import type { Text } from "./index.js";

export { AsideError, DialectError, DefectError } from "./index.js";

/** Loads the wasm file of this part. Browsers need this call before all others; Node, Deno, Bun and workers load the file themselves. */
export function init(source?: WebAssembly.Module | BufferSource | Response | PromiseLike<Response>): Promise<void>;

/** An object inside the module. */
declare class Handle {
  /** Frees the object at once, without waiting for it to be collected. May be called again; every other call is then an error.
   * */
  free(): void;
  [Symbol.dispose](): void;
}

export interface CompressorOptions {
  /** The maximum length of a result, in bytes. */
  budget?: number;
  /** The maximum number of tokens in a result, at least 512, estimated from the shape of the text. If both budgets are set, both
   * apply. A host's tokenizer cannot count the tokens, because the module imports no function. */
  budgetTokens?: number;
  /** Texts of filter files, whose filters are added to the built-in ones. */
  filters?: readonly string[];
  /** Removes white space from JSON. Unstable: a later version may change it. */
  minifyJson?: boolean;
  /** The longest text, in bytes, that `compress` works on as a whole. */
  memory?: number;
  /** The sentence at the end of the banner. */
  switchOff?: string;
}

/** One run of a tool. */
export interface Invocation {
  toolId: string;
  /** The tool's input. For a terminal tool: a command line, or an object with `command`, and `exit_code` and `cwd` if they
   * are known. For every other tool: any value that JSON can represent. */
  input: unknown;
}

/** The report on a tool's result. */
export interface Report {
  /** The names of the filters that changed the text. */
  readonly filters: string[];
  /** The length of the text before, in bytes. */
  readonly before: number;
  /** The length of the text after, in bytes, banner included. */
  readonly after: number;
  /** The length of the text before, in UTF-16 units, as in the banner. */
  readonly beforeUnits: number;
  readonly afterUnits: number;
  /** Filters that failed and were skipped, and why. Unstable: a later version may change it. */
  readonly failed: { readonly filter: string; readonly reason: string }[];
  /** Whether a text in a machine format was cut to keep the budget, so that it cannot be parsed any more. */
  readonly cutProtected: boolean;
  /** Whether the command failed, and the remaining text says only that it passed: show its exit code to the model. */
  readonly unexplained: boolean;
}

/** A tool's result, made shorter. */
export interface Compressed<T extends Text = string> {
  readonly text: T;
  readonly report: Report;
}

/** Shortens the output of tools before a model reads it, without hiding a line that matters. */
export class Compressor extends Handle {
  constructor(options?: CompressorOptions);
  /** Returns the shortened result of a tool. */
  compress<T extends Text>(text: T, invocation: Invocation): Compressed<T extends string ? string : Uint8Array>;
  /** Returns a stream for a result that arrives in chunks and may be long: it holds at most `memory` bytes, 1 MiB by default. */
  stream<T extends Text = string>(invocation: Invocation & { memory?: number }): ToolStream<T>;
}

/** A tool's result that arrives in chunks. */
export class ToolStream<T extends Text = string> extends Handle {
  private constructor();
  /** Feeds the next chunk and returns the text that is decided, which may be empty. */
  feed(text: T): T;
  /** Sets the exit code of the command, after the last chunk, before `finish`. Until then, a command without an exit code counts as
   * failed. */
  setExitCode(code: number): void;
  /** Ends the result and returns the rest of it. `report` is set after that. */
  finish(): T;
  /** The report, once the result has ended. */
  readonly report: Report | null;
}
