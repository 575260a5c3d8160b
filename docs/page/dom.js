// Short functions for elements of the page, for its three tabs.

export const byId = (id) => document.getElementById(id);

// Returns a new element; `children` are elements and strings.
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// Writes a sentence that may report an error.
export function say(element, text, isBad = false) {
  element.textContent = text;
  element.classList.toggle("bad", isBad);
}

// Returns the elements of texts in their channels: `{ text, channel, isMarker }`.
export const marks = (parts) =>
  parts.map(({ text, channel, isMarker }) => make("mark", { className: isMarker ? "marker" : channel, title: isMarker ? "marker" : channel }, text));

// Calls `use` with the text of each chosen file.
export function onFile(input, use) {
  input.addEventListener("change", async () => {
    if (input.files[0]) use(await input.files[0].text());
  });
}

// Fills a list of choices, and calls `use` with the chosen one. Returns a function that shows that no choice is in use, and returns
// whether one was.
export function choices(select, titles, use) {
  select.append(make("option", { value: "", hidden: true }, "your own"), ...titles.map((title, at) => make("option", { value: at }, title)));
  select.addEventListener("change", () => use(Number(select.value)));
  select.value = 0;
  return () => {
    const wasInUse = select.value !== "";
    select.value = "";
    return wasInUse;
  };
}

export const number = (count) => count.toLocaleString("en");
export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
