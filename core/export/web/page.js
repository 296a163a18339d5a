// Draws a saved page's figures for the frame that it is in, in the reader's theme.
(async () => {
  const CONFIG = { displayModeBar: false, displaylogo: false, showSendToCloud: false };
  const root = document.documentElement, status = document.getElementById("status");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const places = [...document.querySelectorAll(".chart")];
  const settings = new Map();

  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (char) => char.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  async function loadPlotly() {
    if (window.Plotly || !document.getElementById("plotly")) return;
    const script = document.createElement("script");
    script.textContent = await unpacked("plotly");
    document.head.append(script);
  }

  // What stands in several places is written once.
  function whole(value, pool) {
    if (Array.isArray(value)) return value.map((part) => whole(part, pool));
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) return whole(pool[value.$], pool);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, whole(part, pool)]));
  }

  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");

  function layoutFor(layouts, room) {
    const own = layouts.filter(([, name]) => name === theme());
    const all = own.length ? own : layouts;
    return all.findLast(([width]) => width <= room) ?? all[0];
  }

  function draw(place, at, { pool, charts }) {
    const room = Math.floor(place.clientWidth);
    if (!room) return;
    const [width, , packed] = layoutFor(charts[at], room);
    let figure = whole(packed, pool);
    const form = place.closest("figure").querySelector(".knobs");
    if (form) figure = turned(form, figure, settings.get(form));
    figure.layout.width = Math.max(width, room);
    figure.layout.autosize = false;
    const inner = place.firstElementChild ?? place.appendChild(document.createElement("div"));
    inner.style.width = `${figure.layout.width}px`;
    // A frame narrower than every layout is scrolled, from the keyboard too.
    if (width > room) place.tabIndex = 0;
    place.style.height = `${figure.layout.height + (width > room ? 14 : 0)}px`;
    window.Plotly.react(inner, figure.data, figure.layout, CONFIG);
  }

  // The figure as its knobs stand; as it was run where they were not moved.
  function turned(form, figure, own) {
    const data = figure.layout.meta.knobs, words = form.querySelector(".said");
    const subtitle = form.parentElement.querySelector(".subtitle");
    for (const [name, text] of Object.entries(Knobs.TEXTS)) {
      form.elements[name].value = own?.[name] ?? data.start[name];
      form.querySelector(`[data-of=${name}]`).textContent = text(own?.[name] ?? data.start[name]);
    }
    form.querySelector("button").disabled = !own;
    words.textContent = tr("As it was run. Move a knob: this page works the step out anew.");
    if (subtitle) subtitle.textContent = own ? figure.layout.meta.shaped : figure.layout.meta.subtitle;
    if (!own) return figure;
    const { rest, exact } = Knobs.redraw(figure, data, own);
    const values = { count: data.rest.toLocaleString("en"), share: rest };
    words.textContent = exact
      ? tr("All {count} other tokens: {share}.", values)
      : tr("All {count} other tokens: {share}. Of them only the sum is stored: a whisker spans what is possible.", values);
    return figure;
  }

  function listen(form, redraw) {
    const fields = Object.keys(Knobs.TEXTS);
    form.addEventListener("input", () => {
      settings.set(form, Object.fromEntries(fields.map((name) => [name, Number(form.elements[name].value)])));
      redraw();
    });
    form.querySelector("button").addEventListener("click", () => {
      settings.delete(form);
      redraw();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  function tellHeight() {
    if (window.parent !== window) window.parent.postMessage({ type: "decoding-explorer-height", height: root.scrollHeight }, "*");
  }

  try {
    const figures = JSON.parse(await unpacked("figures"));
    await Promise.all([loadPlotly(), document.fonts.load("12px 'Decoding Sans'"), document.fonts.load("700 12px 'Decoding Sans'"), document.fonts.load("12px 'Decoding Mono'")]);
    if (!window.Plotly) throw new Error("Plotly's script is missing");
    const all = () => places.forEach((place, at) => draw(place, at, figures));
    places.forEach((place, at) => {
      const form = place.closest("figure").querySelector(".knobs");
      if (!form) return;
      form.hidden = false;
      listen(form, () => draw(place, at, figures));
    });
    all();
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (root.clientWidth !== width) all();
      width = root.clientWidth;
      tellHeight();
    }).observe(document.body);
    dark.addEventListener("change", all);
    const button = document.getElementById("theme");
    const name = () => { button.textContent = theme() === "dark" ? tr("Light") : tr("Dark"); };
    if (button) {
      name();
      button.hidden = false;
      button.addEventListener("click", () => {
        root.dataset.theme = theme() === "dark" ? "light" : "dark";
        name();
        all();
      });
    }
    root.dataset.drawn = "yes";
  } catch (error) {
    status.textContent = window.DecompressionStream
      ? tr("The figure could not be drawn: Plotly's script, which lies beside this page, is missing or another one.")
      : tr("The figure needs a browser of 2023 or newer.");
    console.error(error);
  }
})();
