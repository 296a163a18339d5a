// What a page needs of the browser, once a tab.

// Figures across the page are laid out for a phone, or for a desktop, in a window of so many px.
const WINDOWS = { phone: "(max-width: 640px)", desktop: "(min-width: 1240px)" };

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  document.documentElement.lang = data.language;
  askForWords();
  const tab = (window.decodingExplorer ??= prepare(data.script));
  if (data.drawn < tab.drawn) return;
  tab.drawn = data.drawn;
  tab.longest = Object.entries(data.longest);
  tab.slots = data.slots;
  tab.free = inSlots(tab, data.free.map((key) => `.st-key-${key} input`));
  if (tab.told === data.theme) tab.told = null;
  if (data.focus) focusField(data.focus);
  keepLanguage(tab, data.chosen);
  tellStored(tab, data.item, setTriggerValue);
  followWidth(tab, data, setStateValue);
  setTimeout(() => followTheme(tab, data, parentElement.querySelector(".probe"), setTriggerValue));
}

// `told` is the theme that the server was last told of; `free` selects the menus that take any text;
// `longest` has the fields of text with the most characters that each takes.
function prepare(script) {
  const tab = { slots: [""], drawn: 0, told: null, free: "", longest: [] };
  loadEarly(script);
  restUnseen();
  oneEntryAPage();
  announce(tab);
  nameMenu();
  followOwnWords();
  addEventListener("click", clickLabel);
  addEventListener("click", makeRoom, true);
  addEventListener("keydown", runFromTab, true);
  takeWholeText(tab);
  addEventListener("input", (event) => shorten(tab, event), true);
  addEventListener("beforeinput", takeComma, true);
  addEventListener("pointerover", sayRange, true);
  addEventListener("focusout", keepInRange, true);
  addEventListener("keydown", (event) => event.key === "Enter" && keepInRange(event), true);
  return tab;
}

// The chosen language, for the reader's next visits. Another tab's later choice is not written over.
const YEAR_S = 31_536_000;
function keepLanguage(tab, { cookie, language }) {
  if (!language || tab.language === language) return;
  tab.language = language;
  try {
    document.cookie = `${cookie}=${language}; path=/; max-age=${YEAR_S}; SameSite=Lax`;
  } catch {
    // A frame without cookies keeps the language as long as its tab.
  }
}

// A value of an earlier visit, once a tab.
function tellStored(tab, item, setTriggerValue) {
  if (tab.toldStored) return;
  tab.toldStored = true;
  try {
    const stored = localStorage.getItem(item);
    if (stored !== null) setTriggerValue("stored", stored);
  } catch {
    // Storage is switched off.
  }
}

// The field of a key, which the page may draw later than this.
const FOCUS_LOOK_MS = 100, FOCUS_LOOKS = 30;
function focusField(key, looks = FOCUS_LOOKS) {
  const field = document.querySelector(`.st-key-${key} input`);
  if (field) field.focus();
  else if (looks > 0) setTimeout(() => focusField(key, looks - 1), FOCUS_LOOK_MS);
}

// Selectors of what a page names by keys, for each prefix of its runs.
function inSlots(tab, selectors) {
  const named = tab.slots.flatMap((slot) => selectors.map((one) => one.replaceAll("st-key-", `st-key-${slot}`)));
  return [...new Set(named)].join();
}

// The charts' script, before the first chart's values have come.
function loadEarly(address) {
  const script = document.createElement("script");
  script.src = address;
  script.addEventListener("error", () => script.remove());
  document.head.append(script);
}

// A tab that nobody sees lets its timers rest, those that ask how far a run is among them, and catches
// up when it is seen. Each goes on once in 50 s: a job that nobody watches for 120 s is stopped.
const UNSEEN_MS = 50_000;
function restUnseen() {
  const { setInterval: start, clearInterval: end } = window, due = new Map();
  window.setInterval = (act, delay, ...given) => {
    let last = Date.now();
    const run = () => {
      due.delete(id);
      last = Date.now();
      act(...given);
    };
    const rests = () => document.hidden && Date.now() - last < UNSEEN_MS;
    const id = start(() => (rests() ? due.set(id, run) : run()), delay);
    return id;
  };
  window.clearInterval = (id) => {
    due.delete(id);
    end(id);
  };
  document.addEventListener("visibilitychange", () => document.hidden || due.forEach((run) => run()));
}

// What the server took the page's width for, from then on too.
function followWidth(tab, data, tell) {
  tab.windows ??= Object.entries(WINDOWS).map(([kind, query]) => [kind, matchMedia(query)]);
  const say = () => {
    const kind = tab.windows.find(([, width]) => width.matches)?.[0] ?? "between";
    if (kind !== tab.kind) tell("window", (tab.kind = kind));
  };
  tab.kind = data.window;
  for (const [, width] of tab.windows) width.onchange = say;
  say();
}

const ANNOUNCE_MS = 300, PROGRESS_MS = 4000;
const ALERTS = [".st-key-failure", ".st-key-refused"];
const NOTICES = ["[class*='note-changed']", "[class*='st-key-status-'] [data-testid=stText]", ".st-key-lab-outcome"];

// Errors are told at once to those who listen to the page, notices and progress when it rests.
function announce(tab) {
  const [alert, status] = ["alert", "status"].map((role) => {
    const region = document.createElement("div");
    region.className = "de-told";
    region.setAttribute("role", role);
    document.body.append(region);
    return region;
  });
  let waiting = 0, told = 0;
  const words = (selectors) => [...document.querySelectorAll(inSlots(tab, selectors))].map((node) => node.innerText).join(". ");
  const say = () => {
    waiting = 0;
    const error = words(ALERTS), notice = words(NOTICES);
    if (alert.textContent !== error) alert.textContent = error;
    if (status.textContent === notice) return;
    const running = document.querySelector(inSlots(tab, [".st-key-status-running"]));
    if (running && Date.now() - told < PROGRESS_MS) return;
    told = Date.now();
    status.textContent = notice;
  };
  const later = () => (waiting ||= setTimeout(say, ANNOUNCE_MS));
  new MutationObserver(later).observe(document.getElementById("root") || document.body, {
    childList: true, characterData: true, subtree: true,
  });
}

// On a phone Streamlit lists its pages with elements between the list and its items, which a screen
// reader can't count: the links stand in the navigation without the list.
function nameMenu() {
  const mend = () => {
    for (const list of document.querySelectorAll("[data-testid=stSidebarNavItems]:not([role])")) list.setAttribute("role", "group");
    for (const item of document.querySelectorAll("[data-testid=stSidebarNavItems] li:not([role])")) item.setAttribute("role", "none");
  };
  new MutationObserver(mend).observe(document.getElementById("root") || document.body, { childList: true, subtree: true });
  mend();
}

// A menu below a button that stands low in the window would be a strip: the page scrolls on by what
// the menu lacks, and the menu follows its button. Its content comes with an answer of the server.
const MENU_SHARE = 0.7, MENU_LOOKS = 15, MENU_LOOK_MS = 100;
function makeRoom({ target }) {
  if (!target.closest?.("[data-testid=stPopoverButton]")) return;
  let looks = 0;
  const look = setInterval(() => {
    if (++looks === MENU_LOOKS) clearInterval(look);
    const menu = document.querySelector("[data-testid=stPopoverBody]");
    const page = document.querySelector("[data-testid=stMain]");
    if (!menu || !page || menu.getBoundingClientRect().bottom < innerHeight - 24) return;
    const missing = Math.min(menu.scrollHeight, innerHeight * MENU_SHARE) - menu.clientHeight;
    if (missing > 24) page.scrollBy({ top: missing });
  }, MENU_LOOK_MS);
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
// makes, so that Back would go through all of them. Here such a change replaces the entry. On the way
// to another page it takes the address of the one that is left to pieces first: its entry gets it
// back, so that Back finds the page as it was, also after a reload.
function oneEntryAPage() {
  const push = history.pushState;
  let left = null;
  addEventListener("click", ({ target }) => {
    const link = target.closest?.("a[href]");
    left = link && new URL(link.href).pathname !== location.pathname ? location.href : null;
  }, true);
  addEventListener("popstate", () => (left = null));
  history.pushState = function (state, title, address) {
    const same = new URL(address, location.href).pathname === location.pathname;
    if (!same && left && new URL(left).pathname === location.pathname) {
      history.replaceState(history.state, "", left);
      left = null;
    }
    (same ? history.replaceState : push).call(history, state, title, address);
  };
}

// A label of a step's candidates stands for its bar, which may be too narrow to hit: a click on it
// becomes one on its row. Plotly takes the pointer's place from the move before.
function clickLabel({ target }) {
  const label = target.closest?.(".st-key-figure-beam-step .ytick");
  const row = label?.closest(".js-plotly-plot").querySelector(".nsewdrag");
  if (!row) return;
  const [words, box] = [label.getBoundingClientRect(), row.getBoundingClientRect()];
  const at = { clientX: box.left + box.width / 2, clientY: words.top + words.height / 2, bubbles: true };
  for (const kind of ["mousemove", "mousedown", "mouseup"])
    setTimeout(() => row.dispatchEvent(new MouseEvent(kind, at)), kind === "mousemove" ? 0 : 100);
}

// A tab takes Enter for itself, and so does a button of a group, and with it the shortcut of Run.
const TAKES_ENTER = "[role=tab], [data-testid=stButtonGroup]";
function runFromTab(event) {
  const [target] = event.composedPath();
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !target.closest?.(TAKES_ENTER)) return;
  event.stopPropagation();
  event.preventDefault();
  document.querySelector(":is(.st-key-start, .st-key-start_over) button")?.click();
}

// Streamlit drops a text beyond a field's bound, and the one before stays. Here its beginning is taken.
function shorten(tab, { target }) {
  if (!(target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)) return;
  const [, most] = tab.longest.find(([key]) => target.closest(inSlots(tab, [`.st-key-${key}`]))) ?? [];
  const { length } = target.value;
  if (!most || length <= most) return;
  // No half of a character of two units.
  put(target, target.value.slice(0, most).replace(/[\uD800-\uDBFF]$/, ""));
  const [held, was] = [most, length].map((count) => count.toLocaleString("en"));
  note(target, tr("This field takes {held} characters: it holds the first of your {was}.", { held, was }));
}

// A decimal comma, which the browser would leave out; in a whole number it parts thousands.
function takeComma(event) {
  const [field] = event.composedPath(), { data } = event;
  if (field.type !== "number" || !data?.includes(",") || isWhole(field)) return;
  if (data.includes(".") || data.indexOf(",") !== data.lastIndexOf(",")) return;
  event.preventDefault();
  document.execCommand("insertText", false, data.replace(",", "."));
}

function isWhole({ step }) {
  return step === "" || Number.isInteger(Number(step));
}

function isNumber(field) {
  return field instanceof HTMLInputElement && field.type === "number" && field.min !== "" && field.max !== "";
}

function sayRange({ target }) {
  if (isNumber(target)) target.title = rangeOf(Number(target.min), Number(target.max));
}

// Streamlit keeps a number outside its interval in the field and goes on with the old one. Here the
// nearest of the interval takes its place, before Streamlit looks, which would read 1e3 as 1.
function keepInRange({ target }) {
  if (!isNumber(target) || target.value === "") return;
  const typed = Number(target.value);
  const within = nearest(typed, Number(target.min), Number(target.max));
  const near = isWhole(target) ? Math.round(within) : within;
  if (near === typed && !/e/i.test(target.value)) return;
  put(target, near);
  if (near !== typed) note(target, taken(typed, near, tr("field"), typed === within));
}

function put(field, value) {
  // The prototype's setter, or React would take the value for its own and see no change.
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value").set.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// A sentence below a field, for a while: until its number changes or its field goes.
const NOTE_LOOK_MS = 200;
function note(field, words) {
  const { left, bottom } = field.getBoundingClientRect();
  const said = document.createElement("div");
  said.className = "de-note";
  said.setAttribute("role", "status");
  said.textContent = words;
  said.style.left = `${Math.max(8, Math.min(left, innerWidth - 300))}px`;
  said.style.top = `${bottom + 6}px`;
  document.querySelectorAll(".de-note").forEach((other) => other.remove());
  document.body.append(said);
  const end = Date.now() + NOTE_MS, held = Number(field.value);
  const look = setInterval(() => {
    const changed = isNumber(field) && Number(field.value) !== held;
    if (Date.now() < end && field.isConnected && !changed) return;
    said.remove();
    clearInterval(look);
  }, NOTE_LOOK_MS);
}

// Of text put into a menu that shows its choice Streamlit keeps what is new alone: "automap_known"
// over "automap" became "_known". Here the field is emptied first, so that what it shows counts, and
// its text is selected when it is clicked, so that typing replaces it.
function takeWholeText(tab) {
  let before = "", entered = null, putting = false;
  const isFree = (field) => tab.free !== "" && field instanceof HTMLInputElement && field.matches(tab.free);
  addEventListener("focusin", ({ target }) => (entered = isFree(target) ? target : null), true);
  addEventListener("click", ({ target }) => {
    if (target === entered) target.select();
    entered = null;
  });
  addEventListener("beforeinput", ({ target }) => isFree(target) && (before = target.value), true);
  addEventListener("input", (event) => {
    const field = event.target, text = field.value;
    if (putting || event.isComposing || !isFree(field) || !before || text.length <= before.length) return;
    event.stopImmediatePropagation();
    const ends = [field.selectionStart, field.selectionEnd];
    putting = true;
    put(field, "");
    put(field, text);
    putting = false;
    field.setSelectionRange(...ends);
  }, true);
}
