// Draws a figure with Plotly, in place: of one that follows another only what differs is drawn anew.

const CONFIG = { displayModeBar: false, displaylogo: false, showSendToCloud: false };

// A frame in a window that nobody sees never comes.
const FRAME_MS = 60;
// So long a page has rested before the figures of closed tabs are fetched.
const REST_MS = 250;

// Plotly places a text by its width: the fonts must be there before, or the text would lie beside its mark.
const FONTS = ["400 12px 'Source Code Pro'", "700 12px 'Source Code Pro'", "12px 'Decoding Signs'"];
// So long at most they are waited for.
const FONTS_MS = 1000;

let loading = null;
let fonts = null;
let ready = false;
let turn = Promise.resolve();

function loadFonts() {
  const late = new Promise((next) => setTimeout(next, FONTS_MS));
  const loaded = Promise.allSettled(FONTS.map((font) => document.fonts.load(font, "a\u2423")));
  return (fonts ??= Promise.race([loaded, late]).then(() => (ready = true)));
}

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
  chart.part = follow((found) => {
    take(chart, found);
    return drawInTurn(chart);
  });
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
  if (!width || !window.Plotly || !ready || !chart.figure) return false;
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
  if (!chart.clicked || marked === undefined) return;
  const mark = [marked].flat();
  const tell = () => chart.tell("clicked", { mark });
  if (!chart.chooses || mark.length < 2) tell();
  else goAhead({ [chart.chooses]: mark.slice(0, 2).join(".") }).then(tell);
}

function take(chart, { figure, alt }) {
  if (!figure) return close(chart);
  chart.from = chart.part.ahead?.address;
  if (chart.text === figure) return;
  chart.text = figure;
  chart.figure = JSON.parse(figure);
  chart.root.setAttribute("aria-label", alt);
  chart.root.style.minHeight = `${chart.figure.layout.height}px`;
}

// In a tab that is closed: what it shows is fetched once the page rests, and drawn when the tab is opened.
function close(chart) {
  const { ahead } = chart.part;
  clearTimeout(chart.resting);
  if (chart.from === ahead.address) return;
  if (chart.drawn) window.Plotly.purge(chart.plot);
  Object.assign(chart, { text: null, figure: null, drawn: null, heard: false });
  const fetchIt = async () => {
    const found = (await find(ahead.address))?.[chart.part.name];
    if (!found || chart.part.ahead?.address !== ahead.address || chart.text) return;
    take(chart, found);
    drawInTurn(chart);
  };
  chart.resting = setTimeout(fetchIt, REST_MS);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".chart");
  if (!root) return undefined;
  const chart = (root.chart ??= create(root));
  // A later call may overtake an earlier one while the module loads.
  if (data.number > chart.number) {
    chart.number = data.number;
    chart.clicked = data.clicked;
    chart.chooses = data.chooses;
    receive(chart.part, data);
  }
  listen(chart.part);
  chart.tell = setTriggerValue;
  Promise.all([load(data.script), loadFonts()]).then(() => drawInTurn(chart), (error) => {
    if (!chart.drawn) chart.plot.textContent = tr("The chart's script could not be loaded. Reload the page.");
    console.error(error);
  });
  // A call's end may be that of the chart, or of data that newer ones have overtaken.
  return () => {
    if (root.isConnected) return;
    chart.sizes.disconnect();
    leave(chart.part);
    clearTimeout(chart.resting);
    if (chart.drawn) window.Plotly.purge(chart.plot);
  };
}
