// Streams of the web platform: bytes of an answer in, bytes out; or text in, channels out.

import { Rewriter, Scanner } from "libaside";

// Splits the bytes of a server's answer, as a Rewriter does.
export function splitStream(dialect, options) {
  const rewriter = new Rewriter(dialect, options);
  return transform(
    rewriter,
    (chunk) => rewriter.feed(chunk),
    () => rewriter.finish(),
    (out, controller) => {
      if (out.length > 0) controller.enqueue(out);
    },
  );
}

// Separates the text of a stream: each part is its channel and its text.
export function scanStream(dialect, options) {
  const scanner = new Scanner(dialect, options);
  return transform(
    scanner,
    (chunk) => scanner.feed(chunk),
    () => scanner.finish(),
    (events, controller) => {
      for (const { kind, channel, text } of events)
        if ((kind === "text" || (channel === "tool" && kind.startsWith("call"))) && text.length > 0)
          controller.enqueue({ channel, text });
    },
  );
}

// Returns a stream that frees its object when it ends, for whatever reason.
function transform(object, feed, finish, write) {
  return new TransformStream({
    transform(chunk, controller) {
      write(feed(chunk), controller);
    },
    flush(controller) {
      const last = finish();
      object.free();
      write(last, controller);
    },
    cancel() {
      object.free();
    },
  });
}
