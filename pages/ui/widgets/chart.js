// Draws a figure with Plotly, in place: of one that follows another only what differs is drawn anew.

const CONFIG = { displayModeBar: false, displaylogo: false, showSendToCloud: false };

let loading = null;

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
  chart.sizes = new ResizeObserver(() => draw(chart));
  chart.sizes.observe(root);
  return chart;
}

// Once there is room for it: a tab that isn't open has none.
function draw(chart) {
  const width = chart.root.clientWidth;
  if (!width || !window.Plotly || !chart.figure) return;
  if (chart.drawn === chart.figure && chart.width === width) return;
  chart.drawn = chart.figure;
  chart.width = width;
  const { data, layout } = chart.figure;
  window.Plotly.react(chart.plot, data, { ...layout, width }, CONFIG);
  if (chart.heard) return;
  chart.heard = true;
  chart.plot.on("plotly_click", ({ points }) => click(chart, points[0]?.customdata));
}

function click(chart, marked) {
  if (chart.clicked && marked !== undefined) chart.tell("clicked", { mark: [marked].flat() });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".chart");
  if (!root) return undefined;
  const chart = (root.chart ??= create(root));
  // A later call may overtake an earlier one while the module loads.
  if (data.number > chart.number) {
    chart.number = data.number;
    chart.figure = JSON.parse(data.figure);
    chart.clicked = data.clicked;
    root.setAttribute("aria-label", data.alt);
    root.style.minHeight = `${chart.figure.layout.height}px`;
  }
  chart.tell = setTriggerValue;
  load(data.script).then(() => draw(chart), (error) => {
    if (!chart.drawn) chart.plot.textContent = "The chart's script could not be loaded. Reload the page.";
    console.error(error);
  });
  // A call's end may be that of the chart, or of data that newer ones have overtaken.
  return () => {
    if (root.isConnected) return;
    chart.sizes.disconnect();
    if (chart.drawn) window.Plotly.purge(chart.plot);
  };
}
