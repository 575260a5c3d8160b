// Code for the clients in Node: a client's result, and the loop that reads requests (seen.py).
const { createInterface } = require("node:readline");

// Only answers may be written to standard output.
console.log = console.info = console.error;

class Seen {
  order = [];
  thinking = "";
  content = "";
  calls = [];
  reason = null;

  #note(kind) {
    if (this.order.at(-1) !== kind || kind === "call") this.order.push(kind);
  }

  think(text) {
    if (!text) return;
    this.#note("thinking");
    this.thinking += text;
  }

  say(text) {
    if (!text) return;
    this.#note("content");
    this.content += text;
  }

  call(name, args = "") {
    this.#note("call");
    this.calls.push([name, args]);
  }

  // Adds to the arguments of the last call.
  more(args) {
    this.calls.at(-1)[1] += args ?? "";
  }

  toJSON() {
    const calls = this.calls.map(([name, args]) => [name, typeof args === "string" ? JSON.parse(args) : args]);
    return { order: this.order, thinking: this.thinking, content: this.content, calls, reason: this.reason };
  }
}

// Answers requests with ask({url, format, stream, tools}), which returns the streamed and the final parts.
async function serve(ask) {
  for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
      const [streamed, final] = await ask(JSON.parse(line));
      answer = JSON.stringify({ streamed, final });
    } catch (error) {
      answer = JSON.stringify({ error: String(error.stack ?? error) });
    }
    process.stdout.write(answer + "\n");
  }
}

module.exports = { Seen, serve };
