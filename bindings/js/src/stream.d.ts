// The types of `libaside/stream`.

import type { Channel, Dialect, RewriterOptions, ScannerOptions, Text } from "./index.js";

/** Returns a stream that splits the bytes of a server's answer, as a `Rewriter` does. */
export function splitStream(
  dialect: Dialect | string,
  options?: RewriterOptions,
): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>;

/** A stretch of a stream. */
export interface Part<T extends Text = string> {
  readonly channel: Channel;
  readonly text: T;
}

/** Returns a stream that splits text into its channels. Calls are text of the channel `tool`, as the model wrote it. If a scanner
 * later reports that text belongs to another channel (`reclassify`), the text stays in the channel in which
 * it was sent. */
export function scanStream<T extends Text = string>(
  dialect: Dialect | string,
  options?: ScannerOptions,
): TransformStream<T, Part<T>>;
