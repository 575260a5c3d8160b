// For Bun and Deno: reads the given file of vectors, and prints the results of the cases.

import { readFileSync } from "node:fs";
import process from "node:process";
import { run } from "./cases.js";

console.log(JSON.stringify(await run(readFileSync(process.argv[2], "utf8"))));
