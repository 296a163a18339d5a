// The highlight of one place on the page: an outline that outlasts a redraw, brought into view.

const WIDE = "(min-width: 1100px)", MARK = "de-lesson-mark", TRIES = 40, TRY_MS = 250, STAY = 16;
const OWN_MOVES = ["wheel", "touchmove", "keydown", "pointerdown"];

// Components keep their content in shadow roots, a rail of knobs among them.
function find(key) {
  const selector = `.st-key-${CSS.escape(key)}`;
  const light = document.querySelector(selector);
  if (light) return light;
  for (const host of document.querySelectorAll(".stBidiComponent, .stBidiComponent *")) {
    const knob = host.shadowRoot?.querySelector(selector);
    if (knob) return knob.closest(".knob") ?? knob;
  }
  return null;
}

function isShown(element) {
  // The content of a closed sidebar stands beside the window.
  if (inClosedSidebar(element)) return false;
  return element.getClientRects().length > 0 && element.checkVisibility({ visibilityProperty: true });
}

// The button is there only while the sidebar is closed.
function inClosedSidebar(element) {
  return element.closest("[data-testid=stSidebar]") && document.querySelector("[data-testid=stExpandSidebarButton]");
}

// A fold of controls is named by their keys, with hyphens between.
function foldOf(key) {
  const folds = [...document.querySelectorAll("[class*=st-key-fold-]")];
  const names = ({ classList }) => [...classList].filter((name) => name.startsWith("st-key-fold-"));
  return folds.find((fold) => names(fold).some((name) => name.slice("st-key-fold-".length).split("-").includes(key)));
}

// What hides the place is opened: a fold, the sidebar, the choice of one knob, a fold of knobs, or
// the page's further settings.
function open(point) {
  const place = find(point.key);
  if (!place) {
    if (point.tried++ === 4) foldOf(point.key)?.querySelector("[data-testid=stPopoverButton]")?.click();
    return;
  }
  for (let fold = place.closest("details:not([open])"); fold; fold = fold.parentElement?.closest("details:not([open])"))
    fold.querySelector("summary").click();
  inClosedSidebar(place)?.click();
  const root = place.getRootNode();
  if (root === document || isShown(place)) return;
  const pick = root.querySelector("select"), name = place.querySelector("[class*=st-key-]")?.className.match(/st-key-(\S+)/)?.[1];
  if (pick && isShown(pick) && pick.value !== name) {
    pick.value = name;
    pick.dispatchEvent(new Event("change"));
  } else root.querySelector(".fold:not([aria-expanded=true])")?.click();
}

function outline(point) {
  const place = find(point.key);
  if (!place) return false;
  if (place.getRootNode() !== document) {
    if (point.knob && point.knob !== place) point.knob.removeAttribute("style");
    point.knob = place;
    place.style.cssText = "outline: 3px solid var(--st-primary-color); outline-offset: 2px; border-radius: 6px; scroll-margin: 8.5rem 0 calc(var(--de-sheet, 0px) + 1.5rem)";
  }
  return isShown(place);
}

// There a bar with one knob stays at the head of the page.
function isNarrow() {
  return matchMedia("(max-width: 640px)").matches;
}

// The part of the window that neither the header nor the lesson covers.
function isInView(place) {
  const { top, bottom, height } = place.getBoundingClientRect();
  const low = innerHeight - (parseFloat(document.documentElement.style.getPropertyValue("--de-sheet")) || 0);
  return top >= (isNarrow() ? 128 : 60) && (bottom <= low || height > low - 128);
}

function bring(place) {
  if (!isInView(place)) place.scrollIntoView({ block: place.offsetHeight > innerHeight / 2 ? "start" : "center" });
  if (!isInView(place)) place.scrollIntoView({ block: "nearest" });
}

// Points at the place of a key, or at none; a new place is brought into view once it is there.
function pointAt(point, key) {
  if (point.key === key) return;
  forget(point);
  point.key = key;
  point.tried = 0;
  if (!key) return;
  point.style = document.createElement("style");
  point.style.className = MARK;
  point.style.textContent = `.st-key-${CSS.escape(key)} { outline: 3px solid var(--de-accent); outline-offset: 3px;
    border-radius: 8px; scroll-margin: 8.5rem 0 calc(var(--de-sheet, 0px) + 1.5rem); }`;
  document.head.append(point.style);
  look(point);
}

// Looks for the place until it is in view.
function look(point) {
  clearInterval(point.timer);
  point.tried = 0;
  let tries = 0, stay = STAY;
  const moved = () => (stay = 0);
  for (const move of OWN_MOVES) addEventListener(move, moved, { once: true, capture: true, passive: true });
  point.timer = setInterval(() => {
    const shown = outline(point);
    if (stay <= 0) return;
    if (shown) {
      // Content that comes later may push the place out of view again.
      stay -= 1;
      bring(find(point.key));
    } else if (tries++ < TRIES) open(point);
  }, TRY_MS);
}

function forget(point) {
  clearInterval(point.timer);
  point.style?.remove();
  point.knob?.removeAttribute("style");
  Object.assign(point, { key: "", style: null, knob: null });
}

// On a phone the run that has just ended may stand below the window.
function showRun() {
  const text = matchMedia(WIDE).matches ? null : document.querySelector("[class*=text-panel], .st-key-figures");
  if (text && !isInView(text)) text.scrollIntoView({ block: "start" });
}

// Moves the keyboard to the place.
function goTo(point) {
  if (!point.key) return;
  const place = find(point.key);
  if (!place) return look(point);
  bring(place);
  // Of a button with a hint there are two, for a mouse and for a finger; one of them is hidden.
  // The help of a setting is a button before its field.
  const first = (selector) => [...place.querySelectorAll(selector)].find(isShown);
  (first("input, textarea, select, [role=slider]") ?? first("button, [tabindex='0']"))?.focus();
}
