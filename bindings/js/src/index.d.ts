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
export type Cause = "marker" | "implied" | "end_of_stream" | "forced" | "malformed" | "ended";
export type Start = "content" | "thinking" | "narration" | "tool" | "header" | "calls";
export type CallsInThinking = "dialect" | "never" | "always";
export type StrayClose = "dialect" | "text" | "drop";
export type EndReason = "unknown" | "ended" | "cut_off";
export type NotWhole = "tell" | "hold" | "text";
export type UnknownTool = "text" | "drop" | "tell";
export type ToolArguments = "json" | "tags" | "elements" | "literal";
export type ImpliedEnd = "on" | "off";
export type LeadingTags = "dialect" | "text";
export type BudgetUnit = "bytes" | "characters";
export type BudgetScope = "span" | "stream";
export type Markers = "refuse" | "escape";
export type Field = "reasoning_content" | "reasoning" | "thinking";
export type Body = "unknown" | "events" | "json" | "lines";
export type Format = "chat" | "completions" | "responses" | "messages" | "ollama" | "all";
export type Shape = "none" | "field" | "lists" | "chunks" | "content" | "all";
export type Thinking = "keep" | "drop";
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
// End of what is generated.

/** A text as a stream has it: a stream that is fed strings returns strings, and a stream that is fed bytes returns bytes. */
export type Text = string | Uint8Array;

/** The tools of a request: a list as the API takes it, or the JSON of one. */
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

/** A defect of the library; its `cause` is what the module has thrown. It ends the WebAssembly instance: the scanners and rewriters
 * that were there throw it from then on, also those of other streams. New ones work in a new instance, with the dialects that were
 * there too. */
export class DefectError extends Error {}

/** Loads the wasm file. Browsers need it before all else; Node, Deno, Bun and workers load the file themselves. Other hosts pass
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
  /** Returns the texts that the model writes around a tool call, for a server that makes it write calls by a grammar: one entry for
   * each table of calls in the dialect's file. The first is the one that the model usually writes. */
  toolTriggers(): ToolTrigger[];
}

/** The texts around one call of a tool: `begin`, the tool's name, `afterName`, the arguments, `end`. */
export interface ToolTrigger {
  /** The text that a model writes only if a call follows; `begin` starts with it. */
  readonly trigger: string;
  readonly begin: string;
  readonly afterName: string;
  readonly end: string;
  readonly arguments: ToolArguments;
  /** The text before a key; empty for JSON, as are the next three. */
  readonly keyBegin: string;
  readonly keyEnd: string;
  readonly valueBegin: string;
  readonly valueEnd: string;
  /** The tags in these texts. A tag that is a special token of the model must be left in the model's text, or the call cannot
   * be read. */
  readonly preserved: string[];
}

/** An attribute of a tag that opened a span: its name and its decoded value. */
export interface Attribute<T extends Text = string> {
  readonly name: T;
  readonly value: T;
}

/** A report of the scanner. The `text` of all events of a stream, joined, is the stream, but for the `call_name` of a call whose header
 * has the name: it repeats the name, at the offset of the next event. */
export class Event<T extends Text = string> {
  private constructor();
  readonly kind: Kind;
  /** The channel of the event. */
  readonly channel: Channel;
  readonly text: T;
  /** Counts bytes from the start of the stream, of UTF-8 if the stream is of strings. */
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
  /** The calls, if the scanner was made with `calls` or `tools`. */
  readonly calls: CallDelta[];
}

/** The end of a call. */
export interface CallEnd {
  readonly cause: Cause;
  /** Whether the arguments are complete, so that the call may be run. */
  readonly isWhole: boolean;
  /** Whether the call was repaired: the model may have meant other arguments. */
  readonly isRepaired: boolean;
  /** An id that the model wrote after the first delta had left. */
  readonly lateId: string | null;
}

/** The next part of a tool call. The first one of a call has its `id` and `name`, the last one its `end`; the `arguments` of all,
 * joined, are JSON if the call is whole. */
export interface CallDelta {
  /** The number of the call among those that are emitted, from 0. */
  readonly index: number;
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
  readonly end: CallEnd | null;
}

/** The counts of the text of a channel since the stream began. */
export interface Counts {
  readonly bytes: number;
  readonly characters: number;
  readonly spans: number;
  readonly tokens: number;
  /** Of `thinking`: whole thoughts that were lost because 1,024 others had not been taken. */
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
  /** Whether it did not fit. */
  readonly truncated: boolean;
}

/** The options for calls, of scanners and rewriters. */
interface CallOptions {
  /** Reports tool calls: as events, and as `calls` in the result of `split`. */
  calls?: boolean;
  /** The tools of the request, which imply `calls` unless `calls` is false: only calls of these tools are reported, with
   * arguments of the types in their schemas. */
  tools?: Tools | null;
  /** The most bytes of `tools` as JSON. */
  maxTools?: number;
  /** With `"never"`, tool openers inside the thinking are text. With `"always"`, a rewriter reports a call in the thinking at
   * once; otherwise it waits, because text after the call shows that the call is part of the thinking. */
  callsInThinking?: CallsInThinking;
  /** Which part of a call is sent before the call is whole: its arguments as they come (`"tell"`), or nothing. */
  notWhole?: NotWhole;
  /** The treatment of calls of tools that are not in `tools`. */
  unknownTool?: UnknownTool;
  /** With `"off"`, a call that lacks its last markers is not whole, even if the answer ended by itself. */
  impliedEnd?: ImpliedEnd;
  /** The largest number of calls that are reported; 0: all. */
  maxCalls?: number;
  /** Mends arguments that can mean only one thing. */
  repairArguments?: boolean;
}

export interface ScannerOptions extends CallOptions {
  /** The span that is open at the first byte; by default the dialect decides. */
  start?: Start | null;
  /** The limit of the thinking: the event `budget` marks where the thinking exceeds it. */
  budget?: number;
  /** The unit of the budget: `characters` by default. */
  budgetUnit?: BudgetUnit;
  /** Whether all thinking of the stream together has the budget, which is the default, or each span has it. */
  budgetScope?: BudgetScope;
  /** Keeps whole thoughts for `takeThought`: true, or the largest number of bytes to keep. */
  collect?: boolean | number;
  /** The treatment of a closer of the thinking after other content. */
  strayClose?: StrayClose;
  /** With `"text"`, a tag of another family as the first thing of a stream is text. */
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
  /** Closes the thinking that is open, as if its closer had come: for a host that ends the thinking and continues with the
   * answer. */
  forceClose(): Event<T>[];
  /** Starts the next stream where a rendered prompt ends, and returns the span that is open there. `tail` is the end of the
   * prompt. */
  startFromPrompt(tail: Text): Start;
  /** Sets the reason why the stream ends. Call it before `finish`, which clears the reason. */
  endReason(reason: EndReason): void;
  /** Returns the counts of the text of a channel since the stream began. */
  counts(channel: Channel): Counts;
  /** Takes the oldest whole thought that was not taken yet. Needs `collect`. */
  takeThought(): Thought<T> | null;
  /** Returns a scanner in the same state, in the middle of a stream too. Scanners that report calls cannot be copied. */
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

export interface RewriterOptions extends CallOptions {
  start?: Start | null;
  /** The place of the thinking of a chat; `reasoning_content` is the default. */
  field?: Field;
  /** The kind of input. By default the first bytes decide. */
  body?: Body;
  /** The APIs whose answers are read; all APIs by default. */
  formats?: Format | readonly Format[] | null;
  responsesAs?: ResponsesAs;
  /** Mends faults of a server that make clients fail. */
  repair?: boolean;
  /** Sends the thinking again as content if an answer ends by itself and has neither content nor a call. */
  promoteEmpty?: boolean;
  /** Sends the thinking and the content of one chunk in one chunk, also where `repair` or `normalise` would make two. */
  merge?: boolean;
  strayClose?: StrayClose;
  leadingTags?: LeadingTags;
  /** Sends every byte on unchanged. */
  off?: boolean;
  /** The longest event that is read, in bytes. */
  maxEvent?: number;
  /** The number of bytes of a call that may be held. */
  maxHeld?: number;
  /** Leaves guessed thinking unchanged: an answer whose thinking the dialect only guessed is not repeated as content. */
  keepGuessed?: boolean;
  /** The name of a tool: the text, without its thinking, is the arguments of a call of this tool. */
  startCall?: string;
  /**
   * The differences between servers' answers that are removed: `field` (the server's thinking is sent in `field`), `lists`
   * (content that is a list becomes a string), `chunks` (a chunk with thinking and content becomes two), `content` (content
   * after thinking that the server has split is split too), or `all`.
   */
  normalise?: Shape | readonly Shape[];
  /** Whether the thinking is sent; `requestThinking` returns what a request wants. */
  thinking?: Thinking;
  /** Labels the thinking blocks and reasoning items that the rewriter makes, so that `rewriteHistory` can remove them. */
  label?: boolean;
  /**
   * The treatment of comments in a stream of events, for clients that fail on them: with `chunk`, each comment becomes an event
   * without text, in formats that have such an event.
   */
  comments?: Comments;
}

/** The counts of a rewriter since it was made or reset. */
export interface Stats {
  readonly events: number;
  readonly changed: number;
  readonly added: number;
  readonly repaired: number;
  readonly tooLong: number;
  readonly unread: number;
  readonly unpromoted: number;
  readonly truncated: number;
  readonly thinkingBytes: number;
  readonly contentBytes: number;
  readonly held: number;
  readonly splitByServer: number;
  /** The number of tool calls in the text that were sent as calls; calls that the server itself has made are not counted. */
  readonly calls: number;
  /** Whether the answer is sent on unread because it is not text: compressed, or in another encoding than UTF-8. */
  readonly encoded: boolean;
}

/** Splits the text of a server's answer into fields, as its bytes come: an event stream, lines, or one JSON body. */
export class Rewriter extends Handle {
  constructor(dialect: Dialect | string, options?: RewriterOptions);
  /** Feeds the next bytes of the answer, cut anywhere, and returns the bytes to send on: perhaps none yet. */
  feed(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer>;
  /** Ends the answer and returns the bytes that were held back. The next feed begins a new answer. */
  finish(): Uint8Array<ArrayBuffer>;
  /** Forgets the answer and the counts. */
  reset(): void;
  /** Reads the next answer by another dialect, or by the rewriter's own dialect if `dialect` is null, and from another start.
   * */
  useDialect(dialect: Dialect | string | null, options?: { start?: Start | null }): void;
  /** Sets the tools of the next answer's request. */
  useTools(tools: Tools | null): void;
  /** Starts the next answer's texts where a rendered prompt ends, and returns the span that is open there. */
  startFromPrompt(tail: Text): Start;
  readonly dialect: Dialect;
  readonly stats: Stats;
}

/** Returns the answer of a whole text: its content, without white space at both ends. */
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
 * goes back to the model. The result splits back into its parts; if it would not, JoinError says where. */
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
/**
 * Returns whether a request wants the thinking in its answer, for the option `thinking` of a rewriter. A request does not want
 * it if it has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or `"think": false`, or if it is a Messages
 * request without `thinking`, or with `thinking` that is `disabled`.
 */
export function requestThinking(request: { path?: string; body: string | ArrayBuffer | ArrayBufferView }): Thinking;

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
  /** The treatment of blocks and items that the server did not make. */
  made?: HistoryMade;
  /** The most bytes of a body that are read; a longer one is returned unchanged. */
  maxBody?: number;
}

/** The report of `rewriteHistory`. */
export interface HistoryReport {
  /** The number of messages or items that were changed or removed. */
  readonly changed: number;
  /** The number of those that have thinking that cannot be written into their text. */
  readonly refused: number;
  /** The number of those that have thinking that is signed, encrypted or in a form that is not known. */
  readonly unread: number;
  /** `read`, or why the body was returned unchanged. */
  readonly outcome: HistoryOutcome;
  /** Whether thinking was turned off in the request. */
  readonly thinkingOff: boolean;
}

/**
 * Returns the body of a request with the thinking of earlier turns where the server reads it, and a report. All that the options do not
 * name stays as it came. Whoever sends the result writes `Content-Length` again. This may change in any version.
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
