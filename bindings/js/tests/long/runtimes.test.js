// The package outside Node: Chromium, workerd, Bun and Deno run the cases, and Chromium the page of the README.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, relative } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";
import { files, read, ROOT } from "../shared.js";

const here = import.meta.dirname;
const run = join(here, "../..");
const source = join(run, "node_modules/libaside/src");
const vectors = files("tests/vectors", ".jsonl").map(read).join("");
const cases = 3 * vectors.split("\n").filter(Boolean).length;

function check(said) {
  assert.deepEqual(said.wrong.slice(0, 3), []);
  assert.equal(said.passed, cases);
  assert.equal(said.answer, '{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}');
}

function temporary(context) {
  const folder = mkdtempSync(join(tmpdir(), "libaside-"));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

for (const [name, command] of [["Bun", ["bun", "run"]], ["Deno", ["deno", "run", "--allow-read", "--allow-env", "--no-prompt", "--no-remote"]]])
  test(name, (context) => {
    const path = join(temporary(context), "vectors.jsonl");
    writeFileSync(path, vectors);
    const [program, ...options] = command;
    const said = execFileSync(join(run, "node_modules/.bin", program), [...options, join(here, "program.js"), path], { encoding: "utf8" });
    check(JSON.parse(said));
  });

// A port that is free at the moment.
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

test("workerd", async (context) => {
  // A worker is a list of modules; the condition `workerd` of the package says which one is `libaside`.
  const modules = readdirSync(source)
    .filter((name) => name.endsWith(".js"))
    .map((name) => [{ "workerd.js": "libaside", "stream.js": "libaside/stream" }[name] ?? name, "esModule", join(source, name)]);
  modules.unshift(["worker.js", "esModule", join(here, "worker.js")], ["cases.js", "esModule", join(here, "cases.js")]);
  modules.push(["aside.wasm", "wasm", join(source, "aside.wasm")], ["aside-tools.wasm", "wasm", join(source, "aside-tools.wasm")]);
  const folder = temporary(context);
  const lines = modules.map(([name, kind, path]) => `(name = ${JSON.stringify(name)}, ${kind} = embed ${JSON.stringify(relative(folder, path))})`);
  // workerd looks for a package in the folder of the module that imports it; a builder writes the path instead.
  lines.push('(name = "libaside/libaside", esModule = "export * from \\"../libaside\\";")');
  writeFileSync(
    join(folder, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [${lines.join(", ")}], compatibilityDate = "2026-01-01"))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`,
  );
  const port = await freePort();
  const worker = spawn(
    join(run, "node_modules/.bin/workerd"),
    ["serve", join(folder, "config.capnp"), "--socket-addr", `http=127.0.0.1:${port}`],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  context.after(() => worker.kill());
  for (let left = 100; ; left--)
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: vectors });
      assert.equal(answer.status, 200, await answer.clone().text());
      check(await answer.json());
      return;
    } catch (error) {
      if (left === 0 || worker.exitCode !== null || error.cause?.code !== "ECONNREFUSED") throw error;
      await setTimeout(100);
    }
});

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const EXECUTABLES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

test("Chromium", async (context) => {
  const executablePath = EXECUTABLES.find((path) => path && existsSync(path));
  if (!executablePath) return context.skip("Chromium is not there (Debian's package chromium, or the variable CHROMIUM)");
  const map = { imports: { libaside: "/node_modules/libaside/src/browser.js", "libaside/stream": "/node_modules/libaside/src/stream.js" } };
  const html = read("bindings/js/README.md").split("```html\n")[1].split("```")[0];
  const pages = {
    "/vectors": vectors,
    "/readme.html": html,
    "/cases.html": `<script type="importmap">${JSON.stringify(map)}</script><script type="module" src="/tests/long/page.js"></script>`,
  };
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const file = join(run, path);
    if (!(path in pages) && !existsSync(file)) return response.writeHead(404).end();
    response.setHeader("content-type", TYPES[extname(path)] ?? "text/plain");
    response.end(pages[path] ?? readFileSync(file));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  const quiet = ["background-networking", "component-update", "sync", "quic", "gpu"].map((what) => `--disable-${what}`);
  const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--no-first-run", ...quiet] });
  context.after(() => browser.close());
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(error));
  await page.goto(`${url}/readme.html`);
  await page.waitForFunction(() => document.body.textContent.trim() === "Yes.");
  await page.goto(`${url}/cases.html`);
  await page.waitForFunction(() => globalThis.said, null, { timeout: 120_000 });
  check(await page.evaluate(() => globalThis.said));
});
