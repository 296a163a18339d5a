// What a page needs of the browser, once a tab.

export default function () {
  if (window.decodingExplorer) return;
  window.decodingExplorer = true;
  oneEntryAPage();
  addEventListener("pointerover", sayRange, true);
  addEventListener("focusout", keepInRange, true);
  addEventListener("keydown", (event) => event.key === "Enter" && keepInRange(event), true);
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
