// The steps of a run, one a row. Text goes in by textContent only.

const ARROWS = { ArrowUp: -1, ArrowDown: 1 };

function rowOf(cells, place) {
  const row = document.createElement("button");
  row.type = "button";
  row.dataset.place = place;
  row.append(...cells.map((text) => {
    const cell = document.createElement("span");
    cell.textContent = text;
    return cell;
  }));
  return row;
}

function mark(list, at) {
  for (const row of list.children) {
    const current = Number(row.dataset.place) === at;
    row.tabIndex = current || (at < 0 && row === list.firstChild) ? 0 : -1;
    if (current) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

function bringIntoView(list, at) {
  const row = list.children[at];
  if (row) list.scrollTop = row.offsetTop - list.offsetTop - (list.clientHeight - row.clientHeight) / 2;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector(".steps");
  // A later call may overtake an earlier one while the module loads.
  if (!list || data.drawn < list.drawn) return;
  list.drawn = data.drawn;
  const told = JSON.stringify(data.steps);
  if (list.told !== told) {
    list.told = told;
    list.replaceChildren(...data.steps.map(rowOf));
    requestAnimationFrame(() => bringIntoView(list, data.at));
  }
  mark(list, data.at);
  list.onclick = ({ target }) => {
    const row = target.closest("button");
    if (!row) return;
    mark(list, Number(row.dataset.place));
    setTriggerValue("picked", Number(row.dataset.place));
  };
  list.onkeydown = (event) => {
    const row = event.target.closest("button");
    const next = row && list.children[Number(row.dataset.place) + ARROWS[event.key]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
}
