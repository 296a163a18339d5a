// Copies links: to the run that is shown, and to the page with its controls as they are.

// What is copied: the address of the page, under the parameters of the run where they are given.
function addressOf(run, parameters) {
  const address = new URL(window.location.href);
  if (run) address.searchParams.set(run, "1");
  for (const [name, said] of Object.entries(parameters)) {
    if (said === null) address.searchParams.delete(name);
    else address.searchParams.set(name, said);
  }
  return address.href;
}

function buttonOf(words, status, address) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(address());
      status.textContent = tr("Copied");
    } catch {
      status.textContent = tr("Copy the address of this page from the browser's bar.");
    }
  };
  return button;
}

export default function ({ data, parentElement }) {
  const status = parentElement.querySelector("[role=status]");
  const asItIs = () => addressOf(data.run, {});
  const toRun = () => addressOf(data.run, data.parameters ?? {});
  const buttons = data.changed
    ? [buttonOf(tr("Copy link to the run shown"), status, toRun), buttonOf(tr("Copy link with the controls as they are now"), status, asItIs)]
    : [buttonOf(tr("Copy link"), status, toRun)];
  if (!data.run) buttons[0].className = "small";
  const place = parentElement.querySelector(".links");
  place.replaceChildren(...buttons);
  parentElement.querySelector(".which").textContent = data.changed ? tr("The run shown: {run}", { run: data.which }) : "";
  parentElement.querySelector(".lost").textContent = data.lost ?? "";
}
