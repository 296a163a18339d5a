// Boxes from a prompt to its text, each with the functions that ran. Text goes in by textContent only.

// Of a value that stands in one line with others.
const SHORT = 60;

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function chips(box) {
  const holder = element("div", "chips");
  for (const chip of box.chips) {
    const one = element("span", chip.chosen ? "chip chosen" : "chip");
    one.append(element("bdi", "token", chip.text), element("span", "value", chip.value));
    if (chip.share !== null) {
      const bar = element("i");
      bar.style.width = `${Math.max(2, 100 * chip.share)}%`;
      one.append(bar);
    }
    holder.append(one);
  }
  return holder;
}

function pairs(list) {
  const holder = element("dl");
  for (const [name, text] of list) {
    const row = element("div", text.length > SHORT ? "long" : "");
    row.append(element("dt", "", name), element("dd", "", text));
    holder.append(row);
  }
  return holder;
}

// Which boxes and rows are open outlives a redraw.
function foldable(way, id, summary, fill) {
  const details = element("details");
  details.open = way.open.has(id);
  details.append(summary);
  const load = () => details.childElementCount > 1 || fill(details);
  if (details.open) load();
  details.addEventListener("toggle", () => {
    if (details.open) {
      way.open.add(id);
      load();
    } else way.open.delete(id);
  });
  return details;
}

function row(way, data) {
  const summary = element("summary");
  const name = element("code", "name", data.name);
  summary.append(name);
  if (data.x > 1) summary.append(element("b", "times", `× ${data.x}`));
  if (data.place) summary.append(element("span", "place", data.place));
  summary.append(element("span", "ms", data.ms));
  const details = foldable(way, data.id, summary, (into) => {
    if (data.place) into.append(values(data), sourceOf(way, data));
    into.append(rows(way, data.rows));
  });
  details.className = "row";
  return details;
}

function values(data) {
  const given = (data.in || []).map(([name, text]) => [`IN ${name}`, text]);
  const which = data.x > 1 ? [[tr("shown"), tr("the first of {count}", { count: data.x })]] : [];
  return pairs([...which, ...given, ...(data.out ? [["OUT", data.out]] : [])]);
}

function sourceOf(way, data) {
  const holder = element("div", "source");
  const shown = way.data.shown === data.id;
  const button = element("button", "", shown ? tr("Hide the source") : tr("Show the source"));
  button.type = "button";
  const label = shown ? tr("Hide the source of {name}", { name: data.name }) : tr("Show the source of {name}", { name: data.name });
  button.setAttribute("aria-label", label);
  button.addEventListener("click", () => way.ask(data.id));
  holder.append(button);
  if (shown) holder.append(element("pre", "", way.data.code || tr("The source can't be read here.")));
  return holder;
}

function rows(way, list) {
  const holder = element("div", "rows");
  holder.append(...list.map((one) => row(way, one)));
  return holder;
}

function box(way, data) {
  const summary = element("summary");
  const head = element("div", "head");
  if (data.number) head.append(element("span", "number", data.number));
  head.append(element("h2", "", data.title));
  if (data.took) head.append(element("span", "ms", data.took));
  summary.append(head, element("p", "", data.words));
  const made = foldable(way, data.id, summary, (into) => {
    const facts = element("div", "facts");
    if (data.pairs.length) facts.append(pairs(data.pairs));
    if (data.chips.length) facts.append(chips(data));
    into.append(facts);
    const empty = data.note || tr("No function of its own ran here in this recording.");
    if (!data.rows.length) into.append(element("p", "note", empty));
    into.append(rows(way, data.rows));
  });
  made.className = "box";
  made.dataset.box = data.id;
  return made;
}

function boxes(way, list) {
  return list.map((one) => box(way, one));
}

function draw(way) {
  const { before, prompt, loop, inside, after, mark } = way.data;
  way.root.style.setProperty("--mark", mark);
  const frame = element("section", "loop");
  const head = element("div", "head");
  head.append(element("span", "number", "5"), element("h2", "", tr("The loop: the prompt first, then a token a round")));
  frame.append(head, box(way, prompt), element("p", "count", loop), ...boxes(way, inside));
  const focus = way.root.getRootNode().activeElement;
  const kept = focus && way.root.contains(focus) ? [...way.root.querySelectorAll("summary, button")].indexOf(focus) : -1;
  way.root.replaceChildren(...boxes(way, before), frame, ...boxes(way, after));
  if (kept >= 0) way.root.querySelectorAll("summary, button")[kept]?.focus({ preventScroll: true });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".way");
  if (!root) return undefined;
  const way = root.way || (root.way = { root, open: new Set(), drawn: 0 });
  // While the module loads, a later call may overtake an earlier one.
  if (data.drawn < way.drawn) return undefined;
  way.drawn = data.drawn;
  way.data = data;
  way.ask = (id) => setTriggerValue("source", id);
  draw(way);
  return undefined;
}
