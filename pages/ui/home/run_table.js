// Table of runs; a press on a row opens its run. Text goes in by textContent only.

function cell(kind, text, ...classes) {
  const made = document.createElement(kind);
  made.textContent = text;
  made.classList.add(...classes);
  return made;
}

function headOf(heads, columns) {
  const row = document.createElement("tr");
  row.append(...heads.map((head) => cell("th", head)));
  for (const [label, help] of columns) {
    const head = cell("th", label, "number");
    head.title = help;
    row.append(head);
  }
  for (const head of row.children) head.scope = "col";
  return row;
}

function rowOf({ name, label, text, numbers }, columns, open) {
  const row = document.createElement("tr");
  const first = document.createElement("td");
  const button = cell("button", name);
  button.type = "button";
  button.setAttribute("aria-label", label);
  first.append(button);
  const words = cell("td", text, "text");
  words.title = text;
  row.append(first, words);
  numbers.forEach(([number, best], at) => {
    const made = cell("td", number, "number", ...(best ? ["best"] : []), ...(at ? [] : ["first"]));
    made.dataset.label = columns[at][0];
    row.append(made);
  });
  row.onclick = open;
  return row;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const table = parentElement.querySelector("table");
  if (!table || data.drawn < table.drawn) return;
  table.drawn = data.drawn;
  const focused = [...table.querySelectorAll("button")].indexOf(parentElement.activeElement ?? document.activeElement);
  table.tHead.replaceChildren(headOf(data.heads, data.columns));
  table.tBodies[0].replaceChildren(
    ...data.rows.map((row, at) => rowOf(row, data.columns, () => setTriggerValue("opened", at))),
  );
  table.querySelectorAll("button")[focused]?.focus();
}
