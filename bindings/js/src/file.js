// The wasm file of dialects, scanners and rewriters. The entries say how it is loaded.

import { WasmFile } from "./core.js";

export const file = new WasmFile();

// Loads the wasm file. Only browsers need this call, before all other calls; Node, Deno, Bun and workers load the file
// themselves.
export const init = (source) => file.init(source);
