// The third tab: a dialect file is checked as it is written, and splits a text. An error is shown at its line.

import { Dialect } from "libaside";
import { byId, make, marks, plural, say } from "./dom.js";
import { DIALECT } from "./samples.js";
import { Session, readable } from "./session.js";

let wrong = null;

function number() {
  const lines = byId("toml").value.split("\n");
  byId("numbers").replaceChildren(
    ...lines.flatMap((_, at) => [at + 1 === wrong ? make("span", { className: "wrong" }, `${at + 1}`) : `${at + 1}`, "\n"]),
  );
  byId("numbers").scrollTop = byId("toml").scrollTop;
}

function check() {
  let dialect = null;
  wrong = null;
  try {
    dialect = Dialect.load(byId("toml").value);
    const said = `Dialect ${dialect.name}: it starts in ${dialect.start}, and holds back at most ${plural(dialect.maxHold, "byte")} of text.`;
    say(byId("toml-said"), said);
  } catch (error) {
    wrong = error.line ?? null;
    say(byId("toml-said"), error.message, true);
  }
  byId("toml").setAttribute("aria-invalid", dialect ? "false" : "true");
  byId("goto").hidden = wrong === null;
  byId("goto").textContent = `Go to line ${wrong}`;
  number();
  byId("toml-split").replaceChildren();
  if (!dialect) return;
  const session = new Session(dialect);
  session.feed(new TextEncoder().encode(byId("toml-text").value));
  session.finish();
  byId("toml-split").append(...marks(readable(session.parts)));
  session.free();
  dialect.free();
}

// Selects the wrong line.
function select() {
  const lines = byId("toml").value.split("\n");
  const begin = lines.slice(0, wrong - 1).join("\n").length + (wrong > 1 ? 1 : 0);
  byId("toml").focus();
  byId("toml").setSelectionRange(begin, begin + lines[wrong - 1].length);
}

export function start() {
  byId("toml").value = DIALECT;
  byId("toml-text").value = "[think]\nTwice 21.\n[/think]\n\nIt is 42.";
  byId("toml").addEventListener("input", check);
  byId("toml").addEventListener("scroll", number);
  byId("toml-text").addEventListener("input", check);
  byId("goto").addEventListener("click", select);
  check();
}
