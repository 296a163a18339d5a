// Before the script of a component in which something is chosen.

// So long at most what shows a choice by itself is waited for before the server is told, which takes the
// time of both the browser and the server.
const AHEAD_MS = 250;

// Has the parts of the page show what is chosen; once they do, or late, the server may be told.
async function goAhead(inputs) {
  const shown = [];
  document.dispatchEvent(new CustomEvent("de-choose", { detail: { inputs, shown } }));
  if (shown.length) await Promise.race([Promise.allSettled(shown), new Promise((next) => setTimeout(next, AHEAD_MS))]);
}
