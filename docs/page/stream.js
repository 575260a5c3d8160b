// The first tab: a model's output arrives in chunks of a chosen length, and is read by aside and by a naive parser.

import { Dialect } from "libaside";
import { byId, choices, make, marks, number, onFile, plural, say } from "./dom.js";
import { MODELS, OUTPUTS, textOf } from "./samples.js";
import { Naive, Session, markersOf, readable, summary } from "./session.js";

// The lengths of a chunk, ending with the whole text.
const SIZES = [1, 2, 3, 4, 5, 7, 10, 16, 24, 40, 64, 100, Infinity];
// Only the last events are shown.
const SHOWN = 200;
const PAUSE = 60;

let dialect = null;
let bytes = new Uint8Array();
let markers = new Map();
let arrived = 0;
let session = null;
let naive = null;
let fed = 0;
let timer = 0;

const size = () => SIZES[byId("size").value];

function findDialect(name) {
  return Dialect.names().includes(name) ? Dialect.find(name) : Dialect.findForModel(name);
}

function chooseModel() {
  const name = byId("model").value.trim();
  try {
    if (!name) throw new Error("Write the name of a model or a dialect, or any if it is not known.");
    dialect = findDialect(name);
    say(byId("model-said"), `Dialect ${dialect.name}: it starts in ${dialect.start}, and holds back at most ${plural(dialect.maxHold, "byte")} of text.`);
  } catch (error) {
    dialect = null;
    say(byId("model-said"), error.message, true);
  }
  reload();
}

// Shows another text from its first byte.
function reload() {
  pause();
  bytes = new TextEncoder().encode(byId("text").value);
  markers = dialect ? markersOf(dialect, bytes) : new Map();
  byId("arrived").max = bytes.length;
  recut();
}

// Feeds the stream again from its start, because the chunks have changed.
function recut() {
  session?.free();
  session = dialect && new Session(dialect);
  naive = dialect && new Naive(markers, dialect.start);
  fed = 0;
  go(arrived);
}

// Moves to the place at which `to` bytes have arrived, in whole chunks.
function go(to) {
  const length = Math.min(size(), bytes.length) || 1;
  const end = Math.min(Math.ceil(to / length) * length, bytes.length);
  arrived = end;
  if (end < fed) return recut();
  if (session) {
    while (fed < end) {
      const chunk = bytes.subarray(fed, Math.min(fed + length, bytes.length));
      session.feed(chunk);
      naive.feed(chunk);
      fed += chunk.length;
      if (fed === bytes.length) session.finish();
    }
  }
  show(length);
}

// Reads the bytes that have arrived as one chunk.
function inOneChunk(parser) {
  parser.feed(bytes.subarray(0, fed));
  if (fed === bytes.length) parser.finish?.();
  const text = summary(parser.parts);
  parser.free?.();
  return text;
}

function judge(element, parts, whole) {
  const isSame = summary(parts) === whole;
  element.textContent = isSame ? "The same as if it had arrived in one chunk." : "Not the same as if it had arrived in one chunk.";
  element.className = `verdict ${isSame ? "good" : "bad"}`;
}

const visible = (text) => text.replaceAll("\n", "⏎\n");

function show(length) {
  byId("size-said").value = size() === Infinity ? "the whole text" : size();
  byId("size").setAttribute("aria-valuetext", byId("size-said").value);
  byId("arrived").value = arrived;
  byId("arrived-said").value = `${number(arrived)} of ${plural(bytes.length, "byte")}, in ${plural(Math.ceil(arrived / length), "chunk")}`;
  byId("play").textContent = timer ? "Pause" : "Play";
  for (const id of ["aside-text", "naive-text", "aside-said", "naive-said", "calls", "events"]) byId(id).replaceChildren();
  byId("held").textContent = "";
  if (!session) return;
  const held = new TextDecoder().decode(bytes.subarray(fed - session.held, fed));
  byId("aside-text").append(...marks(readable(session.parts)), ...(held ? [make("mark", { className: "held", title: "held back" }, held)] : []));
  byId("naive-text").append(...marks(readable(naive.parts)));
  judge(byId("aside-said"), session.parts, inOneChunk(new Session(dialect)));
  judge(byId("naive-said"), naive.parts, inOneChunk(new Naive(markers, dialect.start)));
  byId("held").textContent = held ? `${plural(session.held, "byte")}, which may still become a marker: ${JSON.stringify(held)}` : "Nothing.";
  byId("calls").append(...(session.calls.length ? session.calls.map(showCall) : [make("p", { className: "said" }, "None so far.")]));
  const events = session.events.slice(-SHOWN);
  if (events.length < session.events.length)
    byId("events").append(make("tr", {}, make("td"), make("td", { colSpan: 3 }, `${plural(session.events.length - SHOWN, "event")} before these`)));
  byId("events").append(...events.map(showEvent));
  for (const box of [byId("aside-text"), byId("naive-text"), byId("events").closest(".scroll")]) box.scrollTop = fed < bytes.length ? box.scrollHeight : 0;
}

function showCall({ id, name, arguments: text, end }, index) {
  let state = "being written …";
  if (end) state = end.isWhole ? "whole: it may be run" : `not whole (${end.cause.replaceAll("_", " ")}): it must not be run`;
  return make("div", { className: "call" }, make("p", {}, `${index}: `, make("strong", {}, name ?? "…"), ` (${id ?? "no id yet"}), ${state}`), make("code", {}, text));
}

function showEvent({ offset, kind, channel, text, attribute }) {
  const read = (bytes) => new TextDecoder().decode(bytes);
  const shown = attribute ? `${read(attribute.name)} = ${JSON.stringify(read(attribute.value))}` : visible(read(text));
  const cell = make("td", {}, make("mark", { className: kind === "text" ? channel : "" }, shown));
  return make("tr", {}, make("td", {}, number(offset)), make("td", {}, kind), make("td", {}, channel), cell);
}

function pause() {
  clearInterval(timer);
  timer = 0;
}

function play() {
  if (timer) pause();
  else {
    if (arrived === bytes.length) arrived = 0;
    timer = setInterval(() => {
      if (arrived + 1 > bytes.length) pause();
      go(Math.min(arrived + 1, bytes.length));
    }, PAUSE);
  }
  go(arrived);
}

async function useSample(at) {
  byId("text").value = await textOf(OUTPUTS[at]);
  byId("model").value = OUTPUTS[at].model;
  arrived = Infinity;
  chooseModel();
}

export async function start() {
  byId("models").append(...[...MODELS, ...Dialect.names()].map((value) => make("option", { value })));
  byId("size").max = SIZES.length - 1;
  byId("size").value = SIZES.indexOf(4);
  const own = choices(byId("sample"), OUTPUTS.map(({ title }) => title), useSample);
  const edited = () => {
    // The dialect belonged to the sample.
    if (own()) byId("model").value = "any";
    arrived = Infinity;
    chooseModel();
  };
  byId("text").addEventListener("input", edited);
  onFile(byId("file"), (text) => {
    byId("text").value = text;
    edited();
  });
  byId("model").addEventListener("change", chooseModel);
  byId("size").addEventListener("input", recut);
  byId("arrived").addEventListener("input", (event) => {
    pause();
    go(Number(event.target.value));
  });
  byId("play").addEventListener("click", play);
  byId("step").addEventListener("click", () => {
    pause();
    go(Math.min(arrived + 1, bytes.length));
  });
  byId("restart").addEventListener("click", () => {
    pause();
    go(0);
  });
  await useSample(0);
}
