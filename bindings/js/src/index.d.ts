// The types of `libaside`.

// Generated from src/ffi by tests/header: do not edit.
export type Kind =
  | "open"
  | "attribute"
  | "text"
  | "framing"
  | "close"
  | "reclassify"
  | "budget"
  | "call"
  | "call_name"
  | "call_id"
  | "call_key"
  | "call_type"
  | "call_value"
  | "call_value_end"
  | "call_end";
export type Channel = "content" | "thinking" | "narration" | "tool";
export type PartKind = "thinking" | "content" | "call" | "arguments" | "call_end" | "moved" | "budget";
export type Cause = "marker" | "implied" | "end_of_stream" | "forced" | "malformed" | "ended";
export type Start = "content" | "thinking" | "narration" | "tool" | "header" | "calls";
export type CallsInThinking = "dialect" | "never" | "always";
export type StrayClose = "dialect" | "text" | "drop";
export type EndReason = "unknown" | "ended" | "cut_off";
export type NotWhole = "tell" | "hold" | "text";
export type UnknownTool = "text" | "drop" | "tell";
export type ImpliedEnd = "on" | "off";
export type LeadingTags = "dialect" | "text";
export type BudgetUnit = "bytes" | "characters";
export type BudgetScope = "span" | "stream";
export type Markers = "refuse" | "escape";
export type Field = "reasoning_content" | "reasoning" | "thinking";
export type Body = "unknown" | "events" | "json" | "lines";
export type Format = "chat" | "completions" | "responses" | "messages" | "ollama" | "all";
export type Shape = "none" | "field" | "lists" | "chunks" | "content" | "all";
export type Thinking = "keep" | "drop" | "inline";
export type ResponsesAs = "reasoning_text" | "summary";
export type Comments = "keep" | "drop" | "chunk";
export type Hint = "identity";
export type HistoryName =
  | "as_is"
  | "reasoning_content"
  | "reasoning"
  | "thinking"
  | "reasoning_details"
  | "parts"
  | "reasoning_text"
  | "summary"
  | "text";
export type HistoryTurns = "all" | "since_user" | "none";
export type HistoryMissing = "leave" | "empty" | "remove";
export type HistoryMade = "keep" | "remove";
export type HistoryOutcome = "read" | "too_long" | "not_utf8" | "not_request" | "repeated" | "stored";
// End of the generated part.

/** A text in the form of its stream: a stream that is fed strings returns strings, and a stream that is fed bytes returns bytes. */
export type Text = string | Uint8Array;

/** The tools of a request: a list in the form of the API, or such a list as JSON. */
export type Tools = string | readonly object[];

/** A request to libaside that cannot be fulfilled. The message says why. */
export class AsideError extends Error {}

/** No dialect has this name, or is known for this model or template. */
export class UnknownDialectError extends AsideError {
  /** The nearest known names. */
  readonly nearest: string[];
}

/** A template fits several dialects equally well. */
export class AmbiguousDialectError extends UnknownDialectError {
  /** The names of the dialects that fit. */
  readonly candidates: string[];
}

/** A dialect file or a filter file has an error. */
export class DialectError extends AsideError {
  /** The line of the error, counted from 1. */
  readonly line: number | null;
  /** The key, with its table. */
  readonly key: string;
}

/** Texts cannot be joined or escaped. */
export class JoinError extends AsideError {
  readonly part: "thinking" | "content" | "call" | null;
  /** The index in the part, in bytes of UTF-8, of the first byte that would be read as something else. */
  readonly offset: number | null;
}

/** A defect of the library; its `cause` is the value that the module threw. It ends the WebAssembly instance: all existing scanners,
 * answers and rewriters throw it from then on. New objects, and existing dialects, work in a new instance. */
export class DefectError extends Error {}

/** Loads the wasm file. Browsers need this call before all others; Node, Deno, Bun and workers load the file themselves. Other hosts pass
 * the file: a module, its bytes, or a Response with them. */
export function init(source?: WebAssembly.Module | BufferSource | Response | PromiseLike<Response>): Promise<void>;

/** An object inside the module. */
declare class Handle {
  /** Frees the object at once, without waiting for it to be collected. May be called again; every other call is then an error.
   * */
  free(): void;
  [Symbol.dispose](): void;
}

/** The way in which a family of models marks its thinking, its answer and its tool calls. A dialect never changes. */
export class Dialect extends Handle {
  private constructor();
  /** Returns the built-in dialect of this name. */
  static find(name: string): Dialect;
  /** Returns the built-in dialect of a model, by the name that it has on a hub or in a server. */
  static findForModel(model: string): Dialect;
  /** Returns the built-in dialect that a chat template is written for, and where generation starts after its prompt. The template
   * is read, never rendered, so the start is that of the branches that are taken by default. */
  static findForTemplate(template: string): { dialect: Dialect; start: Start };
  /** Returns the dialect that a dialect file describes; `toml` is the text of the file. */
  static load(toml: string): Dialect;
  /** Returns the dialect that a response template describes; `json` is the `response_template` of a model's `tokenizer_config.json`,
   * or that file's text. */
  static fromResponseTemplate(json: string): Dialect;
  /** Returns the names of the built-in dialects, in alphabetical order. */
  static names(): string[];
  readonly name: string;
  /** The start of a stream, unless the scanner's options name another. */
  readonly start: Start;
  /** The starts that a stream may have. */
  readonly starts: Start[];
  /** The largest number of bytes of a stream that are held back because they may become part of a marker. */
  readonly maxHold: number;
}

/** An attribute of a tag that opened a span: its name and its decoded value. */
export interface Attribute<T extends Text = string> {
  readonly name: T;
  readonly value: T;
}

/** A report of the scanner. The `text` of all events of a stream, joined, is the stream, except for the `call_name` of a call whose
 * name is in a header: this event repeats the name, at the offset of the next event. */
export class Event<T extends Text = string> {
  private constructor();
  readonly kind: Kind;
  /** The channel of the event. */
  readonly channel: Channel;
  readonly text: T;
  /** The offset in bytes from the start of the stream; in a stream of strings, bytes of UTF-8. */
  readonly offset: number;
  /** The cause of the end of a span or a call. */
  readonly cause: Cause | null;
  /** The number of the span in its dialect. */
  readonly rule: number | null;
  /** At the end of a value or a call, whether it was repaired: a value ended without its closer. */
  readonly isRepaired: boolean;
  readonly attribute: Attribute<T> | null;
  /** The number of tokens of `feedTokens` that begin before the event. */
  readonly firstToken: number;
  /** The number of tokens of `feedTokens` that begin inside the event. */
  readonly tokens: number;
}

/** The text of each channel, without markers and framing. */
export class Split<T extends Text = string> {
  private constructor();
  readonly thinking: T;
  readonly content: T;
  readonly narration: T;
  /** The text of tool calls, as the model wrote it. */
  readonly tool: T;
}

/** The counts of the text of a channel since the stream began. */
export interface Counts {
  readonly bytes: number;
  readonly characters: number;
  readonly spans: number;
  readonly tokens: number;
  /** For the `thinking` of a scanner: the number of whole thoughts that were lost because 1,024 earlier ones had not been taken. */
  readonly lostThoughts: number;
}

/** The whole text of a thinking span. */
export interface Thought<T extends Text = string> {
  readonly text: T;
  /** Names and decoded values of the opening tag, in their order. */
  readonly attributes: [T, T][];
  readonly thoughtType: T | null;
  readonly confidence: number | null;
  readonly offset: number;
  readonly cause: Cause;
  /** Whether the whole thought did not fit. */
  readonly truncated: boolean;
}

export interface ScannerOptions {
  /** Reports the parts of tool calls as events. An `Answer` makes calls of them. */
  calls?: boolean;
  /** With `"never"`, tool openers inside the thinking are text. */
  callsInThinking?: CallsInThinking;
  /** The span that is open at the first byte; by default the dialect decides. */
  start?: Start | null;
  /** The limit of the thinking: the event `budget` marks where the thinking exceeds it. */
  budget?: number;
  /** The unit of the budget: `characters` by default. */
  budgetUnit?: BudgetUnit;
  /** Whether the budget applies to all thinking of the stream together, which is the default, or to each span. */
  budgetScope?: BudgetScope;
  /** Keeps whole thoughts for `takeThought`: true, or the largest number of bytes to keep. */
  collect?: boolean | number;
  /** The treatment of a closer of the thinking after other content. */
  strayClose?: StrayClose;
  /** With `"text"`, a tag of another family at the very beginning of a stream is text. */
  leadingTags?: LeadingTags;
}

/** Splits one stream, in chunks cut anywhere. A string may end with half a surrogate pair; the next string must then begin with
 * the other half. */
export class Scanner<T extends Text = string> extends Handle {
  constructor(dialect: Dialect | string, options?: ScannerOptions);
  /** Feeds the next text of the stream, and returns its events. */
  feed(text: T): Event<T>[];
  /** Feeds the next text of the stream, and returns the text of each channel. A server calls this for each token. Content that
   * turns out to have been thinking, or thinking that turns out to be content (the event `reclassify`), is only moved within
   * the result of one call: a program that must move earlier text too uses `feed`. */
  split(text: T): Split<T>;
  /** Feeds the model's own tokens: a text, the length of each token in bytes of UTF-8, and which are special. */
  feedTokens(text: T, lengths: ArrayLike<number>, special: ArrayLike<boolean | number>): Event<T>[];
  /** Ends the stream and returns its last events. The next feed begins a new stream. */
  finish(): Event<T>[];
  /** Ends the stream and returns the text that was held back, by channel. */
  finishSplit(): Split<T>;
  /** Releases the held text as text of its channel. The stream continues. */
  flush(): Event<T>[];
  /** Closes the open thinking, as if the model had written its closer: for a host that ends the thinking and continues with the
   * answer. */
  forceClose(): Event<T>[];
  /** Starts the next stream where a rendered prompt ends, and returns the span that is open there. `tail` is the end of the
   * prompt. */
  startFromPrompt(tail: Text): Start;
  /** Sets the reason why the stream ends. Call it before `finish`, which clears the reason. */
  endReason(reason: EndReason): void;
  /** Returns the counts of the text of a channel since the stream began. */
  counts(channel: Channel): Counts;
  /** Removes and returns the oldest whole thought. Needs `collect`. */
  takeThought(): Thought<T> | null;
  /** Returns a scanner in the same state, in the middle of a stream too. */
  copy(): Scanner<T>;
  /** Forgets the stream. The next feed begins a new one. */
  reset(): void;
  readonly dialect: Dialect;
  /** The start of the current stream, or of the next one. */
  readonly start: Start;
  /** Whether `start` is only the dialect's guess that its models start in the thinking. */
  readonly isStartGuessed: boolean;
  /** The number of bytes that are held back now. */
  readonly held: number;
}

/** The fields that all parts have. */
interface OfKind<K extends PartKind> {
  readonly kind: K;
}

/** A part of an answer. Later versions may add kinds: ignore those that you do not know. */
export type Part<T extends Text = string> =
  /** The next text of a channel. */
  | (OfKind<"thinking" | "content"> & { readonly text: T })
  /** A call begins. `index` is its number in the answer, from 0, and no other call of the answer has its `id`; `isMade` says
   * whether the library made the id, because the model wrote none, or the id of an earlier call. */
  | (OfKind<"call"> & { readonly index: number; readonly id: string; readonly isMade: boolean; readonly name: string })
  /** The next part of a call's arguments. Joined, they are a JSON object if the call is whole. */
  | (OfKind<"arguments"> & { readonly index: number; readonly text: T })
  /** A call ends. Do not run a call that is not whole. `isRepaired` says whether the call broke a rule of its grammar, so that the
   * model may have meant other arguments. `lateId` is an id that the model wrote only after the call was reported: use it in a
   * whole message, and not for a client that got the call already. */
  | (OfKind<"call_end"> & {
      readonly index: number;
      readonly isWhole: boolean;
      readonly isRepaired: boolean;
      readonly cause: Cause;
      readonly lateId: string | null;
    })
  /** All text that was reported in one channel belongs to the other. Only with `mayTakeBack`. */
  | (OfKind<"moved"> & { readonly from: Channel; readonly to: Channel })
  /** The thinking exceeds its budget here. */
  | OfKind<"budget">;

export interface AnswerOptions {
  // Generated from src/ffi by tests/header: do not edit.
  /** The span that is open at the first byte. */
  start?: Start | null;
  /** The treatment of a closer of the thinking without an opener, after content. Default: "dialect". */
  strayClose?: StrayClose;
  /** The treatment of a tool call that begins inside the thinking. Default: "dialect". */
  callsInThinking?: CallsInThinking;
  /** The reading of a tag that is not the dialect's own at the beginning of the text. Default: "dialect". */
  leadingTags?: LeadingTags;
  /** Whether the thinking is reported. Default: "keep". */
  thinking?: Thinking;
  /** The part of a call that is reported before the call is whole. At most `maxHeld` bytes of it are held. Default:
   * "tell". */
  notWhole?: NotWhole;
  /** The treatment of a call of a tool that is not in `tools`. Default: "text". */
  unknownTool?: UnknownTool;
  /** Whether the end of a text that has ended by itself ("ended") may end a call. Default: "on". */
  impliedEnd?: ImpliedEnd;
  /** The request's `tools`: a JSON array of objects with `name` and `parameters`, which may also be inside `function`,
   * or with `name` and `input_schema`, as in Anthropic's Messages. Their schemas have the types of the arguments. `[]`:
   * all calls are content, which is right for a request without tools. Not set: every call is reported, and the types
   * of its arguments are not known. */
  tools?: Tools | null;
  /** The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request
   * names a tool (`tool_choice`), a grammar makes the model write the arguments without markers. Not set: the text is
   * read as usual. */
  startCall?: string;
  /** The beginning of the id that is made for a call without one; `index` of the call follows it. UTF-8. Ids are unique
   * in a conversation only if each answer has a different beginning. Not set: `call_`. */
  idPrefix?: string;
  /** The maximum number of bytes of `tools` that are read; a longer list is an error. Reading a list may need about 40
   * times its length in memory. Not set: 4 MiB. */
  maxTools?: number;
  /** The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that
   * are held until its type is clear, at most 4 MiB of text. Not set: 1 MiB. */
  maxHeld?: number;
  /** The maximum number of calls that are reported, such as 1 for `"parallel_tool_calls": false`; later calls are
   * content. Not set: 1,024, the maximum. */
  maxCalls?: number;
  /** The limit of the thinking, beyond which "budget" is reported. Not set: there is no limit. */
  budget?: number;
  /** The unit of the budget. Default: "bytes". */
  budgetUnit?: BudgetUnit;
  /** The scope of the budget. Default: "span". */
  budgetScope?: BudgetScope;
  /** If true, mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash
   * that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a
   * string that contains it as JSON is decoded, and a Python literal between markers becomes JSON. If false, leave the
   * arguments unchanged. */
  repairArguments?: boolean;
  /** If true, report the thinking as content if the text ends by itself and has neither content nor a call. At most
   * 16 MiB of thinking are kept for this. If false, such a text has no content. */
  promoteEmpty?: boolean;
  /** If true, leave guessed thinking unchanged. If false, report thinking as content too, if the dialect only guessed
   * that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that confirms
   * the guess. */
  keepGuessed?: boolean;
  /** If true, report "moved" if reported text belongs to the other channel, for a host that builds a whole message. If
   * false, content that turns out to be thinking stays content, and thinking that turns out to be the answer is
   * reported again as content. */
  mayTakeBack?: boolean;
  /** If true, leave calls in the content, as the model wrote them, for a host that passes the content to another parser;
   * `tools`, `startCall`, `idPrefix` and the policies for calls then have no effect. If false, report calls. */
  inlineCalls?: boolean;
  // End of the generated part.
}

/**
 * Reads one text of a model, in chunks cut anywhere, and reports thinking, content and tool calls as parts. Every byte of the text is
 * in exactly one part, in a call that is reported, or is a marker or framing around these: a text that turns out not to be a call is
 * content, in its place. As for a scanner, a string may end with half a surrogate pair. Errors are `AsideError`s.
 *
 * ```js
 * import { Answer } from "libaside";
 *
 * const answer = new Answer("qwen3");
 * for (const part of [...answer.feed("<think>hm</think>Yes."), ...answer.finish("ended")])
 *   if (part.kind === "content") console.log(part.text);
 * answer.free();
 * ```
 */
export class Answer<T extends Text = string> extends Handle {
  constructor(dialect: Dialect | string, options?: AnswerOptions);
  /** Feeds the next text, and returns the parts that are decided, which may be none. */
  feed(text: T): Part<T>[];
  /** Feeds the model's own tokens: a text, the length of each token in bytes of UTF-8, and which are special. */
  feedTokens(text: T, lengths: ArrayLike<number>, special: ArrayLike<boolean | number>): Part<T>[];
  /** Returns the held text: text that may begin a marker, and text of a call that is not decided. The text continues. */
  flush(): Part<T>[];
  /** Closes the open thinking, or the open call, as a scanner's `forceClose` does. */
  forceClose(): Part<T>[];
  /** Ends the text, for this reason, which is `"unknown"` by default, and returns the parts that are left. The next feed begins a new
   * text, with the answer's own start and tools. Only a text that ended by itself (`"ended"`) may end a call that has no end, or
   * turn out to be an answer without markers. */
  finish(reason?: EndReason): Part<T>[];
  /** Sets the start of the next text by the end of its rendered prompt, before its first byte, and returns the span that is open
   * there. */
  startFromPrompt(tail: Text): Start;
  /** Sets the tools of the next text, before its first byte: for an answer that serves one request after another. With null, calls
   * of any tool are reported; with an empty list, all calls are content. */
  useTools(tools: Tools | null): void;
  /** Returns the counts of a channel's text: also of thinking that was dropped, and of text that was moved later. After the end of
   * a text, its counts are returned until another text begins. */
  counts(channel: Channel): Counts;
  /** Forgets the text. The next feed begins a new one, with the answer's own start and tools. */
  reset(): void;
  readonly dialect: Dialect;
  /** The number of bytes of the text that are held back now. */
  readonly held: number;
}

export interface RewriterOptions {
  // Generated from src/ffi by tests/header: do not edit.
  /** The span that is open at the first byte. */
  start?: Start | null;
  /** The treatment of a closer of the thinking without an opener, after content. Default: "dialect". */
  strayClose?: StrayClose;
  /** The treatment of a tool call that begins inside the thinking. Default: "dialect". */
  callsInThinking?: CallsInThinking;
  /** The reading of a tag that is not the dialect's own at the beginning of the text. Default: "dialect". */
  leadingTags?: LeadingTags;
  /** Whether the thinking is reported. Default: "keep". */
  thinking?: Thinking;
  /** The part of a call that is reported before the call is whole. At most `maxHeld` bytes of it are held. Default:
   * "tell". */
  notWhole?: NotWhole;
  /** The treatment of a call of a tool that is not in `tools`. Default: "text". */
  unknownTool?: UnknownTool;
  /** Whether the end of a text that has ended by itself ("ended") may end a call. Default: "on". */
  impliedEnd?: ImpliedEnd;
  /** The request's `tools`: a JSON array of objects with `name` and `parameters`, which may also be inside `function`,
   * or with `name` and `input_schema`, as in Anthropic's Messages. Their schemas have the types of the arguments. `[]`:
   * all calls are content, which is right for a request without tools. Not set: every call is reported, and the types
   * of its arguments are not known. A list implies `calls`, unless `calls` is false. */
  tools?: Tools | null;
  /** The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request
   * names a tool (`tool_choice`), a grammar makes the model write the arguments without markers. Not set: the text is
   * read as usual. */
  startCall?: string;
  /** The maximum number of bytes of `tools` that are read; a longer list is an error. Reading a list may need about 40
   * times its length in memory. Not set: 4 MiB. */
  maxTools?: number;
  /** The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that
   * are held until its type is clear, at most 4 MiB of text. Not set: 1 MiB. */
  maxHeld?: number;
  /** The maximum number of calls that are reported, such as 1 for `"parallel_tool_calls": false`; later calls are
   * content. Not set: 1,024, the maximum. */
  maxCalls?: number;
  /** If true, mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash
   * that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a
   * string that contains it as JSON is decoded, and a Python literal between markers becomes JSON. If false, leave the
   * arguments unchanged. */
  repairArguments?: boolean;
  /** If true, report the thinking as content if the text ends by itself and has neither content nor a call. At most
   * 16 MiB of thinking are kept for this. If false, such a text has no content. */
  promoteEmpty?: boolean;
  /** If true, leave guessed thinking unchanged. If false, report thinking as content too, if the dialect only guessed
   * that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that confirms
   * the guess. */
  keepGuessed?: boolean;
  /** The name of the field for the thinking. Default: "reasoning_content". */
  field?: Field;
  /** The kind of body that is fed. Default: "unknown". */
  body?: Body;
  /** If true, nothing is split, and the output equals the input. If false, the text is split. */
  off?: boolean;
  /** If true, make `tool_calls` from the calls that the model writes as text, if the dialect says how they are written,
   * and change the `finish_reason` from `stop` to `tool_calls`. After the first call that the server itself makes in a
   * choice, calls in the text of that choice stay in the text. A body, and Ollama's format, have whole calls only. If
   * false, calls stay in the text. */
  calls?: boolean;
  /** The length of the longest event or JSON body that is read, in bytes; a longer one is forwarded unchanged. Not set:
   * 16 MiB. */
  maxEvent?: number;
  /** The formats of the answers that are read; an answer of a different format is forwarded unchanged. Not set: all
   * formats. */
  formats?: Format | readonly Format[] | null;
  /** The form of the thinking in the items of OpenAI Responses. Default: "reasoning_text". */
  responsesAs?: ResponsesAs;
  /** If true, mend faults in a stream of events that make clients fail or lose text: empty `data:` lines, comments
   * inside an event, an object over several lines, chunks without `choices`, and more. If false, leave the faults
   * unchanged. */
  repair?: boolean;
  /** If true, in chat completions, completions and Ollama's lines, send one chunk for each chunk of the server, the
   * thinking before the content, for clients that count chunks, even if `repair` or `normalise` would make two chunks.
   * If false, each chunk has text for one field. */
  merge?: boolean;
  /** The differences between servers' answers that are removed. Not set: none. */
  normalise?: Shape | readonly Shape[] | null;
  /** If true, label the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes, so
   * that they can be removed from a history. If false, their signatures are empty, and their ids begin with `rs_`. */
  label?: boolean;
  /** The treatment of comments in a stream of events, for clients that fail on them. Default: "keep". */
  comments?: Comments;
  // End of the generated part.
}

/** The counts of a rewriter since it was made or reset. */
export interface Stats {
  // Generated from src/ffi by tests/header: do not edit.
  /** Events that have data, lines of JSON, and bodies that were read whole. */
  readonly events: number;
  /** The number of `events` that were sent changed, or with chunks before them. */
  readonly changed: number;
  /** Chunks and events that were written in addition to the server's. */
  readonly added: number;
  /** Faults of the stream that the option `repair` has mended. */
  readonly repaired: number;
  /** Events and bodies that were forwarded unread because they were longer than the option `maxEvent`. */
  readonly tooLong: number;
  /** JSON objects that were forwarded unread because they are neither in a format that is read nor an error. */
  readonly unread: number;
  /** Answers whose thinking was to be sent as content too, and was too long for that. */
  readonly unpromoted: number;
  /** Events that repeat a whole text and lack some of it, because that text was longer than `maxEvent`. */
  readonly truncated: number;
  /** Bytes of text that were sent as thinking. Text that a server splits itself is not counted. */
  readonly thinkingBytes: number;
  /** Bytes of text that were sent as content. */
  readonly contentBytes: number;
  /** Bytes of text, and of an unfinished event or body, that are held now. A finish would return them. */
  readonly held: number;
  /** Texts whose thinking the server splits itself. */
  readonly splitByServer: number;
  /** Whether the stream is forwarded unread because its first bytes are not text: it is compressed (gzip, zstd, zlib or
   * Brotli), or not in UTF-8. Ask the server for `Accept-Encoding: identity`, or decode the body before it is fed.
   * After the end of a stream, this describes that stream, until another begins. */
  readonly encoded: boolean;
  /** Tool calls in the text that were sent as calls. Calls that the server itself has made are not counted. */
  readonly calls: number;
  /** Texts that a server repeats in Responses and that were split again, because their message differs from what was
   * sent before, or was too long to be kept. */
  readonly contradicted: number;
  // End of the generated part.
}

/** Splits the text of a server's answer into fields, as its bytes come: an event stream, lines, or one JSON body. */
export class Rewriter extends Handle {
  constructor(dialect: Dialect | string, options?: RewriterOptions);
  /** Feeds the next bytes of the answer, cut anywhere, and returns the bytes to forward, which may be none. */
  feed(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer>;
  /** Ends the answer and returns the bytes that were held back. The next feed begins a new answer. */
  finish(): Uint8Array<ArrayBuffer>;
  /** Forgets the answer and the counts. */
  reset(): void;
  /** Reads the next answer with a different dialect, or with the rewriter's own if `dialect` is null, and from a different start.
   * */
  useDialect(dialect: Dialect | string | null, options?: { start?: Start | null }): void;
  /** Sets the tools of the next answer's request. */
  useTools(tools: Tools | null): void;
  /** Starts the next answer's texts where a rendered prompt ends, and returns the span that is open there. */
  startFromPrompt(tail: Text): Start;
  readonly dialect: Dialect;
  readonly stats: Stats;
}

/** Returns the answer in a whole text: its content, without white space at both ends. */
export function strip<T extends Text>(text: T, dialect: Dialect | string): T extends string ? string : Uint8Array;
/** Returns the text of each channel of a whole text. */
export function split<T extends Text>(
  text: T,
  dialect: Dialect | string,
  options?: ScannerOptions,
): Split<T extends string ? string : Uint8Array>;

/** A call of a history. */
export interface JoinCall {
  name: string;
  /** An object, or JSON. */
  arguments: string | object;
  id?: string | null;
}

export interface JoinOptions {
  /** The tool calls after the content: objects like JoinCall, or entries of a message's `tool_calls`. */
  calls?: readonly (JoinCall | { id?: string | null; function: { name: string; arguments: string | object } })[];
  /** Whether markers in the parts are refused or broken. */
  markers?: Markers;
  start?: Start | null;
}

/** Returns thinking, content and tool calls written with their markers, as a model of the dialect writes them: for a history that
 * goes back to the model. The result splits back into its parts; if it would not, JoinError has the place of the fault. */
export function join<T extends Text>(
  thinking: T,
  content: T,
  dialect: Dialect | string,
  options?: JoinOptions,
): T extends string ? string : Uint8Array;
/** Returns a text with every marker of the dialect broken, so that a prompt can contain it: a zero width space follows the
 * marker's first character. */
export function escape<T extends Text>(text: T, dialect: Dialect | string): T extends string ? string : Uint8Array;

/** The HTTP facts of a request and its answer. */
export interface Exchange {
  status?: number;
  method?: string;
  path?: string;
  contentType?: string | null;
  contentEncoding?: string | null;
  formats?: Format | readonly Format[] | null;
}

/** Returns the kind of an answer's body, for `body` of a rewriter, or null if the answer is not for a rewriter: its status is
 * not 200, it is compressed, or its media type or path belongs to no API that is read. */
export function wants(exchange: Exchange): "events" | "json" | "lines" | null;
/** Returns `identity` if the host must ask the server for an answer that is not compressed; otherwise null. */
export function requestHint(exchange: Exchange): Hint | null;
/** Returns the model that the JSON of a request asks for, or null if it names none. */
export function requestModel(body: string | ArrayBuffer | ArrayBufferView): string | null;
/** The facts of a request that concern its answer, from `readRequest`. */
export interface Request {
  /** Whether the model should think; null if the request does not say. */
  thinks: boolean | null;
  /** Whether the client wants the thinking in the answer, for the option `thinking` of a rewriter. */
  thinking: Thinking;
  /** The JSON text of the request's `tools`, for the option `tools`; `[]` if it offers none. */
  tools: string;
}

/**
 * Reads the facts of a request that concern its answer. `body` is its whole body. An incomplete body, or one that is not a JSON
 * object, decides nothing.
 *
 * The model should think or not, if one of these says so; the first one counts: a variable of the chat template
 * (`chat_template_kwargs`: `enable_thinking`, `thinking`, `thinking_mode`), `enable_thinking` or `think` as a boolean, the type of
 * `thinking`, an effort (`think`, `reasoning_effort`, also as a variable, and `reasoning.effort`), which is off as `none` or
 * `no_think`. The client wants no thinking if the request has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or
 * `"think": false`, or if it is a Messages request whose `thinking` is absent or `disabled`.
 */
export function readRequest(request: { path?: string; body: string | ArrayBuffer | ArrayBufferView }): Request;

export type HistoryFormat = "chat" | "responses" | "messages";

/** The changes to the history of a request. `historyServer` returns the options of a server. */
export interface HistoryOptions {
  /** The API of the request. */
  format: HistoryFormat;
  /** The place of the thinking of an earlier turn in its message: `as_is` is the default, and `text` needs a dialect. */
  name?: HistoryName;
  /** The dialect of the model, for `text`. */
  dialect?: Dialect | string | null;
  /** The turns whose thinking stays. */
  turns?: HistoryTurns;
  /** The change to an assistant message without thinking. */
  missing?: HistoryMissing;
  /** The treatment of blocks and items that a rewriter made and the server did not. */
  made?: HistoryMade;
  /** The maximum length of a body in bytes; a longer body is returned unchanged. */
  maxBody?: number;
}

/** The report of `rewriteHistory`. */
export interface HistoryReport {
  /** The number of messages or items that were changed or removed. */
  readonly changed: number;
  /** The number of messages or items whose thinking cannot be written into their text. */
  readonly refused: number;
  /** The number of messages or items whose thinking is signed, encrypted or in an unknown form. */
  readonly unread: number;
  /** `read`, or why the body was returned unchanged. */
  readonly outcome: HistoryOutcome;
  /** Whether thinking was turned off in the request. */
  readonly thinkingOff: boolean;
}

/**
 * Returns the body of a request with the thinking of earlier turns where the server reads it, and a report. Everything that the
 * options do not name stays unchanged. The sender of the result must set `Content-Length` again. This may change in any version.
 */
export function rewriteHistory<T extends string | ArrayBuffer | ArrayBufferView>(
  body: T,
  options: HistoryOptions,
): { body: T extends string ? string : Uint8Array<ArrayBuffer>; report: HistoryReport };
/** Returns the format of the requests to a path, or null if their history is not rewritten. This may change in any version. */
export function historyFormat(path: string): HistoryFormat | null;
/**
 * Returns the options of a built-in server, such as `vllm`, for requests of a format, or null if they need no change. This may change in
 * any version.
 */
export function historyServer(name: string, format: HistoryFormat): HistoryOptions | null;
