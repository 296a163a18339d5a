// Streamlit's own words, which it has in English alone, in the reader's language.
const WORD_PLACES = ["stFileUploader", "stMainMenuList", "stMainMenuPopover", "stToolbar", "stStatusWidget", "stElementToolbar", "stConnectionStatus", "stHeader", "stSkipToContent", "stToast", "stSidebarNavViewButton", "InputInstructions"]
  .map((name) => `[data-testid=${name}]`).join();
const FILE_NAMES = "[data-testid=stFileChipName]";
const OWN_TITLES = ["aria-label", "title", "placeholder", "alt"];
const TITLED = OWN_TITLES.map((name) => `[${name}]`).join();
// What stands elsewhere: only these titles of Streamlit's, as a page's own may be anywhere.
const TITLES_ANYWHERE = [
  "section[data-testid=stSidebar]", "[data-testid=stSidebarHeader] *", "[data-testid=stExpandSidebarButton]",
  "[data-testid=stTooltipIcon] button", "[data-testid=stSelectbox] input", "[data-testid=stSelectbox] button",
  "[data-testid=stSelectboxVirtualDropdown] button", "[data-testid=stNumberInputContainer] button",
  "[data-testid=stCode] button", "kbd",
].join();

function ownWord(text) {
  const words = new Map(Object.entries({
    Upload: tr("Upload"),
    "Browse files": tr("Browse files"),
    "Add files": tr("Add files"),
    "Drag and drop a file here": tr("Drag and drop a file here"),
    "Drag and drop files here": tr("Drag and drop files here"),
    Rerun: tr("Rerun"),
    Settings: tr("Settings"),
    Print: tr("Print"),
    "Record a screencast": tr("Record a screencast"),
    "Record screen": tr("Record the screen"),
    "Stop recording": tr("Stop recording"),
    "Main menu": tr("Main menu"),
    "App pages": tr("Pages of the app"),
    "Error:": tr("Error:"),
    "file upload": tr("File to upload"),
    "Clear cache": tr("Clear cache"),
    About: tr("About"),
    Light: tr("Light"),
    Dark: tr("Dark"),
    System: tr("System"),
    Stop: tr("Stop"),
    "Running...": tr("Running…"),
    Connecting: tr("Connecting"),
    "Download as CSV": tr("Download as CSV"),
    Search: tr("Search"),
    Fullscreen: tr("Fullscreen"),
    "Close fullscreen": tr("Close fullscreen"),
    "Show/hide columns": tr("Show or hide columns"),
    "Skip to main content": tr("Skip to main content"),
    Sidebar: tr("Sidebar"),
    Logo: tr("Logo"),
    "Navigate to home page": tr("Navigate to home page"),
    "Collapse sidebar": tr("Collapse sidebar"),
    "Expand sidebar": tr("Expand sidebar"),
    "Choose an option": tr("Choose an option"),
    "Choose or add an option": tr("Choose or add an option"),
    Open: tr("Open"),
    Dismiss: tr("Dismiss"),
    "view more": tr("view more"),
    "view less": tr("view less"),
    Increment: tr("Increment"),
    Decrement: tr("Decrement"),
    Theme: tr("Theme"),
    "View less": tr("Fewer pages"),
    "Stop script": tr("Stop"),
    "Press Enter to apply": tr("Press Enter to apply"),
    "Made with Streamlit v": tr("Made with Streamlit v"),
    "Copy version to clipboard": tr("Copy version to clipboard"),
    "Copy to clipboard": tr("Copy to clipboard"),
  }));
  const sentences = [
    [/^(.+) per file( .*)?$/, (size, rest = "") => tr("{size} per file", { size }) + rest],
    [/^View (\d+) more$/, (count) => tr("{count} more pages", { count })],
    [/^Press (\S+)\+Enter to apply$/, (key) => tr("Press {key} + Enter to apply", { key })],
    [/^Remove (.+)$/, (name) => tr("Remove {name}", { name })],
    [/^Help for (.+)$/, (label) => tr("Help for {label}", { label })],
    [/^Shortcut (.+)$/, (keys) => tr("Shortcut {keys}", { keys })],
    [/^(.+) files are not allowed\.$/, (type) => tr("{type} files are not allowed.", { type })],
    [/^File must be (.+) or smaller\.$/, (size) => tr("The file must be {size} or smaller.", { size })],
  ];
  for (const [form, translated] of sentences) {
    const parts = form.exec(text);
    if (parts) return translated(...parts.slice(1));
  }
  return words.get(text.trim()) ?? text;
}

// The English text is kept beside the translation: Streamlit may write another one, and the language may change.
function reword(holder, now, write) {
  if (now !== holder.shownWord) holder.englishWord = now;
  holder.shownWord = ownWord(holder.englishWord);
  if (holder.shownWord !== now) write(holder.shownWord);
}

function sayOwnWords() {
  for (const place of document.querySelectorAll(WORD_PLACES)) {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (node.parentElement.closest(FILE_NAMES)) continue;
      reword(node, node.data, (text) => { node.data = text; });
    }
    for (const node of place.querySelectorAll(`:is(${TITLED}):not(${FILE_NAMES}, ${FILE_NAMES} *)`)) retitle(node);
  }
  for (const node of document.querySelectorAll(TITLES_ANYWHERE)) retitle(node);
}

function retitle(node) {
  for (const name of OWN_TITLES.filter((title) => node.hasAttribute(title))) {
    const held = ((node.ownTitles ??= {})[name] ??= {});
    reword(held, node.getAttribute(name), (text) => node.setAttribute(name, text));
  }
}

// With the next frame, so that nobody reads English; a browser that draws nothing at all has no frames.
const WITHOUT_A_FRAME_MS = 200;
let wordsAsked = false;
function askForWords() {
  const english = document.documentElement.lang === "en" && !document.ownWordsSaid;
  if (wordsAsked || english) return;
  wordsAsked = document.ownWordsSaid = true;
  const say = () => {
    if (!wordsAsked) return;
    wordsAsked = false;
    sayOwnWords();
  };
  requestAnimationFrame(say);
  setTimeout(say, WITHOUT_A_FRAME_MS);
}

function followOwnWords() {
  // Streamlit names an element again where its label is translated later.
  new MutationObserver(askForWords).observe(document.body, {
    childList: true, subtree: true, characterData: true, attributeFilter: OWN_TITLES,
  });
}

