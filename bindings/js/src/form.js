// The form of a stream's texts: strings, or bytes.

import { isFirstHalf, textOf } from "./core.js";

export class Form {
  // Whether the stream consists of strings; null before its first text.
  isString = null;
  // The first half of a character whose second half has not arrived.
  half = "";

  // Returns the part of a text that can be fed: half a character at its end waits for the other half.
  take(text) {
    const isString = typeof textOf(text) === "string";
    if (this.isString !== isString) {
      if (this.isString !== null)
        throw new TypeError(
          isString
            ? "this stream began with bytes: feed a Uint8Array, not a string"
            : "this stream began with strings: feed a string, not a Uint8Array",
        );
      this.isString = isString;
    }
    if (!isString) return text;
    if (this.half !== "") text = this.release() + text;
    if (isFirstHalf(text.charCodeAt(text.length - 1))) {
      this.half = text.slice(-1);
      return text.slice(0, -1);
    }
    return text;
  }

  // Returns the waiting half, for which the encoder writes U+FFFD if the other half does not arrive.
  release() {
    const { half } = this;
    this.half = "";
    return half;
  }

  copy() {
    return Object.assign(new Form(), this);
  }
}

// Returns the arguments of a function that takes a text with its tokens.
export function tokenTexts(text, lengths, special) {
  const words = new Uint8Array(lengths.length * 4);
  const view = new DataView(words.buffer);
  for (let at = 0; at < lengths.length; at++) view.setUint32(at * 4, lengths[at], true);
  return [text, words, Uint8Array.from(special, Number)];
}
