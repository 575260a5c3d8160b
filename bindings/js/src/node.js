// The entry for Node, Deno and Bun: the wasm file is read when it is first needed.

import { readFileSync } from "node:fs";
import { file } from "./file.js";

file.loadNow = () => new WebAssembly.Module(readFileSync(new URL("./aside.wasm", import.meta.url)));

export * from "./index.js";
