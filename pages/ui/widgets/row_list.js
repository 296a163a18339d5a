// Rows of cells, of which one is picked. Text goes in by textContent only.

const STEPS = { ArrowUp: -1, ArrowDown: 1 };

function rowOf([id, , , cells]) {
  const row = document.createElement("button");
  row.type = "button";
  row.dataset.id = id;
  row.setAttribute("role", "option");
  const mark = document.createElement("span");
  mark.className = "mark";
  row.append(mark, ...cells.map(() => document.createElement("span")));
  return row;
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function fill(row, [, state, label, cells]) {
  row.dataset.state = state;
  if (row.getAttribute("aria-label") !== label) row.setAttribute("aria-label", label);
  cells.forEach((text, at) => {
    write(row.children[at + 1], text);
    row.children[at + 1].title = text;
  });
}

function mark(list, chosen) {
  for (const row of list.children) {
    const own = row.dataset.id === chosen;
    row.setAttribute("aria-selected", String(own));
    write(row.firstChild, own ? "▸" : "");
    row.tabIndex = own || (!chosen && row === list.firstChild) ? 0 : -1;
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector(".rows");
  // A later call may overtake an earlier one while the module loads.
  if (!list || data.drawn < list.drawn) return;
  list.drawn = data.drawn;
  const known = new Map([...list.children].map((row) => [row.dataset.id, row]));
  const rows = data.rows.map((row) => known.get(row[0]) || rowOf(row));
  for (const row of list.children) if (!rows.includes(row)) row.remove();
  // Rows that stay where they are keep the keyboard's focus.
  rows.forEach((row, at) => {
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] || null);
    fill(row, data.rows[at]);
  });
  mark(list, data.chosen);
  list.onclick = ({ target }) => {
    const row = target.closest("button");
    if (!row) return;
    mark(list, row.dataset.id);
    setTriggerValue("picked", row.dataset.id);
  };
  list.onkeydown = (event) => {
    const row = event.target.closest("button");
    const at = rows.indexOf(row);
    const next = event.key === "Home" ? 0 : event.key === "End" ? rows.length - 1 : at + STEPS[event.key];
    if (at < 0 || !rows[next]) return;
    event.preventDefault();
    rows[next].focus();
  };
}
