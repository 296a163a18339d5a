// Streamlit's own words, which it has in English alone, in the reader's language.
const WORD_PLACES = ["stFileUploader", "stMainMenuList", "stMainMenuPopover", "stToolbar", "stStatusWidget", "stElementToolbar", "stConnectionStatus", "stHeader", "stSidebarNavViewButton", "stSkipToContent", "InputInstructions"]
  .map((name) => `[data-testid=${name}]`).join();
const FILE_NAMES = "[data-testid=stFileChipName]";
const OWN_TITLES = ["aria-label", "title", "placeholder", "alt"];

// Built once for each language.
const ownWords = { words: null, of: null };
function wordsNow() {
  if (ownWords.of === translations) return ownWords.words;
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
    "View less": tr("Fewer pages"),
    Sidebar: tr("Sidebar"),
    "Expand sidebar": tr("Open the sidebar"),
    "Collapse sidebar": tr("Close the sidebar"),
    "Navigate to home page": tr("To the home page"),
    "Stop script": tr("Stop"),
    Theme: tr("Theme"),
    Logo: tr("Logo"),
    "Link to heading": tr("Link to the heading"),
    Notifications: tr("Notifications"),
    Help: tr("Help"),
    Open: tr("Open"),
    Close: tr("Close"),
    "Clear value": tr("Clear the value"),
    "Clear all": tr("Clear all"),
    "Selected values": tr("Selected values"),
    Increment: tr("Increase"),
    Decrement: tr("Decrease"),
    "Scroll tabs left": tr("Tabs to the left"),
    "Scroll tabs right": tr("Tabs to the right"),
    "Choose an option": tr("Choose an option"),
    "Choose options": tr("Choose options"),
    "Choose or add an option": tr("Choose or type an option"),
    "Choose or add options": tr("Choose or type options"),
    "Press Enter to apply": tr("Press Enter to apply"),
  }));
  return Object.assign(ownWords, { words, of: translations }).words;
}

function ownWord(text) {
  const sentences = [
    [/^(.+) per file( .*)?$/, (size, rest = "") => tr("{size} per file", { size }) + rest],
    [/^View (\d+) more$/, (count) => tr("{count} more pages", { count })],
    [/^Help for (.+)$/, (label) => tr("Help for {label}", { label })],
    [/^Press (\S+)\+Enter to apply$/, (key) => tr("Press {key} + Enter to apply", { key })],
    [/^Remove (.+)$/, (name) => tr("Remove {name}", { name })],
    [/^(.+) files are not allowed\.$/, (type) => tr("{type} files are not allowed.", { type })],
    [/^File must be (.+) or smaller\.$/, (size) => tr("The file must be {size} or smaller.", { size })],
  ];
  for (const [form, translated] of sentences) {
    const parts = form.exec(text);
    if (parts) return translated(...parts.slice(1));
  }
  return wordsNow().get(text.trim()) ?? text;
}

// The English text is kept beside the translation: Streamlit may write another one, and the language may change.
function reword(holder, now, write) {
  if (now === holder.shownWord && holder.saidBy === translations) return;
  holder.saidBy = translations;
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
  }
  for (const name of OWN_TITLES) {
    for (const node of document.querySelectorAll(`[${name}]:not(${FILE_NAMES}, ${FILE_NAMES} *)`)) {
      const held = ((node.ownTitles ??= {})[name] ??= {});
      reword(held, node.getAttribute(name), (text) => node.setAttribute(name, text));
    }
  }
}

let wordsAsked = false;
function askForWords() {
  const english = document.documentElement.lang === "en" && !document.ownWordsSaid;
  if (wordsAsked || english) return;
  wordsAsked = document.ownWordsSaid = true;
  requestAnimationFrame(() => {
    wordsAsked = false;
    sayOwnWords();
  });
}

function followOwnWords() {
  new MutationObserver(askForWords).observe(document.body, { childList: true, subtree: true, characterData: true });
}

