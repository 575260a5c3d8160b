// Code for the tests in a browser: a file server, Chromium, and a page on which no error may occur.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".css": "text/css", ".svg": "image/svg+xml" };
const EXECUTABLES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
export const executablePath = EXECUTABLES.find((path) => path && existsSync(path));
export const WIDTHS = [375, 768, 1280];

// Sends the files of a folder, and returns its address.
export async function serve(folder, context) {
  const server = createServer((request, response) => {
    let file = join(folder, decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader("content-type", TYPES[extname(file)] ?? "text/plain; charset=utf-8");
    response.end(readFileSync(file));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

export async function launch(context) {
  const quiet = ["background-networking", "component-update", "sync", "quic", "gpu"].map((feature) => `--disable-${feature}`);
  const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--no-first-run", ...quiet] });
  context.after(() => browser.close());
  return browser;
}

// Opens an address. `errors` collects exceptions, console errors and missing files.
export async function open(browser, url, { width, theme = "light" }) {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: theme });
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("response", (response) => response.status() >= 400 && errors.push(`${response.status()} ${response.url()}`));
  await page.goto(url);
  return { page, errors };
}

// Fails if the page is wider than the window.
export async function checkWidth(page, name) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window, `${name}: ${content} pixels wide in a window of ${window}`);
}
