// What the words mean: all of them behind a button and the key "?", one where a marked word is pointed at, focused or
// tapped. Once a tab. Text goes in by textContent only.

const TYPING = "input, textarea, select, [contenteditable]";
const MARKED = 'a[href^="#word-"]';
// A pointer that only passes opens nothing, and one on its way into the entry doesn't close it.
const OPEN_MS = 200;
const CLOSE_MS = 250;
const MARGIN = 8;

function add(parent, name, text, attributes = {}) {
  const node = document.createElement(name);
  node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

function build(terms) {
  const sheet = add(document.body, "div", "", {
    class: "de-glossary", popover: "auto", id: "de-glossary", role: "dialog", tabindex: "0",
  });
  add(sheet, "h2", "");
  const list = add(sheet, "dl", "");
  const entries = new Map();
  for (const [term, meaning, slug] of terms) {
    const place = add(list, "dt", term);
    entries.set(slug, { term, meaning, place, told: add(list, "dd", meaning) });
  }
  add(document.body, "button", "", {
    class: "de-words", type: "button", popovertarget: "de-glossary",
    "aria-keyshortcuts": "?", "aria-haspopup": "dialog",
  });
  chooseKeys(sheet);
  sheet.addEventListener("toggle", ({ newState }) => newState === "open" && sheet.focus());
  point(sheet, entries);
  sheet.entries = entries;
}

// All words in the reader's language, which may have changed.
function name(terms, [words, help, keys]) {
  const sheet = document.getElementById("de-glossary");
  const button = document.querySelector(".de-words");
  sheet.ariaLabel = button.textContent = sheet.querySelector("h2").textContent = words;
  button.title = help;
  sheet.querySelector(".keys span").textContent = keys;
  for (const [term, meaning, slug] of terms) {
    const entry = Object.assign(sheet.entries.get(slug), { term, meaning });
    entry.place.textContent = term;
    entry.told.textContent = meaning;
  }
}

// Keys of one character can be switched off (WCAG 2.1.4): who speaks to the computer types by accident.
const KEYS_OFF = "de-single-keys-off";
function chooseKeys(sheet) {
  const root = document.documentElement;
  const label = add(sheet, "label", "", { class: "keys" });
  const box = add(label, "input", "", { type: "checkbox" });
  add(label, "span", "");
  box.checked = !localStorage.getItem(KEYS_OFF);
  const obey = () => root.toggleAttribute("data-single-keys-off", !box.checked);
  box.addEventListener("change", () => {
    if (box.checked) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "1");
    obey();
  });
  obey();
}

function openAt(sheet, entry) {
  if (!sheet.matches(":popover-open")) sheet.showPopover();
  for (const marked of sheet.querySelectorAll(".at")) marked.classList.remove("at");
  entry?.place.classList.add("at");
  if (entry) sheet.scrollTop = entry.place.offsetTop - 3 * MARGIN;
}

// The entry of one word, beside it.
function point(sheet, entries) {
  const tip = add(document.body, "div", "", { class: "de-entry", popover: "manual", id: "de-entry", role: "tooltip" });
  const term = add(tip, "strong", "");
  const meaning = add(tip, "p", "");
  let word = null;
  let timer = 0;

  const entryOf = (link) => entries.get(link.getAttribute("href").slice("#word-".length));
  const wordAt = ({ target }) => (target instanceof Element ? target.closest(MARKED) : null);

  function close() {
    clearTimeout(timer);
    word?.removeAttribute("aria-describedby");
    word = null;
    if (tip.matches(":popover-open")) tip.hidePopover();
  }

  function open(link) {
    clearTimeout(timer);
    const entry = entryOf(link);
    if (!entry || word === link) return;
    close();
    word = link;
    link.setAttribute("aria-describedby", tip.id);
    term.textContent = entry.term;
    meaning.textContent = entry.meaning;
    tip.showPopover();
    const at = link.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    const below = at.bottom + height + MARGIN <= innerHeight || at.top < height + MARGIN;
    tip.style.left = `${Math.max(MARGIN, Math.min(at.left, innerWidth - width - MARGIN))}px`;
    tip.style.top = `${below ? at.bottom + 4 : at.top - height - 4}px`;
  }

  function later(act, ms) {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const link = wordAt(event);
    if (link) later(() => open(link), OPEN_MS);
    else if (tip.contains(event.target)) clearTimeout(timer);
    else if (word && document.activeElement !== word) later(close, CLOSE_MS);
  });
  document.addEventListener("focusin", (event) => {
    const link = wordAt(event);
    // Once the list that gives the focus back has closed.
    if (link?.matches(":focus-visible")) later(() => open(link), 0);
  });
  document.addEventListener("focusout", (event) => wordAt(event) === word && later(close, 0));
  document.addEventListener("click", (event) => {
    const link = wordAt(event);
    if (!link) {
      if (word && !tip.contains(event.target)) close();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    // Pressed again, it opens the list at the word.
    if (word === link && event.detail !== 0 && event.pointerType === "mouse") openAt(sheet, entryOf(link));
    else open(link);
  }, true);
  document.addEventListener("scroll", ({ target }) => word && target.contains(word) && close(), true);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && word) {
      event.preventDefault();
      event.stopPropagation();
      close();
      return;
    }
    if (document.documentElement.hasAttribute("data-single-keys-off")) return;
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.composedPath()[0].closest?.(TYPING)) return;
    event.preventDefault();
    const entry = word && entryOf(word);
    close();
    if (entry) openAt(sheet, entry);
    else sheet.togglePopover();
  }, true);
}

export default function ({ data }) {
  if (!document.getElementById("de-glossary")) build(data.terms);
  name(data.terms, data.names);
}
