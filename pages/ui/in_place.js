// A chart that is redrawn in place. Plotly itself comes with the page's other charts, and may come later than this.

const CONFIG = { displayModeBar: false, displaylogo: false };
const WAIT_MS = 30;

function draw(chart) {
  if (!chart.root.isConnected) return;
  if (!window.Plotly) {
    setTimeout(draw, WAIT_MS, chart);
    return;
  }
  const { data, layout } = chart.figure;
  const width = chart.root.clientWidth;
  if (width) window.Plotly.react(chart.root, data, { ...layout, width, autosize: false }, CONFIG);
}

function create(root) {
  const chart = { root, drawn: 0, figure: null, width: 0 };
  new ResizeObserver(() => {
    if (root.clientWidth === chart.width) return;
    chart.width = root.clientWidth;
    draw(chart);
  }).observe(root);
  return chart;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".in-place");
  if (!root) return;
  root.chart ??= create(root);
  // A later call may overtake an earlier one while the module loads.
  if (data.drawn <= root.chart.drawn) return;
  root.chart.drawn = data.drawn;
  root.chart.figure = JSON.parse(data.figure);
  root.style.height = `${root.chart.figure.layout.height}px`;
  root.setAttribute("aria-label", data.alt);
  root.chart.width = root.clientWidth;
  draw(root.chart);
}
