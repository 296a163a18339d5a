// Keeps a learner's progress in this browser, and hands it over once to a new session.

const NAME = "decoding-explorer.course";

export default function ({ data, setTriggerValue }) {
  // A lesson that a press opens takes the focus.
  if (!data.open) window.deLesson = { ...window.deLesson, pressed: true };
  try {
    if (!data.read) localStorage.setItem(NAME, JSON.stringify(data.progress));
    else setTriggerValue("kept", { lessons: JSON.parse(localStorage.getItem(NAME)) });
  } catch {
    // Storage is off, or what it holds is no JSON: the session keeps the progress.
    if (data.read) setTriggerValue("kept", { lessons: null });
  }
}
