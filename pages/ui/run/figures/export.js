// Draws figures in the browser for the server to make files of, and saves these files.

// Files saved since the page was loaded: a menu that opens again makes its elements anew.
const saved = (window.deSavedFiles ??= new Set());

function save({ name, type, content }) {
  const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A figure is laid out with the fonts that its file will have: they must be there before.
async function loadFonts() {
  const families = ["Source Sans", "Source Code Pro", "Decoding Signs"];
  const wanted = families.flatMap((family) => [400, 700].map((weight) => `${weight} 12px '${family}'`));
  await Promise.all(wanted.map((font) => document.fonts.load(font)));
}

async function draw(text) {
  await loadFonts();
  const { data, layout } = JSON.parse(text);
  const { width, height } = layout;
  const url = await window.Plotly.toImage({ data, layout }, { format: "svg", width, height });
  return decodeURIComponent(url.slice(url.indexOf(",") + 1));
}

// A figure's numbers as a table, for those who can't see it and for those who want to read them.
function showTable(root, { title, columns, numbers, rows, left }) {
  const dialog = root.querySelector("dialog");
  const line = (kind, cells) => {
    const row = document.createElement("tr");
    cells.forEach((text, place) => {
      const cell = document.createElement(kind);
      if (kind === "th") cell.scope = "col";
      cell.textContent = text;
      cell.classList.toggle("number", numbers[place]);
      row.append(cell);
    });
    return row;
  };
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector(".rows").setAttribute("aria-label", tr("Table of {title}", { title }));
  dialog.querySelector("thead").replaceChildren(line("th", columns));
  dialog.querySelector("tbody").replaceChildren(...rows.map((row) => line("td", row)));
  dialog.querySelector(".left").textContent = left ? tr("{number} more rows are in the CSV file.", { number: left.toLocaleString("en") }) : "";
  root.status.textContent = "";
  if (!dialog.open) dialog.showModal();
  dialog.querySelector(".rows").focus();
}

async function work(root) {
  const { task, file, table, said } = root.data;
  if (table && !saved.has(table.id)) {
    saved.add(table.id);
    showTable(root, table);
  }
  if (said) root.status.textContent = said;
  if (file && !saved.has(file.id)) {
    saved.add(file.id);
    save(file);
    root.status.textContent = tr("Saved {name}", { name: file.name });
  }
  if (!task || task.id === root.done) return;
  root.done = task.id;
  try {
    const svg = await draw(task.figure);
    root.tell("drawn", { id: task.id, svg });
  } catch (error) {
    root.status.textContent = window.Plotly ? tr("The browser could not draw this figure.") : tr("The chart is still loading. Try again in a moment.");
    root.tell("drawn", { id: task.id, svg: "" });
    console.error(error);
  }
}

async function act(root, name) {
  if (name === "caption" || name === "alt") {
    try {
      await navigator.clipboard.writeText(root.data[name]);
      root.status.textContent = tr("Copied");
    } catch {
      root.status.textContent = tr("The browser refused. Select the text and copy it.");
    }
    return;
  }
  root.status.textContent = name === "table" ? "" : tr("Drawing…");
  root.tell("asked", name);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".export");
  // A later call may overtake an earlier one while the module loads.
  if (!root || data.drawn < root.data?.drawn) return;
  root.data = data;
  root.tell = setTriggerValue;
  for (const name of ["choices", "caption", "alt"]) {
    const place = root.querySelector(`.${name}`);
    if (place) place.textContent = data[name];
  }
  if (!root.ready) {
    root.ready = true;
    root.status = root.querySelector("[role=status]");
    root.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.act) act(root, button.dataset.act);
    });
  }
  work(root);
}
