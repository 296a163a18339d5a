// What the browser says of a drawn figure: its texts and marks and their boxes, px from its left upper corner, and the
// places that its bars take on their axis.
window.measure = (root) => {
  const home = root.getBoundingClientRect();
  const shown = (node) => {
    for (let at = node; at && at !== root; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return false;
    }
    return true;
  };
  const box = (rect) => ({
    left: rect.left - home.left, right: rect.right - home.left,
    top: rect.top - home.top, bottom: rect.bottom - home.top,
  });
  const texts = [];
  for (const text of root.querySelectorAll("svg text")) {
    if (!text.textContent.trim() || !shown(text) || text.closest(".hoverlayer")) continue;
    const matrix = text.getScreenCTM();
    const scale = Math.hypot(matrix.a, matrix.b);
    const lines = text.querySelectorAll("tspan.line");
    const holder = text.matches(".bartext") ? text.parentElement.querySelector("path") : null;
    for (const line of lines.length ? lines : [text]) {
      if (!line.textContent.trim()) continue;
      const sizes = [line, ...line.querySelectorAll("tspan")]
        .filter((own) => [...own.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()))
        .map((own) => parseFloat(getComputedStyle(own).fontSize) * scale);
      texts.push({
        text: line.textContent.replaceAll("\u00a0", " ").trim(),
        ...box(line.getBoundingClientRect()),
        size: Math.min(...sizes),
        inside: text.matches(".bartext-inside") && holder ? box(holder.getBoundingClientRect()) : null,
        kind: text.getAttribute("class") || "",
      });
    }
  }
  const bars = [];
  for (const drawn of root.calcdata) {
    const { trace } = drawn[0];
    if (trace.type !== "bar" || trace.visible !== true) continue;
    for (const bar of drawn.filter((own) => Number.isFinite(own.p0))) {
      bars.push({ name: trace.name, axes: trace.xaxis + trace.yaxis, sized: trace.width !== undefined, at: bar.p, from: bar.p0, to: bar.p1 });
    }
  }
  const marks = [...root.querySelectorAll(".scatterlayer .point")].filter(shown).map((point) => box(point.getBoundingClientRect()));
  return { width: home.width, height: home.height, texts, marks, bars };
};
