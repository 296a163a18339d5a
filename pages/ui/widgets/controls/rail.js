// Knobs: a range and a field each, which hold one number. Text goes in by textContent only.

// So often at most is a knob reported that goes on moving: a report cuts off the drawing of the one before.
const PACE_MS = 140;
// A number is settled when it has stood so long after its slider was released, or it was typed.
const SETTLED_MS = 350;

function create(root) {
  const rail = { root, knobs: new Map(), pending: {}, number: 0, sent: 0, timer: 0, tell: null, shown: null, ahead: false };
  rail.list = root.querySelector(".knobs");
  rail.more = root.querySelector("#more-knobs");
  rail.fold = root.querySelector(".fold");
  rail.fold.addEventListener("click", () => unfold(rail, rail.fold.ariaExpanded !== "true"));
  rail.pick = root.querySelector("select");
  rail.pick.addEventListener("change", () => bring(rail, rail.pick.value));
  rail.onOther = (event) => settle(rail, event);
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, rail.onOther, true);
  return rail;
}

function build(rail, { key }) {
  const knob = { key, box: make("div", "knob"), note: make("output", "note") };
  const head = make("div", "head");
  knob.name = make("label", "name");
  knob.about = make("button", "about");
  knob.about.textContent = "?";
  knob.reset = make("button", "reset");
  knob.reset.textContent = "↺";
  knob.about.type = knob.reset.type = "button";
  // Named as Streamlit names the place of a widget.
  const place = make("span", `field st-key-${key}`);
  knob.field = make("input");
  knob.field.type = "number";
  knob.range = make("input");
  knob.range.type = "range";
  knob.range.id = `range-${key}`;
  knob.name.htmlFor = knob.range.id;
  knob.help = make("p", "help");
  knob.help.hidden = true;
  knob.about.setAttribute("aria-expanded", "false");
  place.append(knob.field);
  head.append(knob.name, knob.about, knob.reset, place);
  knob.box.append(head, knob.range, knob.help, knob.note);
  listen(rail, knob);
  rail.knobs.set(key, knob);
  return knob;
}

function make(tag, name = "") {
  const element = document.createElement(tag);
  element.className = name;
  return element;
}

function listen(rail, knob) {
  knob.range.addEventListener("input", () => move(rail, knob, Number(knob.range.value)));
  knob.range.addEventListener("change", () => {
    flush(rail);
    settleSoon(rail);
  });
  knob.field.addEventListener("change", () => typed(rail, knob));
  knob.reset.addEventListener("click", () => {
    move(rail, knob, knob.data.start);
    flush(rail);
    settleSoon(rail);
    knob.range.focus();
  });
  knob.about.addEventListener("click", () => {
    knob.help.hidden = !knob.help.hidden;
    knob.about.setAttribute("aria-expanded", String(!knob.help.hidden));
  });
}

function unfold(rail, open) {
  rail.fold.ariaExpanded = String(open);
  rail.root.classList.toggle("open", open);
}

// The button over the folded knobs says which of them do something.
function tellFolded(rail) {
  const folded = [...rail.knobs.values()].filter(({ data, box }) => data.folded && !box.hidden);
  const changed = folded.filter(({ value, data }) => value !== data.start);
  const words = changed.map(({ value, data }) => `${data.label} ${shown(value, data.digits)}`).join(", ");
  rail.fold.hidden = !folded.length;
  rail.fold.textContent = `${tr("More knobs ({count})", { count: folded.length })}${words && `: ${words}`}`;
}

// A number that the knob doesn't take becomes the nearest, and that is said.
function typed(rail, knob) {
  const { low, most, start, step } = knob.data;
  const asked = knob.field.value === "" ? start : Number(knob.field.value);
  let near = nearest(asked, low, most);
  if (Number.isInteger(step) && knob.data.digits === 0) near = Math.round(near);
  move(rail, knob, near);
  if (asked !== near) note(knob, taken(asked, near, tr("knob"), asked >= low && asked <= most));
  flush(rail);
  settleSoon(rail);
  // The press that ended the typing follows at once.
  if (rail.due) report(rail);
}

function note(knob, words) {
  knob.note.textContent = words;
  clearTimeout(knob.noted);
  knob.noted = setTimeout(() => (knob.note.textContent = ""), NOTE_MS);
}

function move(rail, knob, value) {
  clearTimeout(rail.settling);
  const same = value === knob.value;
  write(knob, value);
  if (same) return;
  if (rail.parts.has(knob.key)) list(rail);
  tellFolded(rail);
  knob.note.textContent = "";
  rail.pending[knob.key] = value;
  show(rail);
  if (rail.timer) return;
  rail.timer = setTimeout(() => flush(rail), Math.max(0, rail.sent + PACE_MS - performance.now()));
}

function flush(rail) {
  if (!rail.timer) return;
  clearTimeout(rail.timer);
  rail.timer = 0;
  rail.due = true;
  if (!rail.ahead) report(rail);
}

// One at a time: of what is moved meanwhile the last counts.
async function show(rail) {
  rail.again = rail.ahead;
  if (rail.ahead) return;
  rail.ahead = true;
  await goAhead({ ...rail.pending });
  rail.ahead = false;
  if (rail.due) report(rail);
  if (rail.again) show(rail);
}

// Whatever else is pressed, such as Run, finds the knob reported.
function settle(rail, event) {
  if (!rail.root.isConnected) {
    for (const kind of ["pointerdown", "keydown"]) document.removeEventListener(kind, rail.onOther, true);
  } else if (rail.due && (event.key === "Enter" || !event.composedPath().includes(rail.root))) {
    report(rail);
  }
}

function settleSoon(rail) {
  clearTimeout(rail.settling);
  if (rail.settles) rail.settling = setTimeout(() => report(rail, true), SETTLED_MS);
}

function report(rail, settled = false) {
  rail.due = false;
  rail.sent = performance.now();
  rail.number += 1;
  rail.tell("moved", { number: rail.number, values: { ...rail.pending }, ...(settled && { settled }) });
}

// What a knob holds, with at least its digits.
function shown(value, digits) {
  const short = value.toFixed(digits);
  return Number(short) === value ? short : String(value);
}

function write(knob, value) {
  knob.value = value;
  const words = shown(value, knob.data.digits);
  if (knob.field.value !== words) knob.field.value = words;
  knob.range.value = value;
  const { low, high } = knob.data;
  const share = nearest((value - low) / (high - low), 0, 1);
  knob.range.style.setProperty("--share", `${share * 100}%`);
  const moved = value !== knob.data.start;
  knob.reset.style.visibility = moved ? "" : "hidden";
  if (knob.option) knob.option.textContent = `${knob.data.label} ${words}`;
}

function update(rail, data) {
  const knob = rail.knobs.get(data.key) || build(rail, data);
  knob.data = data;
  const place = data.folded ? rail.more : rail.list;
  if (knob.box.parentElement !== place) place.append(knob.box);
  const { low, high, most, step, label, help, start, digits } = data;
  Object.assign(knob.range, { min: low, max: high, step });
  Object.assign(knob.field, { min: low, max: most, step, title: rangeOf(low, most) });
  knob.name.textContent = label;
  // On a phone the label is hidden.
  knob.range.setAttribute("aria-label", label);
  knob.field.name = data.key;
  knob.field.setAttribute("aria-label", tr("{label}, typed", { label }));
  knob.about.setAttribute("aria-label", tr("About {label}", { label }));
  knob.about.title = knob.name.title = help;
  knob.help.textContent = help;
  const value = shown(start, digits);
  knob.reset.title = tr("Back to {value}", { value });
  knob.reset.setAttribute("aria-label", tr("{label}: back to {value}", { label, value }));
  knob.range.disabled = knob.field.disabled = knob.reset.disabled = !data.enabled;
  knob.box.classList.toggle("idle", !data.enabled);
  const typing = knob.field.matches(":focus") && rail.root.getRootNode().activeElement === knob.field;
  if (data.key in rail.pending || (typing && Number(knob.field.value) !== knob.value)) return;
  // After its bounds, or the range would cut off what it is given.
  write(knob, data.value);
}

// A further number of a setting shows while that is on.
function isOn(rail, { data }) {
  const first = rail.knobs.get(data.partOf);
  return !first || first.value !== first.data.start;
}

function keep(rail, knobs) {
  const keys = knobs.map((data) => data.key);
  rail.parts = new Set(knobs.map((data) => data.partOf));
  for (const [key, knob] of rail.knobs) {
    if (keys.includes(key)) continue;
    knob.box.remove();
    rail.knobs.delete(key);
  }
}

// The list of the knobs, for where one is shown at a time.
function list(rail) {
  for (const knob of rail.knobs.values()) knob.box.hidden = !isOn(rail, knob);
  const keys = [...rail.knobs.keys()].filter((key) => !rail.knobs.get(key).box.hidden);
  rail.pick.replaceChildren(...keys.map((key) => {
    const knob = rail.knobs.get(key);
    const option = make("option");
    option.value = key;
    option.textContent = `${knob.data.label} ${shown(knob.value, knob.data.digits)}`;
    knob.option = option;
    return option;
  }));
  const first = keys.find((key) => rail.knobs.get(key).data.enabled) || keys[0];
  bring(rail, keys.includes(rail.shown) ? rail.shown : first);
}

function bring(rail, key) {
  rail.shown = rail.pick.value = key;
  for (const [own, knob] of rail.knobs) knob.box.classList.toggle("shown", own === key);
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".rail");
  if (!root || !data.knobs.length) return;
  const rail = root.rail || (root.rail = create(root));
  // While the module loads, a later call may overtake an earlier one.
  if (data.drawn < rail.drawn) return;
  rail.drawn = data.drawn;
  rail.tell = setStateValue;
  rail.settles = data.settles;
  if (data.seen >= rail.number) {
    rail.number = data.seen;
    if (!rail.timer && !rail.due) rail.pending = {};
  }
  root.classList.toggle("single", data.knobs.length === 1);
  data.knobs.forEach((knob) => update(rail, knob));
  keep(rail, data.knobs);
  list(rail);
  tellFolded(rail);
}
