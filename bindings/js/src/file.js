// The wasm file of dialects, scanners and rewriters. The entries say how it is loaded.

import { WasmFile } from "./core.js";

export const file = new WasmFile();

// Loads the wasm file: needed in browsers, before everything else. In Node, Deno, Bun and workers it loads itself.
export const init = (source) => file.init(source);
