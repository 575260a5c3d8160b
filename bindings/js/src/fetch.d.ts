// The types of `libaside/fetch`.

import type { Dialect, RewriterOptions } from "./index.js";

export interface AsideOptions extends Omit<RewriterOptions, "body"> {
  /** Without it, the model that a request names says it; if that is not known, it is `any`. */
  dialect?: Dialect | string;
}

/** Returns a function like `fetch`, whose answers are split: those that `wants` names, on their way to a client. With `calls`, the tools
 * are those of the request, unless there are `tools`. */
export function withAside<F extends (input: any, init?: any) => Promise<Response>>(fetch: F, options?: AsideOptions): F;
