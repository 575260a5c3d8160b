// Runs the programs on the package's pages that import only the package, in the current folder, where the package is installed.
// Each must print the text that this file lists.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import assert from "node:assert/strict";

const PRINTED = {
  "README.md": [
    "thinking: Twice 21.\ncontent: It is 4\ncontent: 2.\n",
    'content One moment.\ncall call_0 weather\narguments {"city": "Oslo"}\n',
    "Yes.\nhm\n<think>\nTwice 21.\n</think>\n\nIt is 42.\nWhat is <\u200bthink>?\n",
    "main.c:3:1: error: unknown type name 'item'\n",
  ],
  "start.md": ["thinking: Twice 21.\ncontent: It is 42.\n"],
};

for (const path of process.argv.slice(2)) {
  const programs = readFileSync(path, "utf8")
    .split("```js\n")
    .slice(1)
    .map((block) => block.split("```")[0])
    .filter((program) => program.includes("console.log("));
  const printed = programs.map((program) => {
    writeFileSync("program.mjs", program);
    return execFileSync(process.execPath, ["program.mjs"], { encoding: "utf8" });
  });
  assert.deepEqual(printed, PRINTED[path.split("/").at(-1)], path);
}
