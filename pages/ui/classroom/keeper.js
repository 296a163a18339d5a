// Keeps a secret of this browser, a pupil's id or a teacher's key, so that a reload finds the class
// again. What an earlier visit has kept is told once; after that, the page's own value replaces it.
export default function ({ data, setStateValue }) {
  try {
    const kept = localStorage.getItem(data.item);
    if (!data.told && kept !== null && kept !== data.value && kept.startsWith(data.prefix)) {
      setStateValue("kept", kept);
    } else if (data.asks) {
      setStateValue("kept", "");
    } else if (data.value) {
      localStorage.setItem(data.item, data.value);
    } else {
      localStorage.removeItem(data.item);
    }
  } catch {
    // Storage is switched off: after a reload the class is joined anew.
    if (data.asks) {
      setStateValue("kept", "");
    }
  }
}
