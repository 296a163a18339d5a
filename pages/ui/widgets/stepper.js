// Says which step is selected. Its buttons choose in the strip of tokens, which tells the server.

function say(stepper, at) {
  const { count, marked } = stepper.data;
  stepper.place.textContent = tr("Step {nth} of {count}", { nth: at + 1, count: count.toLocaleString("en") });
  const to = { previous: at > 0, next: at < count - 1, uncertain: marked.some((one) => one !== at) };
  for (const [name, button] of Object.entries(stepper.buttons)) button.disabled = !to[name];
}

function create(root) {
  const stepper = follow(({ ahead }) => say(stepper, ahead.at[stepper.data.strip]));
  Object.assign(stepper, { place: root.querySelector("strong"), buttons: {}, drawn: 0 });
  for (const button of root.querySelectorAll("button")) {
    stepper.buttons[button.dataset.to] = button;
    button.addEventListener("click", () => {
      const detail = { strip: stepper.data.strip, to: button.dataset.to };
      document.dispatchEvent(new CustomEvent("de-step", { detail }));
    });
  }
  return stepper;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".stepper");
  if (!root) return undefined;
  const stepper = (root.stepper ??= create(root));
  // While the module loads, a later call may overtake an earlier one.
  if (data.drawn < stepper.drawn) return undefined;
  Object.assign(stepper, { data, drawn: data.drawn });
  receive(stepper, data);
  listen(stepper);
  return () => root.isConnected || leave(stepper);
}
