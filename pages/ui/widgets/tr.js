
// A component's own texts in the reader's language: their translations come with its data.
let translations = {}, translated = 0;

function tr(text, values = {}) {
  return (translations[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// The words of the HTML, which is English and hidden until then: what writes each of them, by the element that holds it.
const htmlWords = new WeakMap();
const TITLES = ["aria-label", "title"];
function wordsIn(root) {
  const found = [], texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, text = node.data, words = text.trim();
    if (words && node.parentElement?.localName !== "style") found.push([words, (now) => (node.data = text.replace(words, () => now))]);
  }
  for (const name of TITLES) {
    for (const node of root.querySelectorAll(`[${name}]`)) found.push([node.getAttribute(name), (now) => node.setAttribute(name, now)]);
  }
  return found;
}

// Nothing but the HTML is there before the first call; what a call draws later is never translated.
export default function (call) {
  const { data, parentElement } = call;
  const holder = parentElement.querySelector(".de-html") ?? parentElement;
  if (!htmlWords.has(holder)) htmlWords.set(holder, wordsIn(holder));
  if (data?.translations && !(data.drawn < translated)) {
    translations = data.translations;
    translated = data.drawn ?? translated;
  }
  for (const [words, write] of htmlWords.get(holder)) write(tr(words));
  holder.style?.removeProperty("visibility");
  return drawComponent(call);
}
