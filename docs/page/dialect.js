// The third tab: checks a dialect file or a model's response template while it is written, and splits a text with it. An error is
// shown at its line.

import { Dialect } from "libaside";
import { byId, make, marks, plural, say } from "./dom.js";
import { FILES } from "./samples.js";
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
    const file = byId("toml").value;
    const isTemplate = file.trimStart().startsWith("{");
    dialect = isTemplate ? Dialect.fromResponseTemplate(file) : Dialect.load(file);
    const said = `${isTemplate ? "A response template" : `Dialect ${dialect.name}`}: it starts in ${dialect.start}, and holds back at most ${plural(dialect.maxHold, "byte")} of text.`;
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

function choose() {
  const { file, text } = FILES[byId("example").value];
  byId("toml").value = file;
  byId("toml-text").value = text;
  check();
}

export function start() {
  byId("example").append(...FILES.map(({ title }, at) => make("option", { value: at }, title)));
  byId("example").addEventListener("change", choose);
  byId("toml").addEventListener("input", check);
  byId("toml").addEventListener("scroll", number);
  byId("toml-text").addEventListener("input", check);
  byId("goto").addEventListener("click", select);
  choose();
}
