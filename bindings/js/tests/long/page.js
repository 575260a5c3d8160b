// For a browser: its page loads this module.

import { init } from "libaside";
import { run } from "./cases.js";

await init();
globalThis.said = await run(await (await fetch("/vectors")).text());
