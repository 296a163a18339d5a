// A number beyond its range: the nearest one in it takes its place, and so long is that said.
const NOTE_MS = 8000;

function nearest(asked, low, high) {
  return Math.min(Math.max(asked, low), high);
}

function taken(asked, near, what) {
  const [said, now] = [asked, near].map((number) => number.toLocaleString("en"));
  return `${said} is ${near < asked ? "more" : "less"} than this ${what} takes: it is ${now} now.`;
}
