// Lets a chart grow: a sheet of paper covers the steps that are not there yet, their numbers too. The figure itself
// stays as it is, so that its export is always the whole chart. The text's strip hears how far it is.

const STEP_MS = 420;

// `shown` counts steps from the first of the run; the chart holds those from `data.first` on. `wanted` is the count
// that waits for another window of them.
function create(root) {
  const play = { root, shown: 0, wanted: null, playing: false, timer: 0, run: null, data: null };
  play.button = root.querySelector("button");
  play.range = root.querySelector("input");
  play.text = root.querySelector("output");
  play.cover = document.createElement("div");
  play.cover.className = "de-cover";
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  play.slide = still ? "none" : `left ${STEP_MS}ms linear`;
  Object.assign(play.cover.style, { position: "absolute", zIndex: 2, transition: play.slide });
  play.button.addEventListener("click", () => (play.playing ? stop(play) : start(play)));
  play.range.addEventListener("input", () => {
    const count = Number(play.range.value);
    stop(play);
    show(play, count);
  });
  play.range.addEventListener("change", () => {
    const count = Number(play.range.value);
    if (count <= play.data.first || count > end(play)) turn(play, count - 1, count);
  });
  play.watch = new MutationObserver(() => lay(play));
  return play;
}

function destroy(play) {
  stop(play);
  play.watch.disconnect();
  play.cover.remove();
}

function end(play) {
  return play.data.first + play.data.ends.length;
}

// Asks for the window that holds a step, to show so many steps in it.
function turn(play, step, count) {
  play.wanted = count;
  play.tell("turn", step);
}

function start(play) {
  play.playing = true;
  name(play);
  if (play.shown >= play.data.count && play.data.first > 0) {
    turn(play, 0, 0);
    return;
  }
  if (play.shown >= end(play)) jump(play, play.data.first);
  run(play);
}

function run(play) {
  clearInterval(play.timer);
  play.timer = setInterval(() => {
    if (play.shown < end(play)) show(play, play.shown + 1);
    if (play.shown < end(play)) return;
    if (end(play) >= play.data.count) {
      stop(play);
      return;
    }
    clearInterval(play.timer);
    turn(play, end(play), end(play));
  }, STEP_MS);
}

function stop(play) {
  clearInterval(play.timer);
  play.timer = 0;
  play.playing = false;
  play.wanted = null;
  name(play);
  if (play.data) show(play, play.shown);
}

function name(play) {
  play.button.textContent = `${play.playing ? "❚❚" : "▶"} ${play.playing ? tr("Pause") : tr("Play")}`;
  play.button.setAttribute("aria-label", play.playing ? tr("Pause") : tr("Play"));
}

function jump(play, count) {
  play.cover.style.transition = "none";
  show(play, count);
  play.cover.getBoundingClientRect();
  play.cover.style.transition = play.slide;
}

function show(play, count) {
  const { first, count: all } = play.data;
  play.shown = count;
  play.range.value = count;
  const whole = count === end(play) && !play.playing;
  const { texts } = play.data;
  const text = !whole
    ? count ? texts.up_to : texts.none
    : first || count < all ? texts.window : texts.all;
  play.text.textContent = tr(text, { first: first + 1, count, all });
  play.settled = count >= all && !play.playing;
  document.dispatchEvent(new CustomEvent("de-play", { detail: { slot: play.data.slot, until: whole ? Infinity : count } }));
  lay(play);
}

// Another search, or another window of this one: what was asked for is shown, else all of the window.
function follow(play, before) {
  const { first, run: number } = play.data;
  if (play.run !== number) {
    play.run = number;
    play.wanted = null;
    play.playing = false;
    play.shown = end(play);
    stop(play);
  } else if (before && (before.first !== first || before.ends.length !== play.data.ends.length)) {
    const whole = play.wanted === null && (play.shown === before.first + before.ends.length || before.first !== first);
    const count = whole ? end(play) : Math.min(Math.max(play.wanted ?? play.shown, first), end(play));
    const playing = play.playing && play.wanted !== null;
    play.wanted = null;
    if (!playing) stop(play);
    jump(play, count);
    if (playing) run(play);
  } else {
    show(play, play.shown);
  }
}

// Of a chart with several rows of steps: what is left of the row of the last step shown, and the rows below.
function cut(rows, shown, all, at) {
  if (!rows || !shown || shown >= all || rows[0][0] === rows[all - 1][0]) return "";
  const [top, bottom] = rows[shown - 1].map((y) => `${y + 22}px`);
  return `polygon(${at} ${top}, 100% ${top}, 100% 100%, 0 100%, 0 ${bottom}, ${at} ${bottom})`;
}

// Traces that give the outcome away look like others until the last step is shown; the figure's data stay.
function disguise(play, chart) {
  const names = Object.entries(play.data.like);
  if (!names.length || !chart.data) return;
  chart.classList.toggle("de-unsettled", !play.settled);
  for (const [name, model] of names) {
    const { marker, line, textfont } = chart.data.find((trace) => trace.name === model) ?? {};
    const look = { fill: marker?.color, stroke: marker?.line.color ?? line?.color, ink: textfont?.color };
    for (const node of chart.querySelectorAll("g.trace")) {
      if (node.__data__?.[0]?.trace?.name !== name) continue;
      node.classList.add("de-winner");
      for (const [part, color] of Object.entries(look)) if (color) node.style.setProperty(`--de-${part}`, color);
    }
  }
}

// Puts the cover over the chart as it stands now; a chart drawn anew has lost it.
function lay(play) {
  const chart = document.querySelector(`.${play.data.chart} .js-plotly-plot`);
  if (!chart) return;
  disguise(play, chart);
  if (play.cover.parentElement !== chart) {
    chart.style.position = "relative";
    chart.append(play.cover);
  }
  const { left, right, top, bottom } = play.data.box;
  const all = play.data.ends.length;
  const shown = Math.min(Math.max(play.shown - play.data.first, 0), all);
  const share = shown ? play.data.ends[shown - 1] : 0;
  const style = play.cover.style;
  const hidden = shown >= all && !play.playing;
  if ((style.display === "none") !== hidden) style.display = hidden ? "none" : "block";
  // Past the last step the cover is gone, margin and all.
  const at = shown >= all ? "100%" : `calc(${left}px + (100% - ${left + right}px) * ${share})`;
  const clip = cut(play.data.rows, shown, all, at);
  const box = { background: play.data.paper, left: clip ? "0px" : at, right: "0px", top: `${top - 22}px`, bottom: `${bottom}px`, clipPath: clip };
  for (const [key, value] of Object.entries(box)) if (play[key] !== value) style[key] = play[key] = value;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".play");
  if (!root) return undefined;
  const play = root.play || (root.play = create(root));
  // A later call may overtake an earlier one while the module loads.
  if (data.drawn < play.drawn) return undefined;
  play.drawn = data.drawn;
  const before = play.data;
  play.data = data;
  play.tell = setTriggerValue;
  play.range.max = data.count;
  play.range.setAttribute("aria-label", data.texts.label);
  follow(play, before);
  name(play);
  const figure = document.querySelector(`.${data.chart}`);
  play.watch.disconnect();
  if (figure) play.watch.observe(figure, { childList: true, subtree: true });
  return () => play.drawn === data.drawn && destroy(play);
}
