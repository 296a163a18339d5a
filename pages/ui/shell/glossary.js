// A button and the key "?" that open what the words mean, once a tab. Text goes in by textContent only.

const TYPING = "input, textarea, select, [contenteditable]";

function add(parent, name, text, attributes = {}) {
  const node = document.createElement(name);
  node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

function build(terms) {
  const sheet = add(document.body, "div", "", {
    class: "de-glossary", popover: "auto", id: "de-glossary", role: "dialog", "aria-label": "Words", tabindex: "0",
  });
  add(sheet, "h2", "Words");
  const list = add(sheet, "dl", "");
  for (const [term, meaning] of terms) {
    add(list, "dt", term);
    add(list, "dd", meaning);
  }
  add(document.body, "button", "Words", {
    class: "de-words", type: "button", popovertarget: "de-glossary", title: "What the words mean. Key: ?",
    "aria-keyshortcuts": "?", "aria-haspopup": "dialog",
  });
  sheet.addEventListener("toggle", ({ newState }) => newState === "open" && sheet.focus());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.composedPath()[0].closest?.(TYPING)) return;
    event.preventDefault();
    sheet.togglePopover();
  });
}

export default function ({ data }) {
  if (!document.getElementById("de-glossary")) build(data.terms);
}
