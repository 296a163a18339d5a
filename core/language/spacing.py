"""Japanese spaces: one stands between a value and words only if one of them isn't Japanese."""

from __future__ import annotations

import re
from collections.abc import Callable

_FIELD = re.compile(r"((?<!\{)\{[^{}]+\}(?!\}))")
_WIDE = "[、-ヿ一-鿿ー！-）：-？]"
_GAP_BEFORE = re.compile(rf"(?<={_WIDE}) $")
_GAP_AFTER = re.compile(rf"^ (?={_WIDE})")
_ENDS_WIDE, _BEGINS_WIDE = re.compile(f"{_WIDE}$"), re.compile(_WIDE)


def without_gaps(template: str, filled: Callable[[str], str]) -> str:
    """Return a Japanese template with its values and no space between two Japanese words.

    Args:
        filled: returns a piece of the template with its values.
    """
    done = ""
    for piece in _FIELD.split(template):
        text = filled(piece)
        if _BEGINS_WIDE.match(text):
            done = _GAP_BEFORE.sub("", done)
        if _ENDS_WIDE.search(done):
            text = _GAP_AFTER.sub("", text)
        done += text
    return done
