// Runs the cases in a browser, whose page loads this module.

import { init } from "libaside";
import { run } from "./cases.js";

await init();
globalThis.said = await run(await (await fetch("/vectors")).text());
