// Copies the address of the page, which holds every control.

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.className = data.run ? "" : "small";
  const status = parentElement.querySelector("[role=status]");
  button.onclick = async () => {
    const address = new URL(window.location.href);
    if (data.run) address.searchParams.set("run", "1");
    try {
      await navigator.clipboard.writeText(address.href);
      status.textContent = "Copied";
    } catch {
      status.textContent = "Copy the address of this page from the browser's bar.";
    }
  };
}
