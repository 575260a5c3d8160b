// The entry of `libaside/tools` for browsers and everything else: `await init()` fetches the wasm file.

import { file } from "./tools.js";

file.load = () => fetch(new URL("./aside-tools.wasm", import.meta.url));

export * from "./tools.js";
