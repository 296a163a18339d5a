// A figure's export, made in the browser from the figure's own data.

function save(name, url) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

function saveText(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  save(name, url);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function figureOf(data, root) {
  const theme = root.querySelector("input[name=theme]:checked").value;
  const width = Number(root.querySelector("select").value);
  const figure = JSON.parse(data.figures[theme]);
  const layout = { ...figure.layout, width, autosize: false };
  return { data: figure.data, layout, width, height: layout.height || 450 };
}

async function image(data, root, format, scale) {
  const { width, height, ...figure } = figureOf(data, root);
  const options = { format, width, height, scale };
  const url = await window.Plotly.toImage({ data: figure.data, layout: figure.layout }, options);
  const suffix = scale > 1 ? `@${scale}x` : "";
  save(`${data.name}${suffix}.${format}`, url);
}

const ACTS = {
  svg: (data, root) => image(data, root, "svg", 1),
  png2: (data, root) => image(data, root, "png", 2),
  png3: (data, root) => image(data, root, "png", 3),
  csv: (data) => saveText(`${data.name}.csv`, "\ufeff" + data.csv, "text/csv;charset=utf-8"),
  caption: (data) => navigator.clipboard.writeText(data.caption),
  alt: (data) => navigator.clipboard.writeText(data.alt),
};
const DONE = { caption: "Copied", alt: "Copied" };

async function act(root, name) {
  const status = root.querySelector("[role=status]");
  if (!window.Plotly && !["csv", "caption", "alt"].includes(name)) {
    status.textContent = "The chart is still loading. Try again in a moment.";
    return;
  }
  try {
    await ACTS[name](root.data, root);
    status.textContent = DONE[name] || "Saved";
  } catch (error) {
    status.textContent = "The browser refused. Try another format.";
    console.error(error);
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".export");
  // A later call may overtake an earlier one while the module loads.
  if (!root || data.drawn < root.data?.drawn) return;
  root.data = data;
  root.querySelector(".caption").textContent = data.caption;
  root.querySelector(".alt").textContent = data.alt;
  if (root.ready) return;
  root.ready = true;
  root.querySelector(`input[value=${data.theme}]`).checked = true;
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) act(root, button.dataset.act);
  });
}
