// The entry for browsers and all other hosts: `await init()` fetches the wasm file.

import { file } from "./file.js";

file.load = () => fetch(new URL("./aside.wasm", import.meta.url));

export * from "./index.js";
