// A text that follows what the browser fetches. It goes in by textContent only.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".words");
  if (!root) return undefined;
  const words = (root.words ??= follow(({ text }) => (root.textContent = text)));
  // A later call may overtake an earlier one while the module loads.
  if (!(data.drawn <= words.drawn)) {
    words.drawn = data.drawn;
    receive(words, data);
  }
  listen(words);
  return () => root.isConnected || leave(words);
}
