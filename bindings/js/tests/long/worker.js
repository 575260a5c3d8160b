// For workerd: reads the vectors from the body of a request.

import { run } from "./cases.js";

export default {
  async fetch(request) {
    return Response.json(await run(await request.text()));
  },
};
