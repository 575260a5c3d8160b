// The types of `libaside/fetch`.

import type { Dialect, RewriterOptions } from "./index.js";

export interface AsideOptions extends Omit<RewriterOptions, "body"> {
  /** The dialect of all answers. Without it, the model that a request names decides; the dialect of an unknown model is `any`.
   * */
  dialect?: Dialect | string;
}

/** Returns a function like `fetch` that splits answers: those for which `wants` returns a body. With `calls`, the tools are
 * those of the request, unless the option `tools` is set. */
export function withAside<F extends (input: any, init?: any) => Promise<Response>>(fetch: F, options?: AsideOptions): F;
