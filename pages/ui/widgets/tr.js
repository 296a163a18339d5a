// A script's own texts in the reader's language: the frame hands over their translations (`shell/browser.js`).
function tr(text, values = {}) {
  return (window.deWords?.[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// The words of a component's HTML, which are written in English.
const TITLES = ["aria-label", "title"];
function trAll(root) {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    node.english ??= node.data;
    const words = node.english.trim();
    if (words) node.data = node.english.replace(words, () => tr(words));
  }
  for (const name of TITLES) {
    for (const node of root.querySelectorAll(`[${name}]`)) {
      const english = (node.english ??= {});
      english[name] ??= node.getAttribute(name);
      node.setAttribute(name, tr(english[name]));
    }
  }
}
