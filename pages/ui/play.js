// Lets a chart grow: a sheet of paper covers the steps that are not there yet, their numbers too. The figure itself
// stays as it is, so that its export is always the whole chart. The text's strip hears how far it is.

const STEP_MS = 420;

function create(root) {
  const play = { root, shown: 0, timer: 0, run: null };
  play.button = root.querySelector("button");
  play.range = root.querySelector("input");
  play.text = root.querySelector("output");
  play.cover = document.createElement("div");
  play.cover.className = "de-cover";
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  Object.assign(play.cover.style, { position: "absolute", zIndex: 2, transition: still ? "" : `left ${STEP_MS}ms linear` });
  play.button.addEventListener("click", () => (play.timer ? stop(play) : start(play)));
  play.range.addEventListener("input", () => {
    stop(play);
    show(play, Number(play.range.value));
  });
  play.watch = new MutationObserver(() => lay(play));
  return play;
}

function destroy(play) {
  stop(play);
  play.watch.disconnect();
  play.cover.remove();
}

function start(play) {
  const count = play.data.ends.length;
  if (play.shown >= count) {
    play.cover.style.transition = "none";
    show(play, 0);
    play.cover.getBoundingClientRect();
    play.cover.style.transition = `left ${STEP_MS}ms linear`;
  }
  play.timer = setInterval(() => {
    show(play, play.shown + 1);
    if (play.shown >= count) stop(play);
  }, STEP_MS);
  name(play);
}

function stop(play) {
  clearInterval(play.timer);
  play.timer = 0;
  name(play);
}

function name(play) {
  play.button.textContent = play.timer ? "❚❚ Pause" : "▶ Play";
  play.button.setAttribute("aria-label", play.timer ? "Pause" : "Play");
}

function show(play, count) {
  const all = play.data.ends.length;
  play.shown = Math.min(count, all);
  play.range.value = play.shown;
  const last = play.data.first + play.shown - 1;
  play.text.textContent = play.shown === all ? `all ${play.data.word}s to ${last}` : `up to ${play.data.word} ${Math.max(last, 0)}`;
  const until = play.shown === all ? Infinity : play.data.first + play.shown;
  document.dispatchEvent(new CustomEvent("de-play", { detail: until }));
  lay(play);
}

// Puts the cover over the chart as it stands now; a chart drawn anew has lost it.
function lay(play) {
  const chart = document.querySelector(`.${play.data.chart} .js-plotly-plot`);
  if (!chart) return;
  if (play.cover.parentElement !== chart) {
    chart.style.position = "relative";
    chart.append(play.cover);
  }
  const { left, right, top, bottom } = play.data.box;
  const all = play.data.ends.length;
  const share = play.shown ? play.data.ends[play.shown - 1] : 0;
  const style = play.cover.style;
  const hidden = play.shown >= all && !play.timer;
  if ((style.display === "none") !== hidden) style.display = hidden ? "none" : "block";
  // Past the last step the cover is gone, margin and all.
  const at = play.shown >= all ? "100%" : `calc(${left}px + (100% - ${left + right}px) * ${share})`;
  const box = { background: play.data.paper, left: at, right: "0px", top: `${top - 22}px`, bottom: `${bottom}px` };
  for (const [key, value] of Object.entries(box)) if (play[key] !== value) style[key] = play[key] = value;
}

// The menu can change the theme without asking the server; what the server drew must follow.
function followTheme(play, tell) {
  if (!play.root.isConnected) return;
  const [r, g, b] = getComputedStyle(play.root).color.match(/[\d.]+/g).map(Number);
  const theme = r * 0.3 + g * 0.59 + b * 0.11 < 128 ? "light" : "dark";
  if (theme === play.data.theme) play.told = null;
  else if (play.told !== theme) {
    play.told = theme;
    tell("theme", theme);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".play");
  if (!root) return undefined;
  const play = root.play || (root.play = create(root));
  // A later call may overtake an earlier one while the module loads.
  if (data.drawn < play.drawn) return undefined;
  play.drawn = data.drawn;
  play.data = data;
  play.range.max = data.ends.length;
  play.range.setAttribute("aria-label", `${data.word[0].toUpperCase()}${data.word.slice(1)}s shown`);
  if (play.run !== data.run) {
    play.run = data.run;
    stop(play);
    show(play, data.ends.length);
  } else {
    show(play, play.shown);
  }
  setTimeout(() => followTheme(play, setTriggerValue));
  const figure = document.querySelector(`.${data.chart}`);
  play.watch.disconnect();
  if (figure) play.watch.observe(figure, { childList: true, subtree: true });
  return () => play.drawn === data.drawn && destroy(play);
}
