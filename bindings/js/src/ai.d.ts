// The types of `libaside/ai`.

import type { LanguageModelV3Middleware } from "@ai-sdk/provider";
import type { AnswerOptions, Dialect } from "./index.js";

/** Returns middleware for `wrapLanguageModel` of the AI SDK: the text of a model becomes reasoning, text and tool calls.
 * Without a dialect, the model's name decides; the dialect of an unknown model is `any`. The tools are those of each request;
 * with `tools: []`, calls stay text. A call that breaks off stays text in a whole answer, unless `notWhole` is set; in a stream its
 * input is sent, and no call follows. */
export function asideMiddleware(
  dialect?: Dialect | string | null,
  options?: Omit<AnswerOptions, "mayTakeBack">,
): LanguageModelV3Middleware;
