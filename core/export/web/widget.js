// Draws a trace in a notebook: its tokens, the chosen step's candidates, and knobs that shape them anew.
function widgetOf(model, el) {
  const data = model.get("data");
  const root = document.createElement("div");
  root.className = "decoding-explorer";
  const strip = part("div", "strip"), head = part("p", "said"), knobs = part("form", "knobs");
  const bars = part("div", "bars"), foot = part("p", "said");
  strip.setAttribute("role", "group");
  strip.setAttribute("aria-label", tr("Generated tokens"));
  foot.setAttribute("role", "status");
  root.append(strip, head, knobs, bars, foot);
  el.append(root);
  let moved = null;

  function part(name, className, text) {
    const made = document.createElement(name);
    made.className = className ?? "";
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const step = () => data.steps[model.get("step")];
  // The colours of the theme that the notebook is in, by the brightness of its own text.
  const [red, green, blue] = (getComputedStyle(root).color.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  const theme = 0.3 * red + 0.6 * green + 0.1 * blue > 128 ? "dark" : "light";
  const buttons = data.steps.map(({ text, label, colors }, at) => {
    const [ground, ink] = colors[theme];
    const button = part("button", "token", text);
    button.type = "button";
    button.title = label;
    button.setAttribute("aria-label", label);
    button.style.background = ground;
    button.style.color = ink;
    button.addEventListener("click", () => choose(at));
    return button;
  });
  strip.append(part("span", "prompt", data.prompt), ...buttons);
  strip.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    choose(Math.min(Math.max(model.get("step") + by, 0), buttons.length - 1));
    buttons[model.get("step")].focus();
  });

  function choose(at) {
    model.set("step", at);
    model.save_changes();
    draw();
  }

  const fields = data.knobs.map(({ name, label, low, high, step: by }) => {
    const row = part("label"), words = part("b"), input = part("input");
    Object.assign(input, { type: "range", name, min: low, max: high, step: by });
    row.append(part("span", "", label), words, input);
    return { name, row, words, input };
  });
  const reset = part("button", "", tr("Reset"));
  reset.type = "button";
  knobs.append(...fields.map(({ row }) => row), reset);
  knobs.addEventListener("submit", (event) => event.preventDefault());
  knobs.addEventListener("input", () => {
    moved = Object.fromEntries(fields.map(({ name, input }) => [name, Number(input.value)]));
    draw();
  });
  reset.addEventListener("click", () => { moved = null; draw(); });

  function bar(candidate, row, widest, emitted) {
    const line = part("div", `bar${emitted ? " emitted" : ""}${row.gone ? " gone" : ""}`);
    const box = part("div", "box"), raw = part("i", "raw"), now = part("i", "now");
    raw.style.width = `${100 * candidate.raw / widest}%`;
    now.style.width = `${100 * row.high / widest}%`;
    now.style.opacity = row.high > row.low + 1e-6 ? 0.6 : 1;
    box.append(raw, now);
    line.append(part("span", "name", candidate.text), box, part("span", "prob", row.words));
    line.title = tr("{token}: {share} by the model", { token: candidate.text, share: Knobs.percent(candidate.raw) });
    return line;
  }

  // As it was run, or as the knobs shape it.
  function shaped({ candidates, knobs: own }) {
    if (!moved || !own) return { rows: candidates.map(({ prob, gone }) => ({ low: prob, high: prob, gone })), rest: null };
    return Knobs.shaped(own, moved);
  }

  function draw() {
    const at = model.get("step"), own = step();
    buttons.forEach((button, place) => {
      button.setAttribute("aria-pressed", String(place === at));
      button.tabIndex = place === at ? 0 : -1;
    });
    if (!own) return;
    const start = own.knobs?.start ?? data.start;
    for (const { name, words, input } of fields) {
      input.value = moved?.[name] ?? start[name];
      words.textContent = Knobs.TEXTS[name](Number(input.value));
      input.disabled = !own.knobs;
    }
    reset.disabled = !moved;
    head.textContent = own.label;
    const { rows, rest } = shaped(own);
    const widest = Math.max(...own.candidates.map(({ raw }) => raw), ...rows.map(({ high }) => high)) || 1;
    bars.replaceChildren(...own.candidates.map((candidate, place) => {
      const row = rows[place];
      const words = row.gone ? data.removed[row.gone] ?? "0" : Knobs.said(row);
      return bar(candidate, { ...row, words }, widest, candidate.id === own.token);
    }));
    foot.textContent = !own.knobs ? data.fixed
      : !moved ? tr("As it was run; pale bars are the model's own probabilities. Move a knob: this step is worked out anew.")
      : tr("All {count} other tokens: {share}.", { count: own.knobs.rest.toLocaleString("en"), share: Knobs.said({ low: rest[0], high: rest[1] }) });
  }

  model.on("change:step", draw);
  draw();
  return () => model.off("change:step", draw);
}

export default { render: ({ model, el }) => widgetOf(model, el) };
