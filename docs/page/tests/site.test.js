// Tests the site that scripts/book has built: every link must have a target, and every page must fit three widths.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { WIDTHS, checkWidth, executablePath, launch, open, serve } from "./browser.js";

const { ASIDE_SITE: site, ASIDE_SHOTS: shots } = process.env;
const skip = executablePath ? false : "Chromium is not there (Debian's package chromium, or the variable CHROMIUM)";

// Not checked: pages made by the tools of each language, which check their own links, and pages that mdBook makes besides the
// chapters.
const OTHERS = ["rust", "ruby", "python", "page", "files"];
const pages = readdirSync(site, { recursive: true })
  .filter((name) => name.endsWith(".html") && !OTHERS.includes(name.split("/")[0]) && !["404.html", "print.html", "toc.html"].includes(name));
const read = (file) => readFileSync(file, "utf8");
const body = (name) => read(join(site, name)).split("<main>")[1].split("</main>")[0];
const unescape = (text) => text.replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(parseInt(code, 16))).replaceAll("&amp;", "&");

test("every link leads somewhere", () => {
  assert.ok(pages.length > 40, `${pages.length} pages`);
  const files = readdirSync(join(site, "files"), { recursive: true }).filter((name) => name.endsWith(".html")).map((name) => `files/${name}`);
  const broken = [];
  let count = 0;
  for (const name of [...pages, ...files, "page/index.html"]) {
    const html = read(join(site, name)).replace(/<script.*?<\/script>/gs, "");
    for (const [, link] of html.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      count++;
      const [path, anchor] = unescape(link).split("#");
      const file = path ? resolve(site, dirname(name), decodeURIComponent(path)) : join(site, name);
      const found = existsSync(file) && statSync(file).isDirectory() ? join(file, "index.html") : file;
      if (!existsSync(found)) broken.push(`${name}: ${link}`);
      else if (anchor && found.endsWith(".html") && !relative(site, found).startsWith("rust/") && !read(found).includes(`id="${decodeURIComponent(anchor)}"`))
        broken.push(`${name}: ${link} (no such heading)`);
    }
  }
  assert.ok(count > 1000, `${count} links`);
  assert.deepEqual(broken, []);
});

test("pages show titles, and no Markdown", () => {
  for (const name of pages) {
    const html = body(name);
    for (const [link, text] of html.matchAll(/<a [^>]*>(.*?)<\/a>/gs)) {
      assert.doesNotMatch(text, /^(<code>)?[\w./-]+\.md(<\/code>)?$/, `${name}: ${link}`);
      assert.doesNotMatch(link, /href="[^":]*\.md["#]/, `${name}: ${link}`);
    }
    const prose = html.replace(/<(pre|code)\b.*?<\/\1>/gs, "").replace(/<[^>]*>/g, "");
    assert.doesNotMatch(prose, /\]\(|\*\*|^#+ |^```|^\|/m, name);
  }
});

test("the site in a browser", { skip }, async (context) => {
  mkdirSync(shots, { recursive: true });
  const url = await serve(site, context);
  const browser = await launch(context);

  await context.test("the first page leads to the program and to every language, and the search finds them", async () => {
    const { page, errors } = await open(browser, `${url}/index.html`, { width: 1280 });
    await page.waitForSelector("mdbook-sidebar-scrollbox a");
    const contents = await page.$$eval("mdbook-sidebar-scrollbox a", (links) => links.map((link) => link.textContent));
    for (const title of ["The program", "JavaScript", "Python", "Ruby", "Go", "C++", "The proxy"])
      assert.ok(contents.some((entry) => entry.endsWith(title)), title);
    for (const [query, title] of [["resplit squeeze program", "The program"], ["gem rubino", "Ruby"], ["withAside fetch", "JavaScript"]]) {
      await page.goto(`${url}/index.html?search=${encodeURIComponent(query)}`);
      await page.waitForSelector("#mdbook-searchresults li, #searchresults li");
      const results = await page.$$eval("#mdbook-searchresults a, #searchresults a", (links) => links.map((link) => link.textContent));
      assert.ok(results.slice(0, 10).some((result) => result.split(" » ").slice(0, -1).includes(title)), `${query}: ${title} is not in ${results}`);
    }
    assert.deepEqual(errors, []);
    await page.close();
  });

  for (const theme of ["light", "dark"])
    await context.test(`every page fits three widths, ${theme}`, async () => {
      for (const width of WIDTHS) {
        const { page, errors } = await open(browser, `${url}/index.html`, { width, theme });
        for (const name of pages) {
          await page.goto(`${url}/${name}`);
          await checkWidth(page, `${name} at ${width}`);
          const cut = await page.$$eval("main table", (tables) =>
            tables.filter((table) => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1).length);
          if (width === 375) assert.equal(cut, 0, `${name}: a table is wider than the window`);
          if (["index.html", "docs/bindings.html"].includes(name))
            await page.screenshot({ path: join(shots, `site-${name.replaceAll("/", "-")}-${width}-${theme}.png`), fullPage: true });
        }
        assert.deepEqual(errors, []);
        await page.close();
      }
    });
});
