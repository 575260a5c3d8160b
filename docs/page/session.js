// One stream in two parsers: `Session` feeds aside, and `Naive` searches each chunk for the same markers, as many programs do. Both
// are fed the same chunks, and return parts `{ bytes, channel, isMarker }`.

import { Answer, Scanner } from "libaside";

// The kinds of events whose text is the model's own, and not markers or framing.
const TEXTS = new Set(["text", "call_name", "call_id", "call_key", "call_value"]);
const OTHER = { thinking: "content", content: "thinking" };

// Adds bytes to the last part if it has the same channel and kind, or as a new part.
function add(parts, bytes, channel, isMarker) {
  if (bytes.length === 0) return;
  const last = parts.at(-1);
  if (last?.channel === channel && last.isMarker === isMarker) for (const byte of bytes) last.bytes.push(byte);
  else parts.push({ bytes: [...bytes], channel, isMarker });
}

// Returns parts with their text. A character whose last bytes have not arrived is left out.
export const readable = (parts) =>
  parts.filter(({ bytes }) => bytes.length > 0).map(({ bytes, ...part }) => ({ ...part, text: new TextDecoder().decode(Uint8Array.from(bytes), { stream: true }) }));

// Returns the text of each channel as one string, to compare two ways of reading a stream.
export function summary(parts) {
  const texts = {};
  for (const { bytes, channel, isMarker } of parts) if (!isMarker) (texts[channel] ??= []).push(...bytes);
  return JSON.stringify(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export class Session {
  events = [];
  parts = [];
  calls = [];
  #events;
  #answer;
  #name = null;

  constructor(dialect) {
    this.#events = new Scanner(dialect, { calls: true });
    this.#answer = new Answer(dialect);
  }

  get held() {
    return this.#events.held;
  }

  feed(chunk) {
    this.#read(this.#events.feed(chunk), this.#answer.feed(chunk));
  }

  finish() {
    this.#read(this.#events.finish(), this.#answer.finish());
  }

  free() {
    this.#events.free();
    this.#answer.free();
  }

  #read(events, parts) {
    this.events.push(...events);
    for (const { kind, channel, text, offset } of events) {
      // The text so far turns out to belong to another channel.
      if (kind === "reclassify") for (const part of this.parts) if (!part.isMarker && part.channel === OTHER[channel]) part.channel = channel;
      // If the name of a call is from a header, its event has no bytes of the stream, and the next event begins at the same offset.
      if (this.#name?.offset === offset) this.parts.at(-1).bytes.length -= this.#name.text.length;
      this.#name = kind === "call_name" ? { offset, text } : null;
      add(this.parts, text, channel, !TEXTS.has(kind));
    }
    for (const part of parts) {
      const { kind, index, id, name, text } = part;
      if (kind === "call") this.calls[index] = { id, name, arguments: "", end: null };
      else if (kind === "arguments") this.calls[index].arguments += new TextDecoder().decode(text);
      else if (kind === "call_end") this.calls[index].end = part;
    }
  }
}

// Returns the markers of a text, each with the channel that follows it.
export function markersOf(dialect, bytes) {
  const session = new Session(dialect);
  session.feed(bytes);
  session.finish();
  const markers = new Map();
  for (const { kind, channel, text } of session.events) {
    const marker = new TextDecoder().decode(text);
    if (marker && kind === "open") markers.set(marker, channel);
    if (marker && kind === "close") markers.set(marker, "content");
  }
  session.free();
  return markers;
}

export class Naive {
  parts = [];
  #markers;
  #channel;
  #decoder = new TextDecoder();

  constructor(markers, start) {
    this.#markers = markers;
    this.#channel = start === "thinking" ? "thinking" : "content";
  }

  feed(chunk) {
    let text = this.#decoder.decode(chunk, { stream: true });
    const encoder = new TextEncoder();
    for (;;) {
      const found = [...this.#markers.keys()].map((marker) => [text.indexOf(marker), marker]).filter(([at]) => at >= 0);
      if (found.length === 0) break;
      const [at, marker] = found.reduce((first, other) => (other[0] < first[0] ? other : first));
      add(this.parts, encoder.encode(text.slice(0, at)), this.#channel, false);
      this.#channel = this.#markers.get(marker);
      add(this.parts, encoder.encode(marker), this.#channel, true);
      text = text.slice(at + marker.length);
    }
    add(this.parts, encoder.encode(text), this.#channel, false);
  }
}
