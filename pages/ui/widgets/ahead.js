// What a gesture changes is fetched by the browser itself, and shown before the page has answered.
// Before the script of a component whose parts follow inputs, such as a chosen step or a knob.

// After this long what the server draws counts, whatever was chosen.
const WAIT_MS = 3000;
const MOST_FETCHED = 60;

const fetched = (window.deFetched ??= new Map());

function find(address) {
  if (!fetched.has(address)) {
    if (fetched.size >= MOST_FETCHED) fetched.clear();
    const asked = fetch(address).then((answer) => (answer.ok && answer.status !== 204 ? answer.json() : null)).catch(() => null);
    fetched.set(address, asked.then((found) => found || (fetched.delete(address), null)));
  }
  return fetched.get(address);
}

// A part of the page; `take` shows what it is given.
function follow(take) {
  const part = { name: "", take, ahead: null, chosen: {}, asked: null, late: null, waiting: 0 };
  part.onNear = ({ detail }) => {
    const address = addressOf(part, detail.inputs);
    if (address) find(address);
  };
  part.onChoose = ({ detail }) => choose(part, detail);
  return part;
}

function listen(part) {
  document.addEventListener("de-near", part.onNear);
  document.addEventListener("de-choose", part.onChoose);
}

function leave(part) {
  clearTimeout(part.waiting);
  document.removeEventListener("de-near", part.onNear);
  document.removeEventListener("de-choose", part.onChoose);
}

// Of the part under these inputs; null where none of them is the part's, or it is nowhere.
function addressOf({ ahead, chosen }, inputs) {
  if (!ahead?.address || !Object.keys(inputs).some((name) => name in ahead.at)) return null;
  const all = { ...ahead.at, ...chosen, ...inputs };
  const own = Object.keys(ahead.at).map((name) => [name, all[name]]);
  return `${ahead.address}?${new URLSearchParams(own)}`;
}

function choose(part, { inputs, shown }) {
  const own = Object.entries(inputs).filter(([name]) => part.ahead && name in part.ahead.at);
  if (!own.length) return;
  const address = addressOf(part, inputs);
  Object.assign(part.chosen, Object.fromEntries(own));
  part.asked = address;
  clearTimeout(part.waiting);
  part.waiting = setTimeout(() => giveUp(part), WAIT_MS);
  // A part that is nowhere shows the inputs by itself.
  if (!address) return part.take({ ahead: { at: { ...part.ahead.at, ...part.chosen } } });
  const show = async () => {
    const found = (await find(address))?.[part.name];
    // An answer to an earlier gesture, or one that the server was quicker than, shows nothing.
    if (found && part.asked === address) await part.take(found);
  };
  shown.push(show());
}

function settle(part) {
  clearTimeout(part.waiting);
  Object.assign(part, { chosen: {}, asked: null, late: null });
}

function giveUp(part) {
  const { late } = part;
  settle(part);
  if (late) part.take(late);
}

// What the server has drawn; what it drew before it knew what was chosen waits.
function receive(part, data) {
  part.name = data.name;
  if (!data.ahead || part.ahead?.address !== data.ahead.address) settle(part);
  part.ahead = data.ahead;
  const overtaken = Object.entries(part.chosen).some(([name, value]) => data.ahead.at[name] !== value);
  if (overtaken) {
    part.late = data;
    return;
  }
  settle(part);
  part.take(data);
}
