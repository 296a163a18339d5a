// Draws a figure with Plotly, in place: of one that follows another only what differs is drawn anew.
// That of a step which was chosen just now is fetched by itself, and shown before the page has answered.

const CONFIG = { displayModeBar: false, displaylogo: false, showSendToCloud: false };

// After this long a figure that the server draws counts, whatever was chosen.
const WAIT_MS = 3000;
const MOST_FETCHED = 60;

// A frame in a window that nobody sees never comes.
const FRAME_MS = 60;

let loading = null;
let turn = Promise.resolve();
const fetched = new Map();

// The page has asked for it already, as its first element was drawn.
function load(address) {
  if (window.Plotly) return Promise.resolve();
  loading ??= new Promise((done, fail) => {
    const script = document.querySelector(`script[src="${address}"]`) || document.createElement("script");
    script.addEventListener("load", done);
    script.addEventListener("error", () => {
      script.remove();
      loading = null;
      fail(new Error(`${address} could not be loaded`));
    });
    if (script.isConnected) return;
    script.src = address;
    document.head.append(script);
  });
  return loading;
}

function create(root) {
  const chart = { root, plot: root.querySelector(".plot"), number: 0, width: 0, figure: null, drawn: null };
  chart.ahead = chart.chosen = chart.late = null;
  chart.onNear = ({ detail }) => near(chart, detail);
  chart.onChoose = ({ detail }) => choose(chart, detail);
  // The server has to say what a knob makes of a step.
  chart.onMoved = () => {
    chart.ahead = chart.chosen = null;
    fetched.clear();
  };
  chart.sizes = new ResizeObserver(() => drawInTurn(chart));
  chart.sizes.observe(root);
  return chart;
}

// One chart a frame: the first one is seen before the next is drawn.
function drawInTurn(chart) {
  turn = turn.then(() => draw(chart) && frame()).catch((error) => console.error(error));
  return turn;
}

function frame() {
  return new Promise((next) => {
    requestAnimationFrame(() => setTimeout(next));
    setTimeout(next, FRAME_MS);
  });
}

// Once there is room for it: a tab that isn't open has none. Says whether there was anything to draw.
function draw(chart) {
  const width = chart.root.clientWidth;
  if (!width || !window.Plotly || !chart.figure) return false;
  if (chart.drawn === chart.figure && chart.width === width) return false;
  chart.drawn = chart.figure;
  chart.width = width;
  const { data, layout } = chart.figure;
  window.Plotly.react(chart.plot, data, { ...layout, width }, CONFIG);
  if (!chart.heard) chart.plot.on("plotly_click", ({ points }) => click(chart, points[0]?.customdata));
  chart.heard = true;
  return true;
}

function click(chart, marked) {
  if (chart.clicked && marked !== undefined) chart.tell("clicked", { mark: [marked].flat() });
}

function find(address) {
  if (!fetched.has(address)) {
    if (fetched.size >= MOST_FETCHED) fetched.clear();
    const asked = fetch(address).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
    fetched.set(address, asked.then((found) => found || (fetched.delete(address), null)));
  }
  return fetched.get(address);
}

function near({ ahead }, { strip, index }) {
  if (ahead && ahead.strip === strip) find(ahead.address + index);
}

function choose(chart, { strip, index, shown }) {
  const { ahead } = chart;
  if (!ahead || ahead.strip !== strip) return;
  clearTimeout(chart.waiting);
  chart.chosen = index;
  chart.waiting = setTimeout(() => giveUp(chart), WAIT_MS);
  const show = async () => {
    const found = (await find(ahead.address + index))?.[chart.name];
    if (!found || chart.ahead?.address !== ahead.address || chart.chosen !== index) return;
    take(chart, found);
    await drawInTurn(chart);
  };
  shown.push(show());
}

function giveUp(chart) {
  const { late } = chart;
  chart.chosen = chart.late = null;
  if (late) take(chart, late);
  draw(chart);
}

function take(chart, { figure, alt }) {
  if (chart.text === figure) return;
  chart.text = figure;
  chart.figure = JSON.parse(figure);
  chart.root.setAttribute("aria-label", alt);
  chart.root.style.minHeight = `${chart.figure.layout.height}px`;
}

// What the server has drawn; of a step before the chosen one it waits.
function receive(chart, data) {
  chart.number = data.number;
  chart.name = data.name;
  chart.clicked = data.clicked;
  const same = chart.ahead?.address === data.ahead?.address;
  if (!same || !data.ahead) chart.chosen = null;
  chart.ahead = data.ahead;
  const overtaken = chart.chosen !== null && chart.chosen !== data.ahead.at;
  chart.late = overtaken ? data : null;
  if (overtaken) return;
  chart.chosen = null;
  take(chart, data);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".chart");
  if (!root) return undefined;
  const chart = (root.chart ??= create(root));
  // A later call may overtake an earlier one while the module loads.
  if (data.number > chart.number) receive(chart, data);
  document.addEventListener("de-near", chart.onNear);
  document.addEventListener("de-choose", chart.onChoose);
  document.addEventListener("de-moved", chart.onMoved);
  chart.tell = setTriggerValue;
  load(data.script).then(() => drawInTurn(chart), (error) => {
    if (!chart.drawn) chart.plot.textContent = "The chart's script could not be loaded. Reload the page.";
    console.error(error);
  });
  // A call's end may be that of the chart, or of data that newer ones have overtaken.
  return () => {
    if (root.isConnected) return;
    chart.sizes.disconnect();
    clearTimeout(chart.waiting);
    document.removeEventListener("de-near", chart.onNear);
    document.removeEventListener("de-choose", chart.onChoose);
    document.removeEventListener("de-moved", chart.onMoved);
    if (chart.drawn) window.Plotly.purge(chart.plot);
  };
}
