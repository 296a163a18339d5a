// What a page needs of the browser, once a tab.

export default function ({ data, parentElement, setTriggerValue }) {
  const tab = (window.decodingExplorer ??= prepare());
  if (data.drawn < tab.drawn) return;
  tab.drawn = data.drawn;
  if (tab.told === data.theme) tab.told = null;
  setTimeout(() => followTheme(tab, data, parentElement.querySelector(".probe"), setTriggerValue));
}

// `told` is the theme that the server was last told of.
function prepare() {
  oneEntryAPage();
  addEventListener("pointerover", sayRange, true);
  addEventListener("focusout", keepInRange, true);
  addEventListener("keydown", (event) => event.key === "Enter" && keepInRange(event), true);
  return { drawn: 0, told: null };
}

// The menu can change the theme without asking the server; what the server drew must follow.
function followTheme(tab, data, probe, tell) {
  if (!probe?.isConnected) return;
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  const theme = r * 0.3 + g * 0.59 + b * 0.11 < 128 ? "dark" : "light";
  if (theme === data.theme || tab.told === theme) return;
  tab.told = theme;
  tell("theme", theme);
}

// Streamlit adds an entry to the history for every change of a page's address that the server
// makes, so that Back would go through all of them. Here such a change replaces the entry.
function oneEntryAPage() {
  const push = history.pushState;
  history.pushState = function (state, title, address) {
    const same = new URL(address, location.href).pathname === location.pathname;
    (same ? history.replaceState : push).call(history, state, title, address);
  };
}

function isNumber(field) {
  return field instanceof HTMLInputElement && field.type === "number" && field.min !== "" && field.max !== "";
}

function sayRange({ target }) {
  if (isNumber(target)) target.title = `${Number(target.min)} to ${Number(target.max)}`;
}

// Streamlit keeps a number outside its interval in the field and goes on with the old one. Here the
// nearest of the interval takes its place, before Streamlit looks.
function keepInRange({ target }) {
  if (!isNumber(target) || target.value === "") return;
  const typed = Number(target.value);
  const near = Math.min(Math.max(typed, Number(target.min)), Number(target.max));
  if (near === typed) return;
  // The prototype's setter, or React would take the value for its own and see no change.
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(target, near);
  target.dispatchEvent(new Event("input", { bubbles: true }));
}
