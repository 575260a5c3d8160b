// The entry for workers at the edge: their bundler compiles the wasm file.

import module from "./aside.wasm";
import { file } from "./file.js";

file.loadNow = () => module;

export * from "./index.js";
