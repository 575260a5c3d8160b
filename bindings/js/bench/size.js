// Prints the compressed size of each part of a wasm file: its data, and its functions by module. The file must have names.
// `scripts/test-js --size` builds one and runs this.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const file = readFileSync(process.argv[2]);
let at = 8;

function number() {
  let [value, shift, byte] = [0, 0, 0];
  do {
    byte = file[at++];
    value += (byte & 127) * 2 ** shift;
    shift += 7;
  } while (byte > 127);
  return value;
}

function text() {
  const length = number();
  return file.toString("utf8", at, (at += length));
}

const imports = { count: 0 };
const [bodies, names, parts] = [[], new Map(), new Map()];
while (at < file.length) {
  const section = file[at++];
  const end = number() + at;
  if (section === 2) {
    // All imports are functions.
    imports.count = number();
  } else if (section === 10) {
    for (let count = number(); count > 0; count--) {
      const length = number();
      bodies.push(file.subarray(at, (at += length)));
    }
  } else if (section === 11) {
    parts.set("data", [file.subarray(at, end)]);
  } else if (section === 0 && text() === "name") {
    while (at < end) {
      const kind = file[at++];
      const last = number() + at;
      if (kind === 1) for (let count = number(); count > 0; count--) names.set(number(), text());
      at = last;
    }
  }
  at = end;
}

// Returns the path of a name in Rust's older mangling, and only the crate in the newer one.
function pathOf(name) {
  let rest = name.match(/^_ZN(.*)$/)?.[1];
  if (rest === undefined) return name.match(/C(?:s[A-Za-z0-9]*_)?\d+_?([a-z_0-9]+?)(?=\d|[A-Z]|$)/)?.[1] ?? name;
  const steps = [];
  for (let length; (length = parseInt(rest)); rest = rest.slice(length)) {
    rest = rest.slice(String(length).length);
    steps.push(rest.slice(0, length));
  }
  return steps.join("::").replaceAll("$LT$", "<").replaceAll("$u20$", " ").replaceAll("$RF$", "&").replaceAll("..", "::");
}

// Returns the module of a function: the first two parts of a path in the library, the crate in other crates. A method is named by
// its type, `<TYPE as TRAIT>::NAME`.
function moduleOf(name) {
  const path = pathOf(name).replace(/^_?<+&?(?:mut )?/, "").match(/[A-Za-z_0-9]+(?:::[A-Za-z_0-9]+)*/)?.[0].split("::") ?? ["?"];
  return path[0] === "aside" ? path.slice(0, 2).join("::") : path[0];
}

bodies.forEach((body, index) => {
  const part = moduleOf(names.get(index + imports.count) ?? "?");
  parts.set(part, [...(parts.get(part) ?? []), body]);
});
const compressed = (pieces) => gzipSync(Buffer.concat(pieces), { level: 9 }).length;
const rows = [...parts].map(([part, pieces]) => [part, Buffer.concat(pieces).length, compressed(pieces)]);
console.log("| part | bytes | compressed |\n|---|--:|--:|");
for (const [part, bytes, least] of rows.sort((a, b) => b[2] - a[2])) if (least > 2000) console.log(`| ${part} | ${bytes} | ${least} |`);
