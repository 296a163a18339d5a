"""Texts of a page as a reader meets them, in shadow roots too, and those that stayed English."""

from __future__ import annotations

import re
from functools import cache

from playwright.sync_api import Page

from core.language.catalogue import LANGUAGES
from core.language.make_messages import is_translated, stored

# What a page shows but doesn't say: tokens, figures (which have tests of their own), code, files.
MODELS_WORDS = (
    ".tokens, .prompt, .token, .js-plotly-plot, .steps, .runs .text, textarea,"
    " .st-key-api-table td, code, pre, script, style, noscript,"
    " [data-testid=stIconMaterial], .st-key-many-runs"
)
# Each text and title of the page, with the component or part that holds it.
TEXTS = """(left) => {
  const found = [], titles = ["aria-label", "title", "placeholder", "alt"]
  const walk = (node, part) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.trim().replace(/\\s+/g, " ")
      if (text) found.push([part, text])
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.matches(left) || node.style?.visibility === "hidden") return
      const key = [...node.classList].find((name) => name.startsWith("st-key-"))
      part = key ?? part
      for (const name of titles) {
        if (node.getAttribute(name)) found.push([part, node.getAttribute(name)])
      }
      if (node.shadowRoot) walk(node.shadowRoot, part)
      node.childNodes.forEach((child) => walk(child, part))
    } else node.childNodes.forEach((child) => walk(child, part))
  }
  walk(document.body, "")
  return found
}"""
_FIELD = re.compile(r"\\?\{[^{}]*\\?\}")


def shown_texts(page: Page) -> list[tuple[str, str]]:
    """Return each text of a page with the key of the part that holds it."""
    return [(part, text) for part, text in page.evaluate(TEXTS, MODELS_WORDS)]


@cache
def _english(language: str) -> tuple[frozenset[str], re.Pattern[str], frozenset[str]]:
    """Return the texts that the language translates, a pattern of those with values, and the
    translations."""
    whole, forms, translations = set(), [], set()
    for entry in stored(language):
        if not entry.id or not is_translated(entry):
            continue
        texts = entry.id if isinstance(entry.id, tuple) else (entry.id,)
        words = entry.string if isinstance(entry.string, tuple | list) else (entry.string,)
        translations.update(words)
        for text in {*texts} - {*words}:
            literal = _FIELD.sub("", text)
            if literal == text:
                whole.add(text)
            elif re.search(r"[a-z]{3}", literal):
                forms.append(_FIELD.sub(".+", re.escape(text)))
    return frozenset(whole), re.compile("|".join(forms)), frozenset(translations)


def english(page: Page, language: str) -> list[tuple[str, str]]:
    """Return the texts that stayed English though the language has a translation of them."""
    whole, forms, translations = _english(language)
    # "SynthID の n-gram" has the form of "{size}-gram", and is a translation.
    known = translations.union(LANGUAGES.values())
    return [
        (part, text)
        for part, text in shown_texts(page)
        if text in whole or (forms.fullmatch(text) and text not in known)
    ]
