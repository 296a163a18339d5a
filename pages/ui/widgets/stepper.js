// Says which step is selected. Its buttons choose in the strip of tokens, which tells the server.

const WAIT_MS = 3000;

function say(stepper, at) {
  const { count, marked } = stepper.data;
  stepper.place.textContent = `Step ${at + 1} of ${count.toLocaleString("en")}`;
  const to = { previous: at > 0, next: at < count - 1, uncertain: marked.some((one) => one !== at) };
  for (const [name, button] of Object.entries(stepper.buttons)) button.disabled = !to[name];
}

function create(root) {
  const stepper = { root, place: root.querySelector("strong"), buttons: {}, drawn: 0 };
  for (const button of root.querySelectorAll("button")) {
    stepper.buttons[button.dataset.to] = button;
    button.addEventListener("click", () => {
      const detail = { strip: stepper.data.strip, to: button.dataset.to };
      document.dispatchEvent(new CustomEvent("de-step", { detail }));
    });
  }
  stepper.onChoose = ({ detail }) => {
    const chosen = detail.inputs[stepper.data.strip];
    if (chosen === undefined) return;
    Object.assign(stepper, { chosen, until: performance.now() + WAIT_MS });
    say(stepper, chosen);
  };
  return stepper;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".stepper");
  if (!root) return undefined;
  const stepper = (root.stepper ??= create(root));
  // While the module loads, a later call may overtake an earlier one.
  if (data.drawn < stepper.drawn) return undefined;
  Object.assign(stepper, { data, drawn: data.drawn });
  document.addEventListener("de-choose", stepper.onChoose);
  // A step that was chosen after the one that the server has drawn stays.
  if (data.at === stepper.chosen || !(performance.now() < stepper.until)) stepper.until = 0;
  say(stepper, stepper.until ? stepper.chosen : data.at);
  return () => root.isConnected || document.removeEventListener("de-choose", stepper.onChoose);
}
