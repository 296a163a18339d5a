// The list of checks. Names and details go in by textContent only.

const PARTS = ["name", "numbers", "detail"];

function rowOf(check) {
  const row = document.createElement("li");
  row.className = check.passed ? "passed" : "failed";
  const mark = document.createElement("span");
  mark.className = "mark";
  mark.textContent = check.passed ? "✓" : "✗";
  mark.setAttribute("aria-label", check.passed ? "passed" : "failed");
  row.append(mark);
  for (const part of PARTS) {
    const cell = document.createElement("span");
    cell.className = part;
    cell.textContent = check[part];
    row.append(cell);
  }
  return row;
}

export default function ({ data, parentElement }) {
  const list = parentElement.querySelector("ul");
  // A later call may overtake an earlier one while the module loads.
  if (!list || data.drawn < list.drawn) return;
  list.drawn = data.drawn;
  list.className = data.theme;
  list.replaceChildren(...data.checks.map(rowOf));
}
