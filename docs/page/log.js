// The second tab: shortens a tool's output to fit a budget. Lines that were left out can be unfolded.

import { Compressor, init } from "libaside/tools";
import { byId, choices, make, number, onFile, plural, say } from "./dom.js";
import { LOGS, textOf } from "./samples.js";

// Returns the lines of a result: those of the log, the lines that it lacks, and those that the library made.
export function align(log, result) {
  const before = log.split("\n");
  const aligned = [];
  let at = 0;
  for (const line of result.split("\n")) {
    const found = before.indexOf(line, at);
    if (found < 0) aligned.push({ made: line });
    else {
      if (found > at) aligned.push({ left: before.slice(at, found) });
      aligned.push({ line });
      at = found + 1;
    }
  }
  if (at < before.length) aligned.push({ left: before.slice(at) });
  return aligned;
}

function show() {
  const log = byId("log-text").value;
  const budget = Number(byId("budget").value);
  byId("budget-said").value = plural(budget, "byte");
  byId("short").replaceChildren();
  let result;
  try {
    const compressor = new Compressor({ budget });
    const [command, exit] = [byId("command").value, byId("exit").value];
    const input = { ...(command && { command }), ...(exit && { exit_code: Number(exit) }) };
    result = compressor.compress(log, { toolId: "bash", input });
    compressor.free();
  } catch (error) {
    return say(byId("log-said"), error.message, true);
  }
  const { before, after, filters } = result.report;
  const by = filters.length ? `, by ${filters.join(", ")}` : "";
  say(byId("log-said"), `${number(before)} bytes became ${number(after)}${by}.`);
  // A fold replaces the library's own line about the same gap.
  let marker = null;
  for (const { line, left, made } of align(log, result.text)) {
    if (made !== undefined && made.startsWith("[…")) marker = made;
    else if (left) {
      byId("short").append(make("details", {}, make("summary", {}, marker ?? `[… ${plural(left.length, "line")} left out]`), make("div", {}, left.join("\n"))));
      marker = null;
    } else byId("short").append(make("div", { className: made === undefined ? "" : "made" }, (line ?? made) || "\u00a0"));
  }
}

// Shows another log. The maximum budget is the length of the log.
function reload() {
  const length = new TextEncoder().encode(byId("log-text").value).length;
  byId("budget").max = Math.max(2048, Math.ceil(length / 64) * 64);
  show();
}

async function useSample(at) {
  const sample = LOGS[at];
  byId("log-text").value = await textOf(sample);
  byId("command").value = sample.command;
  byId("exit").value = sample.exit;
  byId("budget").value = 2048;
  reload();
}

export async function start() {
  await init();
  const own = choices(byId("log-sample"), LOGS.map(({ title }) => title), useSample);
  const edited = () => {
    // The command and the exit code belonged to the sample.
    if (own()) for (const id of ["command", "exit"]) byId(id).value = "";
    reload();
  };
  byId("log-text").addEventListener("input", edited);
  onFile(byId("log-file"), (text) => {
    byId("log-text").value = text;
    edited();
  });
  for (const id of ["budget", "command", "exit"]) byId(id).addEventListener("input", show);
  await useSample(0);
}
