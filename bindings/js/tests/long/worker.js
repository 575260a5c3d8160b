// For workerd: the vectors come as the body of a request.

import { run } from "./cases.js";

export default {
  async fetch(request) {
    return Response.json(await run(await request.text()));
  },
};
