// The entry of `libaside/tools` for Node, Deno and Bun: the wasm file is read when it is first needed.

import { readFileSync } from "node:fs";
import { file } from "./tools.js";

file.loadNow = () => new WebAssembly.Module(readFileSync(new URL("./aside-tools.wasm", import.meta.url)));

export * from "./tools.js";
