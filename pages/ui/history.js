// Streamlit adds an entry to the history for every change of a page's address that the server
// makes, so that Back would go through all of them. Here such a change replaces the entry.

export default function () {
  if (history.onePerPage) return;
  history.onePerPage = true;
  const push = history.pushState;
  history.pushState = function (state, title, address) {
    const same = new URL(address, location.href).pathname === location.pathname;
    (same ? history.replaceState : push).call(history, state, title, address);
  };
}
