// The types of `libaside/ai`.

import type { LanguageModelV3Middleware } from "@ai-sdk/provider";
import type { Dialect, RewriterOptions } from "./index.js";

/** Returns middleware for `wrapLanguageModel` of the AI SDK: the text of a model becomes reasoning, text and tool calls.
 * Without a dialect, the model's name decides; the dialect of an unknown model is `any`. The tools are those of each request;
 * with `calls: false`, calls stay text. */
export function asideMiddleware(
  dialect?: Dialect | string | null,
  options?: Omit<RewriterOptions, "body" | "field" | "formats" | "responsesAs">,
): LanguageModelV3Middleware;
