// The wasm file of dialects, scanners and rewriters. The entries say how it is loaded.

import { WasmFile } from "./core.js";

export const file = new WasmFile();

// Loads the wasm file. Only browsers need this, before everything else; in Node, Deno, Bun and workers the file loads itself.
export const init = (source) => file.init(source);
