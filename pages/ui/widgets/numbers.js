// A number that isn't taken, beyond its range or broken: the nearest one takes its place, and so long is that said.
const NOTE_MS = 8000;

function nearest(asked, low, high) {
  return Math.min(Math.max(asked, low), high);
}

function rangeOf(low, high) {
  return tr("{low} to {high}", { low, high });
}

function taken(asked, near, what, broken) {
  const [said, now] = [asked, near].map((number) => number.toLocaleString("en"));
  if (broken) return tr("This {what} takes whole numbers: {said} is {now} now.", { what, said, now });
  const values = { what, said, now };
  return near < asked
    ? tr("{said} is more than this {what} takes: it is {now} now.", values)
    : tr("{said} is less than this {what} takes: it is {now} now.", values);
}
