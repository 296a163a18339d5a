// The generated text, token by token. Text goes in by textContent only.

const KEYS = { ArrowLeft: "previous", ArrowRight: "next", u: "uncertain" };
// So often at most is a choice told; and so long after the last one the page draws what is out of sight.
const PACE_MS = 120;
const REST_MS = 600;
const NEAR_PX = 300;
// So long a pointer rests on a token before its figures are fetched.
const HOVER_MS = 40;
// After a choice those of its neighbours, once the server has drawn it.
const NEXT_MS = 400;
const TYPING = "input, textarea, select, [contenteditable], [role=slider], [role=radio], [role=tab], [role=menu], [role=listbox], [role=dialog]";

function create(root) {
  const strip = { root, selected: -1, sent: null, untold: null, turn: 0, told: 0, timer: 0, live: false, send: null, marked: [] };
  strip.prompt = root.querySelector(".prompt");
  strip.tokens = root.querySelector(".tokens");
  strip.tokens.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) choose(strip, Number(button.dataset.index), true);
  });
  strip.tokens.addEventListener("pointerover", (event) => hover(strip, event));
  strip.tokens.addEventListener("pointerdown", (event) => hover(strip, event));
  strip.onStep = ({ detail }) => {
    const next = detail.strip === strip.key && !strip.live ? neighbour(strip, detail.to) : undefined;
    if (next !== undefined) choose(strip, within(strip, next), false);
  };
  strip.onKey = (event) => onKey(strip, event);
  strip.onPress = (event) => onPress(strip, event);
  strip.onPlay = ({ detail }) => detail.slot === strip.slot && reveal(strip, detail.until);
  return strip;
}

function destroy(strip) {
  document.removeEventListener("keydown", strip.onKey);
  document.removeEventListener("pointerdown", strip.onPress, true);
  document.removeEventListener("keydown", strip.onPress, true);
  document.removeEventListener("de-play", strip.onPlay);
  document.removeEventListener("de-step", strip.onStep);
  for (const timer of ["hovering", "timer", "resting", "nearing"]) clearTimeout(strip[timer]);
}

function buttons(strip) {
  return strip.tokens.querySelectorAll("button");
}

function onKey(strip, event) {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const target = event.composedPath()[0];
  const inside = strip.root.contains(target);
  if (!inside && (!strip.keys || target.closest?.(`${TYPING}, .strip`))) return;
  if (!inside && event.key.length === 1 && document.documentElement.hasAttribute("data-single-keys-off")) return;
  // An arrow may be for what has the focus, inside a component of its own; the letter is not.
  const foreign = !inside && target !== document.body && target.getRootNode() !== document;
  if (foreign && KEYS[event.key] !== "uncertain") return;
  const last = buttons(strip).length - 1;
  if (last < 0 || strip.live) return;
  const ends = inside ? { Home: 0, End: last } : {};
  const next = event.key in KEYS ? neighbour(strip, KEYS[event.key]) : ends[event.key];
  if (next === undefined) return;
  event.preventDefault();
  choose(strip, within(strip, next), inside);
}

function neighbour({ selected, marked }, to) {
  if (to === "uncertain") return marked.find((at) => at > selected) ?? marked[0];
  return selected + (to === "next" ? 1 : -1);
}

function within(strip, index) {
  return Math.max(0, Math.min(buttons(strip).length - 1, index));
}

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}

// What is likely to be chosen next is fetched, where a chart shows it before the server answers.
function near(strip, index) {
  if (!strip.live) tell("de-near", { inputs: { [strip.key]: within(strip, index) } });
}

function hover(strip, event) {
  const button = event.target.closest("button");
  clearTimeout(strip.hovering);
  if (!button) return;
  const wait = event.type === "pointerdown" ? 0 : HOVER_MS;
  strip.hovering = setTimeout(() => near(strip, Number(button.dataset.index)), wait);
}

function choose(strip, index, focus) {
  if (strip.live) return;
  mark(strip, index);
  if (focus) buttons(strip)[index].focus({ preventScroll: true });
  strip.sent = strip.untold = index;
  strip.turn += 1;
  clearTimeout(strip.timer);
  clearTimeout(strip.nearing);
  clearTimeout(strip.resting);
  // A single choice goes at once; of many in a row the last one within a pace.
  const wait = Math.max(0, strip.told + PACE_MS - performance.now());
  strip.timer = setTimeout(() => show(strip, index), wait);
}

// Where the page shows the choice by itself, it goes ahead.
async function show(strip, index) {
  const { turn } = strip;
  strip.told = performance.now();
  await goAhead({ [strip.key]: index });
  if (strip.turn === turn) report(strip, index);
}

// A press elsewhere is meant for the chosen token: the server hears of a waiting choice before it.
function onPress(strip, event) {
  const acts = event.type === "pointerdown" || event.key === "Enter" || event.key === " ";
  if (strip.untold === null || !acts || strip.root.contains(event.composedPath()[0])) return;
  clearTimeout(strip.timer);
  strip.turn += 1;
  report(strip, strip.untold);
}

function report(strip, index) {
  strip.told = performance.now();
  strip.untold = null;
  strip.send(index);
  if (strip.rests) strip.resting = setTimeout(() => rest(strip), REST_MS);
  strip.nearing = setTimeout(() => {
    for (const to of ["next", "previous", "uncertain"]) {
      const at = neighbour(strip, to);
      if (at !== undefined) near(strip, at);
    }
  }, NEXT_MS);
}

// What is out of sight is drawn once it comes near.
function rest(strip) {
  const below = document.querySelector(`.st-key-${strip.slot}rest`);
  if (!below || below.getBoundingClientRect().top < innerHeight + NEAR_PX) strip.rest();
  else strip.resting = setTimeout(() => rest(strip), REST_MS);
}

function mark(strip, index) {
  const all = buttons(strip);
  const before = all[strip.selected];
  if (before) {
    before.removeAttribute("aria-current");
    before.tabIndex = -1;
  }
  strip.selected = index;
  const now = all[index];
  now?.setAttribute("aria-current", "true");
  // One stop of the Tab key for the whole text: the arrow keys go on from there.
  all[0]?.setAttribute("tabindex", now && index ? -1 : 0);
  if (!now) return;
  now.tabIndex = 0;
  if (before !== now) scrollTo(strip, now);
}

function draw(strip, data) {
  strip.live = data.live;
  strip.root.style.setProperty("--mark", data.mark);
  drawPrompt(strip, data);
  strip.root.querySelector(".text").classList.toggle("live", data.live);
  const all = buttons(strip);
  data.tokens.forEach((token, index) => place(strip, all[index], token, index));
  for (let index = all.length - 1; index >= data.tokens.length; index--) all[index].parentElement.remove();
  keepInView(strip, data);
}

// Python counts characters, a string of JavaScript halves of some.
function drawPrompt(strip, { prompt, repeated = [] }) {
  const drawn = JSON.stringify([prompt, repeated]);
  if (strip.promptDrawn === drawn) return;
  strip.promptDrawn = drawn;
  const characters = repeated.length ? [...prompt] : [prompt];
  const [from, to] = repeated.length ? repeated.map((count) => Math.max(0, characters.length - count)) : [1, 1];
  const mark = document.createElement("span");
  mark.className = "repeated";
  mark.textContent = characters.slice(from, to).join("");
  const around = [characters.slice(0, from), characters.slice(to)].map((part) => part.join(""));
  strip.prompt.replaceChildren(around[0], ...(mark.textContent ? [mark] : []), around[1]);
}

// A chart that plays shows the text as far as it has come; tokens of no group are always there.
function reveal(strip, until) {
  buttons(strip).forEach((button) => {
    button.parentElement.style.visibility = Number(button.dataset.group) >= until ? "hidden" : "";
  });
}

function place(strip, existing, [text, color, label, kind, group, ink], index) {
  const button = existing || add(strip, index);
  if (button.textContent !== text) button.textContent = text;
  if (button.className !== kind) button.parentElement.className = button.className = kind;
  if (button.title !== label) {
    button.title = label;
    button.setAttribute("aria-label", label);
  }
  button.style.setProperty("--c", color);
  button.style.setProperty("--ink", ink || "inherit");
  button.style.setProperty("--fill", ink ? color : "");
  if (group != null) button.dataset.group = group;
}

function add(strip, index) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.index = index;
  button.tabIndex = -1;
  const holder = document.createElement("span");
  holder.append(button);
  strip.tokens.append(holder);
  return button;
}

function keepInView(strip, data) {
  const box = strip.root.querySelector(".text");
  if (data.live) box.scrollTop = box.scrollHeight;
}

// Within the text's own box: the page stays where it is.
function scrollTo(strip, button) {
  const box = strip.root.querySelector(".text");
  const [outer, inner] = [box.getBoundingClientRect(), button.getBoundingClientRect()];
  if (inner.top < outer.top) box.scrollTop += inner.top - outer.top - 6;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 6;
}

// Behind a long prompt: the first token, and one line of what is before it.
function showFirst(strip) {
  const box = strip.root.querySelector(".text");
  const first = buttons(strip)[0];
  if (!first) return;
  const { top, height } = first.getBoundingClientRect();
  box.scrollTop += top - box.getBoundingClientRect().top - height;
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".strip");
  if (!root) return undefined;
  const strip = root.strip || (root.strip = create(root));
  // While the module loads, a later call may overtake an earlier one, and the earlier one's
  // clean-up may follow: the newest data stays, and so do its keys.
  if (data.drawn < strip.drawn) return undefined;
  strip.drawn = data.drawn;
  document.addEventListener("keydown", strip.onKey);
  document.addEventListener("pointerdown", strip.onPress, true);
  document.addEventListener("keydown", strip.onPress, true);
  document.addEventListener("de-play", strip.onPlay);
  document.addEventListener("de-step", strip.onStep);
  strip.key = data.key;
  strip.slot = data.slot;
  strip.keys = data.keys;
  strip.rests = data.rests;
  strip.marked = data.marked || [];
  strip.rest = () => setTriggerValue("rested", true);
  strip.send = (index) => setStateValue("selected", index);
  const another = data.run !== strip.run;
  if (another) {
    strip.sent = strip.untold = null;
    reveal(strip, Infinity);
  }
  strip.run = data.run;
  draw(strip, data);
  // While the keys are faster than the server, the newest choice stays; once it was heard, the server's.
  if (strip.sent === null || strip.sent === data.selected || strip.sent === data.heard) {
    strip.sent = null;
    mark(strip, data.live ? -1 : data.selected);
  } else {
    mark(strip, strip.selected);
  }
  if (another && !data.live && strip.selected < 0) showFirst(strip);
  return () => strip.drawn === data.drawn && destroy(strip);
}
