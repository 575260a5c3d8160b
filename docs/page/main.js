// Loads the package, and shows one tab at a time. The tab of logs has a wasm file that is loaded when the tab is first opened.

import { init } from "libaside";
import { byId, say } from "./dom.js";
import * as dialect from "./dialect.js";
import * as log from "./log.js";
import * as stream from "./stream.js";

const tabs = [...document.querySelectorAll("[role=tab]")];
const starts = { stream: stream.start, log: log.start, dialect: dialect.start };

async function open(tab) {
  for (const other of tabs) {
    const isOpen = other === tab;
    other.setAttribute("aria-selected", isOpen);
    other.tabIndex = isOpen ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !isOpen;
  }
  const name = tab.getAttribute("aria-controls");
  const start = starts[name];
  delete starts[name];
  try {
    await start?.();
  } catch (error) {
    byId("loading").hidden = false;
    say(byId("loading"), `This tab cannot be shown: ${error.message}`, true);
  }
}

function move(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
  if (!step) return;
  event.preventDefault();
  const at = tabs.indexOf(event.currentTarget);
  const next = Number.isFinite(step) ? tabs.at((at + step) % tabs.length) : tabs.at(step < 0 ? 0 : -1);
  next.focus();
  open(next);
}

for (const tab of tabs) {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", move);
}
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());

try {
  await init();
  byId("loading").hidden = true;
  await open(tabs[0]);
} catch (error) {
  say(byId("loading"), `The page cannot be shown: ${error.message}. It needs WebAssembly, and a web server: any that sends files.`, true);
}
