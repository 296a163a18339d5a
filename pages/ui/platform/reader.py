"""Language of the session's reader: of the address, the menu, an earlier visit, or the browser."""

from __future__ import annotations

import streamlit as st

from core.language.catalogue import ENGLISH, language_of
from core.language.catalogue import begin as begin_language
from pages.ui.platform import session

# Parameter of the address, and key of the session's state.
PARAMETER, _CHOSEN = "lang", "language_chosen"
# Cookie with the language that the reader chose before, which `shell/browser.js` writes.
COOKIE = "decoding_explorer_lang"


def begin() -> None:
    """Set the language of this run of the script.

    A link without `lang` follows its reader: it is no setting of a run, so links leave it out.
    """
    if named := language_of(st.query_params.get(PARAMETER)):
        st.session_state[_CHOSEN] = named
    elif _CHOSEN not in st.session_state:
        st.session_state[_CHOSEN] = language_of(st.context.cookies.get(COOKIE))
    begin_language(language())


def language() -> str:
    """Return the session's language."""
    return chosen() or language_of(session.browser_locale()) or ENGLISH


def chosen() -> str | None:
    """Return the language that the reader chose, now or before; None without a choice."""
    name: str | None = st.session_state.get(_CHOSEN)
    return name


def choose(name: str) -> None:
    """Set the session's language, in a callback."""
    st.session_state[_CHOSEN] = name
    st.query_params.pop(PARAMETER, None)
    begin_language(name)
