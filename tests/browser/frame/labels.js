// Faults of the labels of a page, given what is left out, and what has labels of one line.
([left, oneLine]) => {
  const faults = [], labels = []
  const boxOf = (node) => node.getBoundingClientRect()
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host
  const nodes = function* (root) {
    for (const node of root.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (node.data.trim()) yield node
      } else if (node.nodeType === Node.ELEMENT_NODE && !node.matches(left)) {
        if (node.shadowRoot) yield* nodes(node.shadowRoot)
        yield* nodes(node)
      }
    }
  }
  // Where a text can be seen: within all boxes around it that hide what is beyond them.
  const clipOf = (node) => {
    let [low, high, scrolls, layer] = [0, innerWidth, false, ""]
    for (let around = node.parentElement; around; around = parentOf(around)) {
      const style = getComputedStyle(around)
      if (style.position === "fixed" || style.position === "sticky") layer ||= around.className || "?"
      if (style.opacity === "0" || style.visibility === "hidden") return null
      if (style.overflowX === "visible") continue
      if (style.overflowX === "auto" || style.overflowX === "scroll") {
        // What the reader can scroll to isn't cut.
        const scrolled = around.scrollWidth > around.clientWidth + 1
        if (scrolled && around.matches("[role=radiogroup], [role=tablist]")) return { low: boxOf(around).left, high: boxOf(around).right, scrolls: false, layer }
        if (scrolled && !around.matches("[data-testid=stMain]")) scrolls = true
        continue
      }
      const box = boxOf(around)
      if (box.width < 2 || box.height < 2) return null
      if (!scrolls) [low, high] = [Math.max(low, box.left), Math.min(high, box.right)]
    }
    return { low, high, scrolls, layer }
  }
  for (const node of nodes(document.body)) {
    const range = document.createRange()
    range.selectNodeContents(node)
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 1 && rect.height > 1)
    // A closed sidebar stands beside the window.
    if (rects.every((rect) => rect.right < 0 || rect.left > innerWidth)) continue
    if (!rects.length || !node.parentElement.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
    const clip = clipOf(node)
    if (!clip) continue
    const text = node.data.trim().replace(/\s+/g, " ").slice(0, 60)
    const holder = node.parentElement, hidden = getComputedStyle(holder).overflowX !== "visible"
    const beyond = rects.some((rect) => rect.right > clip.high + 1.5 || rect.left < clip.low - 1.5)
    if ((beyond && !clip.scrolls) || (hidden && holder.scrollWidth > holder.clientWidth + 1)) faults.push(`cut: ${text}`)
    const lines = new Set(rects.map((rect) => Math.round(rect.bottom / 6)))
    if (holder.closest(oneLine) && lines.size > 1) faults.push(`wrapped: ${text}`)
    labels.push({ text, rects, node, layer: clip.layer })
  }
  for (const field of document.querySelectorAll("input:not([type=range], [type=checkbox], [type=radio], [type=file])")) {
    const box = boxOf(field)
    if (box.width > 20 && box.width < 250 && box.height > 8 && field.checkVisibility() && field.scrollWidth > field.clientWidth + 1)
      faults.push(`cut: ${field.getAttribute("aria-label")}: ${field.value.slice(0, 40)}`)
  }
  const over = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 3 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 5
  labels.forEach((one, at) => {
    for (const other of labels.slice(at + 1)) {
      if (one.layer !== other.layer) continue
      if (one.rects.some((a) => other.rects.some((b) => over(a, b)))) faults.push(`over: ${one.text} | ${other.text}`)
    }
  })
  return faults
}