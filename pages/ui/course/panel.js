// The panel of a lesson. Text goes in by textContent only; a lesson's file may be a stranger's.

const ROOMY = "(min-width: 1600px)";

function add(parent, name, className, text = "", attributes = {}) {
  const node = document.createElement(name);
  node.className = className;
  node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

function build(root) {
  const panel = { root, point: { key: "" }, drawn: 0, choice: -1, data: { turn: -1 } };
  root.setAttribute("role", "complementary");
  const head = add(root, "div", "head");
  const words = add(head, "div", "words");
  panel.place = add(words, "p", "place");
  panel.title = add(words, "h2", "title", "", { tabindex: "-1" });
  panel.fold = add(head, "button", "fold", "", { type: "button" });
  panel.leave = add(head, "button", "leave", "", { type: "button" });
  panel.bar = add(root, "div", "bar", "", { "aria-hidden": "true" });
  panel.body = add(root, "div", "body", "", { id: "de-lesson-body" });
  panel.fold.setAttribute("aria-controls", "de-lesson-body");
  panel.elsewhere = add(panel.body, "div", "elsewhere");
  panel.different = add(panel.body, "div", "elsewhere");
  panel.say = add(panel.body, "p", "say");
  panel.ask = add(panel.body, "fieldset", "ask");
  panel.todo = add(panel.body, "div", "todo");
  panel.reveal = add(panel.body, "div", "reveal", "", { role: "status" });
  panel.outcome = add(panel.reveal, "p", "outcome");
  panel.told = add(panel.reveal, "p", "told");
  panel.foot = add(root, "div", "foot");
  panel.score = add(panel.body, "p", "score");
  panel.back = add(panel.foot, "button", "back", "", { type: "button" });
  panel.next = add(panel.foot, "button", "next", "", { type: "button" });
  panel.fold.addEventListener("click", () => foldTo(panel, !panel.folded));
  for (const kind of ["back", "next", "leave"]) panel[kind].addEventListener("click", () => press(panel, kind));
  panel.watch = new ResizeObserver(() => makeRoom(panel));
  panel.watch.observe(root);
  foldTo(panel, false);
  makeWay();
  return panel;
}

function press(panel, kind, choice = null) {
  window.deLesson = { ...window.deLesson, pressed: !["leave", "answer", "reset"].includes(kind) };
  panel.tell("pressed", { kind, choice, turn: panel.data.turn });
}

// On a phone it is a sheet, which a button folds to its title.
function foldTo(panel, folded) {
  panel.folded = folded;
  panel.root.classList.toggle("folded", folded);
  panel.fold.textContent = folded ? tr("Unfold") : tr("Fold");
  panel.fold.setAttribute("aria-expanded", String(!folded));
}

// The page leaves the height of the sheet free at its end.
function makeRoom(panel) {
  const sheet = matchMedia(WIDE).matches ? 0 : panel.root.offsetHeight;
  document.documentElement.style.setProperty("--de-sheet", `${sheet}px`);
}

// Where the panel stands beside the page, the sidebar makes way for it, once.
function makeWay() {
  if (!matchMedia(WIDE).matches || matchMedia(ROOMY).matches || window.deLesson?.madeWay) return;
  window.deLesson = { ...window.deLesson, madeWay: true };
  document.querySelector("[data-testid=stSidebarCollapseButton] button[aria-expanded=true]")?.click();
}

function drawAsk(panel, { question, choices, chosen, right, asks, turn }) {
  const state = JSON.stringify([turn, choices, chosen, right, asks]);
  panel.ask.hidden = !question;
  if (panel.asked === state) {
    // A number in it may come later; what is chosen by then stays.
    put(panel.question, question);
    return;
  }
  panel.asked = state;
  panel.ask.replaceChildren();
  panel.ask.classList.toggle("given", !asks);
  if (asks) panel.choice = -1;
  panel.question = add(panel.ask, "legend", "", question);
  const inputs = choices.map((words, at) => {
    const label = add(panel.ask, "label", "choice");
    const input = add(label, "input", "", "", { type: "radio", name: "de-lesson-choice" });
    add(label, "span", "", words);
    input.checked = at === chosen;
    input.disabled = !asks;
    input.addEventListener("change", () => (panel.choice = at));
    if (at === chosen) label.classList.add("chosen");
    if (at === right) label.classList.add("right");
    const notes = [at === chosen && !asks ? tr("your guess") : "", at === right ? tr("what happened") : ""].filter(Boolean);
    if (notes.length) add(label, "small", "", notes.join(", "));
    return input;
  });
  if (!asks) return;
  const guess = add(panel.ask, "button", "guess", tr("This is my guess"), { type: "button" });
  guess.addEventListener("click", () => {
    if (panel.choice < 0) inputs[0]?.focus();
    else press(panel, "answer", panel.choice);
  });
}

function drawToDo(panel, { do: words, target, waits }) {
  const state = JSON.stringify([words, target, waits]);
  panel.todo.hidden = !words && !target;
  if (panel.toDo === state) return;
  panel.toDo = state;
  panel.todo.replaceChildren();
  if (words) add(panel.todo, "p", "", words);
  if (!target) return;
  const show = add(panel.todo, "button", "show", tr("Go to it"), { type: "button", title: tr("Move to the outlined place") });
  show.addEventListener("click", () => goTo(panel.point));
}

function drawElsewhere(panel, { elsewhere }) {
  panel.elsewhere.hidden = !elsewhere;
  if (panel.away === elsewhere) return;
  panel.away = elsewhere;
  panel.elsewhere.replaceChildren();
  add(panel.elsewhere, "p", "", tr("This step is on the page {page}.", { page: elsewhere }));
  add(panel.elsewhere, "button", "return", tr("Go there"), { type: "button" }).addEventListener("click", () => press(panel, "return"));
}

function drawDifferent(panel, { different }) {
  panel.different.hidden = !different;
  if (panel.differs === different) return;
  panel.differs = different;
  panel.different.replaceChildren();
  add(panel.different, "p", "", `${tr("A setting has changed.")} ${different}`);
  add(panel.different, "button", "reset", tr("Set it again"), { type: "button" }).addEventListener("click", () => press(panel, "reset"));
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
  node.hidden = !text;
}

// What the browser has kept of the lesson decides at which step it begins: nothing can be pressed before it is
// heard, or so much later.
const HEARD_MS = 5000;
function waitForMemory(panel, ready) {
  if (ready || panel.waited) {
    panel.root.classList.remove("waiting");
    return;
  }
  panel.root.classList.add("waiting");
  panel.waiting ??= setTimeout(() => {
    panel.waited = true;
    panel.root.classList.remove("waiting");
  }, HEARD_MS);
}

// What is drawn for its data alone would keep the words of another language.
function relabel(panel) {
  const words = tr("This is my guess");
  if (panel.words === words) return;
  panel.words = words;
  for (const drawn of ["asked", "toDo", "away", "differs"]) panel[drawn] = null;
  foldTo(panel, panel.folded);
}

function update(panel, data) {
  waitForMemory(panel, data.ready);
  relabel(panel);
  const isNew = data.turn !== panel.data.turn;
  panel.data = data;
  panel.root.setAttribute("aria-label", tr("Lesson: {title}", { title: data.title }));
  put(panel.place, data.place);
  put(panel.title, data.title);
  put(panel.say, data.say);
  put(panel.score, data.score);
  put(panel.outcome, data.outcome);
  put(panel.told, data.reveal);
  panel.outcome.classList.toggle("good", data.chosen === data.right);
  panel.reveal.classList.toggle("lacks", Boolean(data.lacks));
  panel.bar.style.setProperty("--share", `${100 * data.share}%`);
  drawElsewhere(panel, data);
  drawDifferent(panel, data);
  drawAsk(panel, data);
  drawToDo(panel, data);
  panel.back.disabled = !data.goes_back;
  put(panel.leave, tr("Leave"));
  panel.leave.title = tr("Leave the lesson; what you did is kept");
  put(panel.back, data.back);
  put(panel.next, data.next);
  panel.next.classList.toggle("primary", !data.skips);
  pointAt(panel.point, data.target);
  if (data.reveal || data.outcome) panel.told.parentElement.dataset.on = "yes";
  else delete panel.told.parentElement.dataset.on;
  const phase = `${data.turn} ${Boolean(data.do)} ${Boolean(data.reveal)} ${Boolean(data.different)}`;
  if (!isNew && panel.phase !== phase) {
    // What has come last is in sight, also where the panel is low.
    const last = data.reveal ? panel.reveal : data.different ? panel.different : panel.todo;
    if (data.reveal && data.runs) showRun();
    panel.body.scrollTop = last.offsetTop + last.offsetHeight - panel.body.offsetTop - panel.body.clientHeight + 8;
  }
  panel.phase = phase;
  if (!isNew) return;
  panel.body.scrollTop = 0;
  if (!window.deLesson?.pressed) return;
  // The learner asked for this step; one that a link opens leaves the focus where it is.
  window.deLesson.pressed = false;
  foldTo(panel, false);
  panel.title.focus({ preventScroll: true });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lesson");
  if (!root) return undefined;
  const panel = (root.lesson ??= build(root));
  panel.tell = setTriggerValue;
  if (data.drawn < panel.drawn) return undefined;
  panel.drawn = data.drawn;
  update(panel, data);
  return () => {
    if (root.isConnected) return;
    forget(panel.point);
    panel.watch.disconnect();
    document.documentElement.style.removeProperty("--de-sheet");
  };
}
