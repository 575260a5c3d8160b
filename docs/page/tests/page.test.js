// Tests the page in Chromium: each control by mouse or keyboard, three widths, both themes. Screenshots are written to ASIDE_SHOTS.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WIDTHS, checkWidth, executablePath, launch, open, serve } from "./browser.js";

const { ASIDE_PAGE: folder, ASIDE_SHOTS: shots, ASIDE_ROOT: root } = process.env;
const skip = executablePath ? false : "Chromium is not there (Debian's package chromium, or the variable CHROMIUM)";

async function ready(browser, url, options = { width: 1280 }) {
  const opened = await open(browser, `${url}/index.html`, options);
  await opened.page.waitForFunction(() => document.querySelector("#aside-text").textContent !== "");
  return opened;
}

// Moves a slider, as dragging it does.
const drag = (page, id, value) =>
  page.evaluate(([id, value]) => {
    const input = document.getElementById(id);
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, [id, value]);
const text = (page, id) => page.textContent(`#${id}`);
const SAME = "The same as if it had arrived in one chunk.";

test("the page", { skip }, async (context) => {
  mkdirSync(shots, { recursive: true });
  const url = await serve(folder, context);
  const browser = await launch(context);

  await context.test("a recording is split, and a naive parser errs on cut markers", async () => {
    const { page, errors } = await ready(browser, url);
    await drag(page, "size", 12);
    assert.equal(await text(page, "size-said"), "the whole text");
    assert.equal(await text(page, "naive-said"), SAME);
    const whole = await text(page, "aside-text");
    await page.focus("#size");
    await page.keyboard.press("Home");
    assert.equal(await text(page, "size-said"), "1");
    assert.equal(await text(page, "aside-said"), SAME);
    assert.equal(await text(page, "aside-text"), whole);
    assert.notEqual(await text(page, "naive-said"), SAME);
    assert.match(await page.textContent("#aside-text .thinking"), /^Okay, the user/);
    assert.equal(await page.locator("#naive-text .thinking").count(), 0);
    assert.deepEqual(errors, []);
    await page.close();
  });

  await context.test("every recording, at every length of a chunk, is read the same", async () => {
    const { page, errors } = await ready(browser, url);
    const count = await page.locator("#sample option").count();
    assert.ok(count > 8);
    for (let at = 0; at < count - 1; at++) {
      const before = await page.inputValue("#text");
      await page.selectOption("#sample", String(at));
      if (at) await page.waitForFunction((before) => document.querySelector("#text").value !== before, before);
      assert.doesNotMatch(await text(page, "model-said"), /no dialect/);
      const last = Number(await page.getAttribute("#size", "max"));
      const texts = new Set();
      for (let size = 0; size <= last; size++) {
        await drag(page, "size", size);
        assert.equal(await text(page, "aside-said"), SAME);
        texts.add(await text(page, "aside-text"));
      }
      assert.equal(texts.size, 1, await page.inputValue("#model"));
      // The whole text is shown, byte for byte.
      assert.equal([...texts][0], await page.inputValue("#text"));
    }
    assert.deepEqual(errors, []);
    await page.close();
  });

  await context.test("the stream arrives: steps, the slider, play, held bytes, events and calls", async () => {
    const { page, errors } = await ready(browser, url);
    const before = await page.inputValue("#text");
    await page.selectOption("#sample", { label: "two tool calls, the thinking never closed (Qwen3)" });
    await page.waitForFunction((before) => document.querySelector("#text").value !== before, before);
    await drag(page, "size", 2);
    await page.click("#restart");
    assert.match(await text(page, "arrived-said"), /^0 of 413 bytes/);
    await page.click("#step");
    assert.match(await text(page, "arrived-said"), /^3 of 413 bytes, in 1 chunk$/);
    assert.equal(await text(page, "held"), '3 bytes, which may still become a marker: "<th"');
    assert.equal(await page.textContent("#aside-text .held"), "<th");
    await page.focus("#step");
    for (let step = 0; step < 2; step++) await page.keyboard.press("Enter");
    assert.match(await page.textContent("#events tr"), /^0openthinking<think>$/);
    await drag(page, "arrived", 270);
    assert.match(await page.textContent(".call"), /run.*call_0.*being written/);
    assert.match(await page.textContent(".call code"), /^{"command": "find/);
    await page.click("#play");
    assert.equal(await text(page, "play"), "Pause");
    await page.waitForFunction(() => document.querySelector("#arrived-said").value.startsWith("285"));
    await page.click("#play");
    assert.equal(await text(page, "play"), "Play");
    await drag(page, "arrived", 413);
    assert.equal(await page.locator(".call").count(), 2);
    assert.match(await page.locator(".call").nth(1).textContent(), /whole: it may be run/);
    assert.equal(await text(page, "held"), "Nothing.");
    assert.deepEqual(errors, []);
    await page.close();
  });

  await context.test("a text and a file of one's own, and the name of a model", async () => {
    const { page, errors } = await ready(browser, url);
    await page.fill("#text", "<think>é</think>ja");
    assert.equal(await page.inputValue("#sample"), "");
    assert.equal(await page.inputValue("#model"), "any");
    assert.match(await text(page, "model-said"), /^Dialect any/);
    assert.equal(await page.textContent("#aside-text .thinking"), "é");
    for (const model of await page.$$eval("#models option", (options) => options.map((option) => option.value))) {
      await page.fill("#model", model);
      await page.press("#model", "Tab");
      assert.match(await text(page, "model-said"), /^Dialect /, model);
    }
    await page.fill("#model", "qwn3");
    await page.press("#model", "Tab");
    assert.match(await text(page, "model-said"), /no dialect/);
    for (const said of ["aside-said", "naive-said", "aside-text"]) assert.equal(await text(page, said), "");
    await page.fill("#model", "");
    await page.press("#model", "Tab");
    assert.match(await text(page, "model-said"), /^Write the name of a model or a dialect/);
    assert.equal(await text(page, "aside-said"), "");
    await page.fill("#model", "Qwen/Qwen3-32B");
    await page.press("#model", "Tab");
    assert.match(await text(page, "model-said"), /^Dialect qwen3/);
    await page.setInputFiles("#file", join(root, "examples/recordings/qwen3-cut.txt"));
    await page.waitForFunction(() => document.querySelector("#text").value.length > 400);
    // It is cut off inside its thinking.
    assert.equal(await page.locator("#aside-text .content").count(), 0);
    assert.deepEqual(errors, []);
    await page.close();
  });

  await context.test("answers that are pasted after each sample", async () => {
    const { page, errors } = await ready(browser, url);
    const pasted = [
      ["<think>hm</think>Yes.", "Yes.", "hm"],
      ["<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.", "Yes.", "hm"],
      ["[THINK]hm[/THINK]Yes.", "Yes.", "hm"],
      ["Plain text, without a marker.", "Plain text, without a marker.", ""],
      ["", "", ""],
    ];
    const texts = (channel) => page.$$eval(`#aside-text .${channel}`, (marks) => marks.map((mark) => mark.textContent).join(""));
    const count = (await page.locator("#sample option").count()) - 1;
    for (let at = 0; at < count; at++) {
      const [answer, content, thinking] = pasted[at % pasted.length];
      await page.selectOption("#sample", String(at));
      await page.waitForFunction(() => document.querySelector("#model").value !== "any");
      await page.fill("#text", answer);
      assert.equal(await page.inputValue("#model"), "any");
      assert.deepEqual([await texts("content"), await texts("thinking")], [content, thinking], answer);
      assert.equal(await text(page, "aside-said"), SAME);
    }
    // A model that was chosen for a text stays while the text is edited.
    await page.fill("#model", "qwen3");
    await page.press("#model", "Tab");
    await page.fill("#text", '<think>hm</think><tool_call>{"name": "f", "arguments": {}}</tool_call>');
    assert.equal(await page.inputValue("#model"), "qwen3");
    assert.match(await page.textContent(".call"), /^0: f/);
    assert.deepEqual(errors, []);
    await page.close();
  });

  await context.test("a log at a budget", async () => {
    const { page, errors } = await ready(browser, url);
    await page.focus("#tab-stream");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#short details");
    assert.equal(await page.getAttribute("#tab-log", "aria-selected"), "true");
    const small = await page.textContent("#short");
    assert.match(small, /'item' undeclared/);
    await page.focus("#budget");
    await page.keyboard.press("End");
    const large = await page.textContent("#log-said");
    await page.keyboard.press("Home");
    assert.equal(await text(page, "budget-said"), "1,024 bytes");
    assert.notEqual(await text(page, "log-said"), large);
    assert.match(await page.textContent("#short"), /'item' undeclared/);
    // All lines of the log are there, in what is shown and in the folds.
    const lines = await page.$$eval("#short > div:not(.made), #short details > div", (parts) => parts.flatMap((part) => part.textContent.split("\n")));
    const log = (await page.inputValue("#log-text")).split("\n");
    assert.deepEqual(lines.map((line) => line.replace("\u00a0", "")), log);
    await page.locator("#short summary").first().focus();
    await page.keyboard.press("Enter");
    assert.ok(await page.locator("#short details").first().evaluate((fold) => fold.open));
    await page.selectOption("#log-sample", "1");
    await page.waitForFunction(() => document.querySelector("#short").textContent.includes("Failed asserting"));
    await page.fill("#command", "true");
    await page.fill("#exit", "0");
    await page.setInputFiles("#log-file", join(root, "examples/outputs/phpunit.txt"));
    await page.waitForFunction(() => document.querySelector("#log-sample").value === "");
    assert.equal(await page.inputValue("#command"), "");
    assert.equal(await page.inputValue("#exit"), "");
    assert.match(await text(page, "log-said"), / became /);
    assert.deepEqual(errors, []);
    await page.close();
  });

  await context.test("a dialect file with an error, and without", async () => {
    const { page, errors } = await ready(browser, url);
    await page.click("#tab-dialect");
    assert.match(await text(page, "toml-said"), /^Dialect mine/);
    assert.equal(await page.textContent("#toml-split .thinking"), "Twice 21.");
    await page.fill("#toml-text", "[think]a[/think]b");
    assert.equal(await page.textContent("#toml-split .content"), "b");
    const file = await page.inputValue("#toml");
    await page.fill("#toml", file.replace("channel =", "chanel ="));
    assert.match(await text(page, "toml-said"), /^line 5, span.chanel: unknown key/);
    assert.equal(await page.textContent("#numbers .wrong"), "5");
    await page.click("#goto");
    const selected = () => document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd);
    assert.equal(await page.evaluate(selected), 'chanel = "thinking"');
    await page.fill("#toml", file);
    assert.ok(await page.isHidden("#goto"));
    assert.deepEqual(errors, []);
    await page.close();
  });

  await context.test("a response template with an error, and without", async () => {
    const { page, errors } = await ready(browser, url);
    await page.click("#tab-dialect");
    await page.selectOption("#example", "1");
    assert.match(await text(page, "toml-said"), /^A response template: it starts in content/);
    assert.equal(await page.textContent("#toml-split .thinking"), "Twice 21.");
    assert.equal(await page.textContent("#toml-split .content"), "It is 42.");
    const file = await page.inputValue("#toml");
    await page.fill("#toml", file.replace('"close_pattern": "<', '"close_pattern": ".*<'));
    assert.match(await text(page, "toml-said"), /^line 9, fields.content.close_pattern: the pattern/);
    assert.equal(await page.textContent("#numbers .wrong"), "9");
    await page.fill("#toml", file.replace('"fields": {', '"fields": '));
    assert.match(await text(page, "toml-said"), /^line \d+, a response template is JSON/);
    await page.selectOption("#example", "0");
    assert.match(await text(page, "toml-said"), /^Dialect mine/);
    assert.deepEqual(errors, []);
    await page.close();
  });

  for (const theme of ["light", "dark"])
    await context.test(`fits three widths, ${theme}`, async () => {
      const grounds = new Set();
      for (const width of WIDTHS) {
        const { page, errors } = await ready(browser, url, { width, theme });
        await drag(page, "size", 0);
        for (const tab of ["stream", "log", "dialect"]) {
          await page.click(`#tab-${tab}`);
          if (tab === "log") await page.waitForSelector("#short details");
          await checkWidth(page, `${tab} at ${width}`);
          await page.screenshot({ path: join(shots, `${tab}-${width}-${theme}.png`), fullPage: true });
        }
        grounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        assert.deepEqual(errors, []);
        await page.close();
      }
      assert.deepEqual([...grounds], [theme === "dark" ? "rgb(20, 24, 29)" : "rgb(251, 250, 248)"]);
    });
});
