// For Bun and Deno: reads the file of vectors that it is given, and prints what the cases say.

import { readFileSync } from "node:fs";
import process from "node:process";
import { run } from "./cases.js";

console.log(JSON.stringify(await run(readFileSync(process.argv[2], "utf8"))));
