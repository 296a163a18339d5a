"""Components of the app: their files, and their words in the reader's language."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Protocol

import streamlit as st

from core.language import words_of
from core.language.browser_texts import html_texts, script_texts

HERE = Path(__file__).parents[1]
# Hidden until the script has translated it.
_HOLDER = '<div class="de-html" style="display: contents; visibility: hidden">{html}</div>'
_BEGIN, _OWN = "export default function (", "function drawComponent("


class Mount(Protocol):
    """Draws a component on the page."""

    def __call__(
        self, *, key: str, data: dict[str, Any] | None = None, **callbacks: Any
    ) -> Any: ...


@cache
def source(*names: str) -> str:
    """Return the text of a component's files, by their paths below `pages/ui`.

    Scripts can translate: `widgets/tr.js` stands around them.
    """
    text = "".join((HERE / name).read_text(encoding="utf-8") for name in names)
    if not names[-1].endswith(".js"):
        return text
    around = (HERE / "widgets/tr.js").read_text(encoding="utf-8")
    return text.replace(_BEGIN, _OWN) + around


def component(
    name: str,
    *,
    html: str = "",
    css: str = "",
    js: str,
    isolate_styles: bool = True,
) -> Mount:
    """Register a component; its data bring the words of its scripts and of its HTML with them.

    Args:
        name: of the component, among the app's.
        html: in English; its words are translated in the browser.
        css: of `source`.
        js: of `source`.
        isolate_styles: draw it in a shadow root.
    """
    mount = st.components.v2.component(
        f"decoding_explorer.{name}",
        html=_HOLDER.format(html=html) if html else "",
        css=css,
        js=js,
        isolate_styles=isolate_styles,
    )
    texts = tuple(dict.fromkeys((*html_texts(html), *script_texts(js))))

    def draw(*, key: str, data: dict[str, Any] | None = None, **callbacks: Any) -> Any:
        if texts:
            data = {**(data or {}), "translations": words_of(texts)}
        return mount(key=key, data=data, **callbacks)

    return draw
