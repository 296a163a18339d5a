// A reasoning run's text in pieces: thinking, marks, answer, calls. Text goes in by textContent only.

function place(tokens, index, [text, kind, title]) {
  let span = tokens.children[index];
  if (!span) tokens.append((span = document.createElement("span")));
  if (span.textContent !== text) span.textContent = text;
  if (span.className !== kind) span.className = kind;
  if (span.title !== title) span.title = title;
}

function list(key, entries) {
  const words = JSON.stringify(entries);
  if (key.words === words) return;
  key.words = words;
  key.replaceChildren(...entries.map(([name, color]) => {
    const item = document.createElement("li");
    item.textContent = name;
    item.style.setProperty("--c", color);
    return item;
  }));
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".reason");
  // A later call may overtake an earlier one while the module loads.
  if (!root || data.drawn < root.drawn) return;
  root.drawn = data.drawn;
  for (const [name, color] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, color);
  const text = root.querySelector(".text");
  const question = root.querySelector(".question");
  if (question.textContent !== data.question) question.textContent = data.question;
  question.hidden = !data.question;
  const tokens = root.querySelector(".tokens");
  data.pieces.forEach((piece, index) => place(tokens, index, piece));
  while (tokens.children.length > data.pieces.length) tokens.lastChild.remove();
  text.classList.toggle("live", Boolean(data.live));
  if (data.live) text.scrollTop = text.scrollHeight;
  list(root.querySelector(".key"), data.key);
}
