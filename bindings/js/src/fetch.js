// A `fetch` that splits answers, for every client that can be given a `fetch`.

import { Dialect, requestHint, requestModel, Rewriter, UnknownDialectError, wants } from "libaside";
import { splitStream } from "./stream.js";

// These headers describe the server's body, not the rewritten one.
const GONE = ["content-length", "etag", "content-md5", "digest", "repr-digest"];

// Returns a function like `fetch`. Without `dialect`, the model that a request names decides; the dialect of an unknown model
// is `any`. With `calls`, the tools are those of the request, unless the option `tools` is set.
export function withAside(fetch, { dialect, ...options } = {}) {
  // Wrong options are an error here, before the first answer.
  new Rewriter(dialect ?? "any", options).free();
  return async function fetchSplit(input, init) {
    const { url, method, headers } = described(input, init);
    const path = pathOf(url);
    const { formats } = options;
    const hint = requestHint({ path, method, formats });
    if (!hint) return fetch(input, init);
    headers.set("accept-encoding", hint);
    const response = await fetch(input, { ...init, headers });
    // `fetch` has already decoded encoded bodies.
    const exchange = { status: response.status, path, contentType: response.headers.get("content-type"), formats };
    const body = wants(exchange);
    if (!body || !response.body) return response;
    const request = requestOf(init?.body);
    const found = dialect ?? dialectFor(request);
    return replaced(response, splitStream(found, { body, ...options, tools: options.tools ?? toolsFor(request, options) }));
  };
}

function described(input, init = {}) {
  const isRequest = typeof input === "object" && "headers" in input;
  return {
    url: isRequest ? input.url : String(input),
    method: (init.method ?? (isRequest ? input.method : "GET")).toUpperCase(),
    headers: new Headers(init.headers ?? (isRequest ? input.headers : undefined)),
  };
}

function pathOf(url) {
  return new URL(url, "http://localhost").pathname;
}

// The body of a request, if it is available.
function requestOf(body) {
  return typeof body === "string" || body instanceof Uint8Array || body instanceof ArrayBuffer ? body : null;
}

function dialectFor(request) {
  const model = request === null ? null : requestModel(request);
  try {
    if (model !== null) return Dialect.findForModel(model);
  } catch (error) {
    if (!(error instanceof UnknownDialectError)) throw error;
  }
  return "any";
}

// The tools of a request, if calls are to be found. A request without tools has an empty list.
function toolsFor(request, { calls }) {
  if (!calls || request === null) return undefined;
  try {
    const { tools = [] } = JSON.parse(typeof request === "string" ? request : new TextDecoder().decode(request));
    return tools.filter((tool) => typeof (tool.function ?? tool).name === "string");
  } catch {
    return undefined;
  }
}

// Returns a response with another body.
function replaced(response, stream) {
  const headers = new Headers(response.headers);
  for (const name of GONE) headers.delete(name);
  const { status, statusText, url, redirected, type } = response;
  const split = new Response(response.body.pipeThrough(stream), { status, statusText, headers });
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(split, name, { value });
  return split;
}
