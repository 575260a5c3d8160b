// The entry of `libaside/tools` for workers at the edge: their bundler compiles the wasm file.

import module from "./aside-tools.wasm";
import { file } from "./tools.js";

file.loadNow = () => module;

export * from "./tools.js";
